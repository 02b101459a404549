"""Refrain: a frame that differs in nothing but its text is heard, any other is read; the events are the same."""

from __future__ import annotations

import json

import pytest

from dragoman.canon.events import Event, PartDelta
from dragoman.codec.refrain import OBFUSCATED, FrameReader, Refrain
from dragoman.codec.sse import Splitter


class Reader(FrameReader):
    """Every frame is a piece of part 3; notes which frames were really read."""

    def __init__(self, refrain: Refrain) -> None:
        super().__init__(Splitter("test"), refrain, keeps_count=True)
        self.read: list[bytes] = []
        self.caught: list[str] = []

    def _frame(self, name: bytes, data: bytes, events: list[Event]) -> bool:
        self.read.append(data)
        events.append(PartDelta(3, json.loads(data)["text"]))
        return True

    def _catch_up(self, said: list[str], last: bytes) -> None:
        self.caught += said


def frame(text: str, number: int = 1, noise: str = "", **more: object) -> bytes:
    fields = {"type": "delta", "n": number, "id": "a", "text": text, **more, "obfuscation": noise}
    return b"data: " + json.dumps(fields, separators=(",", ":")).encode() + b"\n\n"


def made() -> Reader:
    return Reader(Refrain((b'"text":',), counter=b'"n":', **OBFUSCATED))


TEXTS = ["one", " two", 'qu"ote', "back\\slash", "line\nend", "h\u00e8", "\U0001f600", "{}", "text", "  "]


def test_frames_that_go_on_are_heard_and_give_the_same_events() -> None:
    reader = made()
    frames = [frame(text, i, "xY9"[: i % 4]) for i, text in enumerate(TEXTS * 3)]
    events = [event for chunk in frames for event in reader.feed(chunk)]
    assert events == [PartDelta(3, text) for text in TEXTS * 3]
    assert len(reader.read) < len(frames) / 3
    reader.settle()
    assert len(reader.caught) + len(reader.read) == len(frames)


@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
def test_any_cut_gives_the_same_events(size: int) -> None:
    stream = b"".join([frame(text, i) for i, text in enumerate(TEXTS * 2)])
    reader = made()
    events = [event for i in range(0, len(stream), size) for event in reader.feed(stream[i : i + size])]
    assert events == [PartDelta(3, text) for text in TEXTS * 2]


@pytest.mark.parametrize(
    "odd",
    [
        frame("x", 3, more=1),
        frame("x", 3).replace(b'"id":"a"', b'"id":"b"'),
        frame("x", 3).replace(b'"n":3', b'"n":"3"'),
        frame("x", 3, "no letters!"),
        frame("x", 3).replace(b"data: ", b"event: e\ndata: "),
        frame("x", 3)[:-2] + b" \n\n",
    ],
)
def test_a_frame_that_differs_otherwise_is_read(odd: bytes) -> None:
    reader = made()
    reader.feed(frame("a", 1))
    reader.feed(frame("b", 2))
    before = len(reader.read)
    reader.feed(odd)
    assert len(reader.read) == before + 1


def test_a_held_frame_is_not_mistaken_for_the_next_one() -> None:
    reader = made()
    for chunk in (frame("a", 1), frame("b", 2), b": a comment"):
        reader.feed(chunk)
    assert reader.feed(frame("c", 3)) == []  # the rest of the comment's line


def test_a_text_that_stands_twice_in_a_frame_teaches_nothing() -> None:
    reader = made()
    for i, text in enumerate(["delta", "delta", "delta"]):
        reader.feed(frame(text, i))
    assert len(reader.read) == 3
