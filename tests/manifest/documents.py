"""Owns the documents of the manifest: recorded and synthetic bodies by kind, and requests that continue one of them.

The recordings are not part of the repository; the synthetic documents are. This module must not import the library,
because two commits of the library are compared with the same documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any, Literal

import msgspec

from tests.oracles import exchanges

Kind = Literal["request", "answer", "stream", "fault"]
Origin = Literal["recorded", "synthetic"]
Variants = dict[str, bytes]

MODELS = {
    "anthropic": "claude-sonnet-4-5",
    "code-assist": "gemini-2.5-flash",
    "gemini": "gemini-3-pro-preview",
    "ollama": "qwen3:8b",
    "openai-chat": "gpt-5.2",
    "openai-responses": "gpt-4.1",
    "openrouter": "anthropic/claude-sonnet-4.5",
}
"""The model of the requests in each dialect."""
PAIRS = list(product(MODELS, MODELS))
"""Within one dialect the request gets another model, which may accept fewer settings."""


class Document(msgspec.Struct, frozen=True, eq=False):
    """One recorded or synthetic body."""

    id: str
    dialect: str
    kind: Kind
    body: bytes
    status: int = 200


@cache
def documents(origin: Origin, dialect: str, kind: Kind) -> tuple[Document, ...]:
    """Every body of one origin, dialect and kind, each once, in the order of the files."""
    found: dict[bytes, Document] = {}
    for record in exchanges.recorded(dialect) if origin == "recorded" else exchanges.own(dialect):
        for document in _of(record):
            if document.kind == kind:
                found.setdefault(document.body, document)
    return tuple(found.values())


def _of(record: exchanges.Record) -> Iterator[Document]:
    encode = msgspec.json.encode
    if record.request is not None:
        yield Document(record.id, record.dialect, "request", encode(record.request))
    if record.stream is not None:
        yield Document(record.id, record.dialect, "stream", record.raw)
    elif isinstance(record.response, list):  # a Gemini stream as one JSON array
        yield Document(record.id, record.dialect, "stream", encode(record.response))
    elif record.ok:
        yield Document(record.id, record.dialect, "answer", encode(record.response))
    else:
        status = record.status if record.status is not None and record.status >= 400 else 400
        yield Document(record.id, record.dialect, "fault", encode(record.response), status)


# Requests that continue another request.

_ANSWERED = "That is done."
_ASKED = "And what comes next?"
_OTHER = "Please try it in another way."


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def _item(role: str, text: str) -> dict[str, Any]:
    kind = "input_text" if role == "user" else "output_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _content(role: str, text: str) -> dict[str, Any]:
    return {"role": "user" if role == "user" else "model", "parts": [{"text": text}]}


TURNS: dict[str, tuple[tuple[str, ...], Callable[[str, str], dict[str, Any]]]] = {
    "anthropic": (("messages",), _message),
    "code-assist": (("request", "contents"), _content),
    "gemini": (("contents",), _content),
    "ollama": (("messages",), _message),
    "openai-chat": (("messages",), _message),
    "openai-responses": (("input",), _item),
    "openrouter": (("messages",), _message),
}
"""The place of the turns in a request, and the form of a turn with text."""


def variants(document: Document) -> Variants:
    """Return variants of a request in the order in which a client sends them: the first request, the same request
    again, a continuation, and another continuation of its start. The order matters, because each request changes the
    memory that the next request uses."""
    first = {"first": document.body, "again": document.body}
    field, turn = TURNS[document.dialect]
    value: Any = msgspec.json.decode(document.body)
    holder = value
    for name in field[:-1]:
        holder = holder.get(name) if isinstance(holder, dict) else None
    turns = holder.get(field[-1]) if isinstance(holder, dict) else None
    if isinstance(turns, str):
        turns = [turn("user", turns)]
    if not isinstance(turns, list) or not turns:
        return first
    holder[field[-1]] = [*turns, turn("assistant", _ANSWERED), turn("user", _ASKED)]
    longer = msgspec.json.encode(value)
    holder[field[-1]] = [*turns[:-1], turn("user", _OTHER)]
    return {**first, "next": longer, "branched": msgspec.json.encode(value)}


# Streams, cut in different places.


def cuts(document: Document) -> dict[str, list[bytes]]:
    """The stream whole, frame by frame, and in pieces of uneven sizes."""
    body = document.body
    return {"whole": [body], "frames": _frames(body), "pieces": _pieces(body)}


def _frames(body: bytes) -> list[bytes]:
    blank = b"\n" if body.startswith(b"{") else b"\r\n\r\n" if b"\r\n\r\n" in body else b"\n\n"
    *found, rest = body.split(blank)
    return [frame + blank for frame in found] + ([rest] if rest else [])


_SIZES = (1, 7, 64, 3, 500, 29, 2, 1024, 11)


def _pieces(body: bytes) -> list[bytes]:
    pieces: list[bytes] = []
    start = 0
    while start < len(body):
        size = _SIZES[len(pieces) % len(_SIZES)] if len(pieces) < 200 else 4096
        pieces.append(body[start : start + size])
        start += size
    return pieces
