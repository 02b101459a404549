"""A tool may return a single `functionResponse` part, or a ToolResult: both are passed through."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.canon.parts import Media, Text, ToolCall, ToolResult
from dragoman.runtime.function_response_reader import function_response
from dragoman.runtime.function_tools import outcome_of
from dragoman.runtime.tool_interface import Failure, Outcome
from dragoman.runtime.toolbox import as_result

CALL = ToolCall("c1", "look", "{}")


def _part(response: Any) -> Any:
    return {"functionResponse": {"id": "other", "name": "other", "response": response}}


@pytest.mark.parametrize(
    ("response", "result"),
    [
        ({"output": "18 degrees"}, ToolResult("c1", (Text("18 degrees"),), "look")),
        ({"error": "no weather"}, ToolResult("c1", (Text("no weather"),), "look", True)),
        (
            {"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]},
            ToolResult("c1", (Text("a\nb"),), "look"),
        ),
        ({"degrees": 18}, ToolResult("c1", (Text('{"degrees":18}'),), "look", structured=True)),
        ({"output": "x", "more": 1}, ToolResult("c1", (Text('{"output":"x","more":1}'),), "look", structured=True)),
    ],
)
def test_a_response_is_passed_through_under_the_id_of_the_call(response: Any, result: ToolResult) -> None:
    assert as_result(CALL, outcome_of(_part(response), "look")) == result


@pytest.mark.parametrize(
    "value",
    [{"functionResponse": {"response": {}}, "text": "x"}, {"functionResponse": "x"}, {"functionResponse": {}}, [], "x"],
)
def test_other_values_are_no_response(value: Any) -> None:
    assert function_response(value) is None


def test_a_result_of_canon_is_passed_through_too() -> None:
    picture = Media("image", "image/png", data="aGk=")
    result_of_canon = ToolResult("", (Text("a"), picture))
    assert as_result(CALL, outcome_of(result_of_canon, "look")) == ToolResult("c1", (Text("a"), picture), "look")
    failed = Outcome(result_of_canon, failure=Failure("no", "x"))
    assert as_result(CALL, failed).is_error
