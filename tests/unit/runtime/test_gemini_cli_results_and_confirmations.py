"""Events as JSON: results are parts of Gemini's protocol, other fields have the names of Gemini CLI."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.canon.parts import Media, Text, ToolCall, ToolResult
from dragoman.runtime.events import ToolCallResponse, Waiting, WebSearchBegin, WebSearchEnd, as_line
from dragoman.runtime.gemini_cli_results_and_confirmations import confirmation_details
from dragoman.runtime.tool_interface import Confirmation, DiffStat, FileDiff, Outcome
from dragoman.runtime.toolbox import as_result

DIFF = FileDiff("a.txt", "/w/a.txt", "--- a\n+++ a\n", "old\n", "new\n", DiffStat(1, 1))
EDIT = {
    "fileName": "a.txt",
    "filePath": "/w/a.txt",
    "fileDiff": "--- a\n+++ a\n",
    "originalContent": "old\n",
    "newContent": "new\n",
    "diffStat": {"ai_added_lines": 1, "ai_removed_lines": 1, "user_added_lines": 0, "user_removed_lines": 0},
}
PICTURE = Media("image", "image/png", data="aGk=")
INLINE = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}


def _response(output: str, *beside: Any, key: str = "output") -> list[Any]:
    return [{"functionResponse": {"id": "c1", "name": "look", "response": {key: output}}}, *beside]


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("hello", _response("hello")),
        ((PICTURE,), _response("Binary content of type image/png was processed.", INLINE)),
        (
            (Text("--- a ---"), PICTURE, Text("--- b ---")),
            _response("Tool execution succeeded.", {"text": "--- a ---"}, INLINE, {"text": "--- b ---"}),
        ),
    ],
)
def test_results_are_parts_of_geminis_protocol(content: Any, parts: Any) -> None:
    result = as_result(ToolCall("c1", "look"), Outcome(content))
    assert json.loads(as_line(ToolCallResponse("c1", "look", (result,))))["responseParts"] == parts


def test_a_failure_is_an_error_part() -> None:
    failed = ToolResult("c1", (Text("no such file"),), "look", True)
    line = json.loads(as_line(ToolCallResponse("c1", "look", (failed,), error="no such file")))
    assert line["responseParts"] == _response("no such file", key="error")


def test_the_result_of_an_edit_has_the_field_names_of_gemini_cli() -> None:
    result = ToolResult("c1", (Text("done"),), "look")
    assert json.loads(as_line(ToolCallResponse("c1", "look", (result,), DIFF)))["resultDisplay"] == EDIT


@pytest.mark.parametrize(
    ("confirmation", "details"),
    [
        (Confirmation("Change it", "edit", DIFF), {"type": "edit", "title": "Change it", **EDIT}),
        (
            Confirmation("List", "run", command="ls -la | wc", roots=("ls", "wc")),
            {"type": "exec", "title": "List", "command": "ls -la | wc", "rootCommand": "ls, wc", "directory": ""},
        ),
        (
            Confirmation("Run it", "other", server="files", tool="wipe", display="files__wipe"),
            {
                "type": "mcp",
                "title": "Run it",
                "serverName": "files",
                "toolName": "wipe",
                "toolDisplayName": "files__wipe",
            },
        ),
        (Confirmation("Fetch", "fetch", urls=("https://a.example",)), None),
    ],
)
def test_confirmations_have_a_type_and_the_field_names_of_gemini_cli(confirmation: Confirmation, details: Any) -> None:
    wanted = details or {"type": "info", "title": "Fetch", "urls": ["https://a.example"]}
    assert confirmation_details(confirmation) == wanted
    assert json.loads(as_line(Waiting("c1", "look", confirmation)))["asked"] == wanted


def test_searches_of_the_upstream_have_a_begin_and_an_end_event() -> None:
    assert as_line(WebSearchBegin("s1")) == b'{"type":"web_search_begin","callId":"s1"}\n'
    assert json.loads(as_line(WebSearchEnd("s1", "ravens"))) == {
        "type": "web_search_end",
        "callId": "s1",
        "query": "ravens",
    }
