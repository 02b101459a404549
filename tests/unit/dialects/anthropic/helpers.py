"""Helpers for the tests of this folder: read and write documents with a new context, and return its losses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from dragoman.canon.events import Event
from dragoman.canon.request import Request
from dragoman.dialects.anthropic import DIALECT
from tests.unit.dialects.documents_and_losses import DocumentsOf, Losses

MESSAGES = "anthropic"

_documents = DocumentsOf(DIALECT, "openai-chat", model="m")
read, write, round_trip = _documents.read, _documents.write, _documents.round_trip
read_answer, write_answer, events_of = _documents.read_answer, _documents.write_answer, _documents.events_of


def read_messages(*messages: Any, **fields: Any) -> tuple[Request, Losses]:
    return read({"model": "m", "max_tokens": 9, "messages": list(messages), **fields})


def sse(*events: Any) -> bytes:
    return b"".join(
        [b"event: %b\ndata: %b\n\n" % (event["type"].encode(), msgspec.json.encode(event)) for event in events]
    )


def stream_of(events: Iterable[Event], source: str = "openai-chat", **options: Any) -> tuple[list[Any], Losses]:
    """The payloads that are written for these events. Each payload must have its type as event name."""
    written, found_losses = _documents.written_for(events, source, **options)
    payloads = []
    for frame in written.decode().split("\n\n")[:-1]:
        name, data = frame.split("\n")
        payload = msgspec.json.decode(data.removeprefix("data: "))
        assert name == f"event: {payload['type']}"
        payloads.append(payload)
    return payloads, found_losses


def whole_usage(**figures: int) -> dict[str, Any]:
    """Usage with every field that the schema of an answer requires."""
    names = ("cache_creation_input_tokens", "cache_read_input_tokens", "cache_creation", "server_tool_use")
    return {**dict.fromkeys((*names, "service_tier", "inference_geo")), **figures}


def whole_block(**block: Any) -> dict[str, Any]:
    """A block with every field that the schema of an answer requires."""
    required: dict[str, Any] = {"text": {"citations": None}, "tool_use": {"caller": {"type": "direct"}}}
    return {**required.get(block["type"], {}), **block}
