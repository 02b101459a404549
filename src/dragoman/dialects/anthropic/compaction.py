"""Compaction blocks: a summary that stands for all turns before it, in words and mostly encrypted too.

To a client of another dialect such a block is a thought with a seal: the client shows the summary, and brings the seal
back by the way that seals have there. From the seal the block is made again for Anthropic, byte for byte. In a history
for another upstream the summary is a text of the assistant's; the turns before it stay.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import Part, Path, Reasoning, Seal, Text
from ...codec import jsontext
from ...codec.hosted_calls import members
from ...crossing import Crossing
from . import wire
from .betas import ask_for

KIND = "compaction"
_BETA = "compact-2026-01-12"


def read_compaction(value: Raw, at: Path, crossing: Crossing) -> Part | None:
    """The part that a block is to another dialect; None where the block is to stay whole, or says nothing."""
    if crossing.target == wire.NAME:
        return None
    fields = jsontext.plain(value)
    words = fields.get("content")
    words = words if isinstance(words, str) else ""
    if at[:1] != ("messages",):
        return Reasoning(words, seal=Seal(wire.NAME, jsontext.encode(fields).decode(), KIND), at=at)
    if not words:
        return None
    crossing.lose("part.as_text", at, KIND)
    if fields.get("encrypted_content"):
        crossing.lose("seal.dropped", (*at, "encrypted_content"), KIND)
    return Text(f"[summary of the conversation so far]\n{words}", at=at)


def with_delta(part: Reasoning, delta: dict[str, Raw], crossing: Crossing) -> Part:
    """A block of a stream with what a delta adds to it."""
    assert part.seal is not None
    fields = members(part.seal.data) | {name: jsontext.plain(value) for name, value in delta.items()}
    return read_compaction(jsontext.raw(fields), part.at, crossing) or part


def write_compaction(seal: Seal, crossing: Crossing) -> dict[str, Any]:
    """The block that a seal was made of. A client may bring anything in its place: that is an empty block."""
    ask_for(_BETA, crossing)
    return {"content": None, **members(seal.data), "type": KIND}
