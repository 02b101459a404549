"""Recorded streams within one dialect.

A whole stream passes byte for byte. A cut stream gets one fault after its last whole frame."""

from __future__ import annotations

import random
import re

import pytest

from dragoman.dialects import get
from dragoman.translate.stream_passthrough import PassThrough
from tests.oracles.stream_end import ended
from tests.recorded.recorded_bodies import DIALECTS, cases

BLANK = re.compile(rb"\r\n\r\n|\n\n")


def boundaries(dialect: str, raw: bytes) -> list[int]:
    """Return the positions at which frames end."""
    blank = BLANK if get(dialect).framing == "sse" else re.compile(rb"\n")
    return [found.end() for found in blank.finditer(raw)]


def passed(dialect: str, raw: bytes, size: int) -> tuple[bytes, bytes, PassThrough]:
    """Return the bytes that are sent before the end of the input, the bytes that are sent after, and the
    PassThrough."""
    passing = PassThrough(dialect)
    out = b"".join([passing.feed(raw[at : at + size]) for at in range(0, len(raw), size)])
    return out, passing.close(), passing


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_whole_stream_passes_as_it_is(dialect: str) -> None:
    for number, case in enumerate(cases(dialect, "stream")):
        out, rest, passing = passed(dialect, case.body, (7, 100, 100_000)[number % 3])
        if ended(dialect, case.body):
            assert out + rest == case.body, case.id
            assert passing.note == "", case.id
        else:
            assert passing.fault is not None, case.id


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_stream_cut_between_frames_has_a_fault_exactly_when_its_end_is_missing(dialect: str) -> None:
    dice = random.Random(dialect)
    for case in cases(dialect, "stream"):
        ends = boundaries(dialect, case.body)
        # The last ends are the important cases. Of the other ends a sample is enough: a stream may have thousands.
        for at in {*ends[-12:], *dice.sample(ends, min(len(ends), 12))}:
            cut = case.body[:at]
            out, rest, passing = passed(dialect, cut, 4096)
            if ended(dialect, cut):
                assert out + rest == cut, (case.id, at)
            elif out:
                assert out == cut, (case.id, at)
                assert passing.fault is not None, (case.id, at)
                assert ended(dialect, rest) and rest, (case.id, at)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_half_a_frame_never_passes(dialect: str) -> None:
    dice = random.Random(dialect)
    for case in cases(dialect, "stream"):
        ends = [0, *boundaries(dialect, case.body)]
        for _ in range(6):
            at = dice.randrange(1, len(case.body))
            cut = case.body[:at]
            out, rest, passing = passed(dialect, cut, dice.choice((1, 50, 5000)))
            whole = max(end for end in ends if end <= at)
            if not ended(dialect, cut):
                assert passing.fault is not None, (case.id, at)
                assert out == case.body[:whole] or not out, (case.id, at)
                assert ended(dialect, rest), (case.id, at)
            elif passing.fault is None:
                # A last frame that lacks only its blank line is whole.
                assert cut.startswith(out + rest), (case.id, at)
