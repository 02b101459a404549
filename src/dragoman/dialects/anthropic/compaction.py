"""Owns compaction blocks: a summary that replaces all earlier turns, as text and usually also encrypted.

For a client of another dialect such a block is a thought. Its text is the summary; its seal is the encrypted part, or
all other fields of the block. The client returns the seal like any other, and the block is rebuilt for Anthropic. In a
history for another upstream the summary becomes a text of the assistant; the earlier turns stay.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import Part, Path, Reasoning, Seal, Text
from ...codec import json_text
from ...codec.dialect_extras import NULL, sent_fields
from ...context import Context
from . import wire
from .beta_header import ask_for

KIND = "compaction"
_IN_WORDS = "words"
"""The seal of a summary without an encrypted part. It only identifies the thought."""
BETA = "compact-2026-01-12"


_SECRET = "encrypted_content"
_SEALS = (_SECRET, "signature")


def read_compaction(value: Raw, at: Path, context: Context) -> Part | None:
    """The part for another dialect. None: the block stays whole, or is empty."""
    if context.target == wire.NAME:
        return None
    fields = {name: field for name, field in json_text.fields(value).items() if field != NULL}
    del fields["type"]
    words = json_text.plain(fields["content"]) if "content" in fields else ""
    if isinstance(words, str):
        fields.pop("content", None)
    else:
        words = ""
    if at[:1] != ("messages",):
        # A block without text is a failed compaction. Anthropic ignores it in a history (anthropic SDK, 2026-08).
        seal = Seal(wire.NAME, _sealed(fields), KIND) if words or fields else None
        return Reasoning(words, seal=seal, at=at)
    return _as_text(words, fields, at, context) if words else None


def _sealed(rest: dict[str, Raw]) -> str:
    """The fields of a block beside its text: the encrypted part alone, or all fields as JSON.

    Anthropic wants a block back unchanged, with its signature and its changes of tools (anthropic SDK, 2026-08).
    """
    if not rest:
        return _IN_WORDS
    secret = json_text.plain(rest[_SECRET]) if len(rest) == 1 and _SECRET in rest else None
    # A seal that begins with a bracket means "all fields as JSON", so a secret of that form must be packed as JSON too.
    if isinstance(secret, str) and secret and not secret.startswith("{"):
        return secret
    return json_text.text(json_text.raw(rest))


def _as_text(words: str, rest: dict[str, Raw], at: Path, context: Context) -> Text:
    """The summary as a text in a history. The parts that only Anthropic can read are reported."""
    context.lose("part.as_text", at, KIND)
    for name in _SEALS:
        if rest.pop(name, None):
            context.lose("seal.dropped", (*at, name), KIND)
    cache = None
    mark = json_text.plain(rest.get("cache_control", NULL))
    if isinstance(mark, dict) and isinstance(mark.get("ttl", ""), str) and not mark.keys() - {"type", "ttl"}:
        cache = mark.get("ttl", "")
        del rest["cache_control"]
    if rest:
        context.keep(at, rest)
    return Text(f"[summary of the conversation so far]\n{words}", cache=cache, at=at)


def compaction_delta(delta: wire.Delta) -> dict[str, Raw]:
    """The fields that a stream delta adds to a block."""
    added = sent_fields(delta, ("content", _SECRET)) or {}
    return added if delta.signature is None else added | {"signature": json_text.raw(delta.signature)}


def with_delta(part: Reasoning, delta: dict[str, Raw], context: Context) -> Part:
    """A block of a stream with the fields of a delta."""
    fields = _block(part) | delta
    return read_compaction(json_text.raw(fields), part.at, context) or part


def write_compaction(part: Reasoning, context: Context) -> dict[str, Any]:
    """The block that the thought was made of."""
    # A compaction block is accepted with this beta only (anthropic 2.8.0 beta types).
    ask_for(BETA, context)
    return _block(part)


def _block(part: Reasoning) -> dict[str, Any]:
    block: dict[str, Any] = {"type": KIND, "content": part.text or None}
    data = part.seal.data if part.seal is not None else _IN_WORDS
    rest = json_text.object_raw(data) if data.startswith("{") else None
    if rest is not None:
        block |= json_text.fields(rest)
        block["type"] = KIND
    elif data != _IN_WORDS:
        block[_SECRET] = data
    return block
