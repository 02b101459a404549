"""Helpers for the tests of this folder: read and write documents with a new context, and return its losses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from dragoman.canon.events import Event
from dragoman.canon.request import Request
from dragoman.canon.response import Response
from dragoman.context import Context
from dragoman.dialects.ollama import DIALECT
from dragoman.facts.profile import DEFAULT_PROFILE, Profile

OLLAMA = "ollama"
TIME = "2026-11-15T00:00:00Z"
UNIX = 1_794_700_800

Losses = list[tuple[str, str]]


def losses(context: Context) -> Losses:
    """(code, path) of every loss, including the losses of fields that only the source dialect has."""
    context.settle(DIALECT.noise)
    return [(loss.code, loss.path) for loss in context.losses.all()]


def read(body: Any, target: str = "openai-chat") -> tuple[Request, Losses]:
    context = Context(OLLAMA, target)
    request = DIALECT.read_request(msgspec.json.encode(body), context)
    return request, losses(context)


def read_messages(*messages: Any) -> tuple[Request, Losses]:
    return read({"model": "m", "messages": list(messages), "stream": False})


def write(request: Request, source: str = "openai-chat", profile: Profile | None = None, **options: Any) -> Any:
    context = Context(source, OLLAMA, profile=profile or DEFAULT_PROFILE, **options)
    body = DIALECT.write_request(request, context)
    return msgspec.json.decode(body), losses(context)


def round_trip(body: Any) -> Any:
    """A request that is read and written in the same dialect. The round trip must have no loss."""
    context = Context(OLLAMA, OLLAMA)
    written = DIALECT.write_request(DIALECT.read_request(msgspec.json.encode(body), context), context)
    assert context.losses.all() == ()
    return msgspec.json.decode(written)


def read_answer(body: Any, target: str = "openai-chat", **options: Any) -> tuple[Response, Losses]:
    context = Context(OLLAMA, target, **options)
    response = DIALECT.read_response(msgspec.json.encode(body), context)
    return response, losses(context)


def write_answer(response: Response, source: str = "openai-chat", **options: Any) -> tuple[Any, Losses]:
    context = Context(source, OLLAMA, **options)
    body = DIALECT.write_response(response, context)
    return msgspec.json.decode(body), losses(context)


def answer_round_trip(body: Any) -> Any:
    context = Context(OLLAMA, OLLAMA)
    written = DIALECT.write_response(DIALECT.read_response(msgspec.json.encode(body), context), context)
    assert context.losses.all() == ()
    return msgspec.json.decode(written)


def line(done: bool = False, **message: Any) -> dict[str, Any]:
    """One line of a stream."""
    whole_message = {"role": "assistant", "content": "", **message}
    return {"model": "m", "created_at": TIME, "message": whole_message, "done": done}


def end(**fields: Any) -> dict[str, Any]:
    """The last line."""
    return {**line(True), "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 1, **fields}


def lines(*values: Any) -> bytes:
    return b"".join([msgspec.json.encode(value) + b"\n" for value in values])


def events_of(stream: bytes, step: int = 0) -> tuple[list[Event], Losses]:
    """The events of a stream, fed whole or in pieces of `step` bytes."""
    context = Context(OLLAMA, "openai-chat")
    reader = DIALECT.reader(context)
    found: list[Event] = []
    for i in range(0, len(stream), step or len(stream) or 1):
        found += reader.feed(stream[i : i + (step or len(stream))])
    found += reader.close()
    return found, losses(context)


def lines_of(events: Iterable[Event], source: str = "openai-chat", **options: Any) -> tuple[list[Any], Losses]:
    """The decoded lines of the writer. Every value must be on one line."""
    context = Context(source, OLLAMA, **options)
    writer = DIALECT.writer(context)
    written = b"".join([writer.send(event) for event in events]) + writer.close()
    found = written.split(b"\n")
    assert found.pop() == b""
    return [msgspec.json.decode(one) for one in found], losses(context)
