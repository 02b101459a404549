"""No silent loss in random conversations: every part, tool and setting is written or reported."""

from __future__ import annotations

from hypothesis import given

from dragoman.canon import Request, Response
from dragoman.dialects import names as dialects
from tests.laws import no_silent_loss
from tests.property.law_for_each_dialect import each
from tests.property.strategies import requests, responses

DIALECTS = dialects()


@given(request=requests())
@each("dialect", DIALECTS)
def test_requests_lose_nothing_silently(dialect: str, request: Request) -> None:
    lost = no_silent_loss.request(request, dialect)
    assert not lost, "; ".join(lost[:3])


@given(response=responses())
@each("dialect", DIALECTS)
def test_responses_lose_nothing_silently(dialect: str, response: Response) -> None:
    lost = no_silent_loss.response(response, dialect)
    assert not lost, "; ".join(lost[:3])
