"""Ollama streams are written: every line is legal, calls are whole, and the last line is the end or an error."""

from __future__ import annotations

import pytest
from msgspec import Raw

from dragoman.canon import Media, Opaque, Reasoning, Seal, Stop, Text, ToolCall, Usage
from dragoman.canon.events import Event, Fault, Finish, PartDelta, PartEnd, PartStart, Start
from dragoman.canon.parts import Citation
from tests.unit.dialects.ollama.helpers import UNIX, end, line, lines_of

START = Start("r1", "m", UNIX)
DONE = Finish(Stop("stop"), Usage(3, 1))


def test_thoughts_text_calls_and_the_end() -> None:
    events: list[Event] = [
        START,
        PartStart(0, Reasoning()),
        PartDelta(0, "hm"),
        PartEnd(0),
        PartStart(1, Text("")),
        PartDelta(1, "Hi"),
        PartDelta(1, ' "\n'),
        PartEnd(1),
        PartStart(2, ToolCall("call_f", "f")),
        PartDelta(2, '{"x"'),
        PartDelta(2, ":\n1}"),
        PartEnd(2),
        PartStart(3, ToolCall("call_g", "g")),
        PartEnd(3),
        Finish(Stop("tool_calls"), Usage(3, 1)),
    ]
    found, lost = lines_of(events)
    assert found == [
        line(thinking="hm"),
        line(content="Hi"),
        line(content=' "\n'),
        line(tool_calls=[{"id": "call_f", "function": {"index": 0, "name": "f", "arguments": {"x": 1}}}]),
        line(tool_calls=[{"id": "call_g", "function": {"index": 1, "name": "g", "arguments": {}}}]),
        end(),
    ]
    assert lost == [("id.dropped", "/id")]


def test_the_model_and_the_time_of_the_caller_are_written() -> None:
    found, _ = lines_of([Start(), DONE], model="mine", created=UNIX)
    assert found == [{**end(), "model": "mine"}]


def test_half_a_call_is_never_sent_as_a_whole_call() -> None:
    start_events: list[Event] = [START, PartStart(0, ToolCall("call_f", "f", at=("c",))), PartDelta(0, '{"x": ')]
    found, _ = lines_of([*start_events, Fault("overloaded", "busy", 503)])
    assert found == [{"error": "busy", "status": 503}]
    found, lost = lines_of([*start_events, PartEnd(0), Finish(Stop("length"))])
    assert "tool_calls" not in found[0]["message"]
    assert (found[0]["done_reason"], lost) == ("length", [("id.dropped", "/id"), ("call.truncated", "/c")])
    found, _ = lines_of([*start_events, PartEnd(0), Finish(Stop("tool_calls"))])
    assert found == [{"error": "The model ended its answer with a tool call that cannot be used.", "status": 502}]


def test_after_a_fault_nothing_ends_the_stream() -> None:
    found, _ = lines_of([START, PartStart(0, Text("")), PartDelta(0, "a"), Fault("server", "boom"), DONE])
    assert found == [line(content="a"), {"error": "boom", "status": 500}]


def test_parts_without_a_counterpart() -> None:
    seal = Seal("gemini", "c2ln")
    events: list[Event] = [
        PartStart(0, Reasoning(seal=seal, at=("p", 0))),
        PartDelta(0, "", seal),
        PartEnd(0),
        PartStart(1, Text("", True, at=("p", 1))),
        PartDelta(1, "no", None, (Citation("https://example.com"),)),
        PartEnd(1),
        PartStart(2, Media("image", "image/png", "AAAA", at=("p", 2))),
        PartEnd(2),
        PartStart(3, Media("audio", "audio/wav", "AAAA", at=("p", 3))),
        PartEnd(3),
        PartStart(4, Opaque("gemini", "executableCode", Raw(b"{}"), at=("p", 4))),
        PartEnd(4),
        PartStart(5, Opaque("ollama", "odd", Raw(b'{"type":"odd"}'))),
        PartEnd(5),
    ]
    found, lost = lines_of([Start("", "m", UNIX), *events, Finish(Stop("pause"))])
    assert found == [
        line(content="no"),
        line(images=["AAAA"]),
        line(content="[audio/wav attached here could not be sent]"),
        line(tool_calls=[{"type": "odd"}]),
        {**line(True), "done_reason": "stop"},
    ]
    assert lost == [
        ("seal.dropped", "/p/0"),
        ("refusal.as_text", "/p/1"),
        ("citation.dropped", "/p/1"),
        ("media.dropped", "/p/3"),
        ("hosted.dropped", "/p/4"),
        ("stop.approximated", ""),
    ]


@pytest.mark.parametrize("last", [1, 0])
def test_only_the_first_of_several_answers_is_sent(last: int) -> None:
    events: list[Event] = [
        Start("", "m", UNIX),
        PartStart(0, Text(""), 0),
        PartStart(1, Text(""), 1),
        PartDelta(0, "a"),
        PartDelta(1, "b"),
        PartEnd(0),
        PartEnd(1),
        Finish(Stop("length" if last else "stop"), None, 1 - last, False),
        Finish(Stop("stop" if last else "length"), Usage(3, 1), last, True),
    ]
    found, lost = lines_of(events)
    assert found == [line(content="a"), end(done_reason="length")]
    assert lost == [("answer.dropped", "")]


def test_fields_of_ollama_survive_a_round_trip() -> None:
    extra = {"ollama": {"total_duration": Raw(b"9"), "created_at": Raw(b'"2026-11-15T00:00:00.5Z"')}}
    found, _ = lines_of([Start("", "m", UNIX, extra=extra), DONE], source="ollama")
    assert found == [{**end(), "total_duration": 9, "created_at": "2026-11-15T00:00:00.5Z"}]
