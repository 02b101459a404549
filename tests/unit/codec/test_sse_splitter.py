"""The SSE splitter gives the same frames however the bytes are cut."""

from __future__ import annotations

import pytest

from dragoman.codec import sse_splitter
from dragoman.codec.sse_splitter import Frame, SseSplitter, named_frame
from dragoman.errors import WireError

STREAMS: dict[str, tuple[bytes, list[Frame]]] = {
    "plain": (b'data: {"a":1}\n\ndata: [DONE]\n\n', [(b"", b'{"a":1}'), (b"", b"[DONE]")]),
    "named": (b"event: ping\ndata: {}\n\n", [(b"ping", b"{}")]),
    "crlf": (b"event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", [(b"a", b"1"), (b"", b"2")]),
    "mixed ends": (b"data: 1\n\r\ndata: 2\r\n\ndata: 3\n\n", [(b"", b"1"), (b"", b"2"), (b"", b"3")]),
    "comments": (b": keep-alive\n\n:\ndata: 1\n: x\n\n", [(b"", b"1")]),
    "several data lines": (b"data: a\ndata:b\ndata: \n\n", [(b"", b"a\nb\n")]),
    "no space": (b"data:1\n\nevent:e\ndata:2\n\n", [(b"", b"1"), (b"e", b"2")]),
    "two spaces": (b"data:  1\n\n", [(b"", b" 1")]),
    "spaced names": (
        b"data: 0\n\nevent:  a \ndata: 1\n\nevent:b\ndata: 2\n\n",
        [(b"", b"0"), (b"a", b"1"), (b"b", b"2")],
    ),
    "names of nothing": (b"event: a\n\ndata: 1\n\n", [(b"", b"1")]),
    "empty data": (b"data: \n\ndata:\n\ndata: 1\n\n", [(b"", b""), (b"", b""), (b"", b"1")]),
    "half a line end": (b"data: 1\n\ndata: 2\r\n\ndata: 3\n\r\n", [(b"", b"1"), (b"", b"2"), (b"", b"3")]),
    "other fields": (b"id: 7\nretry: 100\ndata: 1\n\n", [(b"", b"1")]),
    "no data": (b"event: ping\n\nid: 3\n\n", []),
    "blank lines": (b"\n\n\n\ndata: 1\n\n\n\n\ndata: 2\n\n", [(b"", b"1"), (b"", b"2")]),
    "no blank line": (
        b'data: {"a":\ndata: 1}\ndata: {"b":2}\ndata: [DONE]\n',
        [(b"", b'{"a":\n1}'), (b"", b'{"b":2}'), (b"", b"[DONE]")],
    ),
    "no blank line between names": (
        b"event: a\ndata: 1\nevent: b\ndata: 2\n\n",
        [(b"a", b"1"), (b"b", b"2")],
    ),
    "byte-order mark": (b"\xef\xbb\xbfdata: 1\n\n", [(b"", b"1")]),
    "almost a mark": (b"\xef\xbbdata: 1\n\ndata: 2\n\n", [(b"", b"2")]),
    "last frame open": (b"data: 1\n\ndata: 2", [(b"", b"1"), (b"", b"2")]),
    "last frame half closed": (b"data: 1\r\n\r\ndata: 2\r\n\r", [(b"", b"1"), (b"", b"2")]),
    "only a mark": (b"\xef\xbb", []),
    "nothing": (b"", []),
    "utf-8": ("data: grün 🌍\n\ndata: 2\n\n".encode(), [(b"", "grün 🌍".encode()), (b"", b"2")]),
    "not utf-8": (b"data: a\xffb\n\ndata: c\xc3", [(b"", "a\ufffdb".encode()), (b"", "c\ufffd".encode())]),
}


def _split(chunks: list[bytes]) -> list[Frame]:
    splitter = SseSplitter("test")
    found = [found for chunk in chunks for found in splitter.feed(chunk)]
    return found + splitter.close()


@pytest.mark.parametrize("name", STREAMS)
def test_frames_of_a_whole_stream(name: str) -> None:
    stream, frames = STREAMS[name]
    assert _split([stream]) == frames


@pytest.mark.parametrize("name", STREAMS)
def test_frames_byte_by_byte(name: str) -> None:
    stream, frames = STREAMS[name]
    assert _split([stream[i : i + 1] for i in range(len(stream))]) == frames


