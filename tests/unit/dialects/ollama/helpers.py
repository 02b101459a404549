"""Helpers for the tests of this folder: read and write documents with a new context, and return its losses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from dragoman.canon.events import Event
from dragoman.canon.request import Request
from dragoman.dialects.ollama import DIALECT
from tests.unit.dialects.documents_and_losses import DocumentsOf, Losses

OLLAMA = "ollama"
TIME = "2026-11-15T00:00:00Z"
UNIX = 1_794_700_800

_documents = DocumentsOf(DIALECT, "openai-chat")
read, write, round_trip = _documents.read, _documents.write, _documents.lossless_round_trip
read_answer, write_answer = _documents.read_answer, _documents.write_answer
answer_round_trip, events_of = _documents.lossless_answer_round_trip, _documents.events_of


def read_messages(*messages: Any) -> tuple[Request, Losses]:
    return read({"model": "m", "messages": list(messages), "stream": False})


def line(done: bool = False, **message: Any) -> dict[str, Any]:
    """One line of a stream."""
    whole_message = {"role": "assistant", "content": "", **message}
    return {"model": "m", "created_at": TIME, "message": whole_message, "done": done}


def end(**fields: Any) -> dict[str, Any]:
    """The last line."""
    return {**line(True), "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 1, **fields}


def lines(*values: Any) -> bytes:
    return b"".join([msgspec.json.encode(value) + b"\n" for value in values])


def lines_of(events: Iterable[Event], source: str = "openai-chat", **options: Any) -> tuple[list[Any], Losses]:
    """The decoded lines of the writer. Every value must be on one line."""
    written, found_losses = _documents.written_for(events, source, **options)
    found = written.split(b"\n")
    assert found.pop() == b""
    return [msgspec.json.decode(one) for one in found], found_losses
