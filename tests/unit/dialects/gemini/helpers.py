"""Helpers for the tests of this folder: read and write documents with a new context, and return its losses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from dragoman.canon.events import Event
from dragoman.canon.request import Request
from dragoman.dialects.gemini import DIALECT
from dragoman.facts.profile import Profile
from tests.unit.dialects.documents_and_losses import DocumentsOf, Losses

GEMINI = "gemini"
GEMINI_3 = Profile(thinking_levels=("MINIMAL", "LOW", "MEDIUM", "HIGH"), seals=True, thinking_off=False)
GEMINI_25 = Profile(thinking_budget=(128, 24576), nested_media=False)

_documents = DocumentsOf(DIALECT, "openai-chat")
read, write, round_trip = _documents.read, _documents.write, _documents.lossless_round_trip
read_answer, write_answer = _documents.read_answer, _documents.write_answer
answer_round_trip, events_of = _documents.lossless_answer_round_trip, _documents.events_of


def read_contents(*contents: Any) -> tuple[Request, Losses]:
    return read({"contents": list(contents)})


def candidate(*parts: Any, **fields: Any) -> dict[str, Any]:
    return {"content": {"role": "model", "parts": list(parts)}, "index": 0, **fields}


def chunk(*parts: Any, **fields: Any) -> dict[str, Any]:
    """One chunk of a stream."""
    return {"candidates": [candidate(*parts, **fields)], "modelVersion": "m", "responseId": "r"}


def sse(*chunks: Any) -> bytes:
    return b"".join([b"data: " + msgspec.json.encode(each) + b"\r\n\r\n" for each in chunks])


def chunks_of(events: Iterable[Event], source: str = "openai-chat", **options: Any) -> tuple[list[Any], Losses]:
    """The decoded frames of the writer. Every frame must be one line of JSON."""
    written, found_losses = _documents.written_for(events, source, **options)
    frames = written.split(b"\r\n\r\n")
    assert frames.pop() == b""
    return [msgspec.json.decode(frame.removeprefix(b"data: ")) for frame in frames], found_losses
