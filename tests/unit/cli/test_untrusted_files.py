"""Files inside a working folder are used only after the user trusts their content. The tests run real processes in a
cloned folder, with a host that counts connections, and at a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dragoman.cli.untrusted_file_effects import effects_of_file
from dragoman.cli.untrusted_files import FolderFile
from dragoman.errors import ConfigError
from dragoman.gateway.config import EXAMPLE

DRAGOMAN = [sys.executable, "-c", "from dragoman.cli.main import main; main()"]
KEY = "sk-very-secret"
NOT_USED = "is not used, because you have not trusted it"


class Host:
    """A host on loopback that refuses every request, and keeps the requests and the number of connections."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.connections = 0
        host = self

        class Handler(BaseHTTPRequestHandler):
            def setup(self) -> None:
                host.connections += 1
                super().setup()

            def do_POST(self) -> None:
                size = int(self.headers.get("content-length") or 0)
                host.requests.append(f"{self.headers}{self.rfile.read(size).decode()}")
                body = b'{"error": {"message": "refused by the scripted host", "type": "invalid_request_error"}}'
                self.send_response(400)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def host() -> Iterator[Host]:
    found = Host()
    yield found
    found.close()


class Folder:
    """A cloned folder, and the home of the user who works in it."""

    def __init__(self, place: Path) -> None:
        self.place = place / "cloned"
        self.place.mkdir()
        (self.place / "private-plans.txt").write_text("secret plans")
        self.home = place / "home"
        self.home.mkdir()
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TERM": "dumb",
        }

    def config(self, host: Host, variable: str = "OPENAI_API_KEY") -> Path:
        file = self.place / "dragoman.toml"
        file.write_text(
            f'[upstreams.openai]\ndialect = "openai-chat"\nbase_url = "{host.address}"\n'
            f'key_env = "{variable}"\nmodels = ["*"]\n'
        )
        return file

    def servers(self) -> Path:
        """Write a file with a server that creates a file when it is started."""
        file = self.place / ".mcp.json"
        mark = {"command": "sh", "args": ["-c", f"touch {self.mark}"]}
        file.write_text(json.dumps({"mcpServers": {"office": mark}}))
        return file

    @property
    def mark(self) -> Path:
        return self.place / "was-run"

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*DRAGOMAN, *arguments],
            cwd=self.place,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def at_a_terminal(self, answer: str, *arguments: str) -> str:
        """The output of a command at a terminal, with this answer to the first question."""
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [*DRAGOMAN, *arguments], cwd=self.place, env=self.environment, stdin=slave, stdout=slave, stderr=slave
        )
        os.close(slave)
        seen, answered, end = b"", False, time.monotonic() + 60
        try:
            while time.monotonic() < end:
                if select.select([master], [], [], 0.1)[0]:
                    try:
                        piece = os.read(master, 65536)
                    except OSError:  # Linux: the other side is closed
                        break
                    if not piece:
                        break
                    seen += piece
                if not answered and b"[y/N]" in seen:
                    os.write(master, answer.encode() + b"\n")
                    answered = True
        finally:
            process.wait(timeout=60)
            os.close(master)
        return seen.decode()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_a_host_of_a_cloned_folder_gets_neither_key_nor_listing(folder: Folder, host: Host) -> None:
    own = Host()
    folder.environment |= {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": own.address}
    folder.config(host)
    done = folder.run("ask", "hello", "--model", "openai/gpt-5.1")
    own.close()
    assert host.connections == 0
    assert KEY in own.requests[0] and "private-plans.txt" in own.requests[0], "the user's own upstream gets the request"
    lines = [line for line in done.stderr.splitlines() if "dragoman.toml" in line]
    assert len(lines) == 1, done.stderr
    assert NOT_USED in lines[0]
    assert "`--config dragoman.toml`" in lines[0] and "`dragoman config trust dragoman.toml`" in lines[0]


def test_without_any_key_the_command_ignores_an_untrusted_file(folder: Folder, host: Host) -> None:
    folder.environment["MY_KEY"] = KEY
    folder.config(host, "MY_KEY")
    done = folder.run("ask", "hello")
    assert (done.returncode, done.stdout, host.connections) == (2, "", 0)
    assert "no key is set" in done.stderr and NOT_USED in done.stderr


@pytest.mark.parametrize("how", ["option", "variable", "trust"])
def test_a_file_that_the_user_names_is_used(folder: Folder, host: Host, how: str) -> None:
    folder.environment["MY_KEY"] = KEY
    file = folder.config(host, "MY_KEY")
    if how == "trust":
        trusted = folder.run("config", "trust")
        assert trusted.returncode == 0
        assert f"127.0.0.1 ({host.address}), with the key in the variable MY_KEY" in trusted.stderr
    if how == "variable":
        folder.environment["DRAGOMAN_CONFIG"] = str(file)
    done = folder.run(
        "ask", "hello", "--model", "openai/gpt-5.1", *(["--config", str(file)] if how == "option" else [])
    )
    assert NOT_USED not in done.stderr
    assert KEY in host.requests[0]


def test_a_yes_at_the_terminal_is_stored_for_this_content_at_this_path(folder: Folder, host: Host) -> None:
    folder.environment["MY_KEY"] = KEY
    file = folder.config(host, "MY_KEY")
    ask = ("ask", "hello", "--model", "openai/gpt-5.1")
    seen = folder.at_a_terminal("y", *ask)
    assert f"The file {file} is new. If it is used," in seen
    assert f"sends requests to 127.0.0.1 ({host.address}), with the key in the variable MY_KEY" in seen
    assert len(host.requests) == 1
    assert NOT_USED not in folder.run(*ask).stderr
    assert len(host.requests) == 2

    file.write_text(file.read_text() + "\n# changed\n")
    assert NOT_USED in folder.run(*ask).stderr
    seen = folder.at_a_terminal("n", *ask)
    assert "has changed since you trusted it" in seen and NOT_USED in seen
    file.write_text(file.read_text().removesuffix("\n# changed\n"))

    moved = folder.place.with_name("moved")
    folder.place.rename(moved)
    folder.place = moved
    assert NOT_USED in folder.run(*ask).stderr
    assert len(host.requests) == 2


@pytest.mark.parametrize("answer", ["n", "", "perhaps\nn"])
def test_any_other_answer_than_yes_is_a_no(folder: Folder, host: Host, answer: str) -> None:
    folder.environment["MY_KEY"] = KEY
    folder.config(host, "MY_KEY")
    seen = folder.at_a_terminal(answer, "ask", "hello")
    assert NOT_USED in seen and "no key is set" in seen
    assert host.connections == 0
    assert not (folder.home / ".local/share/dragoman/trusted-files.json").exists()


def test_servers_of_a_cloned_folder_are_not_started(folder: Folder) -> None:
    folder.servers()
    done = folder.run("mcp", "list")
    assert done.returncode == 1 and not folder.mark.exists()
    assert f".mcp.json in this folder {NOT_USED}" in done.stderr
    assert "`--config .mcp.json` (`dragoman ask` takes `--mcp .mcp.json`)" in done.stderr
    assert folder.run("mcp", "call", "office", "echo").returncode == 1
    assert not folder.mark.exists()
    own = folder.home / ".config/dragoman/mcp.json"
    own.parent.mkdir(parents=True)
    own.write_text('{"mcpServers": {"own": {"command": "x", "disabled": true}}}')
    own.chmod(0o600)
    assert folder.run("mcp", "list").stdout == "own: disabled\n", "the user's own file is still used"
    own.chmod(0o666)
    refused = folder.run("mcp", "list")
    assert refused.returncode == 1 and "other users can write it" in refused.stderr


def test_servers_are_started_after_a_yes(folder: Folder) -> None:
    folder.servers()
    seen = folder.at_a_terminal("n", "mcp", "list")
    assert f"the MCP server office runs the command sh -c 'touch {folder.mark}'" in seen.replace("\r\n", "")
    assert not folder.mark.exists()
    folder.at_a_terminal("y", "mcp", "list")
    assert folder.mark.exists()
    folder.mark.unlink()
    folder.run("mcp", "list", "--config", ".mcp.json")
    assert folder.mark.exists()


def test_a_file_written_by_dragoman_is_trusted_until_it_changes(folder: Folder) -> None:
    folder.run("config", "init")
    folder.environment["GEMINI_API_KEY"] = "x"
    assert NOT_USED not in folder.run("ask", "hello", "--model", "rehearsal").stderr
    with (folder.place / "dragoman.toml").open("a") as file:
        file.write("# edited\n")
    assert NOT_USED in folder.run("ask", "hello", "--model", "rehearsal").stderr
    assert folder.run("config", "check").returncode == 0, "a file can be read before it is trusted"


def test_init_writes_no_other_file(folder: Folder) -> None:
    victim = folder.home / "victim"
    (folder.place / "dragoman.toml").symlink_to(victim)
    assert folder.run("config", "init").returncode == 1
    assert folder.run("config", "init", "--force").returncode == 0
    assert not victim.exists() and (folder.place / "dragoman.toml").read_text() == EXAMPLE


def test_trust_is_listed_and_withdrawn(folder: Folder, host: Host) -> None:
    file = folder.config(host)
    assert folder.run("config", "trust", "--remove").returncode == 1
    folder.run("config", "trust")
    assert folder.run("config", "trust", "--list").stdout == f"{file}: trusted\n"
    file.write_text("# other\n")
    assert folder.run("config", "trust", "--list").stdout == f"{file}: changed since you trusted it: not trusted\n"
    assert folder.run("config", "trust", "--remove").returncode == 0
    assert folder.run("config", "trust", "--list").stdout == ""
    assert folder.run("config", "trust", "none.toml").returncode == 1
    file.write_text("[listen]\nprt = 1\n")
    broken = folder.run("config", "trust")
    assert broken.returncode == 1 and "listen.prt" in broken.stderr
    assert folder.run("config", "trust", "--list").stdout == ""


def test_a_file_with_too_many_effects_is_refused_without_a_question(folder: Folder, host: Host) -> None:
    """A dangerous line could have scrolled out of view."""
    folder.environment["MY_KEY"] = KEY
    file = folder.config(host, "MY_KEY")
    for i in range(80):
        file.write_text(f'{file.read_text()}[[routes]]\nmatch = "m{i}"\nto = "openai"\n')
    seen = folder.at_a_terminal("y", "ask", "hello", "--model", "openai/gpt-5.1")
    assert "has too many effects to show them here" in seen and NOT_USED in seen and "[y/N]" not in seen
    assert host.connections == 0
    assert folder.run("config", "trust").stderr.count("requests for the model m") == 80


def test_serve_uses_no_untrusted_file(folder: Folder, host: Host) -> None:
    folder.environment["MY_KEY"] = KEY
    folder.config(host, "MY_KEY")

    def served() -> tuple[str, str]:
        process = subprocess.Popen(
            [*DRAGOMAN, "serve", "--port", "0"],
            cwd=folder.place,
            env=folder.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        first = process.stdout.readline()
        assert "listens on" in first
        request = urllib.request.Request(
            f"{first.rpartition(' ')[2].strip()}/v1/chat/completions",
            b'{"model": "gpt-5.1", "messages": [{"role": "user", "content": "hello"}]}',
            {"content-type": "application/json"},
        )
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(request, timeout=30).close()
        process.terminate()
        return process.communicate(timeout=30)

    _, errors = served()
    assert errors.count(NOT_USED) == 1 and host.requests == []
    folder.run("config", "trust")
    _, errors = served()
    assert NOT_USED not in errors and KEY in host.requests[0]


def read(path: Path, home: Path) -> FolderFile:
    return FolderFile(path, {"HOME": str(home)})


def test_a_reload_refuses_a_file_that_changed(folder: Folder, host: Host) -> None:
    file = folder.config(host)
    folder.run("config", "trust")
    found = read(file, folder.home)
    first = found.read()
    assert first == file.read_bytes()
    file.write_bytes(first + b"\n# changed\n")
    with pytest.raises(ConfigError, match="the file has changed, and is no longer trusted"):
        found.read()
    folder.run("config", "trust")
    assert found.read() == file.read_bytes()
    file.unlink()
    with pytest.raises(ConfigError):
        found.read()


def test_a_file_that_was_not_used_may_be_trusted_later(
    folder: Folder, host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder.config(host)
    found = read(file, folder.home)
    assert found.read() is None and found.read() is None
    assert capsys.readouterr().err.count(NOT_USED) == 1, "the message is printed once"
    folder.run("config", "trust")
    assert found.read() == file.read_bytes()


def test_trust_of_a_link_is_the_trust_of_its_target(folder: Folder, host: Host) -> None:
    file = folder.config(host)
    folder.run("config", "trust")
    other = folder.place / "other"
    other.mkdir()
    (other / "dragoman.toml").symlink_to(file)
    assert read(other / "dragoman.toml", folder.home).read() == file.read_bytes()
    (other / "copy.toml").write_bytes(file.read_bytes())
    assert read(other / "copy.toml", folder.home).read() is None


def test_a_pipe_or_a_large_file_is_not_used(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(folder.place / "dragoman.toml")
    assert read(folder.place / "dragoman.toml", folder.home).read() is None
    assert "not a regular file" in capsys.readouterr().err
    (folder.place / "large.toml").write_bytes(b"#" * 2_000_000)
    assert read(folder.place / "large.toml", folder.home).read() is None


def test_files_in_the_user_s_configuration_folder_need_no_question(folder: Folder) -> None:
    own = folder.home / ".config/dragoman/dragoman.toml"
    own.parent.mkdir(parents=True)
    own.write_text("")
    own.chmod(0o600)
    assert read(own, folder.home).read() == b""
    own.chmod(0o660)
    with pytest.raises(ConfigError, match="other users can write it"):
        read(own, folder.home).read()


@pytest.mark.parametrize("command", [("config", "check"), ("config", "show"), ("config", "trust"), ("models",)])
@pytest.mark.parametrize("kind", ["pipe", "endless", "folder", "large"])
def test_no_command_waits_for_a_file_that_cannot_be_read(folder: Folder, command: tuple[str, ...], kind: str) -> None:
    file = folder.place / "dragoman.toml"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "endless":
        file.symlink_to("/dev/zero")
    elif kind == "folder":
        file.mkdir()
    else:
        file.write_bytes(b"#" * 2_000_000)
    done = folder.run(*command)
    assert "Traceback" not in done.stderr and "dragoman.toml" in done.stderr
    assert done.returncode == (0 if command[0] == "models" else 1)


def test_a_named_file_may_be_a_pipe_with_a_size_limit(folder: Folder, host: Host) -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, folder.config(host).read_bytes())
    os.close(write_end)
    done = subprocess.run(
        [*DRAGOMAN, "config", "check", f"/dev/fd/{read_end}"],
        cwd=folder.home,
        env=folder.environment,
        pass_fds=[read_end],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(read_end)
    assert done.returncode == 0 and "1 upstream (openai)" in done.stdout, done.stderr
    for command in (("config", "check", "/dev/zero"), ("mcp", "list", "--config", "/dev/zero")):
        endless = folder.run(*command)
        assert endless.returncode == 1 and "larger than" in endless.stderr, endless.stderr


def test_a_route_may_use_an_upstream_of_the_environment() -> None:
    data = b'[[routes]]\nmatch = "claude-*"\nto = ["openai/gpt-5"]\n'
    assert effects_of_file("dragoman.toml", data) == ["requests for the model claude-* go to openai/gpt-5"]
