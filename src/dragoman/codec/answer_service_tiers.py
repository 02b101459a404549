"""Owns the words for service tiers of answers. OpenAI's `default` is the `standard` of Anthropic and Google."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Raw

from ..canon.parts import Path
from ..canon.response import Tier, Usage
from ..context import Context
from . import json_text

# OpenAI calls the standard tier `default` (openai 3.49.0, 2026-11).
_READ = {"default": "standard", **{word: word for word in ("standard", "flex", "priority", "batch", "scale")}}
"""Words of all dialects -> the canon's word. `auto` is a request, not a tier; words of single hosts are not
included.
"""
OPENAI = {"standard": "default", "flex": "flex", "priority": "priority", "scale": "scale"}
GEMINI = {"standard": "standard", "flex": "flex", "priority": "priority"}
MESSAGES = {"standard": "standard", "priority": "priority", "batch": "batch"}
"""The canon's words -> the words in an answer, by the published schemas of 2026-08."""


def read(word: object) -> str | None:
    """The canon's word for a tier; None for anything else."""
    # A field may be raw, because only some readers look at the tier.
    if type(word) is Raw:
        word = json_text.plain(word) if word else None
    return _READ.get(word) if type(word) is str else None


def with_tier(usage: Usage, word: str, at: Path) -> Usage:
    """The usage with the tier. `at`: the path of its word."""
    return msgspec.structs.replace(usage, tier=Tier(word, at))


def write(usage: Usage | None, words: Mapping[str, str], context: Context) -> str | None:
    """The tier in one of the target's `words`; None with a loss if the target has no word for it."""
    if usage is None or usage.tier is None:
        return None
    found = words.get(usage.tier.word)
    if found is None:
        context.lose("tier.dropped", usage.tier.at, usage.tier.word)
    return found
