"""Recorded requests that an upstream answered need no repair that changes their meaning."""

from __future__ import annotations

import msgspec
import pytest

import dragoman
from dragoman.canon.repair_codes import REPAIRS
from tests.oracles import conversation_rules
from tests.oracles.exchanges import DIALECTS, Record, base_id, least, model_of, records

EXCEPTIONS: dict[str, str] = {}
"""Records that need a repair although the upstream answered them, with the reason."""


def requests(dialect: str) -> list[Record]:
    return [item for item in records(dialect) if item.request is not None and item.ok]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_answered_request_needs_only_tolerated_repairs(dialect: str) -> None:
    found = {}
    for item in requests(dialect):
        body = msgspec.json.encode(item.request)
        done = dragoman.repair(body, dialect=dialect, model=model_of(item))
        if not done.repairs:
            assert done.body == body, item.id
        elif not all(REPAIRS[one.name].tolerated for one in done.repairs):
            found[item.id] = [str(one) for one in done.repairs]
    assert {name: what for name, what in found.items() if base_id(name) not in EXCEPTIONS} == {}
    assert len(requests(dialect)) > least(200, 50)


def test_contents_that_do_not_alternate_are_joined_and_lose_nothing() -> None:
    """Google's servers accept these contents against their documentation. The joined form needs no more repair."""
    mended = 0
    for item in requests("gemini"):
        done = dragoman.repair(msgspec.json.encode(item.request), dialect="gemini", model=model_of(item))
        if not done.repairs:
            continue
        mended += 1
        assert done.losses == (), item.id
        again = dragoman.repair(done.body, dialect="gemini", model=model_of(item))
        assert (again.repairs, again.body) == ((), done.body), item.id
        found = conversation_rules.check_conversation("gemini", done.json(), model=model_of(item) or "")
        assert [str(one) for one in found if one.rule in ("GEM-006", "GEM-007", "GEM-010") and one.topic != "end"] == []
        kept = [_parts(body) for body in (item.request, done.json())]
        assert kept[0] == kept[1], item.id
    assert mended > least(20, 3)


def _parts(body: object) -> int:
    """Count the parts of all contents."""
    assert isinstance(body, dict)
    return sum(len(content.get("parts") or ()) for content in body["contents"])
