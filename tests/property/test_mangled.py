"""Recorded streams with frames dropped, repeated, exchanged or cut.

The client always gets a legal stream. The stream has a normal end only if its source has one. The bytes and the losses
do not depend on the cut of the input."""

from __future__ import annotations

import random

import pytest

import dragoman
from dragoman.canon import Fault
from dragoman.dialects import get
from tests.oracles.grammar import check_stream
from tests.recorded.event_grammar import findings
from tests.recorded.recorded_bodies import DIALECTS, Case, cases, events

DEEDS = ("drop", "repeat", "exchange", "shuffle", "cut", "cut inside")
TRIES = 4
"""Streams for each dialect and kind of change; each is translated to every target with three cuts."""
LONGEST = 20_000


def _frames(case: Case) -> list[bytes]:
    gap = b"\n" if get(case.dialect).framing == "ndjson" else b"\r\n\r\n" if b"\r\n\r\n" in case.body else b"\n\n"
    return [frame + gap for frame in case.body.split(gap) if frame.strip()]


def _mangled(frames: list[bytes], change: str, dice: random.Random) -> list[bytes]:
    spot = dice.randrange(len(frames))
    if change == "drop":
        return frames[:spot] + frames[spot + 1 :]
    if change == "repeat":
        return frames[: spot + 1] + frames[spot:]
    if change == "exchange":
        return frames[:spot] + frames[spot : spot + 2][::-1] + frames[spot + 2 :]
    if change == "shuffle":
        some = frames[spot : spot + 4]
        dice.shuffle(some)
        return frames[:spot] + some + frames[spot + 4 :]
    if change == "cut":
        return frames[:spot]
    return [*frames[:spot], frames[spot][: dice.randrange(len(frames[spot]))]]


def _translated(case: Case, target: str, chunks: list[bytes]) -> tuple[bytes, tuple[dragoman.Loss, ...]]:
    stream = dragoman.StreamTranslator(source=case.dialect, target=target, created=5)
    out = b"".join([stream.feed(chunk) for chunk in chunks]) + stream.close()
    return out, stream.losses


def _illegal(case: Case, target: str, out: bytes, losses: tuple[dragoman.Loss, ...]) -> set[str]:
    """Return the findings of the judge, except for invalid arguments that are reported."""
    found = {text.partition(": ")[2] for text in check_stream(target, out, extensions=True)}
    reported = any(loss.code == "arguments.invalid" for loss in losses)
    return {text for text in found if not (reported and "not JSON" in text)}


def _pieces(raw: bytes, dice: random.Random) -> list[bytes]:
    out: list[bytes] = []
    while raw:
        size = dice.choice((1, 7, 50, 400))
        out.append(raw[:size])
        raw = raw[size:]
    return out


@pytest.mark.parametrize("change", DEEDS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_mangled_stream_is_legal_and_succeeds_only_if_its_source_does(dialect: str, change: str) -> None:
    dice = random.Random(f"{dialect} {change}")
    short = [case for case in cases(dialect, "stream") if len(case.body) < LONGEST]
    assert short
    for case in dice.sample(short, min(TRIES, len(short))):
        frames = _mangled(_frames(case), change, dice)
        raw = b"".join(frames)
        steps = events(dialect, raw)
        assert [text for text in findings(steps) if "without id or name" not in text] == [], case.id
        for target in [name for name in DIALECTS if name != dialect]:
            where = f"{case.id} to {target}"
            out, losses = _translated(case, target, [raw])
            clean, known = _translated(case, target, [case.body])
            assert _illegal(case, target, out, losses) <= _illegal(case, target, clean, known), where
            if isinstance(steps[-1], Fault):
                assert isinstance(events(target, out)[-1], Fault), where
            for chunks in (frames, _pieces(raw, dice)):
                assert _translated(case, target, chunks) == (out, losses), where


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_stream_cut_between_frames_is_a_fault_until_its_end(dialect: str) -> None:
    dice = random.Random(dialect)
    calling = [case for case in cases(dialect, "stream") if len(case.body) < LONGEST and b"call" in case.body]
    for case in dice.sample(calling, min(2, len(calling))):
        frames = _frames(case)
        for end in range(min(len(frames), 60)):
            ending = events(dialect, b"".join(frames[:end]))[-1]
            for target in [name for name in DIALECTS if name != dialect]:
                last = events(target, _translated(case, target, frames[:end])[0])[-1]
                if isinstance(ending, Fault):
                    assert isinstance(last, Fault), f"{case.id} after {end} frames to {target}"
