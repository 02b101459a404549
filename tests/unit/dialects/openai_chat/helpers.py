"""Helpers for the tests of this folder: read and write documents with a new context, and return its losses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from dragoman.canon.events import Event, PartStart
from dragoman.canon.request import Request
from dragoman.dialects.openai_chat import DIALECT
from tests.unit.dialects.documents_and_losses import DocumentsOf

CHAT = "openai-chat"

_documents = DocumentsOf(DIALECT, "anthropic", model="m")
read, write = _documents.read, _documents.write
read_answer, write_answer = _documents.read_answer, _documents.write_answer
events_of, stream_of = _documents.events_of, _documents.written_for


def read_messages(*messages: Any) -> tuple[Request, list[tuple[str, str]]]:
    return read({"model": "m", "messages": list(messages)})


def sse(*chunks: Any, done: bool = True) -> bytes:
    frames = [b"data: " + msgspec.json.encode(chunk) + b"\n\n" for chunk in chunks]
    return b"".join(frames) + (b"data: [DONE]\n\n" if done else b"")


def unplaced(events: Iterable[Event]) -> list[Event]:
    """The events, with the paths of their parts removed."""
    return [
        PartStart(event.index, msgspec.structs.replace(event.part, at=()), event.answer)
        if isinstance(event, PartStart)
        else event
        for event in events
    ]
