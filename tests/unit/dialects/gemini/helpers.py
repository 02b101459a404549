"""Helpers for the tests of this folder: read and write documents with a new context, and return its losses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from dragoman.canon.events import Event
from dragoman.canon.request import Request
from dragoman.canon.response import Response
from dragoman.context import Context
from dragoman.dialects.gemini import DIALECT
from dragoman.facts.profile import DEFAULT_PROFILE, Profile

GEMINI = "gemini"
GEMINI_3 = Profile(thinking_levels=("MINIMAL", "LOW", "MEDIUM", "HIGH"), seals=True, thinking_off=False)
GEMINI_25 = Profile(thinking_budget=(128, 24576), nested_media=False)

Losses = list[tuple[str, str]]


def losses(context: Context) -> Losses:
    """(code, path) of every loss, including the losses of fields that only the source dialect has."""
    context.settle(DIALECT.noise)
    return [(loss.code, loss.path) for loss in context.losses.all()]


def read(body: Any, target: str = "openai-chat") -> tuple[Request, Losses]:
    context = Context(GEMINI, target)
    request = DIALECT.read_request(msgspec.json.encode(body), context)
    return request, losses(context)


def read_contents(*contents: Any) -> tuple[Request, Losses]:
    return read({"contents": list(contents)})


def write(request: Request, source: str = "openai-chat", profile: Profile | None = None, **options: Any) -> Any:
    context = Context(source, GEMINI, profile=profile or DEFAULT_PROFILE, **options)
    body = DIALECT.write_request(request, context)
    return msgspec.json.decode(body), losses(context)


def round_trip(body: Any) -> Any:
    """A request that is read and written in the same dialect. The round trip must have no loss."""
    context = Context(GEMINI, GEMINI)
    written = DIALECT.write_request(DIALECT.read_request(msgspec.json.encode(body), context), context)
    assert context.losses.all() == ()
    return msgspec.json.decode(written)


def read_answer(body: Any, target: str = "openai-chat", **options: Any) -> tuple[Response, Losses]:
    context = Context(GEMINI, target, **options)
    response = DIALECT.read_response(msgspec.json.encode(body), context)
    return response, losses(context)


def write_answer(response: Response, source: str = "openai-chat", **options: Any) -> tuple[Any, Losses]:
    context = Context(source, GEMINI, **options)
    body = DIALECT.write_response(response, context)
    return msgspec.json.decode(body), losses(context)


def answer_round_trip(body: Any) -> Any:
    context = Context(GEMINI, GEMINI)
    written = DIALECT.write_response(DIALECT.read_response(msgspec.json.encode(body), context), context)
    assert context.losses.all() == ()
    return msgspec.json.decode(written)


def candidate(*parts: Any, **fields: Any) -> dict[str, Any]:
    return {"content": {"role": "model", "parts": list(parts)}, "index": 0, **fields}


def chunk(*parts: Any, **fields: Any) -> dict[str, Any]:
    """One chunk of a stream."""
    return {"candidates": [candidate(*parts, **fields)], "modelVersion": "m", "responseId": "r"}


def sse(*chunks: Any) -> bytes:
    return b"".join([b"data: " + msgspec.json.encode(each) + b"\r\n\r\n" for each in chunks])


def events_of(stream: bytes, step: int = 0) -> tuple[list[Event], Losses]:
    """The events of a stream, fed whole or in pieces of `step` bytes."""
    context = Context(GEMINI, "openai-chat")
    reader = DIALECT.reader(context)
    found: list[Event] = []
    for i in range(0, len(stream), step or len(stream) or 1):
        found += reader.feed(stream[i : i + (step or len(stream))])
    found += reader.close()
    return found, losses(context)


def chunks_of(events: Iterable[Event], source: str = "openai-chat", **options: Any) -> tuple[list[Any], Losses]:
    """The decoded frames of the writer. Every frame must be one line of JSON."""
    context = Context(source, GEMINI, **options)
    writer = DIALECT.writer(context)
    written = b"".join([writer.send(event) for event in events]) + writer.close()
    frames = written.split(b"\r\n\r\n")
    assert frames.pop() == b""
    return [msgspec.json.decode(frame.removeprefix(b"data: ")) for frame in frames], losses(context)
