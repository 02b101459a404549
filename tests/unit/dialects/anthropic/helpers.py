"""Helpers for the tests of this folder: read and write documents with a new context, and return its losses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from dragoman.canon.events import Event
from dragoman.canon.request import Request
from dragoman.canon.response import Response
from dragoman.context import Context
from dragoman.dialects.anthropic import DIALECT
from dragoman.facts.profile import DEFAULT_PROFILE, Profile

MESSAGES = "anthropic"
Losses = list[tuple[str, str]]


def losses(context: Context) -> Losses:
    """(code, path) of every loss, including the losses of fields that only the source dialect has."""
    if context.source != context.target:
        context.settle(DIALECT.noise)
    return [(loss.code, loss.path) for loss in context.losses.all()]


def read(body: Any, target: str = "openai-chat") -> tuple[Request, Losses]:
    context = Context(MESSAGES, target)
    request = DIALECT.read_request(msgspec.json.encode(body), context)
    return request, losses(context)


def read_messages(*messages: Any, **fields: Any) -> tuple[Request, Losses]:
    return read({"model": "m", "max_tokens": 9, "messages": list(messages), **fields})


def write(
    request: Request, source: str = "openai-chat", profile: Profile | None = None, model: str = "m", **options: Any
) -> tuple[Any, Losses]:
    context = Context(source, MESSAGES, profile=profile or DEFAULT_PROFILE, model=model, **options)
    body = DIALECT.write_request(request, context)
    return msgspec.json.decode(body), losses(context)


def round_trip(body: Any) -> tuple[Any, Losses]:
    """A request read and written in this dialect."""
    context = Context(MESSAGES, MESSAGES)
    request = DIALECT.read_request(msgspec.json.encode(body), context)
    return msgspec.json.decode(DIALECT.write_request(request, context)), losses(context)


def read_answer(body: Any, target: str = "openai-chat") -> tuple[Response, Losses]:
    context = Context(MESSAGES, target)
    response = DIALECT.read_response(msgspec.json.encode(body), context)
    return response, losses(context)


def write_answer(response: Response, source: str = "openai-chat", **options: Any) -> tuple[Any, Losses]:
    context = Context(source, MESSAGES, **options)
    body = DIALECT.write_response(response, context)
    return msgspec.json.decode(body), losses(context)


def sse(*events: Any) -> bytes:
    return b"".join(
        [b"event: %b\ndata: %b\n\n" % (event["type"].encode(), msgspec.json.encode(event)) for event in events]
    )


def events_of(stream: bytes, step: int = 0, target: str = "openai-chat") -> tuple[list[Event], Losses]:
    """The events of a stream, fed whole or in pieces of `step` bytes."""
    context = Context(MESSAGES, target)
    reader = DIALECT.reader(context)
    found: list[Event] = []
    for i in range(0, len(stream), step or len(stream) or 1):
        found += reader.feed(stream[i : i + (step or len(stream))])
    found += reader.close()
    return found, losses(context)


def stream_of(events: Iterable[Event], source: str = "openai-chat", **options: Any) -> tuple[list[Any], Losses]:
    """The payloads that are written for these events. Each payload must have its type as event name."""
    context = Context(source, MESSAGES, **options)
    writer = DIALECT.writer(context)
    written = b"".join([writer.send(event) for event in events]) + writer.close()
    payloads = []
    for frame in written.decode().split("\n\n")[:-1]:
        name, data = frame.split("\n")
        payload = msgspec.json.decode(data.removeprefix("data: "))
        assert name == f"event: {payload['type']}"
        payloads.append(payload)
    return payloads, losses(context)


def whole_usage(**figures: int) -> dict[str, Any]:
    """Usage with every field that the schema of an answer requires."""
    names = ("cache_creation_input_tokens", "cache_read_input_tokens", "cache_creation", "server_tool_use")
    return {**dict.fromkeys((*names, "service_tier", "inference_geo")), **figures}


def whole_block(**block: Any) -> dict[str, Any]:
    """A block with every field that the schema of an answer requires."""
    required: dict[str, Any] = {"text": {"citations": None}, "tool_use": {"caller": {"type": "direct"}}}
    return {**required.get(block["type"], {}), **block}
