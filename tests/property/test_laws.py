"""Laws over generated conversations and answers: what is written is legal, comes back, settles, and loses nothing
silently."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dragoman
from dragoman import Loss
from dragoman.canon import Fault, Request, Response, ToolCall, ToolResult
from dragoman.canon.fold import fold, unfold
from dragoman.crossing import Crossing
from dragoman.dialects import get
from dragoman.dialects import names as dialects
from tests.judges import conversation, grammar, official
from tests.property.strategies import requests, responses
from tests.wire.compare import differences, placeless
from tests.wire.events import findings
from tests.wire.roundtrip import request_differences, response_differences

DIALECTS = dialects()
ELSEWHERE = "elsewhere"


def write(dialect: str, request: Request) -> tuple[bytes, tuple[Loss, ...]]:
    """A request from no dialect at all, written in one."""
    under = Crossing(ELSEWHERE, dialect)
    return get(dialect).write_request(request, under), under.losses.all()


def read(dialect: str, body: bytes) -> Request:
    return get(dialect).read_request(body, Crossing(dialect, dialect))


def answer(dialect: str, response: Response) -> tuple[bytes, tuple[Loss, ...]]:
    under = Crossing(ELSEWHERE, dialect, created=5)
    return get(dialect).write_response(response, under), under.losses.all()


def told(dialect: str, response: Response) -> tuple[bytes, tuple[Loss, ...]]:
    """The answer as a stream."""
    under = Crossing(ELSEWHERE, dialect, created=5)
    writer = get(dialect).writer(under)
    return b"".join([writer.send(event) for event in unfold(response)]) + writer.close(), under.losses.all()


@pytest.mark.parametrize("dialect", DIALECTS)
@given(request=requests())
def test_requests_are_legal(dialect: str, request: Request) -> None:
    body, _ = write(dialect, request)
    assert official.check_request(dialect, body) == []
    found = conversation.check_conversation(dialect, msgspec.json.decode(body), model=request.model)
    assert [str(finding) for finding in found if finding.rule != "-"] == []


@pytest.mark.parametrize("dialect", DIALECTS)
@given(request=requests())
def test_requests_come_back_but_for_the_losses(dialect: str, request: Request) -> None:
    body, losses = write(dialect, request)
    assert request_differences(request, request, read(dialect, body), losses, ()) == []


@pytest.mark.parametrize("dialect", DIALECTS)
@given(request=requests())
def test_requests_pass_through_their_own_dialect_unchanged(dialect: str, request: Request) -> None:
    body, _ = write(dialect, request)
    assert dragoman.translate_request(body, source=dialect, target=dialect).body == body
    first = read(dialect, body)
    again = get(dialect).write_request(first, Crossing(dialect, dialect))
    assert differences(placeless(first), placeless(read(dialect, again))) == []


@pytest.mark.parametrize("dialect", DIALECTS)
@given(request=requests(), other=st.sampled_from(DIALECTS))
def test_requests_settle_after_one_hop(dialect: str, other: str, request: Request) -> None:
    body, _ = write(dialect, request)

    def hop(document: bytes) -> bytes:
        there = dragoman.translate_request(document, source=dialect, target=other, model="m")
        return dragoman.translate_request(there.body, source=other, target=dialect, model="m").body

    once = hop(body)
    assert differences(placeless(read(dialect, once)), placeless(read(dialect, hop(once)))) == []


@pytest.mark.parametrize("dialect", DIALECTS)
@given(request=requests())
def test_every_written_result_pairs_with_an_earlier_call(dialect: str, request: Request) -> None:
    asked: set[str] = set()
    for turn in read(dialect, write(dialect, request)[0]).turns:
        for part in turn.parts:
            if isinstance(part, ToolCall):
                asked.add(part.id)
            if isinstance(part, ToolResult):
                assert part.call_id in asked


@pytest.mark.parametrize("dialect", DIALECTS)
@given(request=requests())
def test_the_same_request_gives_the_same_bytes(dialect: str, request: Request) -> None:
    assert write(dialect, request) == write(dialect, request)


@given(response=responses(several=True))
def test_folding_undoes_unfolding(response: Response) -> None:
    events = unfold(response)
    assert findings(events) == []
    assert fold(events) == response


@pytest.mark.parametrize("dialect", DIALECTS)
@given(response=responses())
def test_responses_are_legal_and_come_back_but_for_the_losses(dialect: str, response: Response) -> None:
    body, losses = answer(dialect, response)
    assert official.check_response(dialect, body, extensions=True) == []
    back = get(dialect).read_response(body, Crossing(dialect, dialect))
    assert response_differences(response, response, back, losses, ()) == []


@pytest.mark.parametrize("dialect", DIALECTS)
@given(response=responses(), data=st.data())
def test_streams_are_legal_and_the_same_however_they_are_cut(
    dialect: str, response: Response, data: st.DataObject
) -> None:
    raw, losses = told(dialect, response)
    assert _judged(dialect, raw, response) == []
    whole = _events(dialect, [raw])
    assert findings(whole) == []
    cuts = sorted(data.draw(st.sets(st.integers(0, len(raw)), max_size=8), label="cuts"))
    pieces = [raw[start:end] for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    assert _events(dialect, pieces) == whole
    assert _events(dialect, [raw[i : i + 1] for i in range(len(raw))]) == whole
    back = fold(whole)
    assert not isinstance(back, Fault)
    assert response_differences(response, response, back, losses, ()) == []


def _judged(dialect: str, raw: bytes, response: Response) -> list[str]:
    """What the grammar finds, but for arguments: those are the model's, and a model may write what it likes."""
    found = grammar.check_stream(dialect, raw, extensions=True)
    return [text for text in found if "arguments" not in text and "partial_json" not in text]


def _events(dialect: str, chunks: list[bytes]) -> list[object]:
    reader = get(dialect).reader(Crossing(dialect, dialect))
    return [event for chunk in chunks for event in reader.feed(chunk)] + list(reader.close())


@pytest.mark.parametrize("dialect", DIALECTS)
@given(response=responses(several=True), other=st.sampled_from(DIALECTS))
def test_any_answer_crosses_as_a_whole_and_as_a_stream(dialect: str, other: str, response: Response) -> None:
    body, _ = answer(dialect, response)
    out = dragoman.translate_response(body, source=dialect, target=other, created=5)
    assert official.check_response(other, out.body, extensions=True) == []
    stream = dragoman.StreamTranslator(source=dialect, target=other, created=5)
    raw = stream.feed(told(dialect, response)[0]) + stream.close()
    assert _judged(other, raw, response) == []
