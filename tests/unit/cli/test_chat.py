"""`dragoman chat`: in a real terminal, and in a pipe."""

from __future__ import annotations

import io
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from click.testing import CliRunner
from rich.console import Console

from dragoman.canon import Media, Text
from dragoman.cli.ask_output import Approver
from dragoman.cli.chat_commands import ChatCommands
from dragoman.cli.chat_message import message_parts
from dragoman.cli.chat_output import MarkdownOutput, _complete
from dragoman.cli.clipboard_image import clipboard_image
from dragoman.cli.main import main
from dragoman.errors import ConfigError
from dragoman.runtime import Confirmation, Content, Finished, RunEvent, ToolCallRequest, ToolCallResponse
from tests.unit.cli.fake_upstream import fake_upstream

PICTURE = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
_COMMAND = "from dragoman.cli.main import main; main()"
_PROMPT = re.compile(r"> ?(\x1b\[[0-9;?]*[a-zA-Z]|\x08)*$")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|\r")


class Terminal:
    """A chat process in its own terminal."""

    def __init__(self, folder: Path, *options: str) -> None:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "LANG")}
        # The terminal of the tests does not report the position of the cursor.
        quiet = {"TERM": "xterm", "LC_ALL": "C.UTF-8", "PROMPT_TOOLKIT_NO_CPR": "1"}
        env = {**kept, **quiet, "HOME": str(folder.parent)}
        self.child = pexpect.spawn(
            sys.executable,
            ["-c", _COMMAND, "chat", "--model", "rehearsal/rules", *options],
            cwd=str(folder),
            env=env,  # type: ignore[arg-type]
            encoding="utf-8",
            timeout=60,
            dimensions=(40, 250),
        )
        self.expect("/help lists the commands")

    def expect(self, text: str) -> str:
        """Wait for a text, and return the output up to this text."""
        self.child.expect(text)
        return _CONTROL.sub("", self.child.before + self.child.after)

    def type(self, line: str) -> None:
        """Wait for the prompt, and type a message."""
        self.child.expect(_PROMPT)
        self.child.send(line + "\r")

    def answer(self, word: str) -> None:
        """Type an answer to a question."""
        self.child.send(word + "\r")

    def end(self) -> int:
        """End the chat with Ctrl-D, and return its exit code."""
        self.child.expect(_PROMPT)
        self.child.sendeof()
        self.child.expect(pexpect.EOF)
        self.child.close()
        return int(self.child.exitstatus or 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    (made / "notes.txt").write_text("A dragoman was an interpreter.\n")
    return made


@pytest.fixture
def terminal(folder: Path) -> Iterator[Terminal]:
    made = Terminal(folder)
    yield made
    made.child.close(force=True)


def test_a_chat_with_a_call_an_approval_and_an_undo(terminal: Terminal, folder: Path) -> None:
    terminal.type(f"Read the file {folder}/notes.txt")
    shown = terminal.expect("tokens out")
    assert "read_file" in shown and "A dragoman was an interpreter." in shown
    terminal.type(f'Call write_file with {{"file_path": "{folder}/new.txt", "content": "hello"}}')
    assert "Create" in terminal.expect(re.escape("[n]o:"))
    assert not (folder / "new.txt").exists()
    terminal.answer("y")
    terminal.expect("tokens out")
    assert (folder / "new.txt").read_text() == "hello"
    terminal.type("/undo")
    terminal.expect("taken back")
    assert not (folder / "new.txt").exists()
    assert terminal.end() == 0


def test_a_continued_chat_shows_its_last_message(terminal: Terminal, folder: Path) -> None:
    terminal.type("My name is Ada.")
    terminal.expect("tokens out")
    terminal.end()
    continued = Terminal(folder, "--continue")
    shown = continued.expect("you said: “My name is Ada.”")
    assert "This chat has 1 messages" in shown or "> My name is Ada." in shown
    continued.type("/retry")
    continued.expect("the last answer is complete")
    assert continued.end() == 0


def test_ctrl_c_stops_the_answer_and_not_the_chat(terminal: Terminal, folder: Path) -> None:
    terminal.type("run the shell command `touch started; sleep 60`")
    terminal.expect(re.escape("[n]o:"))
    terminal.answer("y")
    while not (folder / "started").exists():
        time.sleep(0.05)
    terminal.child.sendintr()
    terminal.expect("stopped")
    terminal.type("Hello")
    terminal.expect("tokens out")
    assert terminal.end() == 0


def test_a_message_may_have_several_lines_and_the_history_is_kept(terminal: Terminal, folder: Path) -> None:
    terminal.type("one\x1b\rtwo")
    assert "one two" in terminal.expect("tokens out").replace("\n", " ")
    terminal.end()
    kept = folder.parent / ".local" / "share" / "dragoman" / "chat_history"
    assert "+one\n+two" in kept.read_text() and kept.stat().st_mode & 0o077 == 0


def test_a_wrong_key_is_named_before_the_first_turn(folder: Path) -> None:
    done = CliRunner(env={"HOME": str(folder), "OPENAI_API_KEY": ""}).invoke(
        main, ["chat", "--model", "openai/gpt-5", "--no-store"], input="Hello\n"
    )
    assert done.exit_code == 2 and "OPENAI_API_KEY" in done.stderr and done.stdout == ""


def piped(folder: Path, monkeypatch: pytest.MonkeyPatch, lines: str) -> tuple[str, str]:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.setenv("DRAGOMAN_MODEL", "rehearsal/rules")
    done = CliRunner().invoke(main, ["chat"], input=lines)
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


def test_a_chat_runs_in_a_pipe(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "What does @notes.txt hold?\n!echo from me\nAnd now?\n/usage\n/losses\n/nonsense\n"
    out, err = piped(folder, monkeypatch, lines)
    assert "A dragoman was an interpreter" in out and "last answer:" in out and "nothing was lost" in out
    assert "window: unknown; this chat: $0.00" in out
    assert "from me" in err and "/nonsense" in err


@pytest.mark.parametrize("name", ["talk.md", "talk.json"])
def test_a_chat_is_saved_but_never_overwrites_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    out, err = piped(folder, monkeypatch, f"Hello\n/save {name}\n/save {name}\n")
    assert "Hello" in (folder / name).read_text()
    assert out.count("saved:") == 1 and "File exists" in err


def test_commands_show_the_last_request_and_the_tools(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, _ = piped(folder, monkeypatch, "Hello\n/wire gemini\n/tools\n/mcp\n/model\n/compact\n/exit\nnever\n")
    assert re.search(r"google_web_search +not offered", out)
    assert '"contents"' in out and "read_file" in out and "no MCP server" in out and "too short" in out
    assert "never" not in out


def test_every_command_has_a_help_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, _ = piped(folder, monkeypatch, "/help\n")
    for name in ChatCommands.names():
        assert re.search(rf"{name}\s+\S+", out)


def test_files_in_a_message_are_attached(folder: Path) -> None:
    (folder / "a picture.png").write_bytes(PICTURE)
    text, notes, picture = message_parts(
        'Look at @notes.txt, and @"a picture.png" for user@example.com @nobody', folder
    )
    assert isinstance(text, Text) and text.text.startswith("Look at @notes.txt")
    assert isinstance(notes, Text) and "A dragoman was an interpreter." in notes.text
    assert isinstance(picture, Media) and picture.mime == "image/png"
    (dropped,) = message_parts(f"'{folder}/a picture.png' ", folder)
    assert isinstance(dropped, Media)
    rest, pasted = message_parts("See data:image/png;base64,iVBORw0K here", folder)
    assert rest == Text("See [image] here") and pasted == Media("image", "image/png", "iVBORw0K")


def test_a_file_that_is_too_large_is_not_attached(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.cli.chat_message.LARGEST", 3)
    with pytest.raises(ConfigError, match="smaller file"):
        message_parts("@notes.txt", folder)


@pytest.mark.parametrize(
    ("text", "complete"),
    [("one", ""), ("one\n\ntwo", "one\n\n"), ("```\na\n\nb", ""), ("```\na\n\nb\n```\n\nc", "```\na\n\nb\n```\n\n")],
)
def test_only_complete_paragraphs_are_shown(text: str, complete: str) -> None:
    assert text[: _complete(text)] == complete


def test_commands_start_a_new_conversation_and_change_permissions(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = f'My name is Ada.\n/new\n/wire gemini\n/approve\n/approve nonsense\n/approve edits\nCall write_file with {{\
"file_path": "{folder}/new.txt", "content": "hello"}}\n/quit\nnever\n'
    out, err = piped(folder, monkeypatch, lines)
    assert "a new conversation" in out and "Ada" not in out.partition("a new conversation")[2]
    assert "\nask\n" in out and "\nedits\n" in out and "nonsense" in err
    assert (folder / "new.txt").read_text() == "hello" and "never" not in out


def test_the_picture_in_the_clipboard_is_attached(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs, data = folder.parent / "bin", folder.parent / "clip.png"
    programs.mkdir()
    data.write_bytes(PICTURE)
    (programs / "wl-paste").write_text("#!/bin/sh\necho no picture\n")
    (programs / "xclip").write_text(f"#!/bin/sh\n[ \"$4\" = image/png ] && cat '{data}'\n")
    for one in programs.iterdir():
        one.chmod(0o700)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("TMPDIR", str(folder))
    tempfile.tempdir = None
    found = clipboard_image(folder)
    assert found is not None and found.read_bytes() == PICTURE and found.stat().st_mode & 0o077 == 0
    _, picture = message_parts(f'See @"{found}" ', folder)
    assert isinstance(picture, Media) and picture.mime == "image/png"
    assert clipboard_image(programs) is None, "a program in the working folder is not started"
    data.write_bytes(b"words")
    assert clipboard_image(folder) is None


def shown(*events: RunEvent) -> str:
    """The output for events on a terminal of 60 columns."""
    written = io.StringIO()
    output = MarkdownOutput(Console(file=written, force_terminal=True, width=60, color_system=None))
    output.show_working_line()
    for event in events:
        output.show_event(event)
    output.remove_working_line()
    return _CONTROL.sub("", written.getvalue())


def test_one_empty_line_between_paragraphs_and_the_address_of_a_link() -> None:
    pieces = ("# Plan\n\n", "One\n\n", "- a\n- b\n\n", "See [here](https://a.example).\n\n")
    kept = [line.rstrip() for line in shown(*[Content(one) for one in pieces], Finished("stop")).splitlines()]
    text = ["Plan", "", "One", "", " • a", " • b", "", "See here (https://a.example)."]
    assert kept[kept.index("Plan") :] == [*text, "tokens unknown · cost unknown"]


def test_the_card_of_an_edit_shows_only_the_diff() -> None:
    card = shown(ToolCallRequest("c1", "write_file", {"file_path": "/a.txt", "content": "words"}))
    assert "/a.txt" in card and "words" not in card
    assert "words" in shown(ToolCallRequest("c1", "other", {"file_path": "/a.txt", "content": "words"}))


def test_the_end_of_a_command_s_output_stays_visible() -> None:
    lines = "\n".join([f"line {number}" for number in range(20)])
    kept = shown(ToolCallResponse("c1", "run_shell_command", (), lines))
    assert "12 lines before" in kept and "line 11" not in kept and "line 12" in kept and "line 19" in kept


@pytest.mark.parametrize(
    ("command", "hidden", "offered"),
    [
        ("git log", False, "[a]lways `git`"),
        ("ls -la | wc -l", False, "[a]lways `ls`, `wc`"),
        ("$X", True, "[y]es, [n]"),
    ],
)
def test_the_option_always_names_the_allowed_commands(command: str, hidden: bool, offered: str) -> None:
    confirmation = Confirmation("Run", "run", command=command, roots=("x",), hidden=hidden)
    assert offered in Approver(MarkdownOutput(Console())).words(confirmation)


def test_a_failed_answer_can_be_requested_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder.parent))
    with fake_upstream(400, "Fine.") as upstream:
        words = ["chat", "-m", "fake/one", "--config", str(upstream.config(folder.parent))]
        done = CliRunner().invoke(main, words, input="Hello\n/retry\n/retry\n")
    assert "something is odd (/retry asks again)" in done.stderr and "Fine." in done.stdout
    assert "the last answer is complete" in done.stderr
    assert [one["messages"][-1]["content"] for one in upstream.requests] == ["Hello", "Hello"]
