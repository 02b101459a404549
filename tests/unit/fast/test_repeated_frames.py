"""RepeatedFrame: a frame that differs only in its text takes the fast path, any other frame is read."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from dragoman.canon.events import Event, PartDelta, PartEnd, PartStart
from dragoman.canon.parts import Text
from dragoman.codec.repeated_frame_interface import FrameTemplate
from dragoman.codec.sse_splitter import SseSplitter
from dragoman.codec.sse_stream_reader_base import FrameReader, starts_part
from dragoman.fast import repeated_frames
from dragoman.fast.repeated_frames import OBFUSCATED, RepeatedFrame


class Reader(FrameReader):
    """A reader for which every frame is a piece of part 3. It records the frames that were read in full."""

    def __init__(self, repeated: RepeatedFrame) -> None:
        super().__init__(SseSplitter("test"))
        self.match(repeated)
        self.read: list[bytes] = []
        self.caught: list[str] = []

    def _frame(self, name: bytes, data: bytes, events: list[Event]) -> bool:
        self.read.append(data)
        events.append(PartDelta(3, json.loads(data)["text"]))
        return True

    def _catch_up(self, texts: list[str], last: bytes) -> None:
        self.caught += texts


def frame(text: str, number: int = 1, noise: str = "", **more: object) -> bytes:
    fields = {"type": "delta", "n": number, "id": "a", "text": text, **more, "obfuscation": noise}
    return b"data: " + json.dumps(fields, separators=(",", ":")).encode() + b"\n\n"


def made() -> Reader:
    return Reader(RepeatedFrame((b'"text":',), counter=b'"n":', **OBFUSCATED))


TEXTS = ["one", " two", 'qu"ote', "back\\slash", "line\nend", "h\u00e8", "\U0001f600", "{}", "text", "  "]


def matcher_of(repeated: RepeatedFrame, frame: bytes, text: str) -> Callable[[bytes], str | None]:
    """The text of a frame that takes the fast path of `frame`; None for any other frame."""
    texts: list[str] = []
    fast_path = repeated.fast_path(frame, text, FrameTemplate(b"<", b">"), texts)
    assert fast_path is not None
    return lambda one: texts.pop() if fast_path(one) is not None else None


def test_frames_that_differ_only_in_their_text_take_the_fast_path() -> None:
    reader = made()
    assert reader.feed(frame("first", 0)) == [PartDelta(3, "first")]
    texts: list[str] = []
    fast_path = reader.fast_path(FrameTemplate(b"<", b">"), texts)
    assert fast_path is not None
    frames = [frame(text, i, "xY9"[: i % 4]) for i, text in enumerate(TEXTS * 3)]
    written = [b"<%b>" % json.dumps(text, ensure_ascii=False).encode() for text in TEXTS * 3]
    assert [fast_path(chunk) for chunk in frames] == written
    assert texts == TEXTS * 3
    assert len(reader.read) == 1
    reader.add_texts(texts, frames[-1])
    reader.settle()
    assert reader.caught == TEXTS * 3


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
def test_a_frame_that_differs_otherwise_does_not_take_the_fast_path(odd: bytes) -> None:
    reader = made()
    reader.feed(frame("first", 1))
    fast_path = reader.fast_path(FrameTemplate(b"<", b">"), [])
    assert fast_path is not None
    assert fast_path(frame("b", 2)) is not None
    assert fast_path(odd) is None


def test_a_held_frame_is_not_mistaken_for_the_next_one() -> None:
    reader = made()
    for chunk in (frame("a", 1), frame("b", 2), b": a comment"):
        reader.feed(chunk)
    assert reader.feed(frame("c", 3)) == []  # the end of the comment line


def test_a_text_that_occurs_twice_in_a_frame_has_no_fast_path() -> None:
    reader = made()
    reader.feed(frame("delta", 1))
    assert reader.fast_path(FrameTemplate(b"<", b">"), []) is None
    assert reader.going_on == -1


def on_the_way(*learned: bytes) -> Reader:
    reader = made()
    for chunk in (frame("first", 0), *learned):
        reader.feed(chunk)
    return reader


@pytest.mark.parametrize(
    ("template", "written"),
    [
        (FrameTemplate(b"<", b">"), [b'<"one">', b'<" two">']),
        (FrameTemplate(b"<", b">", b"|", 41), [b'<41|"one">', b'<42|" two">']),
        (FrameTemplate(b"", b""), [b"", b""]),
    ],
)
def test_a_fast_path_writes_the_texts_of_its_frames(template: FrameTemplate, written: list[bytes]) -> None:
    reader = on_the_way(frame("learned", 1))
    texts: list[str] = []
    fast_path = reader.fast_path(template, texts)
    assert fast_path is not None
    assert [fast_path(frame("one", 2)), fast_path(frame(" two", 3, "noise"))] == written
    assert texts == ["one", " two"]
    assert fast_path(frame("x", 4, more=1)) is None
    assert fast_path(frame("", 4)) is None
    assert fast_path(frame("x", 4)[:-1]) is None
    assert texts == ["one", " two"]
    reader.add_texts(texts, frame(" two", 3))
    reader.settle()
    assert reader.caught == texts
    assert reader.going_on == -1


def test_a_reader_with_different_frames_stops_learning() -> None:
    reader = made()
    fast_paths = []
    for number in range(20):
        reader.feed(frame("words", number, more=number))
        fast_paths.append(reader.fast_path(FrameTemplate(b"<", b">"), []) is not None)
    assert fast_paths == [True] * 9 + [False] * 11


def test_endings_with_one_varying_character_are_recognised() -> None:
    repeated = RepeatedFrame((b'"t":',), marks=(b'"}',), noise=b" ")
    matched = matcher_of(repeated, b'data: {"d":{"t":"a"} }\n\n', "a")
    frames = [
        b'data: {"d":{"t":"%b"}%b}\n\n' % (text, b" " * (i % 3)) for i, text in enumerate([b"b", b'\\"', b"c"] * 2)
    ]
    assert [matched(one) for one in frames] == ["b", '"', "c"] * 2
    assert matched(b'data: {"d":{"t":"a"},"x":1}\n\n') is None
    assert matched(b'data: {"d":{"t":"a"}  \t}\n\n') is None


@pytest.mark.parametrize(
    ("before", "text", "passes"),
    [('{"a":', '{"b"', True), ('{"a":1}', '{"b"', False), ('{"a":1} ', '{"b"', False), ('{"a":1}', ',"b"', True)],
)
def test_arguments_that_may_belong_to_another_call_are_read(before: str, text: str, passes: bool) -> None:
    def piece(text_of_piece: str) -> bytes:
        return b'data: {"arguments":%b}\n\n' % json.dumps(text_of_piece).encode()

    repeated = RepeatedFrame((b'"arguments":',), **OBFUSCATED)
    fast_path = repeated.fast_path(piece("learned"), "learned", FrameTemplate(b"<", b">"), [])
    assert fast_path is not None
    assert fast_path(piece("{")) is None  # the text before this piece is unknown
    assert fast_path(piece(before[1:])) is not None
    assert (fast_path(piece(text)) is not None) is passes


def test_a_part_that_begins_with_its_first_text() -> None:
    end, start, words = PartEnd(0), PartStart(1, Text("")), PartDelta(1, "a")
    assert starts_part([words, start, words], 1)
    assert starts_part([end, start, words], 0)
    assert not starts_part([words], 0)
    assert not starts_part([start, words, words], 0)
    assert not starts_part([words, start, words], 0)
    assert not starts_part([end, end, start, words], 0)


def test_a_number_that_gets_longer_is_recognised() -> None:
    reader = on_the_way(frame("learned", 1))
    texts: list[str] = []
    fast_path = reader.fast_path(FrameTemplate(b"<", b">"), texts)
    assert fast_path is not None
    numbers = [2, 9, 10, 11, 99, 100, 7, 12345678901]
    assert [fast_path(frame("x", number)) for number in numbers] == [b'<"x">'] * len(numbers)
    for odd in (b"", b"1.5", b"-1", b"null", b'"1"', b"1 "):
        assert fast_path(frame("x", 3).replace(b'"n":3', b'"n":' + odd)) is None
    assert fast_path(frame("x", 3)) == b'<"x">'


def test_only_digits_may_differ_after_the_mark() -> None:
    def figured(text: str, count: int, model: str = "m-2") -> bytes:
        return b'data: {"text": %b,"use": {"a": %d,"b": [%d]},"model": "%b"}\r\n\r\n' % (
            json.dumps(text).encode(),
            count,
            count * 3,
            model.encode(),
        )

    repeated = RepeatedFrame((b'"text":',), marks=(b'"use": {',), figures=b"0123456789")
    matched = matcher_of(repeated, figured("learned", 7), "learned")
    assert [matched(figured(text, count)) for text, count in (("b", 8), ('"}', 99), ("\\", 100))] == [
        "b",
        '"}',
        "\\",
    ]
    assert matched(figured("b", 8, "n-2")) is None
    assert matched(figured("b", 8).replace(b'"a": 8', b'"a": -8')) is None
    assert matched(figured("b", 8).replace(b'"use": {', b'"use": {"c": 1,')) is None


@pytest.mark.parametrize(
    "odd",
    [
        b'data: {"d":{"t":"a","u":"b"} }\n\n',
        b'data: {"d":{"t":"a"} }\n\ndata: {"d":{"t":"b"} }\n\n',
        b'data: {"d":{"t":null} }\n\n',
        b'data: {"d":{"t":"a\x01"} }\n\n',
        b'data: {"d":{"t":"\xff"} }\n\n',
        b'data: {"d":{"t":"\\ud800"} }\n\n',
        b'data: {"d":{"t":"a"}%b}\n\n' % (b" " * 100),
        b'data: {"d":{"t":"} }\n\n',
        b'data: {"d":{"t":',
    ],
)
def test_a_frame_without_a_valid_text_does_not_take_the_fast_path(odd: bytes) -> None:
    repeated = RepeatedFrame((b'"t":',), marks=(b'"}',), noise=b" ")
    matched = matcher_of(repeated, b'data: {"d":{"t":"a"} }\n\n', "a")
    assert matched(odd) is None
    assert matched(b'data: {"d":{"t":"\\"}"}}\n\n') == '"}'


@pytest.mark.parametrize("more", [b"d", b"data", b"7", b" "])
@pytest.mark.parametrize(
    "repeated",
    [
        RepeatedFrame((b'"t":',), **OBFUSCATED),
        RepeatedFrame((b'"t":',), counter=b'"n":', **OBFUSCATED),
        RepeatedFrame((b'"t":',), marks=(b'"u":',), figures=b"0123456789"),
        RepeatedFrame((b'"t":',), marks=(b'"p":',), noise=b" "),
    ],
    ids=["letters", "number", "figures", "spaces"],
)
def test_the_beginning_of_the_next_frame_is_not_dropped(repeated: RepeatedFrame, more: bytes) -> None:
    frame = b'data: {"n":1,"t":"a"}\n\n'
    matched = matcher_of(repeated, frame, "a")
    assert matched(frame) == "a"
    assert matched(frame + more) is None


def test_long_endings_are_dropped_with_the_stream() -> None:
    frame = b'{"text":"hi"}%b' + b"x" * 1000
    repeated = RepeatedFrame((b'"text":',), marks=(b'"}',), noise=b" ")
    before = repeated_frames._padded.cache_info().currsize
    matched = matcher_of(repeated, frame % b"", "hi")
    assert matched(frame % b"   ") == "hi"
    assert matched(frame % b" y") is None
    assert repeated_frames._padded.cache_info().currsize == before


@pytest.mark.parametrize("padding", ['"item":"i","obfuscation":"%s","place":0', '"item":"i"'], ids=["padded", "bare"])
def test_a_number_after_the_text_may_differ(padding: str) -> None:
    def numbered(text: str, number: object, noise: str = "aB_9") -> bytes:
        between = padding % noise if "%" in padding else padding
        return f'data: {{"text":{json.dumps(text)},{between},"n":{number},"type":"t"}}\n\n'.encode()

    repeated = RepeatedFrame((b'"text":',), counter=b'"n":', **OBFUSCATED)
    matched = matcher_of(repeated, numbered("learned", 9), "learned")
    frames = [
        numbered(text, number, noise) for text, number, noise in (("b", 10, ""), ('"n":1', 100, "x-"), ("\\", 7, "7"))
    ]
    assert [matched(one) for one in frames] == ["b", '"n":1', "\\"]
    for odd in ("", "1.5", "-1", "null", '"1"', "1 ", '1,"more":2'):
        assert matched(numbered("b", odd)) is None
    assert matched(numbered("b", 1).replace(b'"type":"t"', b'"type":"u"')) is None
    assert matched(numbered("b", 1).replace(b'"item":"i"', b'"item":"j"')) is None