@pytest.mark.parametrize("name", STREAMS)
def test_frames_of_every_cut_in_two(name: str) -> None:
    stream, frames = STREAMS[name]
    for cut in range(len(stream) + 1):
        assert _split([stream[:cut], b"", stream[cut:]]) == frames, cut


def test_frames_fed_one_by_one_equal_the_frames_of_the_whole_stream() -> None:
    pieces = [
        b"data: 0\n\n",
        b"event:  a \ndata: 1\n\n",
        b"data: 2\r\n\r\n",
        b"event: b\r\ndata: 3\r\n\r\n",
        b": c\n\n",
    ]
    pieces += [
        b"event: d\ndata: \xff\n\n",
        b"data: \xff\n\n",
        b"data:4\n\n",
        b"event: f\nid: 1\n\n",
        b"event: e\nid: 1\ndata: 5\n\n",
        b"data: \n\n",
    ]
    assert _split(pieces) == _split([b"".join(pieces)])
    assert len(_split(pieces)) == 9


def test_frames_are_returned_as_soon_as_they_are_complete() -> None:
    splitter = SseSplitter("test")
    assert splitter.feed(b"data: 1\n") == []
    assert splitter.feed(b"\ndata: 2\n\nda") == [(b"", b"1"), (b"", b"2")]
    assert splitter.feed(b"ta: 3\n\n") == [(b"", b"3")]
    assert splitter.close() == []


def test_a_frame_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse_splitter, "MAX_FRAME", 20)
    splitter = SseSplitter("test")
    assert splitter.feed(b"data: 0123456789") == []
    with pytest.raises(WireError, match="stream frames of at most 20 bytes"):
        splitter.feed(b"0123456789")


def test_whole_frames_do_not_add_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse_splitter, "MAX_FRAME", 20)
    splitter = SseSplitter("test")
    assert [splitter.feed(b"data: 01") + splitter.feed(b"234\n\n") for _ in range(9)] == [[(b"", b"01234")]] * 9


def test_a_named_frame_is_written() -> None:
    assert named_frame(b"ping", b"{}") == b"event: ping\ndata: {}\n\n"


@pytest.mark.parametrize(
    ("chunk", "frame"),
    [
        (b"data: 1\n\n", (b"", b"1")),
        (b"data: 1\r\n\r\n", (b"", b"1")),
        (b"event:  a \ndata: 1\n\n", (b"a", b"1")),
        (b"event: a\r\ndata: 1\r\n\r\n", (b"a", b"1")),
        (b"data: \xff\n\n", (b"", "\ufffd".encode())),
        (b"data: 1\n\r\n", None),
        (b"data: 1\r\n\n", None),
        (b"data: 1\n", None),
        (b"data: 1\n\ndata: 2\n\n", None),
        (b"data: 1\ndata: 2\n\n", None),
        (b"data:1\n\n", None),
        (b"\xef\xbb\xbfdata: 1\n\n", None),
        (b": c\n\n", None),
        (b"", None),
    ],
)
def test_a_chunk_that_is_one_frame(chunk: bytes, frame: Frame | None) -> None:
    splitter = SseSplitter("test")
    assert splitter.one(chunk) == frame
    assert frame is None or splitter.feed(chunk) == [frame]
    splitter.feed(b"data: 0")
    assert splitter.one(chunk) is None


CR_STREAM = b': hello\revent: a\rdata: {"x":\rdata: 1}\r\rdata: {"y":"\xc3\xbc"}\r\rdata: last\r\r'


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 1000])
def test_lines_may_end_with_a_lone_cr(size: int) -> None:
    frames = SseSplitter("test")
    found = [frame for i in range(0, len(CR_STREAM), size) for frame in frames.feed(CR_STREAM[i : i + size])]
    found += frames.close()
    assert found == [(b"a", b'{"x":\n1}'), (b"", b'{"y":"\xc3\xbc"}'), (b"", b"last")]


def test_a_cr_inside_the_data_of_lf_lines_is_no_line_end() -> None:
    assert SseSplitter("test").feed(b'data: {"x":\r1}\n\n') == [(b"", b'{"x":\r1}')]
