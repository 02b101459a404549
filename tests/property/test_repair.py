"""Laws of repair: a repaired request is legal, needs no more repair, and lost only reported content."""

from __future__ import annotations

import json
import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dragoman
from dragoman import Repair, WireError
from dragoman.canon import Request
from dragoman.canon.repair_codes import REPAIRS
from dragoman.dialects import names as dialects
from tests.oracles import body_verdict, conversation_rules
from tests.oracles.exchanges import DIALECTS
from tests.property.broken_conversations import WAYS, Step, broken, spell
from tests.property.law_for_each_dialect import each
from tests.property.strategies import requests
from tests.property.test_fuzz import Change, changed_once, changes
from tests.property.test_laws import write

OBJECTS = ("anthropic", "gemini")
"""Dialects with arguments as objects, which cannot be incomplete."""

PAIRS = [(dialect, way) for dialect in DIALECTS for way in WAYS if not (way == "truncated_call" and dialect in OBJECTS)]
WORD = re.compile(rb"(?:user|said|result|again|thought|call|argument)-\d{3}")
MAY_GO = {
    b"again": {"duplicate-result"},
    # Of two results for one call the first is kept.
    b"result": {"duplicate-result"},
    b"thought": {"unsealed-thinking", "stranded-thinking"},
    b"argument": {"truncated-call"},
    b"call": {"truncated-call", "duplicate-result", "duplicate-id"},
}


def illegal(dialect: str, body: bytes) -> list[str]:
    found = conversation_rules.check_conversation(dialect, msgspec.json.decode(body))
    # A history that begins or ends with the model was cut. It is not broken.
    ends = [one for one in found if one.rule == "-" or one.topic == "end" or "begins with the model" in one.text]
    return [str(one) for one in found if one not in ends]


def vanished(before: bytes, after: bytes, repairs: tuple[Repair, ...]) -> list[bytes]:
    """Return the texts that are missing without a repair that may drop them."""
    names = {one.name for one in repairs}
    gone = set(WORD.findall(before)) - set(WORD.findall(after))
    return sorted([word for word in gone if not names & MAY_GO.get(word[:-4], set())])


def spelled(dialect: str, steps: list[Step], ids: bool) -> bytes:
    if dialect in OBJECTS:
        for step in steps:
            for call in getattr(step, "calls", ()):
                call.arguments = call.arguments if call.arguments.endswith("}") else '{"q": "cut"}'
    return msgspec.json.encode(spell(dialect, steps, ids=ids))


@pytest.mark.parametrize(("dialect", "way"), PAIRS)
@given(data=st.data())
def test_a_repaired_request_is_legal_and_whole(dialect: str, way: str, data: st.DataObject) -> None:
    body = spelled(dialect, data.draw(broken(way)), data.draw(st.booleans()))
    done = dragoman.repair(body, dialect=dialect)
    if not done.repairs:
        assert done.body == body
    assert illegal(dialect, done.body) == [], (body, done.repairs)
    extensions = [
        text for text in body_verdict.check_request(dialect, done.body, extensions=True) if "x_unknown" not in text
    ]
    assert extensions == [], done.body
    assert vanished(body, done.body, done.repairs) == [], (body, done.body, done.repairs)
    again = dragoman.repair(done.body, dialect=dialect)
    assert (again.repairs, again.body) == ((), done.body)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data())
def test_a_translation_can_repair_or_refuse(dialect: str, data: st.DataObject) -> None:
    body = spelled(dialect, data.draw(broken(data.draw(st.sampled_from(sorted(WAYS))))), True)
    other = data.draw(st.sampled_from(DIALECTS))
    done = dragoman.translate_request(body, source=dialect, target=other, model="m", repair="report")
    repairs = dragoman.repair(body, dialect=dialect).repairs
    assert done.repairs == repairs
    assert illegal(other, done.body) == [], (body, done.repairs)
    if all(REPAIRS[one.name].tolerated for one in repairs):
        refusing = dragoman.translate_request(body, source=dialect, target=other, model="m", repair="refuse")
        plain = dragoman.translate_request(body, source=dialect, target=other, model="m")
        assert (refusing.body, refusing.repairs, refusing.losses) == (plain.body, (), plain.losses)
        return
    with pytest.raises(dragoman.RepairError) as caught:
        dragoman.translate_request(body, source=dialect, target=other, model="m", repair="refuse")
    assert caught.value.repairs == repairs
    if other != dialect:
        codes = {loss.code for loss in done.losses}
        assert {REPAIRS[one.name].loss for one in repairs} - {""} <= codes


@settings(max_examples=30)
@given(request=requests())
@each("dialect", dialects())
def test_a_written_request_needs_no_repair(dialect: str, request: Request) -> None:
    body = write(dialect, request)[0]
    assert dragoman.repair(body, dialect=dialect).repairs == (), body


@settings(max_examples=30)
@given(request=requests(), wrong=changes(2))
@each("dialect", dialects())
def test_with_odd_values_it_is_mended_once_or_a_wire_error(dialect: str, request: Request, wrong: list[Change]) -> None:
    document = msgspec.json.decode(write(dialect, request)[0])
    for change in wrong:
        document = changed_once(document, change)
    body = json.dumps(document, default=str).encode()
    try:
        done = dragoman.repair(body, dialect=dialect)
    except WireError as error:
        assert str(error)
        return
    again = dragoman.repair(done.body, dialect=dialect)
    assert (again.repairs, again.body) == ((), done.body), (body, done.repairs)
