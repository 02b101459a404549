"""NDJSON: any cut of the bytes gives the same lines, lines are bounded, and each line has one value."""

from __future__ import annotations

import random

import msgspec
import pytest

from dragoman.codec import ndjson_splitter

TEXT = b'\xef\xbb\xbf{"a":1}\r\n\n{"b":"\xc3\xa9"}\n  \r\n{"c":[1,\t2]}'
LINES = [b'{"a":1}\r', '{"b":"é"}'.encode(), b'{"c":[1,\t2]}']


def split(text: bytes, cuts: list[int]) -> list[bytes]:
    splitter = ndjson_splitter.NdjsonSplitter("ollama")
    found: list[bytes] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        found += splitter.feed(text[start:end])
    return found + splitter.close()


def test_lines_are_the_same_however_the_bytes_are_cut() -> None:
    assert split(TEXT, []) == LINES
    assert split(TEXT, list(range(1, len(TEXT)))) == LINES
    dice = random.Random(7)
    for _ in range(200):
        assert split(TEXT, sorted(dice.sample(range(len(TEXT)), dice.randrange(1, 9)))) == LINES


def test_a_line_is_returned_as_soon_as_it_ends() -> None:
    splitter = ndjson_splitter.NdjsonSplitter("ollama")
    assert splitter.feed(b'{"a":') == []
    assert splitter.feed(b'1}\n{"b"') == [b'{"a":1}']
    assert splitter.close() == [b'{"b"']
    assert splitter.close() == []


@pytest.mark.parametrize("cuts", [[], [9], [12], list(range(1, 30))])
def test_a_line_that_is_too_long_breaks_the_stream_after_the_lines_before_it(
    cuts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ndjson_splitter, "MAX_FRAME", 16)
    text = b'{"a":1}\n' + b"x" * 20 + b'\n{"b":2}\n'
    splitter = ndjson_splitter.NdjsonSplitter("ollama")
    found: list[bytes] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        found += splitter.feed(text[start:end])
    assert found + splitter.close() == [b'{"a":1}']
    assert "at most 16 bytes" in str(splitter.broken)


def test_a_value_on_several_lines_is_written_on_one() -> None:
    spread = b'{"a":\r\n [1,\n2]}'
    line = ndjson_splitter.one_line(spread)
    assert b"\n" not in line and b"\r" not in line
    assert msgspec.json.decode(line) == msgspec.json.decode(spread)
    assert ndjson_splitter.one_line(b'{"a":"\\n"}') == b'{"a":"\\n"}'
