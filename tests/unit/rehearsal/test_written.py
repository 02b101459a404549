"""Whatever the rehearsal answers, every dialect's writer makes a legal answer and a legal stream of it."""

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
from tests.unit.rehearsal.helpers import TOOLS, WEATHER, after, events, request, respond, streamed, user, written

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (2).to_bytes(4, "big") + (3).to_bytes(4, "big")).decode()
PERSON = json.dumps({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}})

ASKED: dict[str, Request] = {
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
    "results": after(
        request("What is the weather in Paris?", tools=(WEATHER,)),
        respond(request("What is the weather in Paris?", tools=(WEATHER,))),
        "18 degrees",
    ),
} | {name: request("Look it up in Paris", tools=TOOLS, model=name) for name in rehearsal.models()}

UNTRUE = {"truncated-call"}
"""Scenarios whose arguments are broken on purpose."""


def _lint(body: bytes, dialect: str, kind: Literal["response", "stream"], asked: bytes | None = None) -> list[str]:
    found = dragoman.lint(body, dialect=dialect, kind=kind, model="rehearsal/rules", request=asked)
    return [f"{one.rule} {one.path}: {one.message}" for one in found if one.severity == "error"]


def _judged(dialect: str, asked: Request) -> list[str]:
    rehearsed = rehearsal.answer(asked)
    whole, stream = rehearsed.response(), events(asked)
    if rehearsed.breaks_off and isinstance(whole, Fault):
        stream.append(whole)
    raw = streamed(dialect, stream, asked)
    wrong = [] if rehearsed.fault is not None else grammar.check_stream(dialect, raw, extensions=True)
    if rehearsed.fault is None:
        wrong += _lint(raw, dialect, "stream")
    if isinstance(whole, Fault):
        return wrong + body_verdict.check_fault(dialect, get(dialect).write_fault(whole)[0])
    body = written(dialect, whole, asked)
    return (
        wrong
        + findings(stream)
        + body_verdict.check_response(dialect, body, extensions=True)
        + _lint(body, dialect, "response")
    )


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("dialect", names())
def test_every_answer_is_legal_in_every_dialect(dialect: str, name: str) -> None:
    wrong = _judged(dialect, ASKED[name])
    if name.removeprefix("rehearsal/") in UNTRUE:
        wrong = [text for text in wrong if "arguments" not in text and "ANT-S03" not in text]
    assert wrong == []


@pytest.mark.parametrize("name", ASKED)
def test_the_stream_tells_the_whole_answer(name: str) -> None:
    rehearsed = rehearsal.answer(ASKED[name])
    steps = [event for _, event in rehearsed.events()]
    whole = rehearsed.response()
    if isinstance(whole, Response) or rehearsed.fault is not None:
        assert fold(steps) == whole
    assert [event for _, event in rehearsal.answer(ASKED[name]).events()] == steps, "the same request, the same answer"


@pytest.mark.parametrize("dialect", names())
def test_recorded_requests_get_legal_answers(dialect: str) -> None:
    """Requests as real clients send them, read from their own dialect and answered in it."""
    failures: dict[str, list[str]] = {}
    for case in cases(dialect, "request"):
        context = Context(dialect, dialect)
        asked = get(dialect).read_request(case.body, context)
        asked = msgspec.structs.replace(asked, model="rehearsal/rules")
        wrong = _judged(dialect, asked)
        if wrong:
            failures[case.id] = wrong[:3]
    assert failures == {}


def _kept(dialect: str, asked: Request) -> Any:
    """What comes back of an answer when the client of a dialect reads it."""
    body = written(dialect, respond(asked), asked)
    return get(dialect).read_response(body, Context(dialect, dialect))


@pytest.mark.parametrize("dialect", names())
def test_the_words_arrive(dialect: str) -> None:
    back = _kept(dialect, ASKED["plain"])
    assert [part.text for part in back.parts if isinstance(part, Text)] == [respond(ASKED["plain"]).parts[0].text]  # type: ignore[attr-defined]
