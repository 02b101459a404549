"""`dragoman ask` and `dragoman log` as separate processes: with a terminal, with Ctrl-C, with a kill."""

from __future__ import annotations

import json
import os
import pty
import select
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dragoman import lint
from dragoman.dialects import names

_MAIN = "from dragoman.cli.main import main; main()"
_PATIENCE = 30.0
_CONTROL_C = "\x03"


class User:
    """A user with a home and a folder."""

    def __init__(self, place: Path) -> None:
        self.folder, self._home, self.model = place / "work", place / "home", "rehearsal/rules"
        self.folder.mkdir()
        self._home.mkdir()
        (self.folder / "notes.txt").write_text("A dragoman was an interpreter.\n")

    @property
    def store(self) -> Path:
        return self._home / ".local" / "share" / "dragoman" / "store.sqlite3"

    @property
    def environment(self) -> dict[str, str]:
        plain = {"HOME": str(self._home), "PATH": os.environ["PATH"], "TERM": "xterm", "COLUMNS": "120"}
        return {**plain, "DRAGOMAN_MODEL": self.model}

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-c", _MAIN, *words]

    def runs(self, *words: str, input: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words),
            cwd=self.folder,
            env=self.environment,
            input=input,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
        )

    @contextmanager
    def started(self, *words: str, **more: Any) -> Iterator[subprocess.Popen[bytes]]:
        process = subprocess.Popen(
            self.command(*words), cwd=self.folder, env=self.environment, preexec_fn=_heed_interrupts, **more
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait(_PATIENCE)


def _heed_interrupts() -> None:
    """Handle Ctrl-C. A shell starts background jobs with SIGINT ignored, and child processes inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def _sleepers(seconds: str) -> list[int]:
    """The ids of processes that sleep this long."""
    found = []
    for one in Path("/proc").iterdir():
        if one.name.isdigit():
            try:
                words = (one / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0].endswith(b"sleep") and seconds.encode() in words:
                found.append(int(one.name))
    return found


def _wait_until(happens: Any) -> None:
    end = time.monotonic() + _PATIENCE
    while not happens():
        assert time.monotonic() < end, "the condition did not become true"
        time.sleep(0.02)


def test_without_a_key_no_request_is_sent_and_the_message_names_the_remedy(user: User) -> None:
    user.model = ""
    for command in ("ask", "chat"):
        done = user.runs(command, "Hello", input="")
        assert (done.returncode, done.stdout) == (2, "")
        assert "dragoman login" in done.stderr and "--model rehearsal/rules" in done.stderr


def test_a_tool_is_called_and_the_answer_is_printed(user: User) -> None:
    done = user.runs("ask", f"Read the file {user.folder}/notes.txt")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Rehearsal (no model): read_file answered: A dragoman was an interpreter.\n"
    assert "→ read_file absolute_path=" in done.stderr and "✓ read_file" in done.stderr
    assert "\x1b[" not in done.stdout + done.stderr, "colours need a terminal"


def test_standard_input_is_part_of_the_question(user: User) -> None:
    done = user.runs("ask", "What is this?", input="A line from a pipe.\n")
    assert "A line from a pipe." in done.stdout
    assert user.runs("ask").returncode == 2
    assert "What is this?" in user.runs("ask", "-", input="What is this?").stdout


def test_a_refused_call_names_the_options_that_permit_it(user: User) -> None:
    done = user.runs("ask", f'Call write_file with {{"file_path": "{user.folder}/new.txt", "content": "hello"}}')
    assert "nobody to ask" in done.stderr and "--approve edits" in done.stderr
    assert not (user.folder / "new.txt").exists()


def test_bytes_that_are_not_utf_8_are_replaced_and_reported(user: User) -> None:
    for words, given in [(("ask", "What is", os.fsdecode(b"caf\xe9?")), b""), (("ask", "What is"), b"caf\xe9?")]:
        with user.started(*words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            out, err = process.communicate(given, _PATIENCE)
        assert process.returncode == 0 and "caf\ufffd?" in out.decode() and "not UTF-8" in err.decode()


def test_ask_works_without_standard_input(user: User) -> None:
    command = shlex.join(user.command("ask", "Hello."))
    done = subprocess.run(
        ["bash", "-c", f"exec {command} <&-"],
        cwd=user.folder,
        env=user.environment,
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
    )
    assert done.returncode == 0 and done.stdout.startswith("Rehearsal"), done.stderr


def test_a_command_runs_only_if_an_option_allows_it(user: User) -> None:
    prompt = "run the shell command `touch made`"
    done = user.runs("ask", prompt)
    assert "there is nobody to ask" in done.stderr and not (user.folder / "made").exists()
    assert user.runs("ask", "--approve", "all", prompt).returncode == 0
    assert (user.folder / "made").exists()
    (user.folder / "made").unlink()
    user.runs("ask", "--allow", "run_shell_command(touch)", prompt)
    assert (user.folder / "made").exists()
    (user.folder / "made").unlink()
    done = user.runs("ask", "--approve", "all", "--deny", "run_shell_command", prompt)
    assert "denied by the policy" in done.stderr and not (user.folder / "made").exists()


def test_events_are_printed_as_lines_of_json(user: User) -> None:
    done = user.runs("ask", "--json", "--no-store", f"Read the file {user.folder}/notes.txt")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = list(dict.fromkeys([one["type"] for one in events]))
    assert kinds == ["thought", "tool_call_request", "tool_call_response", "content", "finished"]
    request = next(one for one in events if one["type"] == "tool_call_request")
    assert request["name"] == "read_file" and request["args"] == {"absolute_path": f"{user.folder}/notes.txt"}
    assert "".join([one["value"] for one in events if one["type"] == "content"]).startswith("Rehearsal")
    assert events[-1]["finishReason"] == "stop"
    assert user.runs("log").stderr == "there are no stored conversations\n"


def test_a_conversation_is_continued_listed_and_exported(user: User) -> None:
    user.runs("ask", f"Read the file {user.folder}/notes.txt")
    user.runs("ask", "--continue", "What was my first question?")
    listed = user.runs("log", "--here").stdout.splitlines()
    assert len(listed) == 1 and "rehearsal/rules  " in listed[0] and "Read the file" in listed[0]
    name = listed[0].split()[0]
    shown = user.runs("log", name[:6]).stdout
    assert "What was my first question?" in shown and "read_file" in shown and "an interpreter." in shown
    for dialect in names():
        done = user.runs("log", name, "--to", dialect, "--model", "m", "--losses", "json")
        assert done.returncode == 0, done.stderr
        grave = [one for one in lint(done.stdout, dialect=dialect, kind="request") if one.severity == "error"]
        assert grave == [], dialect
        assert "notes.txt" in done.stdout and "What was my first question?" in done.stdout
        assert any(loss["code"] == "seal.dropped" for loss in json.loads(done.stderr))
    assert user.runs("log", name, "--forget").returncode == 0
    assert user.runs("log", name).returncode == 2
    assert user.runs("ask", "--continue", "Hello?").returncode == 2


def test_faulty_servers_are_reported_and_do_not_stop_the_run(user: User) -> None:
    chatty = {"command": sys.executable, "args": ["-c", "print('I am no tool server.', flush=True)"]}
    own_server = {"command": sys.executable, "args": ["-c", _MAIN, "mcp", "serve"], "includeTools": ["glob"]}
    servers = {"chatty": chatty, "gone": {"command": "/no"}, "ours": own_server}
    (user.folder / "servers.json").write_text(json.dumps({"mcpServers": servers}))
    done = user.runs("ask", "--mcp", "servers.json", "Hello", "there.")
    assert done.returncode == 0 and done.stdout.startswith("Rehearsal")
    events = [line for line in done.stderr.splitlines() if "no key is set" not in line]
    assert events == [
        "dragoman: MCP server chatty: Connection closed (its output is not MCP: 'I am no tool server.')",
        "dragoman: MCP server gone: [Errno 2] No such file or directory: '/no'",
    ]


def test_a_missing_step_and_a_broken_store_are_reported(user: User) -> None:
    user.runs("ask", "Hello.")
    done = user.runs("ask", "--continue")
    assert done.returncode == 2 and "has no unfinished step" in done.stderr
    os.truncate(user.store, 0)
    user.store.write_bytes(b"no database" * 100)
    done = user.runs("ask", "Hello.")
    assert done.returncode == 2 and "--no-store" in done.stderr and "Traceback" not in done.stderr
    assert user.runs("ask", "--no-store", "Hello.").returncode == 0


def test_an_unreadable_conversation_can_be_deleted(user: User) -> None:
    user.runs("ask", "Hello.")
    with sqlite3.connect(user.store) as base:
        base.execute("UPDATE entries SET body = ?", (b"nonsense",))
    base.close()
    name = user.runs("log").stdout.split()[0]
    assert "session: it cannot be read" in user.runs("log", name).stderr
    assert user.runs("log", name, "--forget").returncode == 0
    assert user.runs("log").stderr == "there are no stored conversations\n"


def test_wrong_options_are_explained(user: User) -> None:
    assert "unknown tool 'nonsense'" in user.runs("ask", "--tools", "nonsense", "Hello").stderr
    done = user.runs("ask", "--model", "anthropic/claude-sonnet-4-5", "Hello")
    assert done.returncode == 2 and "Set ANTHROPIC_API_KEY" in done.stderr
    assert user.runs("log").stderr == "there are no stored conversations\n"
    assert user.runs("log", "--to", "anthropic").returncode == 2


def test_a_limit_ends_the_run_with_exit_code_1(user: User) -> None:
    done = user.runs("ask", "--turns", "1", f"Read the file {user.folder}/notes.txt")
    assert done.returncode == 1 and "limit of turns" in done.stderr


def test_telemetry_is_written_to_a_file(user: User) -> None:
    user.runs("ask", "--telemetry", "events.jsonl", f"Read the file {user.folder}/notes.txt")
    events = [json.loads(line) for line in (user.folder / "events.jsonl").read_text().splitlines()]
    kinds = [one["event.name"] for one in events]
    assert kinds == ["api_request", "api_response", "tool_call", "api_request", "api_response", "agent_run"]


@pytest.mark.parametrize(
    "how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=["interrupt", "terminate", "hang-up"]
)
def test_a_signal_leaves_no_process_and_a_complete_history(user: User, how: signal.Signals) -> None:
    seconds = f"4{how.value:02}.{os.getpid()}"
    with user.started(
        "ask", "--approve", "all", f"run the shell command `sleep {seconds}`", stdin=subprocess.DEVNULL
    ) as p:
        _wait_until(lambda: _sleepers(seconds))
        p.send_signal(how)
        assert p.wait(_PATIENCE) == 130
    assert _sleepers(seconds) == []
    name = user.runs("log").stdout.split()[0]
    session = json.loads(user.runs("log", name, "--json").stdout)
    assert session["step"] == "idle"
    call = next(part for turn in session["turns"] for part in turn["parts"] if part["part"] == "toolcall")
    (result,) = [part for turn in session["turns"] for part in turn["parts"] if part["part"] == "toolresult"]
    assert result["call_id"] == call["id"] and result["is_error"]
    assert user.runs("ask", "--continue", "Hello again.").returncode == 0


def test_a_killed_run_is_continued_and_repeats_no_command(user: User) -> None:
    seconds = f"51.{os.getpid()}"
    prompt = f"run the shell command `echo once >> log.txt; sleep {seconds}`"
    with user.started("ask", "--approve", "all", prompt, stdin=subprocess.DEVNULL) as process:
        _wait_until(lambda: _sleepers(seconds))
        process.kill()
        process.wait(_PATIENCE)
    for pid in _sleepers(seconds):  # No process was left to end this one.
        os.kill(pid, signal.SIGKILL)
    done = user.runs("ask", "--continue", "--approve", "all")
    assert done.returncode == 0, done.stderr
    assert "interrupted" in done.stderr
    assert (user.folder / "log.txt").read_text() == "once\n"


def _run_in_terminal(user: User, *words: str, answers: dict[str, str]) -> tuple[int, str]:
    """Run a command in a terminal, and type each answer after its question. Returns the exit code and the output."""
    controller, terminal = pty.openpty()
    seen = ""
    waiting = dict(answers)
    with user.started(*words, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True) as process:
        os.close(terminal)
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            ready, _, _ = select.select([controller], [], [], 0.1)
            if ready:
                try:
                    piece = os.read(controller, 65536)
                except OSError:  # The program has closed the terminal.
                    break
                seen += piece.decode("utf-8", "replace")
            elif process.poll() is not None:
                break
            for request in [one for one in waiting if one in seen]:
                answer = waiting.pop(request)
                if answer == _CONTROL_C:  # This terminal controls no process, so it sends no signal.
                    process.send_signal(signal.SIGINT)
                else:
                    os.write(controller, answer.encode())
        code = process.wait(_PATIENCE)
    os.close(controller)
    return code, seen


def test_a_person_at_a_terminal_approves_calls(user: User) -> None:
    prompt = "run the shell command `touch made`"
    code, seen = _run_in_terminal(user, "ask", prompt, answers={"[n]o: ": "n not now\n"})
    assert code == 0 and "\x1b[" in seen and "touch made" in seen
    assert "not now" in seen and not (user.folder / "made").exists()
    code, seen = _run_in_terminal(user, "ask", prompt, answers={"[n]o: ": "a\n"})
    assert code == 0 and (user.folder / "made").exists()
    (user.folder / "made").unlink()
    user.runs("ask", prompt)
    assert (user.folder / "made").exists(), "an approval with `always` holds in the next run"


def test_keys_typed_before_the_question_are_no_answer(user: User) -> None:
    slow = user.folder / "slow.json"
    late = "import sys, time; time.sleep(1); sys.exit()"
    slow.write_text(json.dumps({"mcpServers": {"late": {"command": sys.executable, "args": ["-c", late]}}}))
    answers = {"no key is set": "y\ny\n", "[n]o: ": "n\n"}
    words = ("ask", "--mcp", str(slow), "run the shell command `touch made`")
    code, seen = _run_in_terminal(user, *words, answers=answers)
    assert code == 0 and "the user refused it" in seen and not (user.folder / "made").exists()


def test_an_interrupt_during_the_question_ends_the_run(user: User) -> None:
    code, _ = _run_in_terminal(user, "ask", "run the shell command `touch made`", answers={"[n]o: ": _CONTROL_C})
    assert code == 130 and not (user.folder / "made").exists()
