"""Reads items of an unknown type as messages, if they have the shape of an assistant message."""

from __future__ import annotations

from typing import Any

from ...canon.parts import Path
from ...codec import json_text
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from . import wire

_TEXT_TYPES = frozenset({"output_text", "refusal"})


def as_message(item: wire.Item, at: Path, context: Context) -> tuple[wire.Item, Unknown] | None:
    """The item as a message, for another dialect; None if the item has no text of the assistant."""
    if context.target == wire.NAME or (not item.strange and item.role != "assistant"):
        return None
    value = json_text.plain(item.strange or json_text.raw(item))
    if not isinstance(value, dict) or value.get("role") != "assistant" or not _has_words(value.get("content")):
        return None
    # Without this, text that the client can already see would be lost for the other dialect with the unknown item.
    context.lose("field.dropped", (*at, "type"), f"{value.get('type')} is read as a message", "info")
    found, unknown, _ = wire.ITEM.admit(json_text.raw({**value, "type": "message"}), at)
    return found, unknown


def _has_words(content: Any) -> bool:
    return isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") in _TEXT_TYPES for part in content
    )
