"""Owns the shared helpers of this folder: models, canonical sessions, and answers in the form that upstreams send."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations, product
from typing import Any

import msgspec

import dragoman
from dragoman.canon import Event, Finish, PartDelta, PartEnd, PartStart, Request, Response, Start, Stop, ToolCall
from dragoman.canon.fold_and_unfold import fold
from dragoman.context import Context
from dragoman.dialects import get, names
from tests.oracles.body_verdict import check_request

DIALECTS = names()
PAIRS = list(permutations(DIALECTS, 2))
MODELS = {
    "anthropic": "claude-sonnet-5",
    "code-assist": "gemini-3-flash",
    "gemini": "gemini-3-flash",
    "ollama": "qwen3",
    "openai-chat": "gpt-5",
    "openai-responses": "gpt-5.4",
    "openrouter": "openai/gpt-5",
}


def written(request: Request, dialect: str) -> bytes:
    """Write a canonical request in the form that a client of this dialect sends."""
    return get(dialect).write_request(request, Context(dialect, dialect))


def read(body: bytes, dialect: str) -> Request:
    return get(dialect).read_request(body, Context(dialect, dialect))


def to(target: str, body: Any, source: str, **options: Any) -> dragoman.Translation:
    """Translate for the default model of the target, and check the result against the official types and by lint."""
    model = options.pop("model", MODELS[target])
    done = dragoman.translate_request(body, source=source, target=target, model=model, **options)
    assert check_request(target, done.body, extensions=True) == [], done.body
    found = dragoman.lint(done.body, dialect=target, model=model)
    assert [str(one) for one in found if one.severity == "error"] == [], done.body
    return done


def codes(done: dragoman.Translation) -> set[str]:
    return {loss.code for loss in done.losses}


def losses_of(done: dragoman.Translation) -> set[tuple[str, str]]:
    return {(loss.code, loss.path) for loss in done.losses}


def answer(dialect: str, *parts: Any) -> bytes:
    """Return a whole answer in the form that an upstream of this dialect sends."""
    response = Response(parts, Stop("tool_calls"), "resp_1", MODELS[dialect], 1)
    return get(dialect).write_response(response, Context(dialect, dialect))


def streamed(dialect: str, call: ToolCall, pieces: Iterable[str]) -> bytes:
    """Return the stream of one call with its arguments in these pieces, as an upstream of this dialect sends it."""
    writer = get(dialect).writer(Context(dialect, dialect))
    bare = msgspec.structs.replace(call, arguments="")
    events: list[Event] = [Start("resp_1", MODELS[dialect], 1), PartStart(0, bare)]
    events += [PartDelta(0, piece) for piece in pieces if piece]
    events += [PartEnd(0), Finish(Stop("tool_calls"))]
    return b"".join([writer.send(event) for event in events]) + writer.close()


def events_of(body: bytes, dialect: str) -> list[Event]:
    reader = get(dialect).reader(Context(dialect, dialect))
    return [*reader.feed(body), *reader.close()]


def folded(body: bytes, dialect: str) -> Response:
    found = fold(events_of(body, dialect))
    assert isinstance(found, Response), found
    return found


def calls_of(response: Response) -> list[ToolCall]:
    return [part for part in response.parts if isinstance(part, ToolCall)]


def read_answer(body: bytes, dialect: str) -> Response:
    return get(dialect).read_response(body, Context(dialect, dialect))


__all__ = ["DIALECTS", "MODELS", "PAIRS", "product"]
