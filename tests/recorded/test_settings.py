"""Every optional field of a request ("wish") changes its translation, or a loss names it: settings, flags, cache
marks."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest

import dragoman
from dragoman import Loss
from tests.oracles import body_verdict
from tests.recorded.recorded_bodies import DIALECTS, PAIRS
from tests.recorded.settings_of_requests import BASES, WISHES, with_wish


def named(losses: tuple[Loss, ...], pointer: str) -> bool:
    """Whether a loss names the place, a place above it (but not the whole document), or a place below it."""
    places = [loss.path for loss in losses if loss.path and loss.effect != "invented"]
    return any((pointer + "/").startswith(place + "/") or place.startswith(pointer + "/") for place in places)


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name in WISHES])
def test_the_base_requests_are_legal(dialect: str) -> None:
    assert body_verdict.check_request(dialect, msgspec.json.encode(BASES[dialect])) == []


@pytest.mark.parametrize(("source", "target"), [pair for pair in PAIRS if pair[0] in WISHES])
def test_every_wish_crosses_or_is_reported(source: str, target: str) -> None:
    silent: list[str] = []
    for pointer, values in WISHES[source]:
        found = []
        for value in values:
            body = msgspec.json.encode(with_wish(source, pointer, value))
            found.append(dragoman.translate_request(body, source=source, target=target, model="some-model"))
        for (one, first), (other, second) in pairwise(zip(values, found, strict=True)):
            if first.body == second.body and not named(first.losses + second.losses, pointer):
                silent.append(f"{pointer}: {one!r} and {other!r} give the same output and no loss")
    assert silent == [], "\n" + "\n".join(silent)
