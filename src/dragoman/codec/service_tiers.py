"""Service tiers of answers: the words of the dialects. OpenAI's `default` is the `standard` of Anthropic and Google."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Raw

from ..canon.parts import Path
from ..canon.response import Tier, Usage
from ..context import Context
from . import json_text

_READ = {"default": "standard", **{word: word for word in ("standard", "flex", "priority", "batch", "scale")}}
"""Words of all dialects, and the canon's. `auto` is a wish, and words of single hosts are no tiers here."""
OPENAI = {"standard": "default", "flex": "flex", "priority": "priority", "scale": "scale"}
GEMINI = {"standard": "standard", "flex": "flex", "priority": "priority"}
MESSAGES = {"standard": "standard", "priority": "priority", "batch": "batch"}
"""The canon's words, and those that the published schemas of 2026-08 have in an answer."""


def read(word: object) -> str | None:
    """The canon's word for a tier; None for what is none."""
    if isinstance(word, Raw):
        word = json_text.plain(word) if word else None
    return _READ.get(word) if isinstance(word, str) else None


def with_tier(usage: Usage, word: str, at: Path) -> Usage:
    """The usage with the tier, whose word stands at `at`."""
    return msgspec.structs.replace(usage, tier=Tier(word, at))


def write(usage: Usage | None, words: Mapping[str, str], context: Context) -> str | None:
    """The tier in one of the target's `words`; None, with a loss, where it has none for it."""
    if usage is None or usage.tier is None:
        return None
    found = words.get(usage.tier.word)
    if found is None:
        context.lose("tier.dropped", usage.tier.at, usage.tier.word)
    return found
