"""Call ids: kept when legal, else hashed; made from the place when absent."""

from __future__ import annotations

import re

import pytest

from dragoman.canon.losses import Loss
from dragoman.codec import ids
from dragoman.crossing import Crossing

STRICT = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")


@pytest.mark.parametrize("call_id", ["call_1", "toolu_01ABC", "rf-1", "x" * 64, "7"])
def test_a_legal_id_is_kept(call_id: str) -> None:
    crossing = Crossing("a", "b")
    assert ids.send(call_id, STRICT, crossing, ()) == call_id
    assert crossing.losses.all() == ()


@pytest.mark.parametrize("call_id", ["", "fc.1:2", "x" * 65, "call\n", "größe", "a b"])
def test_an_illegal_id_is_replaced_in_call_and_result_alike(call_id: str) -> None:
    crossing = Crossing("a", "b")
    sent = ids.send(call_id, STRICT, crossing, ("messages", 1))
    assert ids.SAFE.match(sent)
    assert sent == ids.send(call_id, STRICT, crossing, ("messages", 2)) == ids.hashed(call_id)
    assert crossing.losses.all() == (
        Loss("call.id.rewritten", "approximated", "info", "/messages/1"),
        Loss("call.id.rewritten", "approximated", "info", "/messages/2"),
    )


def test_a_hash_stands_for_its_original() -> None:
    assert ids.hashed("fc.1:2") == "call_7a1f8b421706411440f4"
    assert ids.hashed("fc.1:2", "id_") == "id_7a1f8b421706411440f4"
    assert ids.hashed("\ud800") != ids.hashed("\ud801")


def test_a_minted_id_comes_from_its_place() -> None:
    crossing = Crossing("gemini", "b")
    first = ids.minted(("contents", 1, "parts", 0), crossing)
    assert first == ids.minted(("contents", 1, "parts", 0), Crossing("gemini", "c"))
    assert ids.SAFE.match(first)
    assert first != ids.minted(("contents", 1, "parts", 1), crossing)
    assert crossing.losses.all() == (
        Loss("call.id.invented", "invented", "info", "/contents/1/parts/0"),
        Loss("call.id.invented", "invented", "info", "/contents/1/parts/1"),
    )


def test_salt_tells_two_answers_apart() -> None:
    place = ("choices", 0, "message", "tool_calls", 0)
    made = [ids.minted(place, Crossing("a", "b"), salt) for salt in ("", "r1", "r2", "r1")]
    assert made[1] == made[3]
    assert len(set(made)) == 3
