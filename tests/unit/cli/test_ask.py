"""`dragoman ask`: the output for each event of a run, on a terminal and in a pipe."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dragoman.canon import Fault, Loss, ToolResult
from dragoman.cli.ask_output import TextOutput, _approval, without_control_characters
from dragoman.cli.ask_run import _model_by_routes
from dragoman.gateway.config import Config, Route, Target, Upstream, check_config
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


def _output_of(capsys: pytest.CaptureFixture[str], *run_events: RunEvent, terminal: bool = False, **more: Any) -> str:
    out = StringIO()
    output = TextOutput(Console(file=out, force_terminal=terminal, width=100, highlight=False, soft_wrap=True), **more)
    for run_event in run_events:
        output.show_event(run_event)
    return out.getvalue()


def test_the_answer_goes_to_standard_output_and_ends_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    output = _output_of(
        capsys, Content("Good "), Content("morning."), ToolCallRequest("c", "look", {"n": 1}), Finished("stop")
    )
    assert capsys.readouterr().out == "Good morning.\n"
    assert output == "→ look n=1\n"


@pytest.mark.parametrize("terminal", [False, True], ids=["pipe", "terminal"])
def test_an_edit_is_shown_with_its_diff_on_a_terminal(capsys: pytest.CaptureFixture[str], terminal: bool) -> None:
    output = _output_of(capsys, EDIT, terminal=terminal)
    assert "✓ replace: /w/a.txt (+1 -1)" in output
    assert ("+new" in output and "\x1b[32m" in output) is terminal


def test_an_edit_changed_by_a_person_shows_the_lines_that_were_written(capsys: pytest.CaptureFixture[str]) -> None:
    changed = FileDiff("a.txt", "/w/a.txt", DIFF.diff, "old\n", "new\n", DiffStat(5, 1, 1, 5))
    output = _output_of(capsys, ToolCallResponse("c", "replace", (ToolResult("c"),), changed, decision="modify"))
    assert output == "✓ replace: /w/a.txt (+1 -1)\n"


def test_the_end_of_a_run_is_shown_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    fault = Fault("auth", "no such key", 401)
    assert (
        _output_of(capsys, Failed(fault), Finished("fault", detail="no such key"), kept=False)
        == "failed: no such key\n"
    )
    assert _output_of(capsys, Finished("fault", detail="MALFORMED")) == "the answer ended with an error (MALFORMED)\n"
    assert _output_of(capsys, Finished("cancelled")) == "stopped\n"
    assert _output_of(capsys, Finished("refusal")) == "the model refused to answer\n"
    assert _output_of(capsys, ToolCallRequest("c", "look", {})) == "→ look\n"


def test_progress_is_shown_only_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    run_events = [ToolCallProgress("c", "one\ntwo\n"), EDIT]
    assert "two" in _output_of(capsys, *run_events, terminal=True)
    assert "two" not in _output_of(capsys, *run_events)


def test_other_events_are_one_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    info = Loss("field.dropped", "dropped", "info", "/id")
    grave = Loss("seal.dropped", "dropped", "warning", "/turns/1/parts/0")
    fault = Fault("overloaded", "busy", 529)
    failed = ToolCallResponse("c", "look", (), "", "no such file\nat all", "file_not_found")
    run_events = [
        Lost((info, grave)),
        Retrying(fault, 2.0),
        Failed(fault),
        failed,
        Compressed(9, 3),
        Waiting("c", "look", Confirmation("look", "read")),
        Thought("Subject", "and more"),
        Finished("turns"),
    ]
    assert _output_of(capsys, *run_events).splitlines() == [
        "lost: warning: seal.dropped at /turns/1/parts/0",
        "busy; next attempt in 2 s",
        "failed: busy (try again with: dragoman ask --continue)",
        "✗ look: no such file",
        "history compressed: 9 to 3 tokens",
        "? look waits: look",
        "the limit of turns is reached",
    ]
    assert "field.dropped" in _output_of(capsys, Lost((info,)), losses=True)
    assert "Subject: and more" in _output_of(capsys, Thought("Subject", "and more"), terminal=True)


def test_long_arguments_are_shortened(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(_output_of(capsys, ToolCallRequest("c", "look", {"text": "x" * 5000}))) < 250


def test_control_characters_cannot_hide_a_question_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    out = StringIO()
    output = TextOutput(Console(file=out, force_terminal=True, width=200, highlight=False, soft_wrap=True))
    output.say("$ rm -rf x\x1b[2K\r$ ls \u202e")
    assert "rm -rf x\\x1b[2K\\x0d$ ls \\x202e" in out.getvalue()
    _output_of(capsys, Content("\x1b[31mas it is\x1b[0m\n"))
    assert capsys.readouterr().out == "\x1b[31mas it is\x1b[0m\n", "a pipe gets every byte"
    assert without_control_characters("tabs\tand\nlines, äöü 日本 🙂") == "tabs\tand\nlines, äöü 日本 🙂"


@pytest.mark.parametrize(
    ("word", "answer"),
    [("y", "once"), ("always", "always"), ("s", "always_server"), ("n", "no"), ("\x04", "no"), ("maybe", None)],
)
def test_the_answers_to_an_approval_are_read(word: str, answer: str | None) -> None:
    found = _approval(word, "because", Confirmation("run", "other", server="office", tool="echo"))
    assert (found.answer if found is not None else None) == answer
    assert _approval("s", "", Confirmation("run", "run")) is None
    assert _approval("n", "not now", Confirmation("run", "run")) == Approval("no", why="not now")


def test_a_missing_editor_is_an_error_and_the_question_is_repeated(
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
    found = check_config(config, "test")
    assert _model_by_routes("fast", found) == "o/gpt-mini"
    assert _model_by_routes("gpt-5.1", found) == "o/gpt-5.1"
    assert _model_by_routes("o/anything", found) == "o/anything"
    assert _model_by_routes("rehearsal/one-call", found) == "rehearsal/one-call"
    assert _model_by_routes("nobody/m", found) == "nobody/m"
    assert _model_by_routes("", found) == ""


@pytest.mark.parametrize(("words", "code"), [(["--help"], 0), (["ask", "Hello"], 1), (["log"], 1)])
def test_without_the_extra_the_command_names_the_missing_package(tmp_path: Path, words: list[str], code: int) -> None:
    program = "import sys; sys.modules['jsonschema_rs'] = None; from dragoman.cli.main import main; main()"
    command = [sys.executable, "-c", program, *words]
    done = subprocess.run(
        command, capture_output=True, text=True, env={"HOME": str(tmp_path)}, stdin=subprocess.DEVNULL, timeout=30
    )
    assert done.returncode == code
    assert ("pip install 'dragoman[ask]'" in done.stderr) is bool(code), done.stderr
