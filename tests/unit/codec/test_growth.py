"""Cost and output grow linearly with the input. The tests count the executed lines and read no clock.

`make doubling` measures CPU time, for every list and every nesting in a request.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import dragoman
from dragoman.canon.parts import Path, Text, ToolCall, ToolResult
from dragoman.canon.turns import Turn
from dragoman.codec.packed_seals import PackedSeal, digest
from dragoman.context import Context
from dragoman.dialects.openai_chat.tool_result_writer import write_results_messages
from dragoman.fast import forget
from dragoman.lint.runner import _order
from dragoman.seals.placing_on_parts import Placing

DIALECTS = ("anthropic", "code-assist", "gemini", "ollama", "openai-chat", "openai-responses", "openrouter")


def lines_run(work: Callable[[], object]) -> int:
    """The number of Python lines that `work` executes. The number is the same each time."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        if event == "line":
            count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def _anthropic(n: int, order: Callable[[list[Any]], list[Any]]) -> bytes:
    calls = [{"type": "tool_use", "id": f"toolu_{n}_{i}", "name": "f", "input": {"n": i}} for i in range(n)]
    results = [{"type": "tool_result", "tool_use_id": call["id"], "content": "done"} for call in calls]
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": order(results)},
    ]
    return json.dumps({"model": "m", "max_tokens": 9, "messages": messages}).encode()


def _gemini(n: int, order: Callable[[list[Any]], list[Any]], ids: bool = True) -> bytes:
    named = [{"id": f"c{n}_{i}", "name": f"f{i}"} if ids else {"name": f"f{i}"} for i in range(n)]
    calls = [{"functionCall": {**one, "args": {}}} for one in named]
    results = order([{"functionResponse": {**one, "response": {"output": "done"}}} for one in named])
    contents = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": calls},
        *[{"role": "user", "parts": [result]} for result in results],
    ]
    return json.dumps({"contents": contents}).encode()


def _ollama(n: int, order: Callable[[list[Any]], list[Any]]) -> bytes:
    calls = [{"function": {"name": f"f{i}", "arguments": {}}} for i in range(n)]
    results = [{"role": "tool", "tool_name": f"f{i}", "content": "done"} for i in range(n)]
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "", "tool_calls": calls},
        *order(results),
    ]
    return json.dumps({"model": "m", "messages": messages}).encode()


def _reversed(results: list[Any]) -> list[Any]:
    return results[::-1]


def _twice(results: list[Any]) -> list[Any]:
    return [*results, *results[::-1]]


def _missing(results: list[Any]) -> list[Any]:
    return results[1::2][::-1]


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize("order", [_reversed, _twice, _missing])
@pytest.mark.parametrize("source", ["anthropic", "gemini", "ollama"])
def test_each_result_costs_the_same_in_any_order(source: str, order: Any, target: str) -> None:
    make = {"anthropic": _anthropic, "gemini": _gemini, "ollama": _ollama}[source]
    counts = []
    for n in (50, 200):
        body = make(n, order)
        forget()
        counts.append(lines_run(lambda body=body: dragoman.translate_request(body, source=source, target=target)))
    assert counts[1] < 5 * counts[0]


def test_each_result_without_an_id_costs_the_same() -> None:
    counts = []
    for n in (50, 200):
        body = _gemini(n, _reversed, ids=False)
        counts.append(
            lines_run(lambda body=body: dragoman.translate_request(body, source="gemini", target="anthropic"))
        )
    assert counts[1] < 5 * counts[0]


