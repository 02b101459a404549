"""Helpers for the tests of this folder: read and write documents in the envelope, and return the losses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from dragoman.canon.events import Event
from dragoman.dialects.code_assist import DIALECT
from tests.unit.dialects.documents_and_losses import DocumentsOf, Losses

NAME = "code-assist"
SEAL = "c2VhbA=="

_documents = DocumentsOf(DIALECT, "openai-chat", model="m")
read, write, round_trip = _documents.read, _documents.write, _documents.lossless_round_trip
read_answer, write_answer = _documents.read_answer, _documents.write_answer
answer_round_trip, read_stream = _documents.lossless_answer_round_trip, _documents.events_of


def wrapped(*contents: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "gemini-3-pro", "request": {"contents": list(contents), **fields}}


def content(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "parts": [{"text": text}]}


def frames(*chunks: Any) -> bytes:
    return b"".join([b"data: " + msgspec.json.encode(chunk) + b"\r\n\r\n" for chunk in chunks])


def write_stream(events: Iterable[Event], source: str = "openai-chat") -> tuple[list[Any], Losses]:
    raw, found_losses = _documents.written_for(events, source)
    return chunks(raw), found_losses


def chunks(raw: bytes) -> list[Any]:
    return [msgspec.json.decode(frame.removeprefix(b"data: ")) for frame in raw.split(b"\r\n\r\n")[:-1]]
