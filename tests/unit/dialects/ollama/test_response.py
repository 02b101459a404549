"""Ollama answers are read and written: stop reasons, creation times, usage, and the continuation of a tool turn."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

import dragoman
from dragoman.canon import (
    Alternative,
    Media,
    Opaque,
    Reasoning,
    Request,
    Response,
    Seal,
    Stop,
    Text,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
)
from dragoman.canon.parts import Citation
from dragoman.context import Context
from dragoman.dialects.ollama import DIALECT
from dragoman.dialects.ollama.response import read_time, write_time
from dragoman.errors import WireError
from tests.unit.dialects.ollama.helpers import TIME, UNIX, answer_round_trip, end, read_answer, write_answer

CALL = {"id": "call_a", "function": {"index": 0, "name": "f", "arguments": {"x": 1}}}


def answer(**message: Any) -> dict[str, Any]:
    return end(message={"role": "assistant", "content": "", **message})


def test_an_answer_is_read() -> None:
    body = answer(content="Hi", thinking="hm", tool_calls=[CALL], images=["iVBORw0KGgo="])
    response, lost = read_answer({**body, "total_duration": 5, "eval_duration": 4})
    at = ("message",)
    assert response == Response(
        (
            Reasoning("hm", at=(*at, "thinking")),
            Text("Hi", at=(*at, "content")),
            Media("image", "image/png", "iVBORw0KGgo=", at=(*at, "images", 0)),
            ToolCall(
                "call_a",
                "f",
                '{"x":1}',
                extra={"ollama": {"function/index": Raw(b"0")}},
                at=(*at, "tool_calls", 0),
            ),
        ),
        Stop("tool_calls"),
        model="m",
        created=UNIX,
        usage=Usage(3, 1),
        extra={
            "ollama": {
                "total_duration": Raw(b"5"),
                "eval_duration": Raw(b"4"),
                "created_at": Raw(f'"{TIME}"'.encode()),
            }
        },
    )
    assert lost == [("field.dropped", "/total_duration"), ("field.dropped", "/eval_duration")]


@pytest.mark.parametrize(
    ("word", "stop", "lost"),
    [
        ("stop", Stop("stop"), []),
        ("length", Stop("length"), []),
        ("load", Stop("stop", extra={"ollama": {"done_reason": Raw(b'"load"')}}, word="load"), []),
        (None, Stop("unknown"), []),
        (
            "odd",
            Stop("stop", extra={"ollama": {"done_reason": Raw(b'"odd"')}}, word="odd"),
            [],
        ),
    ],
)
def test_stop_reasons_are_read(word: str | None, stop: Stop, lost: Any) -> None:
    response, found = read_answer(end(done_reason=word))
    assert (response.stop, found) == (stop, lost)


def test_calls_without_ids_get_ids_that_differ_from_answer_to_answer() -> None:
    body = answer(tool_calls=[{"function": {"name": "f", "arguments": {}}}] * 2)
    first, lost = read_answer(body)
    assert lost == [("call.id.invented", f"/message/tool_calls/{i}") for i in range(2)]
    history = Request((Turn("user", (Text("a"),)),))
    second, _ = read_answer(body, answers=history)
    third, _ = read_answer({**body, "created_at": "2026-11-15T00:00:01Z"})
    ids = [part.id for response in (first, second, third) for part in response.parts if isinstance(part, ToolCall)]
    assert len(set(ids)) == 6
    repeated, _ = read_answer(body)
    assert repeated == first


def test_a_message_by_itself_is_an_answer() -> None:
    response, lost = read_answer({"role": "assistant", "content": "Hi", "x": 1})
    assert response.parts == (Text("Hi", at=("content",)),)
    assert lost == [("field.dropped", "/x")]
    assert answer_round_trip({"role": "assistant", "content": "Hi", "x": 1})["message"] == {
        "role": "assistant",
        "content": "Hi",
        "x": 1,
    }


@pytest.mark.parametrize("body", [{"error": "no such model"}, {"choices": []}, []])
def test_a_document_that_is_no_answer_is_refused(body: Any) -> None:
    with pytest.raises(WireError):
        read_answer(body)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (TIME, UNIX),
        ("2026-11-15T00:00:00.123456789Z", UNIX),
        ("2026-11-14T19:00:00-05:00", UNIX),
        ("2026-11-15T00:00:00", UNIX),
        ("1970-01-01T00:00:00Z", 0),
        ("yesterday", None),
        ("", None),
    ],
)
def test_times_are_read(text: str, seconds: int | None) -> None:
    assert read_time(text) == seconds


def test_times_are_written() -> None:
    assert write_time(UNIX) == TIME
    assert write_time(0) == write_time(-5) == write_time(10**15) == "1970-01-01T00:00:00Z"


def test_an_invalid_time_is_reported() -> None:
    response, lost = read_answer(end(created_at="yesterday"))
    assert (response.created, lost) == (None, [("field.dropped", "/created_at")])
    assert answer_round_trip(end(created_at="yesterday"))["created_at"] == "yesterday"


SAME: list[Any] = [
    end(),
    answer(content="Hi", thinking="hm", x=1),
    {**answer(tool_calls=[CALL, {"type": "odd", "x": 1}]), "total_duration": 5, "logprobs": [{"token": "a"}], "y": 2},
    {
        **answer(tool_calls=[{"function": {"name": "f", "arguments": '{"x":'}}]),
        "created_at": "2024-05-24T21:01:59.481632Z",
    },
    end(done_reason="unload"),
    end(done_reason="odd"),
    answer(content="a", tool_name="f", images=["AAAA"]),
]


@pytest.mark.parametrize("body", SAME)
def test_within_the_dialect_an_answer_is_unchanged(body: Any) -> None:
    assert answer_round_trip(body) == body


def test_an_answer_is_written() -> None:
    response = Response(
        (Reasoning("hm"), Text("a"), Text("b"), ToolCall("call_a", "f", '{"x":1}'), ToolCall("call_b", "g")),
        Stop("tool_calls"),
        model="m",
        created=UNIX,
        usage=Usage(3, 1),
    )
    assert write_answer(response) == (
        {
            "model": "m",
            "created_at": TIME,
            "message": {
                "role": "assistant",
                "content": "ab",
                "thinking": "hm",
                "tool_calls": [CALL, {"id": "call_b", "function": {"index": 1, "name": "g", "arguments": {}}}],
            },
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": 3,
            "eval_count": 1,
        },
        [],
    )


@pytest.mark.parametrize(("source", "path"), [("openai-chat", "/id"), ("gemini", "/responseId")])
def test_fields_that_an_answer_cannot_hold(source: str, path: str) -> None:
    parts = (
        Text("a", citations=(Citation("https://example.com"),), at=("choices", 0, "message", "content")),
        Reasoning("hm", seal=Seal("gemini", "c2ln"), at=("p", 1)),
        Media("audio", "audio/wav", "AAAA", at=("p", 2)),
        Opaque("gemini", "executableCode", Raw(b"{}"), at=("p", 3)),
        ToolCall("call_a", "f", seal=Seal("gemini", "c2ln"), at=("p", 4)),
    )
    response = Response(
        parts, Stop("content_filter"), "r1", "m", None, Usage(3, 1, 2), (Alternative((), Stop("stop")),)
    )
    body, lost = write_answer(response, source, created=UNIX)
    assert body["created_at"] == TIME
    assert body["message"]["content"] == "a[audio/wav attached here could not be sent]"
    assert lost == [
        ("answer.dropped", ""),
        ("id.dropped", path),
        ("citation.dropped", "/choices/0/message"),
        ("seal.dropped", "/p/1"),
        ("order.approximated", "/p/1"),
        ("media.dropped", "/p/2"),
        ("hosted.dropped", "/p/3"),
        ("seal.dropped", "/p/4"),
        ("stop.approximated", ""),
        ("usage.dropped", ""),
    ]


@pytest.mark.parametrize(
    ("stop", "word", "lost"),
    [
        (Stop("stop"), "stop", []),
        (Stop("tool_calls"), "stop", [("stop.approximated", "")]),  # the answer has no call
        (Stop("length"), "length", []),
        (Stop("context_full"), "length", [("stop.approximated", "")]),
        (Stop("stop_sequence", "END"), "stop", [("stop.approximated", "")]),
        (Stop("refusal"), "stop", [("stop.approximated", "")]),
    ],
)
def test_stop_reasons_are_written(stop: Stop, word: str, lost: Any) -> None:
    body, found = write_answer(Response((Text("a"),), stop, model="m", created=1))
    assert (body["done_reason"], found) == (word, lost)
    assert "eval_count" not in body


def test_the_continuation_of_a_tool_turn() -> None:
    body = answer(thinking="hm", tool_calls=[CALL, {"function": {"name": "g", "arguments": {}}}])
    calls = dragoman.tool_calls(body, dialect="ollama")
    assert [(call.name, call.arguments) for call in calls] == [("f", '{"x":1}'), ("g", "{}")]
    assert dragoman.tool_results(body, ["one", {"output": "no", "is_error": True}], dialect="ollama") == [
        body["message"],
        {"role": "tool", "content": "one", "tool_name": "f", "tool_call_id": "call_a"},
        {"role": "tool", "content": "Error: no", "tool_name": "g", "tool_call_id": calls[1].id},
    ]


def test_results_are_written_for_an_answer_of_another_dialect() -> None:
    response = Response((ToolCall("call_f", "f", "{}"),), Stop("tool_calls"))
    results = Request((Turn("tool", (ToolResult("call_f", (Text("1"),)),)),))
    written = DIALECT.write_results(response, results, Context("openai-chat", "ollama"))
    assert msgspec.json.decode(written) == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "call_f", "function": {"name": "f", "arguments": {}}}],
        },
        {"role": "tool", "content": "1", "tool_name": "f", "tool_call_id": "call_f"},
    ]
