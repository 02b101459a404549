"""The fast path for frames that continue a text gives the same bytes, losses and fault as the full path."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from bench.streams import frames
from bench.translate import request_translation

import dragoman
from dragoman.dialects import names
from dragoman.seals.strategy import STRATEGIES, Strategy
from dragoman.seals.vault import MemoryVault
from tests.oracles import exchanges
from tests.recorded.recorded_bodies import cases

PAIRS = list(permutations(names(), 2))
EVERY = 5
"""One of this number of recorded streams is tested."""


def outcome(chunks: list[bytes], source: str, target: str, **more: Any) -> tuple[object, ...]:
    vault = MemoryVault()
    stream = dragoman.StreamTranslator(source=source, target=target, vault=vault, **more)
    out = [stream.feed(chunk) for chunk in chunks]
    return b"".join(out) + stream.close(), stream.losses, stream.fault, dict(vault)


def whole_frames(body: bytes) -> list[bytes]:
    blank = b"\r\n\r\n" if b"\r\n\r\n" in body else b"\n\n"
    *found, rest = body.split(blank)
    return [frame + blank for frame in found] + ([rest] if rest else [])


@pytest.fixture
def fast_paths(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the uses of the fast path."""
    entered: list[int] = []
    enter = dragoman.StreamTranslator._enter_fast_path

    def counted(self: Any, reader: Any) -> None:
        enter(self, reader)
        if self._fast_path is not None:
            entered.append(self._index)

    monkeypatch.setattr(dragoman.StreamTranslator, "_enter_fast_path", counted)
    return entered


def without_fast_paths(monkeypatch: pytest.MonkeyPatch, *args: Any, **more: Any) -> tuple[object, ...]:
    with monkeypatch.context() as patch:
        patch.setattr(dragoman.StreamTranslator, "_enter_fast_path", lambda self, reader: None)
        return outcome(*args, **more)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_recorded_streams_are_the_same_on_both_paths(
    source: str, target: str, fast_paths: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for case in cases(source, "stream")[names().index(target) % EVERY :: EVERY]:
        chunks = whole_frames(case.body)
        long = without_fast_paths(monkeypatch, chunks, source, target)
        assert outcome(chunks, source, target) == long, case.id
        assert outcome([case.body], source, target) == long, case.id
        twice = [b"".join(chunks[i : i + 2]) for i in range(0, len(chunks), 2)]
        assert outcome(twice, source, target) == long, case.id
    # A synthetic stream may have only one frame for each text; the long streams below use the fast path in every
    # clone.
    assert fast_paths or source == "ollama" or not exchanges.has_recordings()


@pytest.mark.parametrize("seals", STRATEGIES)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_long_stream_is_the_same_on_both_paths(
    source: str, target: str, seals: Strategy, fast_paths: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = request_translation(target, source, stream=True)
    chunks = list(frames(source))
    long = without_fast_paths(monkeypatch, chunks, source, target, seals=seals, answers=answers)
    assert outcome(chunks, source, target, seals=seals, answers=answers) == long
    cut = chunks[: len(chunks) * 2 // 3]
    broken = without_fast_paths(monkeypatch, cut, source, target, seals=seals, answers=answers)
    assert outcome(cut, source, target, seals=seals, answers=answers) == broken
    assert len(fast_paths) > 1 or source == "ollama"


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_frames_in_one_piece_take_the_fast_path(source: str, target: str, fast_paths: list[int]) -> None:
    answers = request_translation(target, source, stream=True)
    one_by_one = outcome(list(frames(source)), source, target, answers=answers)
    entered = len(fast_paths)
    assert outcome([b"".join(frames(source))], source, target, answers=answers) == one_by_one
    assert len(fast_paths) == 2 * entered
