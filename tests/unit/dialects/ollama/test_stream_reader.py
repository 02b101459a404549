"""Ollama streams are read: texts, thoughts, whole calls and the end. Also: cut and broken streams, and errors."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

from dragoman.canon import Event, Media, Opaque, Reasoning, Stop, Text, ToolCall, Usage
from dragoman.canon.events import Fault, Finish, PartDelta, PartEnd, PartStart, Start
from dragoman.codec import ndjson_splitter
from tests.unit.dialects.ollama.helpers import TIME, UNIX, end, events_of, line, lines

START = Start("", "m", UNIX, extra={"ollama": {"created_at": Raw(f'"{TIME}"'.encode())}})
CUT = Fault("upstream_bad", "the upstream's stream ended before the answer did", 502)
CALL = {"id": "call_a", "function": {"name": "f", "arguments": {"x": 1}}}


def call(place: int, index: int, name: str, arguments: str, **fields: Any) -> list[Event]:
    part = ToolCall(f"call_{name}", name, at=("message", "tool_calls", place), **fields)
    return [PartStart(index, part), PartDelta(index, arguments), PartEnd(index)]


def test_thoughts_text_and_the_end() -> None:
    stream = lines(line(thinking="h"), line(thinking="m"), line(content="Hi"), line(content="!"), end())
    found, lost = events_of(stream)
    assert found == [
        START,
        PartStart(0, Reasoning()),
        PartDelta(0, "h"),
        PartDelta(0, "m"),
        PartEnd(0),
        PartStart(1, Text("")),
        PartDelta(1, "Hi"),
        PartDelta(1, "!"),
        PartEnd(1),
        Finish(Stop("stop"), Usage(3, 1)),
    ]
    assert lost == []
    for step in (1, 2, 7):
        assert events_of(stream, step)[0] == found
    assert events_of(stream.replace(b"\n", b"\r\n"), 3)[0] == found
    assert events_of(stream[:-1])[0] == found


def test_calls_are_whole_on_one_line_or_on_several_lines() -> None:
    f = {"id": "call_f", "function": {"name": "f", "arguments": {"x": 1}}}
    g = {"id": "call_g", "function": {"name": "g", "arguments": {}}}
    expected = [START, *call(0, 0, "f", '{"x":1}'), *call(1, 1, "g", "{}"), Finish(Stop("tool_calls"), Usage(3, 1))]
    assert events_of(lines(line(tool_calls=[f, g]), end()))[0] == expected
    found, _ = events_of(lines(line(tool_calls=[f]), line(tool_calls=[g]), end()))
    assert [event for event in found if isinstance(event, PartDelta)] == [PartDelta(0, '{"x":1}'), PartDelta(1, "{}")]
    assert found[-1] == expected[-1]


def test_the_last_line_may_have_content_too() -> None:
    last = end(message={"role": "assistant", "content": "Hi", "tool_calls": [CALL]})
    found, _ = events_of(lines(last))
    assert [type(event).__name__ for event in found] == [
        "Start",
        "PartStart",
        "PartDelta",
        "PartEnd",
        "PartStart",
        "PartDelta",
        "PartEnd",
        "Finish",
    ]
    assert found[-1] == Finish(Stop("tool_calls"), Usage(3, 1))


def test_calls_without_ids_get_different_ids() -> None:
    bare = {"function": {"name": "f", "arguments": {}}}
    found, lost = events_of(lines(line(tool_calls=[bare, bare]), line(tool_calls=[bare]), end()))
    ids = [event.part.id for event in found if isinstance(event, PartStart) and isinstance(event.part, ToolCall)]
    assert len(ids) == len(set(ids)) == 3
    assert {code for code, _ in lost} == {"call.id.invented"}


def test_images_and_calls_of_an_unknown_kind() -> None:
    found, _ = events_of(lines(line(images=["/9j/AA=="], tool_calls=[{"type": "odd", "x": 1}]), end()))
    assert found[1:5] == [
        PartStart(0, Media("image", "image/jpeg", "/9j/AA==", at=("message", "images", 0))),
        PartEnd(0),
        PartStart(1, Opaque("ollama", "odd", Raw(b'{"type":"odd","x":1}'), at=("message", "tool_calls", 0))),
        PartEnd(1),
    ]


def test_durations_log_probabilities_and_unknown_fields_are_reported_once() -> None:
    odd = {**line(content="a"), "x": 1, "logprobs": [{"token": "a"}]}
    found, lost = events_of(lines(odd, odd, {**end(), "total_duration": 9}))
    assert found[-1] == Finish(Stop("stop"), Usage(3, 1), extra={"ollama": {"total_duration": Raw(b"9")}})
    assert lost == [("field.dropped", "/x"), ("field.dropped", "/logprobs"), ("field.dropped", "/total_duration")]


@pytest.mark.parametrize(
    "stream",
    [b"", b"\n", lines(line(content="a")), lines(line(content="a")) + b'{"model":"m"', lines(line(tool_calls=[CALL]))],
)
def test_a_cut_stream_is_a_fault(stream: bytes) -> None:
    for step in (0, 1):
        found, _ = events_of(stream, step)
        assert isinstance(found[-1], Fault)
        assert found[-1].kind == "upstream_bad"
        assert not any(isinstance(event, Finish) for event in found)
    if stream == b"":
        assert events_of(stream)[0] == [CUT]


@pytest.mark.parametrize(
    ("error_line", "fault"),
    [
        ({"error": "boom"}, Fault("server", "boom", 500)),
        ({"error": "busy", "status": 503}, Fault("overloaded", "busy", 503)),
        (
            {"error": {"message": "no", "code": 1}},
            Fault("server", "no", 500, extra={"ollama": {"error": Raw(b'{"message":"no","code":1}')}}),
        ),
        ({**line(content="a"), "error": "late"}, None),
    ],
)
def test_an_error_in_the_stream_is_its_end(error_line: Any, fault: Fault | None) -> None:
    found, _ = events_of(lines(line(content="a"), error_line, line(content="b"), end()))
    assert found[:3] == [START, PartStart(0, Text("")), PartDelta(0, "a")]
    assert len(found) == 4
    if fault is not None:
        assert found[3] == fault
    else:
        assert isinstance(found[3], Fault) and found[3].message == "late"


@pytest.mark.parametrize("broken", [b"{{}\n", b"[]\n", b'"a"\n', b'{"model":"m"}\n', b'{"message":"\xff"}\n'])
def test_a_broken_line_is_a_fault(broken: bytes) -> None:
    found, _ = events_of(lines(line(content="a")) + broken + lines(end()))
    assert len(found) == 4
    assert isinstance(found[3], Fault) and found[3].message.startswith("the upstream sent a broken frame")


def test_a_line_without_end_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ndjson_splitter, "MAX_FRAME", 200)
    stream = lines(line(content="a")) + b'{"model":"' + b"x" * 300
    for step in (0, 1, 50):
        found, _ = events_of(stream, step)
        assert found[:3] == [START, PartStart(0, Text("")), PartDelta(0, "a")]
        assert isinstance(found[3], Fault) and "at most 200 bytes" in found[3].message
        assert len(found) == 4


def test_nothing_is_read_after_the_end() -> None:
    found, _ = events_of(lines(end(), line(content="b"), end()))
    assert found == [START, Finish(Stop("stop"), Usage(3, 1))]
