"""`dragoman run`: the client gets a gateway, keeps its exit code, signals and terminal, and no files are left over."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

from dragoman.cli import client_table
from dragoman.cli.client_table import ClientFacts, fill_placeholders
from dragoman.cli.run_client_summary import SessionSums
from dragoman.cli.run_client_with_gateway import _wait
from dragoman.dialects import names as dialect_names

from .fake_upstream import FakeUpstream, fake_upstream

DRAGOMAN = [sys.executable, "-m", "dragoman"]
ASK = """
import json, os, sys, urllib.request
body = {"model": sys.argv[1], "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}
headers = {"content-type": "application/json", "x-api-key": os.environ["ANTHROPIC_AUTH_TOKEN"]}
sent = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
print(json.load(urllib.request.urlopen(sent))["content"][0]["text"], flush=True)
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("bin", "temporary", "work"):
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.fixture
def upstream() -> Iterator[FakeUpstream]:
    with fake_upstream("Hello from afar.") as served:
        yield served


def program(place: Path, name: str, text: str) -> None:
    """Write a client program with this name."""
    file = place / "bin" / name
    file.write_text(text)
    file.chmod(0o755)


def environment(place: Path, **more: str) -> dict[str, str]:
    path = f"{place / 'bin'}:{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(place), "TMPDIR": str(place / "temporary"), **more}


def run(place: Path, *words: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    command = [*DRAGOMAN, "run", *map(str, words)]
    done = subprocess.run(
        command, env=environment(place, **more), cwd=place / "work", capture_output=True, text=True, timeout=60
    )
    assert list((place / "temporary").iterdir()) == [], "a file was left behind"
    return done


def test_a_client_uses_the_chosen_model_and_the_costs_are_printed_at_the_end(
    place: Path, upstream: FakeUpstream
) -> None:
    program(place, "claude", f"#!{sys.executable}\n{ASK}")
    config = upstream.config(place)
    done = run(place, "claude", "--model", "fake/one", "--config", config, "--", "claude-haiku-4-5")
    assert (done.returncode, done.stdout) == (0, "Hello from afar.\n")
    # The model is listed, so the check sends no request for an answer.
    assert [one["model"] for one in upstream.requests] == ["one"]
    first, sums, losses = done.stderr.splitlines()
    assert first == "dragoman: Claude Code on fake/one"
    assert sums == (
        "dragoman: 1 request to fake/one: 1,234 tokens in, 5 out. Cost: unknown (no price is known for this model)"
    )
    assert losses.startswith("dragoman: Nothing was lost")
    prices = '[models."fake/one"]\ninput_price = 2.0\noutput_price = 10.0\n'
    done = run(place, "claude", "--model", "fake/one", "--config", upstream.config(place, prices), "--", "any")
    assert "1 request to fake/one: 1,234 tokens in, 5 out. Cost: $0.0025" in done.stderr


def test_without_keys_the_rehearsal_answers_every_client(place: Path) -> None:
    done = run(place, "--", sys.executable, "-c", ASK, "m")
    assert done.returncode == 0
    assert "Rehearsal (no model)" in done.stdout
    assert done.stderr.startswith(f"dragoman: {Path(sys.executable).name} on the built-in rehearsal")
    assert "Cost: $0.00" in done.stderr


def test_the_gateway_of_a_session_refuses_other_users(place: Path) -> None:
    program(place, "claude", f"#!{sys.executable}\nimport os; os.environ['ANTHROPIC_AUTH_TOKEN'] = 'guess'\n{ASK}")
    done = run(place, "claude", "--", "m")
    assert "HTTP Error 401" in done.stderr


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -9 $$", 137)]
)
def test_the_exit_code_is_that_of_the_client(place: Path, script: str, code: int) -> None:
    assert run(place, "--", "sh", "-c", script).returncode == code


def test_a_signal_to_the_process_reaches_the_client(place: Path) -> None:
    script = 'trap "echo told; exit 5" TERM; echo up; while :; do sleep 0.1; done'
    process = subprocess.Popen(
        [*DRAGOMAN, "run", "--", "sh", "-c", script],
        env=environment(place),
        cwd=place / "work",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    process.send_signal(signal.SIGTERM)
    out, errors = process.communicate(timeout=30)
    assert (process.returncode, out) == (5, "told\n")
    assert "Cost: " in errors


def test_a_signal_that_comes_while_the_client_starts_reaches_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    start = subprocess.Popen

    def slow_start(*words: Any, **options: Any) -> subprocess.Popen[bytes]:
        process = start(*words, **options)
        os.kill(os.getpid(), signal.SIGTERM)
        return process

    monkeypatch.setattr(subprocess, "Popen", slow_start)
    assert asyncio.run(_wait(["sleep", "20"], os.environ)) == 128 + signal.SIGTERM


def test_ctrl_c_ends_the_client_and_leaves_no_process_and_no_file(place: Path) -> None:
    script = "echo pid $$; exec sleep 60"
    child = pexpect.spawn(
        DRAGOMAN[0],
        [*DRAGOMAN[1:], "run", "--", "sh", "-c", script],
        env=environment(place),
        cwd=place / "work",
        timeout=30,
    )
    child.expect(rb"pid (\d+)")
    pid = int(child.match[1])
    child.sendintr()
    child.expect(rb"Cost: ")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert list((place / "temporary").iterdir()) == []


def test_a_client_that_handles_ctrl_c_continues_and_keeps_its_gateway(place: Path) -> None:
    script = f"""import signal
import time
noted = []
signal.signal(signal.SIGINT, lambda *_: noted.append(1))
print("up", flush=True)
while not noted:
    time.sleep(0.02)
print("noted", flush=True)
{ASK}"""
    program(place, "claude", f"#!{sys.executable}\n{script}")
    child = pexpect.spawn(
        DRAGOMAN[0], [*DRAGOMAN[1:], "run", "claude", "--", "m"], env=environment(place), cwd=place / "work", timeout=30
    )
    child.expect(rb"up\r\n")
    child.sendintr()
    child.expect(rb"noted")
    child.expect(rb"Rehearsal \(no model\)")
    child.expect(rb"Cost: ")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_the_terminal_is_restored_after_a_client_that_left_raw_mode_on(place: Path) -> None:
    command = f"{DRAGOMAN[0]} -m dragoman run -- sh -c 'stty raw -echo; exit 3'; echo code $?; stty -a"
    child = pexpect.spawn("sh", ["-c", command], env=environment(place), cwd=place / "work", timeout=30)
    child.expect(rb"code 3\r\n")
    child.expect(pexpect.EOF)
    assert b" -echo " not in child.before and b" icanon" in child.before
    child.close()


def test_a_key_that_is_missing_is_named_before_the_client_starts(place: Path) -> None:
    program(place, "claude", "#!/bin/sh\necho started\n")
    done = run(place, "claude", "--model", "gemini/gemini-3-pro")
    assert (done.returncode, done.stdout) == (1, "")
    assert "GEMINI_API_KEY" in done.stderr and "dragoman login gemini" in done.stderr
    done = run(place, "claude", "--model", "gemini-2.5-pro")
    assert done.stderr.endswith("Set GEMINI_API_KEY, or run: dragoman login gemini\n")


def test_a_gateway_that_does_not_run_is_an_error_with_the_next_step(place: Path) -> None:
    done = run(place, "--gateway", "http://127.0.0.1:1", "--", "true")
    assert done.returncode == 1
    assert "no answer ([Errno 111] Connection refused). Start it with dragoman serve" in done.stderr


def test_a_refused_model_is_named_and_no_check_starts_the_client(
    place: Path, upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(place, "claude", "#!/bin/sh\necho started\n")
    config = place / "other.toml"
    config.write_text(
        'upstreams.off = { dialect = "openai-chat", base_url = "http://127.0.0.1:9/v1", auth = "none" }\n'
    )
    done = run(place, "claude", "--model", "off/one", "--config", config)
    assert (done.returncode, done.stdout) == (1, "")
    assert "http://127.0.0.1:9" in done.stderr and "base_url" in done.stderr
    done = run(place, "claude", "--model", "off/one", "--config", config, "--no-check")
    assert (done.returncode, done.stdout) == (0, "started\n")
    done = run(place, "claude", "--model", "fake/unlisted", "--config", upstream.config(place))
    assert done.stdout == "started\n"
    assert [one["messages"][0]["content"] for one in upstream.requests] == ["Reply with the word ok."]


def test_an_unknown_or_missing_client_is_an_error_with_advice(place: Path) -> None:
    done = run(place, "claud")
    assert done.returncode == 2 and "Did you mean claude?" in done.stderr
    done = run(place, "claude", PATH=str(place / "bin"))
    assert done.returncode == 127
    assert "npm install -g @anthropic-ai/claude-code" in done.stderr
    assert run(place).returncode == 2


def test_a_settings_file_is_deleted_at_the_end_of_the_session(place: Path, upstream: FakeUpstream) -> None:
    program(place, "opencode", '#!/bin/sh\nstat -c %a "$OPENCODE_CONFIG"; cat "$OPENCODE_CONFIG"\n')
    done = run(place, "opencode", "--model", "fake/one", "--config", upstream.config(place))
    mode, _, text = done.stdout.partition("\n")
    settings = json.loads(text)
    assert mode == "600"
    assert settings["model"] == "dragoman/fake/one"
    assert settings["provider"]["dragoman"]["options"]["baseURL"].startswith("http://127.0.0.1:")
    assert "limit" not in settings["provider"]["dragoman"]["models"]["fake/one"]  # the window is unknown


def test_a_running_gateway_is_used(place: Path, upstream: FakeUpstream) -> None:
    program(place, "claude", f"#!{sys.executable}\n{ASK}")
    config = upstream.config(place, '[models."fake/*"]\ninput_price = 2.0\noutput_price = 10.0\n')
    command = [*DRAGOMAN, "serve", "--port", "0", "--config", str(config), "--log", "off"]
    gateway = subprocess.Popen(command, env=environment(place), cwd=place / "work", stdout=subprocess.PIPE, text=True)
    try:
        assert gateway.stdout is not None
        base = gateway.stdout.readline().split()[-1]
        done = run(place, "claude", "--gateway", base, "--", "fake/two")
    finally:
        gateway.terminate()
        gateway.communicate(timeout=30)
    assert done.stdout == "Hello from afar.\n"
    assert "1 request to fake/two: 1,234 tokens in, 5 out. Cost: $0.0025" in done.stderr
    done = run(place, "claude", "--gateway", base, "--", "fake/two")
    assert done.returncode == 1 and "dragoman serve" in done.stderr


def test_settings_of_every_client_row_omit_unknown_values() -> None:
    whole = ClientFacts("http://h", "k", "KEY", "up/m", 1000, 100, "/settings")
    for name, row in client_table.rows().items():
        text = repr(
            (
                client_table.arguments(row, whole),
                client_table.environment(row, whole),
                fill_placeholders(row.settings, whole),
            )
        )
        assert "http://h" in text, name
        assert "{base}" not in text and "{model}" not in text and "{context" not in text
        bare = ClientFacts("http://h", "k")
        assert "None" not in repr((client_table.arguments(row, bare), client_table.environment(row, bare)))
    codex = client_table.rows()["codex"]
    assert "model_context_window=1000" in client_table.arguments(codex, whole)
    assert client_table.arguments(codex, ClientFacts("http://h", "k")).count("-c") == 2


def test_every_row_names_known_dialects_and_a_version_has_its_test() -> None:
    for name, row in client_table.rows().items():
        assert row.dialects, name
        assert set(row.dialects) <= set(dialect_names()), name
        assert not row.tried or row.tested, name


def test_the_printed_costs_never_contain_a_guessed_price() -> None:
    sums = SessionSums()
    good = {"input": 1000, "output": 10}
    sums.add(upstream="u", model="m", status=200, error="", tokens=good, cost=None, losses=[("seal.dropped", "info")])
    assert "Cost: unknown" in next(iter(sums.lines()))
    sums.add(
        upstream="u",
        model="m2",
        status=200,
        error="",
        tokens=good,
        cost=1.0,
        losses=[("tool.hosted.dropped", "warning")],
    )
    sums.add(upstream="u", model="m2", status=429, error="too many", tokens=None, cost=0.0, losses=[])
    lines = list(sums.lines())
    assert "Cost: at least $1.00 (1 request without a price)" in lines[0]
    assert lines[1] == "1 request failed, the last one: too many"
    assert "tool.hosted.dropped (warning) 1 times" in lines[2] and "1 more changed no meaning" in lines[2]
    assert "seal.dropped" in list(sums.lines(every_loss=True))[2]
