"""Results with several parts: the result states the success, and for Gemini the parts follow the result."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman import Media, Text, ToolCall, ToolResult
from dragoman.canon.request import Request
from dragoman.canon.turns import Turn
from dragoman.runtime.seals_ids_and_names_for_upstream import export_request

SUCCEEDED = "Tool execution succeeded."
IMAGE = Media("image", "image/png", data="aGk=")


def contents(dialect: str, *results: ToolResult) -> list[Any]:
    calls = tuple([ToolCall(result.call_id, result.name, "{}") for result in results])
    turns = (Turn("user", (Text("Look."),)), Turn("assistant", calls), Turn("tool", results))
    body = json.loads(export_request(Request(turns), dialect, "gemini-2.5-pro")[0])
    found: list[Any] = (body["request"] if dialect == "code-assist" else body)["contents"]
    return found


def response(call_id: str, name: str, output: str) -> dict[str, Any]:
    return {"functionResponse": {"id": call_id, "name": name, "response": {"output": output}}}


@pytest.mark.parametrize("dialect", ["gemini", "code-assist"])
def test_several_parts_follow_the_result(dialect: str) -> None:
    many = ToolResult(
        "c1", (Text(SUCCEEDED), Text("--- a ---\n\nx"), IMAGE, Text("--- end ---")), name="read_many_files"
    )
    assert contents(dialect, many)[-1] == {
        "role": "user",
        "parts": [
            response("c1", "read_many_files", SUCCEEDED),
            {"text": "--- a ---\n\nx"},
            {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
            {"text": "--- end ---"},
        ],
    }


def test_the_results_of_parallel_calls_come_before_their_parts() -> None:
    many = ToolResult("c1", (Text(SUCCEEDED), Text("x")), name="read_many_files")
    turns_of_results = contents("gemini", many, ToolResult("c2", (Text("y"),), name="glob"))
    assert turns_of_results[-1]["parts"] == [
        response("c1", "read_many_files", SUCCEEDED),
        response("c2", "glob", "y"),
        {"text": "x"},
    ]


def test_a_result_with_one_text_is_unchanged() -> None:
    assert contents("gemini", ToolResult("c1", (Text(SUCCEEDED),), name="glob"))[-1]["parts"] == [
        response("c1", "glob", SUCCEEDED)
    ]
    failed = ToolResult("c1", (Text(SUCCEEDED), Text("x")), name="glob", is_error=True)
    assert contents("gemini", failed)[-1]["parts"] == [
        {"functionResponse": {"id": "c1", "name": "glob", "response": {"error": f"{SUCCEEDED}\nx"}}}
    ]
