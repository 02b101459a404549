"""Owns compaction items: an encrypted summary that replaces all earlier items and that only its upstream can read.

For a client of another dialect such an item is a thought without text; its content is a seal, which the client returns
like any other. From the seal the item is rebuilt for Responses. In a history for another upstream the item is lost,
with everything that the client has left out since: that is an error.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import Path, Reasoning, Seal
from ...codec import json_text
from ...codec.dialect_extras import NULL
from ...context import Context
from . import wire

KIND = "compaction"


def read_compaction(item: Raw, at: Path, context: Context) -> Reasoning | None:
    """The thought for another dialect; None in a history, because no other upstream can read it."""
    # Encrypted content is tied to its provider and organisation (openai 3.49.0, 2026-11).
    if at[:1] == ("input",):
        context.lose("state.dropped", at, "a compaction that only its upstream can read")
        return None
    fields = json_text.fields(item)
    secret = json_text.plain(fields["encrypted_content"]) if "encrypted_content" in fields else None
    taken = ("type", "encrypted_content", "id") if isinstance(secret, str) else ("type", "id")
    more = {name: value for name, value in fields.items() if name not in taken}
    if more:
        context.keep(at, more)
    if fields.get("id", NULL) != NULL:
        context.lose("field.dropped", (*at, "id"), severity="info")
    return Reasoning(seal=Seal(wire.NAME, secret if isinstance(secret, str) else "", KIND), at=at)


def write_compaction(seal: Seal) -> dict[str, Any]:
    """The item that a seal was made of. Its id is not needed (schema CompactionSummaryItemParam, 2026-08)."""
    return {"type": KIND, "encrypted_content": seal.data}
