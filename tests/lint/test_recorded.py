"""The rules over recorded traffic: accepted requests pass, refused requests have a finding, answers no errors."""

from __future__ import annotations

import pytest

from dragoman import Finding, lint
from dragoman.dialects import names
from tests.corpus import corpus_files
from tests.lint.unseen_mistakes import ODD_ANSWERS, UNSEEN
from tests.oracles import exchanges

RECORDED = [name for name in names() if name in corpus_files.DIALECTS]
REFUSED = (400, 413, 422)
OPENAI = ("openai-chat", "openai-responses")


def findings(record: exchanges.Record) -> list[Finding]:
    assert record.request is not None
    model = exchanges.model_of(record)
    return lint(record.request, dialect=record.dialect, model=model, headers=record.request_headers)


def errors(found: list[Finding]) -> list[str]:
    return [f"{one.rule} {one.path}: {one.message}" for one in found if one.severity == "error"]


@pytest.mark.parametrize("dialect", RECORDED)
def test_no_error_is_found_in_a_request_that_was_accepted(dialect: str) -> None:
    accepted = [record for record in exchanges.records(dialect) if record.ok and record.request is not None]
    assert len(accepted) > exchanges.least(10, 5)
    wrong = {record.id: errors(findings(record)) for record in accepted}
    assert {name: texts for name, texts in wrong.items() if texts} == {}


@pytest.mark.parametrize("dialect", RECORDED)
def test_every_request_that_was_refused_for_its_payload_has_a_finding(dialect: str) -> None:
    refused = [one for one in exchanges.records(dialect) if one.status in REFUSED and one.request is not None]
    missed = [record.id for record in refused if not findings(record)]
    listed = [name for name in UNSEEN if name.rpartition("-")[0] == dialect]
    assert exchanges.surprises(missed, listed) == [], "missed, or in the table of the unseen though it is found"


def test_the_table_of_unseen_mistakes_has_only_recorded_refusals() -> None:
    exchanges.require_shared()
    refused = {one.id for name in RECORDED for one in exchanges.records(name) if one.status in REFUSED}
    recorded = {name for name in UNSEEN if name.rpartition("-")[0] in RECORDED}
    assert recorded - refused == set()


@pytest.mark.parametrize("dialect", OPENAI)
def test_no_error_is_found_in_an_answer(dialect: str) -> None:
    wrong: dict[str, list[str]] = {}
    for record in exchanges.records(dialect):
        if record.stream is not None:
            found = lint(record.raw, dialect=dialect, kind="stream", request=record.request)
        elif record.ok:
            found = lint(record.response, dialect=dialect, kind="response", request=record.request)
        else:
            continue
        if errors(found):
            wrong[record.id] = errors(found)
    known = {name for name in ODD_ANSWERS if name.startswith(dialect)}
    assert {name: texts[:3] for name, texts in wrong.items() if exchanges.base_id(name) not in known} == {}
    assert exchanges.surprises(wrong, known) == [], "no longer wrong: take it out of the table"
