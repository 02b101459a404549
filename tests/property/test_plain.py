"""The short way for plain answers (`fast.plain_answers.Plain`) gives the same bytes and losses as the long one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import msgspec
import pytest
from bench import payloads
from bench.translate import asked

import dragoman
from dragoman import fast, translate
from dragoman.dialects import get, names
from dragoman.seals.strategy import STRATEGIES, Strategy
from dragoman.seals.vault import MemoryVault
from tests.recorded.cases import cases

SHORT = [
    (source, target)
    for source, target in permutations(names(), 2)
    if get(source).fast.read_plain is not None and get(target).fast.write_plain is not None  # type: ignore[union-attr]
]
Outcome = tuple[Any, tuple[dragoman.Loss, ...], object] | str


def outcome(body: bytes, source: str, target: str, seals: Strategy, answers: translate.Translation | None) -> Outcome:
    vault = MemoryVault()
    try:
        made = dragoman.translate_response(
            body, source=source, target=target, seals=seals, vault=vault, answers=answers, created=1_790_000_000
        )
    except dragoman.DragomanError as error:
        return f"{type(error).__name__}: {error}"
    return made.body, tuple(sorted(made.losses, key=repr)), dict(vault)


@pytest.fixture
def both() -> Iterator[Callable[..., tuple[Outcome, Outcome]]]:
    """The outcome of an answer by the short way and by the long one."""

    enabled = fast.enabled()

    def run(*asked: Any) -> tuple[Outcome, Outcome]:
        fast.on()
        short = outcome(*asked)
        fast.off()
        return short, outcome(*asked)

    yield run
    if enabled:
        fast.on()
    else:
        fast.off()


@pytest.mark.parametrize(("source", "target"), SHORT)
def test_recorded_answers_are_the_same_both_ways(
    source: str, target: str, both: Callable[..., tuple[Outcome, Outcome]]
) -> None:
    answers = asked(target, source, stream=False)
    taken = 0
    for case in cases(source, "response"):
        reader = get(source).fast.read_plain  # type: ignore[union-attr]
        taken += reader is not None and reader(case.body, 0, None) is not None
        for way, request in (("auto", None), ("auto", answers), ("vault", answers), ("id", None)):
            short, long = both(case.body, source, target, way, request)
            assert short == long, (case.id, way)
    assert taken, "no recorded answer takes the short way"


_ODD: tuple[Any, ...] = (None, "", " ", 0, 1, 1.5, -1, True, [], {}, [None], {"a": 1}, "STOP", "toolu_1", "x" * 65, "é")


def spoiled(value: Any) -> Iterator[Any]:
    """The value with every part of it replaced by something odd, left out, repeated, or joined by something unknown."""
    if isinstance(value, dict):
        yield value | {"unheard_of": 1}
        for name, inner in value.items():
            yield {key: other for key, other in value.items() if key != name}
            for odd in spoiled(inner):
                yield value | {name: odd}
    elif isinstance(value, list):
        yield []
        yield value + value[-1:]
        yield value[::-1]
        for i, inner in enumerate(value):
            for odd in spoiled(inner):
                yield [*value[:i], odd, *value[i + 1 :]]
    for odd in _ODD:
        yield odd


@pytest.mark.parametrize(("source", "target"), SHORT)
def test_odd_answers_are_the_same_both_ways(
    source: str, target: str, both: Callable[..., tuple[Outcome, Outcome]]
) -> None:
    whole = payloads.response(source)
    answers = asked(target, source, stream=False)
    for way in STRATEGIES:
        short, long = both(whole, source, target, way, answers)
        assert short == long, way
    for odd in spoiled(msgspec.json.decode(whole)):
        body = msgspec.json.encode(odd)
        short, long = both(body, source, target, "auto", answers)
        assert short == long, body.decode()


@pytest.mark.parametrize(("source", "target"), SHORT)
def test_texts_that_are_spelled_by_numbers_are_the_same_both_ways(
    source: str, target: str, both: Callable[..., tuple[Outcome, Outcome]]
) -> None:
    whole = msgspec.json.decode(payloads.response(source))
    body = json.dumps(whole, ensure_ascii=True).replace("/", "\\/").encode()
    short, long = both(body, source, target, "auto", asked(target, source, stream=False))
    assert short == long
