"""Helpers for the tests of this folder: documents and streams are read and written; the losses are returned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from dragoman.canon.events import Event
from dragoman.context import Context
from dragoman.dialects.openrouter import DIALECT
from tests.unit.dialects.documents_and_losses import DocumentsOf, Losses, losses

NAME = "openrouter"
CHAT = "openai-chat"

SIGNED = {"type": "reasoning.text", "text": "Need f", "signature": "c2ln", "format": "anthropic-claude-v1", "index": 0}
ENCRYPTED = {
    "type": "reasoning.encrypted",
    "data": "ZGF0YQ==",
    "format": "google-gemini-v1",
    "id": "call_1",
    "index": 0,
}
SUMMARY = {"type": "reasoning.summary", "summary": "Thought", "format": "openai-responses-v1", "index": 0}

_documents = DocumentsOf(DIALECT, "anthropic", model="m")
read, write = _documents.read, _documents.write
read_answer, write_answer = _documents.read_answer, _documents.write_answer


def chat_request(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages), **fields}


def call(name: str = "f", call_id: str = "call_1", arguments: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def round_trip(body: Any) -> Any:
    """The request, read and written in the same dialect."""
    context = Context(NAME, NAME)
    return msgspec.json.decode(DIALECT.write_request(DIALECT.read_request(msgspec.json.encode(body), context), context))


def chat_answer(message: Any, **choice: Any) -> dict[str, Any]:
    whole = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop", **choice}
    return {"id": "gen-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [whole]}


def chunk(delta: Any, finish: str | None = None, **fields: Any) -> bytes:
    value = {"id": "gen-1", "model": "m", "created": 1, "object": "chat.completion.chunk", **fields}
    native = fields.pop("native", None)
    value.pop("native", None)
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "native_finish_reason": native}
    return b"data: " + msgspec.json.encode({**value, "choices": [choice]}) + b"\n\n"


DONE = b"data: [DONE]\n\n"


def stream(*frames: bytes, target: str = "anthropic") -> tuple[list[Event], Losses]:
    context = Context(NAME, target)
    reader = DIALECT.reader(context)
    events = [event for frame in frames for event in reader.feed(frame)]
    return events + reader.close(), losses(context)


def send(events: Iterable[Event], source: str = "anthropic") -> tuple[list[Any], Losses]:
    """The decoded frames that are written for the events. A frame that is no JSON is a text."""
    raw, found_losses = _documents.written_for(events, source)
    datas = [frame.removeprefix(b"data: ") for frame in raw.split(b"\n\n") if frame]
    found = [msgspec.json.decode(data) if data.startswith(b"{") else data.decode() for data in datas]
    return found, found_losses
