"""A stream that is cut for a known reason ends with one fault of that reason. A complete stream stays complete."""

from __future__ import annotations

import pytest
from bench import payloads
from bench.streams import frames

import dragoman
from dragoman.canon.events import Fault, Finish
from dragoman.context import Context
from dragoman.dialects import get

LATE = Fault("timeout", "the upstream fell silent", 504)
DIALECTS = tuple(payloads.names())


def events_of(dialect: str, body: bytes) -> list[object]:
    reader = get(dialect).reader(Context(dialect, dialect))
    return [*reader.feed(body), *reader.close()]


@pytest.mark.parametrize("target", DIALECTS)
def test_the_reason_is_sent(target: str) -> None:
    source = "openai-chat" if target != "openai-chat" else "anthropic"
    source_frames = [frame if isinstance(frame, bytes) else frame.encode() for frame in frames(source)]
    translator = dragoman.StreamTranslator(source=source, target=target)
    out = b"".join([translator.feed(frame) for frame in source_frames[:30]])
    assert translator.fault is None
    out += translator.close(LATE)
    assert translator.fault == LATE
    events = events_of(target, out)
    assert [type(event) for event in events].count(Fault) == 1
    last = events[-1]
    assert isinstance(last, Fault)
    assert last.message == LATE.message


def test_a_complete_answer_stays_complete() -> None:
    source_frames = [frame if isinstance(frame, bytes) else frame.encode() for frame in frames("gemini")]
    translator = dragoman.StreamTranslator(source="gemini", target="anthropic")
    out = b"".join([translator.feed(frame) for frame in source_frames]) + translator.close(LATE)
    assert translator.fault is None
    assert isinstance(events_of("anthropic", out)[-1], Finish)
