"""Helpers for the tests of this folder: read and write documents with a new context, and return its losses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from dragoman.canon.events import Event, PartStart
from dragoman.canon.request import Request
from dragoman.canon.response import Response
from dragoman.context import Context
from dragoman.dialects.openai_chat import DIALECT
from dragoman.facts.profile import DEFAULT_PROFILE, Profile

CHAT = "openai-chat"


def losses(context: Context) -> list[tuple[str, str]]:
    """(code, path) of every loss, including the losses of fields that only the source dialect has."""
    context.settle(DIALECT.noise)
    return [(loss.code, loss.path) for loss in context.losses.all()]


def read(body: Any, target: str = "anthropic") -> tuple[Request, list[tuple[str, str]]]:
    context = Context(CHAT, target)
    request = DIALECT.read_request(msgspec.json.encode(body), context)
    return request, losses(context)


def read_messages(*messages: Any) -> tuple[Request, list[tuple[str, str]]]:
    return read({"model": "m", "messages": list(messages)})


def write(
    request: Request,
    source: str = "anthropic",
    profile: Profile | None = None,
    model: str = "m",
    **options: Any,
) -> tuple[Any, list[tuple[str, str]]]:
    context = Context(source, CHAT, profile=profile or DEFAULT_PROFILE, model=model, **options)
    body = DIALECT.write_request(request, context)
    return msgspec.json.decode(body), losses(context)


def read_answer(body: Any, target: str = "anthropic") -> tuple[Response, list[tuple[str, str]]]:
    context = Context(CHAT, target)
    response = DIALECT.read_response(msgspec.json.encode(body), context)
    return response, losses(context)


def write_answer(response: Response, source: str = "anthropic", **options: Any) -> tuple[Any, list[tuple[str, str]]]:
    context = Context(source, CHAT, **options)
    body = DIALECT.write_response(response, context)
    return msgspec.json.decode(body), losses(context)


def sse(*chunks: Any, done: bool = True) -> bytes:
    frames = [b"data: " + msgspec.json.encode(chunk) + b"\n\n" for chunk in chunks]
    return b"".join(frames) + (b"data: [DONE]\n\n" if done else b"")


def events_of(stream: bytes, step: int = 0) -> tuple[list[Event], list[tuple[str, str]]]:
    """The events of a stream, fed whole or in pieces of `step` bytes."""
    context = Context(CHAT, "anthropic")
    reader = DIALECT.reader(context)
    found: list[Event] = []
    for i in range(0, len(stream), step or len(stream) or 1):
        found += reader.feed(stream[i : i + (step or len(stream))])
    found += reader.close()
    return found, losses(context)


def unplaced(events: Iterable[Event]) -> list[Event]:
    """The events, with the paths of their parts removed."""
    return [
        PartStart(event.index, msgspec.structs.replace(event.part, at=()), event.answer)
        if isinstance(event, PartStart)
        else event
        for event in events
    ]


def stream_of(
    events: Iterable[Event], source: str = "anthropic", **options: Any
) -> tuple[bytes, list[tuple[str, str]]]:
    context = Context(source, CHAT, **options)
    writer = DIALECT.writer(context)
    written = b"".join([writer.send(event) for event in events]) + writer.close()
    return written, losses(context)
