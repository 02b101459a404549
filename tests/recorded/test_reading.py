"""Every recorded request, answer, stream and fault of every dialect can be read."""

from __future__ import annotations

import msgspec
import pytest

from dragoman import WireError
from dragoman.canon import Fault, Request, Response
from dragoman.dialects import get
from dragoman.dialects import names as dialects
from tests.oracles import exchanges
from tests.recorded.event_grammar import findings
from tests.recorded.known_failures import REFUSED
from tests.recorded.recorded_bodies import DIALECTS, cases, context, events, settle


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_request_can_be_read(dialect: str) -> None:
    failures: dict[str, str] = {}
    found = cases(dialect, "request")
    for case in found:
        try:
            request = get(dialect).read_request(case.body, context(dialect, dialect))
        except WireError as error:
            failures[case.id] = str(error)
            continue
        assert isinstance(request, Request)
        assert request.turns, case.id
    assert found
    settle(f"reads request {dialect}", failures)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_response_can_be_read(dialect: str) -> None:
    failures: dict[str, str] = {}
    found = cases(dialect, "response")
    for case in found:
        try:
            response = get(dialect).read_response(case.body, context(dialect, dialect))
        except WireError as error:
            failures[case.id] = str(error)
            continue
        assert isinstance(response, Response)
    assert found
    settle(f"reads response {dialect}", failures)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_stream_gives_a_legal_sequence_of_events(dialect: str) -> None:
    failures: dict[str, str] = {}
    found = cases(dialect, "stream")
    for case in found:
        try:
            wrong = findings(events(dialect, case.body))
        except WireError as error:
            wrong = [str(error)]
        if wrong:
            failures[case.id] = "; ".join(wrong[:3])
    assert found
    settle(f"reads stream {dialect}", failures)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_fault_is_read_with_its_message(dialect: str) -> None:
    failures: dict[str, str] = {}
    found = cases(dialect, "fault")
    for case in found:
        fault = get(dialect).read_fault(case.body, case.status, {})
        assert isinstance(fault, Fault)
        if not fault.message:
            failures[case.id] = f"{fault}"
    assert found
    settle(f"reads fault {dialect}", failures)


@pytest.mark.parametrize("record_id", REFUSED)
def test_an_invalid_request_is_refused_with_its_place(record_id: str) -> None:
    record = exchanges.record(record_id)
    if record.dialect not in DIALECTS:
        pytest.skip(f"{record.dialect} is not built in")
    with pytest.raises(WireError, match="at /messages/0"):
        get(record.dialect).read_request(msgspec.json.encode(record.request), context(record.dialect, record.dialect))


def test_every_folder_of_a_dialect_is_tested() -> None:
    assert dialects() == DIALECTS
    for name in DIALECTS:
        assert get(name).name == name
