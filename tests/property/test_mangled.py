"""Recorded streams with frames dropped, repeated, exchanged or cut: whatever comes, the client gets a legal stream that
never ends well when its source did not, the same bytes and the same losses however the bytes were cut."""

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
"""Streams for each dialect and deed; each goes to every target in three cuts."""
LONGEST = 20_000


def _frames(case: Case) -> list[bytes]:
    gap = b"\n" if get(case.dialect).framing == "ndjson" else b"\r\n\r\n" if b"\r\n\r\n" in case.body else b"\n\n"
    return [frame + gap for frame in case.body.split(gap) if frame.strip()]


def _mangled(frames: list[bytes], deed: str, dice: random.Random) -> list[bytes]:
    spot = dice.randrange(len(frames))
    if deed == "drop":
        return frames[:spot] + frames[spot + 1 :]
    if deed == "repeat":
        return frames[: spot + 1] + frames[spot:]
    if deed == "exchange":
        return frames[:spot] + frames[spot : spot + 2][::-1] + frames[spot + 2 :]
    if deed == "shuffle":
        some = frames[spot : spot + 4]
        dice.shuffle(some)
        return frames[:spot] + some + frames[spot + 4 :]
    if deed == "cut":
        return frames[:spot]
    return [*frames[:spot], frames[spot][: dice.randrange(len(frames[spot]))]]


def _translated(case: Case, target: str, chunks: list[bytes]) -> tuple[bytes, tuple[dragoman.Loss, ...]]:
    stream = dragoman.StreamTranslator(source=case.dialect, target=target, created=5)
    out = b"".join([stream.feed(chunk) for chunk in chunks]) + stream.close()
    return out, stream.losses


def _illegal(case: Case, target: str, out: bytes, losses: tuple[dragoman.Loss, ...]) -> set[str]:
    """What the judge finds, but for arguments that are no JSON and reported."""
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


@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_mangled_stream_is_legal_and_no_success_unless_its_source_is(dialect: str, deed: str) -> None:
    dice = random.Random(f"{dialect} {deed}")
    short = [case for case in cases(dialect, "stream") if len(case.body) < LONGEST]
    assert short
    for case in dice.sample(short, min(TRIES, len(short))):
        frames = _mangled(_frames(case), deed, dice)
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
def test_a_stream_cut_at_any_border_of_its_frames_is_a_fault_until_it_has_ended(dialect: str) -> None:
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
