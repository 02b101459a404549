"""Requests with growing histories have the same translation with the memory and without the memory.

The steps are prefixes of real histories, also of broken ones: turns that are exchanged, missing or repeated. A prefix
may contain only system text. The memory has already stored the earlier steps once, twice or never.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

import dragoman
from dragoman import fast
from tests.manifest.documents import MODELS, PAIRS, TURNS, Document, documents
from tests.oracles.exchanges import has_recordings

HISTORIES = 40
"""Number of histories for each pair of dialects."""


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    enabled = fast.enabled()
    yield
    fast.forget()
    if enabled:
        fast.on()
    else:
        fast.off()


def outcome(body: bytes, source: str, target: str) -> Any:
    try:
        done = dragoman.translate_request(body, source=source, target=target, model=MODELS[target], repair="report")
    except dragoman.DragomanError as error:
        return type(error), str(error)
    return done.body, done.losses, done.headers, done.repairs


def maybe_broken(turns: list[Any], chance: random.Random) -> list[Any]:
    """Break the turns in one of two cases."""
    turns, place, way = [*turns], chance.randrange(len(turns)), chance.random()
    if way < 0.25 and place:
        turns[place - 1], turns[place] = turns[place], turns[place - 1]
    elif way < 0.4 and len(turns) > 2:
        del turns[place]
    elif way < 0.5:
        turns.insert(place, turns[place])
    return turns


def steps(document: Document, chance: random.Random) -> list[bytes]:
    """Return requests with the same start, each longer than the previous one; none without a history."""
    field, turn = TURNS[document.dialect]
    value: Any = msgspec.json.decode(document.body)
    holder = value
    for name in field[:-1]:
        holder = holder.get(name) if isinstance(holder, dict) else None
    turns = holder.get(field[-1]) if isinstance(holder, dict) else None
    if not isinstance(turns, list) or len(turns) < 2:
        return []
    turns = maybe_broken(turns, chance)
    if chance.random() < 0.4:
        turns += [turn("assistant", "That is done."), turn("user", "And then?"), *turns[: chance.randrange(3)]]
    bodies = []
    for count in [*sorted(chance.sample(range(1, len(turns) + 1), min(3, len(turns)))), len(turns)]:
        holder[field[-1]] = turns[:count]
        bodies.append(msgspec.json.encode(value))
    return [bodies[0]] * chance.randrange(3) + [body for body in bodies for _ in range(chance.choice((1, 2)))]


@pytest.mark.parametrize(("source", "target"), [pair for pair in PAIRS if pair[0] != pair[1]])
def test_a_growing_history_has_the_same_translation_without_memory(source: str, target: str) -> None:
    chance = random.Random(f"{source} to {target}")
    found = list(documents("synthetic", source, "request"))
    if has_recordings():
        found += documents("recorded", source, "request")
    tried = 0
    # A clone without recordings has few histories for some dialects: each is then broken in several ways.
    for document in [each for _ in range(3) for each in chance.sample(found, len(found))]:
        bodies = steps(document, chance)
        if not bodies:
            continue
        fast.on()
        fast.forget()
        remembered = [outcome(body, source, target) for body in bodies]
        fast.off()
        assert remembered == [outcome(body, source, target) for body in bodies], document.id
        tried += 1
        if tried == HISTORIES:
            break
    assert tried > 5