class _Id(str):
    """An id that counts how often it was compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        _Id.compared += 1
        return str.__eq__(self, other)


def test_no_list_of_ids_is_searched_for_each_result() -> None:
    ids = [_Id(f"call_{i}") for i in range(400)]
    calls = [ToolCall(one, "f", "{}") for one in ids]
    results = tuple([ToolResult(one, (Text("done"),)) for one in reversed(ids)])
    _Id.compared = 0
    write_results_messages(Turn("tool", results), calls, [], Context("anthropic", "openai-chat"))
    assert _Id.compared < 10 * len(ids)


def _circle(definitions: int, fan: int) -> dict[str, Any]:
    """Definitions that refer to each other. A few levels are already more than a model can read."""
    named = {
        f"d{i}": {
            "type": "object",
            "properties": {f"p{j}": {"$ref": f"#/$defs/d{(i + j + 1) % definitions}"} for j in range(fan)},
        }
        for i in range(definitions)
    }
    return {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": named}


def _values_with_many_references(values: int, uses: int) -> dict[str, Any]:
    """One long list of values that many references point to."""
    named = {"e": {"type": "string", "enum": [f"value {i}" for i in range(values)]}}
    return {
        "type": "object",
        "properties": {f"p{i}": {"$ref": "#/$defs/e"} for i in range(uses)},
        "$defs": named,
    }


def _values_beside_a_union(values: int, branches: int) -> dict[str, Any]:
    """A long list of values beside a union. For some targets the list must be copied into every branch."""
    union = [{"minLength": i} for i in range(branches)]
    inner = {"type": "string", "enum": [f"value {i}" for i in range(values)], "anyOf": union}
    return {"type": "object", "properties": {"p": inner}}


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize(
    "schema", [_circle(12, 4), _circle(40, 8), _values_with_many_references(300, 300), _values_beside_a_union(300, 300)]
)
def test_the_size_of_a_written_schema_follows_the_size_of_its_source(schema: dict[str, Any], target: str) -> None:
    tool = {"name": "f", "description": "d", "input_schema": schema}
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "tools": [tool]}
    text = json.dumps(body).encode()
    done = dragoman.translate_request(text, source="anthropic", target=target)
    assert len(done.body) < 8 * len(text)


def test_a_loss_names_the_reference_that_is_not_followed() -> None:
    for schema in (_circle(12, 4), _values_with_many_references(300, 300)):
        tool = {"name": "f", "description": "d", "input_schema": schema}
        body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "tools": [tool]}
        done = dragoman.translate_request(json.dumps(body).encode(), source="anthropic", target="ollama")
        assert any(loss.code == "schema.ref.cut" and "unfolds too far" in loss.detail for loss in done.losses)


@pytest.mark.parametrize("target", ["code-assist", "gemini", "ollama", "openai-responses"])
def test_each_member_of_all_of_costs_the_same(target: str) -> None:
    counts = []
    for n in (50, 200):
        members = [
            {"description": f"d{i}", "properties": {"a": {"minLength": i}, f"p{i}": {}}, "required": [f"p{i}"]}
            for i in range(n)
        ]
        tool = {"name": "f", "input_schema": {"type": "object", "allOf": members}}
        body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "tools": [tool]}
        text = json.dumps(body).encode()
        counts.append(lines_run(lambda text=text: dragoman.translate_request(text, source="anthropic", target=target)))
    assert counts[1] < 5 * counts[0]


@pytest.mark.parametrize(("dialect", "make"), [("anthropic", _anthropic), ("gemini", _gemini), ("ollama", _ollama)])
def test_lint_costs_the_same_for_each_result(dialect: str, make: Any) -> None:
    counts = []
    for n in (50, 200):
        body = make(n, _reversed)
        counts.append(lines_run(lambda body=body: dragoman.lint(body, dialect=dialect, kind="request")))
    assert counts[1] < 5 * counts[0]


class _Object(dict[str, Any]):
    """An object that counts how often it is iterated."""

    looked = 0

    def __iter__(self) -> Any:
        _Object.looked += 1
        return super().__iter__()


def test_an_object_is_iterated_once_for_all_its_findings() -> None:
    document = _Object({f"k{i}": {} for i in range(100)})
    places: dict[int, dict[str, int]] = {}
    found = [_order(document, (f"k{i}", "absent"), places) for i in range(101)]
    assert found == [*[(i, 0) for i in range(100)], (100, 0)]
    assert _Object.looked <= 2


class _Counted(int):
    """A number that counts how often it is compared."""

    compared = 0

    def __lt__(self, other: int) -> bool:
        _Counted.compared += 1
        return int(self) < int(other)

    def __gt__(self, other: int) -> bool:
        _Counted.compared += 1
        return int(self) > int(other)


def test_seals_of_many_texts_are_placed_without_a_linear_search() -> None:
    many = 1000
    wanted: dict[PackedSeal, Path] = {
        PackedSeal("text", "gemini", f"seal {i}", offset=_Counted(3 * i), length=3, text=digest("abc")): ()
        for i in range(many)
    }
    placing = Placing(wanted, (), Context("client", "gemini"))
    _Counted.compared = 0
    placed = placing.placed([Text("abc") for _ in range(many)])
    assert sum([part.seal is not None for part in placed]) == many
    assert 0 < _Counted.compared < 60 * many


@pytest.mark.parametrize("source", ["gemini", "code-assist"])
@pytest.mark.parametrize("odd", [{}, {"unknown": 1}], ids=["known fields", "unknown fields"])
def test_the_cost_of_parts_in_snake_case_is_linear(source: str, odd: dict[str, Any]) -> None:
    def translate(n: int) -> None:
        part = {"inline_data": {"mime_type": "image/png", "data": "AAAA"}, **odd}
        request: dict[str, Any] = {"contents": [{"role": "user", "parts": [part] * n}]}
        body = request if source == "gemini" else {"model": "m", "request": request}
        dragoman.translate_request(json.dumps(body).encode(), source=source, target="anthropic", model="claude-opus-5")

    translate(1)
    assert lines_run(lambda: translate(200)) < 2.2 * lines_run(lambda: translate(100))
