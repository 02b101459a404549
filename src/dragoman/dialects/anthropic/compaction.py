"""Compaction blocks: a summary that stands for all turns before it, in words and mostly encrypted too.

To a client of another dialect such a block is a thought: its words are the summary, its seal is what is encrypted. The
client brings the seal back by the way that seals have there, and the block is made again for Anthropic. In a history
for another upstream the summary is a text of the assistant's; the turns before it stay.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import Part, Path, Reasoning, Seal, Text
from ...codec import jsontext
from ...crossing import Crossing
from . import wire
from .betas import ask_for

KIND = "compaction"
_IN_WORDS = "words"
"""The seal of a summary of which nothing is encrypted. It only says what the thought is."""
_BETA = "compact-2026-01-12"


def read_compaction(value: Raw, at: Path, crossing: Crossing) -> Part | None:
    """The part that a block is to another dialect; None where the block is to stay whole, or says nothing."""
    if crossing.target == wire.NAME:
        return None
    fields = jsontext.plain(value)
    words = fields.get("content")
    words = words if isinstance(words, str) else ""
    secret = fields.get("encrypted_content")
    if at[:1] != ("messages",):
        data = secret if isinstance(secret, str) and secret else _IN_WORDS
        return Reasoning(words, seal=Seal(wire.NAME, data, KIND), at=at)
    if not words:
        return None
    crossing.lose("part.as_text", at, KIND)
    if secret:
        crossing.lose("seal.dropped", (*at, "encrypted_content"), KIND)
    return Text(f"[summary of the conversation so far]\n{words}", at=at)


def with_delta(part: Reasoning, delta: dict[str, Raw], crossing: Crossing) -> Part:
    """A block of a stream with what a delta adds to it."""
    fields = _block(part) | delta
    return read_compaction(jsontext.raw(fields), part.at, crossing) or part


def write_compaction(part: Reasoning, crossing: Crossing) -> dict[str, Any]:
    """The block that a thought was made of."""
    ask_for(_BETA, crossing)
    return _block(part)


def _block(part: Reasoning) -> dict[str, Any]:
    block: dict[str, Any] = {"type": KIND, "content": part.text or None}
    if part.seal is not None and part.seal.data != _IN_WORDS:
        block["encrypted_content"] = part.seal.data
    return block
