"""`dragoman ask`: what is shown of what happens, on a terminal and elsewhere; and what it says where it cannot run."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dragoman.canon import Fault, Loss, ToolResult
from dragoman.cli.ask_output import TextOutput, _approval, visible
from dragoman.cli.ask_run import _routed
from dragoman.gateway.config import Config, Route, Target, Upstream, checked
from dragoman.runtime.events import (
    Compressed,
    Content,
    Failed,
    Finished,
    Lost,
    Retrying,
    RunEvent,
    Thought,
    ToolCallProgress,
    ToolCallRequest,
    ToolCallResponse,
    Waiting,
)
from dragoman.runtime.tool_interface import Confirmation, DiffStat, FileDiff
from dragoman.runtime.toolbox import Approval

DIFF = FileDiff(
    "a.txt", "/w/a.txt", "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-old\n+new\n", "old\n", "new\n", DiffStat(1, 1)
)
EDIT = ToolCallResponse("c", "replace", (ToolResult("c"),), DIFF)


def _told(capsys: pytest.CaptureFixture[str], *happenings: RunEvent, terminal: bool = False, **more: Any) -> str:
    out = StringIO()
    teller = TextOutput(Console(file=out, force_terminal=terminal, width=100, highlight=False, soft_wrap=True), **more)
    for happening in happenings:
        teller.tell(happening)
    return out.getvalue()


def test_words_go_to_standard_output_and_end_their_line(capsys: pytest.CaptureFixture[str]) -> None:
    told = _told(
        capsys, Content("Good "), Content("morning."), ToolCallRequest("c", "look", {"n": 1}), Finished("stop")
    )
    assert capsys.readouterr().out == "Good morning.\n"
    assert told == "→ look n=1\n"


@pytest.mark.parametrize("terminal", [False, True], ids=["pipe", "terminal"])
def test_an_edit(capsys: pytest.CaptureFixture[str], terminal: bool) -> None:
    told = _told(capsys, EDIT, terminal=terminal)
    assert "✓ replace: /w/a.txt (+1 -1)" in told
    assert ("+new" in told and "\x1b[32m" in told) is terminal


def test_of_an_edit_that_a_person_changed_the_lines_that_were_written_count(capsys: pytest.CaptureFixture[str]) -> None:
    changed = FileDiff("a.txt", "/w/a.txt", DIFF.diff, "old\n", "new\n", DiffStat(5, 1, 1, 5))
    told = _told(capsys, ToolCallResponse("c", "replace", (ToolResult("c"),), changed, decision="modify"))
    assert told == "✓ replace: /w/a.txt (+1 -1)\n"


def test_how_it_ends(capsys: pytest.CaptureFixture[str]) -> None:
    fault = Fault("auth", "no such key", 401)
    assert _told(capsys, Failed(fault), Finished("fault", detail="no such key"), kept=False) == "failed: no such key\n"
    assert _told(capsys, Finished("fault", detail="MALFORMED")) == "the answer ended with an error (MALFORMED)\n"
    assert _told(capsys, Finished("cancelled")) == "stopped\n"
    assert _told(capsys, Finished("refusal")) == "the model refused to answer\n"
    assert _told(capsys, ToolCallRequest("c", "look", {})) == "→ look\n"


def test_progress_is_shown_on_a_terminal_and_goes_when_it_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    happenings = [ToolCallProgress("c", "one\ntwo\n"), EDIT]
    assert "two" in _told(capsys, *happenings, terminal=True)
    assert "two" not in _told(capsys, *happenings)


def test_what_else_happens(capsys: pytest.CaptureFixture[str]) -> None:
    info = Loss("field.dropped", "dropped", "info", "/id")
    grave = Loss("seal.dropped", "dropped", "warning", "/turns/1/parts/0")
    fault = Fault("overloaded", "busy", 529)
    failed = ToolCallResponse("c", "look", (), "", "no such file\nat all", "file_not_found")
    happenings = [
        Lost((info, grave)),
        Retrying(fault, 2.0),
        Failed(fault),
        failed,
        Compressed(9, 3),
        Waiting("c", "look", Confirmation("look", "read")),
        Thought("Subject", "and more"),
        Finished("turns"),
    ]
    assert _told(capsys, *happenings).splitlines() == [
        "lost: warning: seal.dropped at /turns/1/parts/0",
        "busy; next attempt in 2 s",
        "failed: busy (try again with: dragoman ask --continue)",
        "✗ look: no such file",
        "history compressed: 9 to 3 tokens",
        "? look waits: look",
        "the limit of turns is reached",
    ]
    assert "field.dropped" in _told(capsys, Lost((info,)), losses=True)
    assert "Subject: and more" in _told(capsys, Thought("Subject", "and more"), terminal=True)


def test_long_arguments_are_shortened(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(_told(capsys, ToolCallRequest("c", "look", {"text": "x" * 5000}))) < 250


def test_nothing_is_drawn_over_what_a_person_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    out = StringIO()
    teller = TextOutput(Console(file=out, force_terminal=True, width=200, highlight=False, soft_wrap=True))
    teller.say("$ rm -rf x\x1b[2K\r$ ls \u202e")
    assert "rm -rf x\\x1b[2K\\x0d$ ls \\x202e" in out.getvalue()
    _told(capsys, Content("\x1b[31mas it is\x1b[0m\n"))
    assert capsys.readouterr().out == "\x1b[31mas it is\x1b[0m\n", "what is no terminal gets every byte"
    assert visible("tabs\tand\nlines, äöü 日本 🙂") == "tabs\tand\nlines, äöü 日本 🙂"


@pytest.mark.parametrize(
    ("word", "said"),
    [("y", "once"), ("always", "always"), ("s", "always_server"), ("n", "no"), ("\x04", "no"), ("maybe", None)],
)
def test_what_a_person_says(word: str, said: str | None) -> None:
    found = _approval(word, "because", Confirmation("run", "other", server="office", tool="echo"))
    assert (found.answer if found is not None else None) == said
    assert _approval("s", "", Confirmation("run", "run")) is None
    assert _approval("n", "not now", Confirmation("run", "run")) == Approval("no", why="not now")


def test_an_editor_that_is_not_there_has_the_person_asked_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", "/nowhere/editor")
    assert _approval("e", "", Confirmation("write", "edit", diff=DIFF)) is None
    assert "/nowhere/editor" in capsys.readouterr().err


def test_a_model_is_named_as_for_the_gateway() -> None:
    config = Config(
        upstreams={"o": Upstream("openai-chat", models=("gpt-*",))},
        routes=(Route("fast", (Target("o", "gpt-mini"),)),),
    )
    found = checked(config, "test")
    assert _routed("fast", found) == "o/gpt-mini"
    assert _routed("gpt-5.1", found) == "o/gpt-5.1"
    assert _routed("o/anything", found) == "o/anything"
    assert _routed("rehearsal/one-call", found) == "rehearsal/one-call"
    assert _routed("nobody/m", found) == "nobody/m"
    assert _routed("", found) == ""


@pytest.mark.parametrize(("words", "code"), [(["--help"], 0), (["ask", "Hello"], 1), (["log"], 1)])
def test_without_the_extra_it_says_what_is_missing(tmp_path: Path, words: list[str], code: int) -> None:
    program = "import sys; sys.modules['jsonschema_rs'] = None; from dragoman.cli.main import main; main()"
    command = [sys.executable, "-c", program, *words]
    done = subprocess.run(
        command, capture_output=True, text=True, env={"HOME": str(tmp_path)}, stdin=subprocess.DEVNULL, timeout=30
    )
    assert done.returncode == code
    assert ("pip install 'dragoman[ask]'" in done.stderr) is bool(code), done.stderr
