"""Owns one session of an agent with a gateway process and a scripted upstream, and the results of the session."""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import sys
import threading
import tomllib
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from .agents import AGENTS, Place, program
from .pictures import PICTURE
from .upstream import Story, Upstream

PROMPT = "Look at notes.txt and picture.png here, change beta to gamma in the notes, and count their lines."
MODELS = {
    "anthropic": "claude-opus-4-8",
    "code-assist": "gemini-2.5-pro",
    "gemini": "gemini-3-pro-preview",
    "ollama": "qwen3",
    "openai-chat": "gpt-4.1",
    "openai-responses": "gpt-5.5",
    "openrouter": "anthropic/claude-sonnet-4.5",
}
"""The model that the gateway uses on an upstream of each dialect."""
_STORIES = Path(__file__).with_name("stories.toml")
_SECONDS = 300


class Session(NamedTuple):
    """The results of a session."""

    status: int
    output: str
    """The output of the agent."""
    notes: str
    line_count: str
    upstream: Upstream
    exchanges: list[dict[str, Any]]


def story(name: str, work: Path) -> Story:
    text = tomllib.loads(_STORIES.read_text())[name]
    return msgspec.convert(json.loads(json.dumps(text).replace("{work}", str(work))), Story)


@contextmanager
def gateway(folder: Path, *options: str, **variables: str) -> Iterator[str]:
    """The address of a `dragoman serve` process. Its only upstreams are those in its options and variables."""
    command = [str(Path(sys.executable).with_name("dragoman")), "serve", "--port", "0", *options]
    variables_of_process = {
        name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH")
    } | variables
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=variables_of_process)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[-1]
    finally:
        process.terminate()
        process.communicate(timeout=60)


def play(name: str, dialect: str, folder: Path, *, continued: bool = False) -> Session:
    """Run the agent in `folder` on an upstream of `dialect`. `continued`: run it twice, and continue its session."""
    agent = AGENTS[name]
    work = _workplace(folder)
    (work / "picture.png").write_bytes(PICTURE)
    config = folder / "dragoman.toml"
    with Upstream(dialect, story(agent.story, work), PROMPT) as upstream:
        config.write_text(
            f'upstreams.there = {{ dialect = "{dialect}", base_url = "{upstream.base}", auth = "client" }}\n'
            f'[[routes]]\nmatch = "*"\nto = "there/{MODELS[dialect]}"\n'
        )
        with gateway(folder, "--config", str(config)) as base:
            status, output = _run(name, PROMPT, base, folder)
            if continued and not status:
                status, output = _run(name, f"Once more: {PROMPT}", base, folder, continued=True)
            listed = _get(f"{base}/dragoman/exchanges")["exchanges"]
            exchanges = [_get(f"{base}/dragoman/exchanges/{one['id']}") for one in reversed(listed)]
    notes, count = work / "notes.txt", work / "count.txt"
    line_count = count.read_text().strip() if count.exists() else ""
    return Session(status, output, notes.read_text(), line_count, upstream, exchanges)


def rehearse(name: str, prompt: str, folder: Path) -> tuple[int, str]:
    """Run the agent in `folder` on a gateway without upstreams. Returns its exit status and its output."""
    _workplace(folder)
    with gateway(folder) as base:
        return _run(name, prompt, base, folder)


def refused_key(name: str, folder: Path) -> tuple[str, list[str]]:
    """Run the agent on a gateway with a wrong key for its upstream. Returns the agent's output and requests."""
    _workplace(folder)
    config = folder / "dragoman.toml"
    with upstream_that_refuses() as upstream:
        config.write_text(
            f'upstreams.there = {{ dialect = "openai-chat", base_url = "{upstream}", key_env = "THERE_KEY" }}\n'
            '[[routes]]\nmatch = "*"\nto = "there/gpt-4.1"\n'
        )
        with gateway(folder, "--config", str(config), THERE_KEY="wrong-key") as base:
            _, output = _run(name, PROMPT, base, folder)
            listed = _get(f"{base}/dragoman/exchanges")["exchanges"]
            return output, [_get(f"{base}/dragoman/exchanges/{one['id']}")["request"] for one in listed]


@contextmanager
def upstream_that_refuses() -> Iterator[str]:
    """The address of an upstream that refuses every key."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            body = b'{"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}'
            self.send_response(401)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *words: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _workplace(folder: Path) -> Path:
    work = folder / "work"
    work.mkdir()
    (folder / "home").mkdir()
    (work / "notes.txt").write_text("alpha\nbeta\n")
    return work


def _run(name: str, prompt: str, base: str, folder: Path, *, continued: bool = False) -> tuple[int, str]:
    """Start the agent and wait for its end."""
    work, home = folder / "work", folder / "home"
    arguments, environment = AGENTS[name].start(Place(base, work, home, continued), prompt)
    done = subprocess.run(
        [str(program(arguments[0])), *arguments[1:]],
        env={"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(folder), **environment},
        cwd=work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_SECONDS,
    )
    return done.returncode, done.stdout


def _get(address: str) -> Any:
    with urllib.request.urlopen(address, timeout=30) as answer:
        return json.load(answer)
