"""Translation into the same dialect gives the same document.

An unchanged document has the same bytes. A document that was read and written has the same JSON value up to spelling,
and the same canon value when it is read again."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

import dragoman
from dragoman.canon import Request, Response
from dragoman.dialects import get
from tests.oracles.stream_end import ended
from tests.recorded.normal_form import canonical, normal
from tests.recorded.recorded_bodies import DIALECTS, Case, cases, context, settle, written_again
from tests.recorded.tree_comparison import differences, placeless


@pytest.mark.parametrize("dialect", DIALECTS)
def test_requests_pass_as_the_same_bytes(dialect: str) -> None:
    for case in cases(dialect, "request"):
        passed = dragoman.translate_request(case.body, source=dialect, target=dialect)
        assert passed.body == case.body, case.id
        assert passed.losses == (), case.id


@pytest.mark.parametrize("dialect", DIALECTS)
def test_responses_and_faults_pass_as_the_same_bytes(dialect: str) -> None:
    for case in cases(dialect, "response"):
        answer = dragoman.translate_response(case.body, source=dialect, target=dialect)
        assert (answer.body, answer.losses) == (case.body, ()), case.id
    for case in cases(dialect, "fault"):
        fault = dragoman.translate_fault(case.body, status=case.status, source=dialect, target=dialect)
        assert (fault.body, fault.status, fault.losses) == (case.body, case.status, ()), case.id


@pytest.mark.parametrize("dialect", DIALECTS)
def test_streams_pass_as_the_same_bytes(dialect: str) -> None:
    for case in cases(dialect, "stream"):
        stream = dragoman.StreamTranslator(source=dialect, target=dialect)
        passed = stream.feed(case.body) + stream.close()
        assert passed == case.body or not ended(dialect, case.body), case.id
        assert stream.losses == (), case.id


def _request_again(case: Case) -> tuple[bytes, Request, Request]:
    dialect, under = get(case.dialect), context(case.dialect, case.dialect)
    request = dialect.read_request(case.body, under)
    written = written_again(dialect, request, under)
    return written, request, dialect.read_request(written, context(case.dialect, case.dialect))


def _response_again(case: Case) -> tuple[bytes, Response, Response]:
    dialect, under = get(case.dialect), context(case.dialect, case.dialect)
    response = dialect.read_response(case.body, under)
    written = dialect.write_response(response, under)
    return written, response, dialect.read_response(written, context(case.dialect, case.dialect))


AGAIN: dict[str, Callable[[Case], tuple[bytes, Request | Response, Request | Response]]] = {
    "request": _request_again,
    "response": _response_again,
}


@pytest.mark.parametrize("kind", ["request", "response"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_reading_and_writing_changes_only_the_spelling(dialect: str, kind: str) -> None:
    documents: dict[str, str] = {}
    canons: dict[str, str] = {}
    for case in cases(dialect, kind):  # type: ignore[arg-type]
        written, first, second = AGAIN[kind](case)
        before, after = msgspec.json.decode(case.body), msgspec.json.decode(written)
        wrong = differences(normal(dialect, kind, before), normal(dialect, kind, after))
        if wrong:
            documents[case.id] = "; ".join(wrong[:3])
        wrong = differences(canonical(placeless(first)), canonical(placeless(second)))
        if wrong:
            canons[case.id] = "; ".join(wrong[:3])
    settle(f"identity {kind} {dialect}", documents)
    settle(f"settled canon {kind} {dialect}", canons)
