"""Every dialect writes any answer of the rehearsal as a legal answer and a legal stream."""

from __future__ import annotations

import base64
import json
from typing import Any, Literal

import msgspec
import pytest

import dragoman
from dragoman import rehearsal
from dragoman.canon import Choice, Fault, Format, Media, Request, Response, Text
from dragoman.canon.fold_and_unfold import fold
from dragoman.context import Context
from dragoman.dialects import get, names
from tests.oracles import body_verdict, grammar
from tests.recorded.event_grammar import findings
from tests.recorded.recorded_bodies import cases
from tests.unit.rehearsal.helpers import TOOLS, WEATHER, events, next_request, request, respond, streamed, user, written

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (2).to_bytes(4, "big") + (3).to_bytes(4, "big")).decode()
PERSON = json.dumps({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}})

REQUESTS: dict[str, Request] = {
    "plain": request("Hello"),
    "call": request("What is the weather in Paris?", tools=TOOLS),
    "parallel": request("What is the weather in Paris and in Rome?", tools=TOOLS),
    "forced": request("Hello", tools=TOOLS, choice=Choice("required")),
    "custom": request('apply_patch: "*** Begin Patch"', tools=TOOLS),
    "thinking": request("Hello", effort="high"),
    "thinking-call": request("What is the weather in Paris?", tools=TOOLS, budget=2048, thoughts=True),
    "hidden-thinking": request("Hello", effort="low", thoughts=False),
    "schema": request("name: Ada, age: 36", format=Format("schema", PERSON, "person")),
    "json": request("JSON, please", format=Format("json")),
    "short": request("Hello", max_tokens=3),
    "short-thinking": request("Hello", max_tokens=4, effort="high"),
    "nothing": request("Hello", max_tokens=0),
    "stop": request("1, 2, 3, 4, 5, 6, 7, 8", stop=("7",)),
    "image": request(user("What is this?", Media("image", "image/png", PIXEL))),
    "refusal": request("Please rehearse a refusal."),
    "alternatives": request("Hello", n=3),
    "results": next_request(
        request("What is the weather in Paris?", tools=(WEATHER,)),
        respond(request("What is the weather in Paris?", tools=(WEATHER,))),
        "18 degrees",
    ),
} | {name: request("Look it up in Paris", tools=TOOLS, model=name) for name in rehearsal.models()}

WITH_BROKEN_ARGUMENTS = {"truncated-call"}
"""Scenarios with arguments that are broken on purpose."""


def _lint(body: bytes, dialect: str, kind: Literal["response", "stream"], question: bytes | None = None) -> list[str]:
    found = dragoman.lint(body, dialect=dialect, kind=kind, model="rehearsal/rules", request=question)
    return [f"{one.rule} {one.path}: {one.message}" for one in found if one.severity == "error"]


def _mistakes(dialect: str, question: Request) -> list[str]:
    rehearsed = rehearsal.answer(question)
    whole, stream = rehearsed.response(), events(question)
    if rehearsed.breaks_off and isinstance(whole, Fault):
        stream.append(whole)
    raw = streamed(dialect, stream, question)
    mistakes = [] if rehearsed.fault is not None else grammar.check_stream(dialect, raw, extensions=True)
    if rehearsed.fault is None:
        mistakes += _lint(raw, dialect, "stream")
    if isinstance(whole, Fault):
        return mistakes + body_verdict.check_fault(dialect, get(dialect).write_fault(whole)[0])
    body = written(dialect, whole, question)
    return (
        mistakes
        + findings(stream)
        + body_verdict.check_response(dialect, body, extensions=True)
        + _lint(body, dialect, "response")
    )


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("dialect", names())
def test_every_answer_is_legal_in_every_dialect(dialect: str, name: str) -> None:
    mistakes = _mistakes(dialect, REQUESTS[name])
    if name.removeprefix("rehearsal/") in WITH_BROKEN_ARGUMENTS:
        mistakes = [text for text in mistakes if "arguments" not in text and "ANT-S03" not in text]
    assert mistakes == []


@pytest.mark.parametrize("name", REQUESTS)
def test_the_stream_contains_the_whole_answer(name: str) -> None:
    rehearsed = rehearsal.answer(REQUESTS[name])
    steps = [event for _, event in rehearsed.events()]
    whole = rehearsed.response()
    if isinstance(whole, Response) or rehearsed.fault is not None:
        assert fold(steps) == whole
    assert [event for _, event in rehearsal.answer(REQUESTS[name]).events()] == steps, (
        "equal requests have equal answers"
    )


@pytest.mark.parametrize("dialect", names())
def test_recorded_requests_get_legal_answers(dialect: str) -> None:
    """Recorded requests of real clients, read in their own dialect and answered in it."""
    failures: dict[str, list[str]] = {}
    for case in cases(dialect, "request"):
        context = Context(dialect, dialect)
        question = get(dialect).read_request(case.body, context)
        question = msgspec.structs.replace(question, model="rehearsal/rules")
        mistakes = _mistakes(dialect, question)
        if mistakes:
            failures[case.id] = mistakes[:3]
    assert failures == {}


def _read_back(dialect: str, question: Request) -> Any:
    """The answer after a client of the dialect has read it."""
    body = written(dialect, respond(question), question)
    return get(dialect).read_response(body, Context(dialect, dialect))


@pytest.mark.parametrize("dialect", names())
def test_the_words_arrive_in_every_dialect(dialect: str) -> None:
    back = _read_back(dialect, REQUESTS["plain"])
    assert [part.text for part in back.parts if isinstance(part, Text)] == [respond(REQUESTS["plain"]).parts[0].text]  # type: ignore[attr-defined]
