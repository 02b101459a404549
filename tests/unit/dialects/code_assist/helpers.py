"""Helpers for the tests of this folder: read and write documents in the envelope, and return the losses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from dragoman.canon.events import Event
from dragoman.canon.request import Request
from dragoman.canon.response import Response
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.dialects.code_assist import DIALECT
from dragoman.facts.profile import DEFAULT_PROFILE, Profile

NAME = "code-assist"
SEAL = "c2VhbA=="

Losses = list[tuple[str, str]]


def losses(context: Context, source: str = NAME) -> Losses:
    """(code, path) of every loss, as a translation reports it."""
    if source not in get(context.target).kin:
        context.settle(get(source).noise)
    return [(loss.code, loss.path) for loss in context.losses.all()]


def wrapped(*contents: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "gemini-3-pro", "request": {"contents": list(contents), **fields}}


def content(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "parts": [{"text": text}]}


def read(body: Any, target: str = "openai-chat") -> tuple[Request, Losses]:
    context = Context(NAME, target)
    request = DIALECT.read_request(msgspec.json.encode(body), context)
    return request, losses(context)


def write(request: Request, source: str = "openai-chat", profile: Profile | None = None, model: str = "m") -> Any:
    context = Context(source, NAME, profile=profile or DEFAULT_PROFILE, model=model)
    body = DIALECT.write_request(request, context)
    return msgspec.json.decode(body), losses(context, source)


def round_trip(body: Any) -> Any:
    """A request that is read and written in the same dialect. The round trip must have no loss."""
    context = Context(NAME, NAME)
    written = DIALECT.write_request(DIALECT.read_request(msgspec.json.encode(body), context), context)
    assert context.losses.all() == ()
    return msgspec.json.decode(written)


def read_answer(body: Any, target: str = "openai-chat") -> tuple[Response, Losses]:
    context = Context(NAME, target)
    response = DIALECT.read_response(msgspec.json.encode(body), context)
    return response, losses(context)


def write_answer(response: Response, source: str = "openai-chat") -> tuple[Any, Losses]:
    context = Context(source, NAME)
    body = DIALECT.write_response(response, context)
    return msgspec.json.decode(body), losses(context, source)


def answer_round_trip(body: Any) -> Any:
    context = Context(NAME, NAME)
    written = DIALECT.write_response(DIALECT.read_response(msgspec.json.encode(body), context), context)
    assert context.losses.all() == ()
    return msgspec.json.decode(written)


def frames(*chunks: Any) -> bytes:
    return b"".join([b"data: " + msgspec.json.encode(chunk) + b"\r\n\r\n" for chunk in chunks])


def read_stream(raw: bytes, target: str = "openai-chat") -> tuple[list[Event], Losses]:
    context = Context(NAME, target)
    reader = DIALECT.reader(context)
    events = reader.feed(raw) + reader.close()
    return events, losses(context)


def write_stream(events: Iterable[Event], source: str = "openai-chat") -> tuple[list[Any], Losses]:
    context = Context(source, NAME)
    writer = DIALECT.writer(context)
    raw = b"".join([writer.send(event) for event in events]) + writer.close()
    return chunks(raw), losses(context, source)


def chunks(raw: bytes) -> list[Any]:
    return [msgspec.json.decode(frame.removeprefix(b"data: ")) for frame in raw.split(b"\r\n\r\n")[:-1]]
