"""What a model family takes and refuses: rows of `profiles.json`, matched by dialect and model name.

Later rows win over earlier ones, field by field. Every row says where the fact comes from and of which date it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from .crossing import DEFAULT_PROFILE, Profile


class Row(Struct, frozen=True, forbid_unknown_fields=True):
    """Facts about the models of one dialect whose name matches one of the patterns (* stands for anything)."""

    dialects: tuple[str, ...]
    match: tuple[str, ...]
    facts: dict[str, Any]
    source: str
    date: str


@lru_cache(maxsize=1)
def rows() -> tuple[Row, ...]:
    """The rows of the data file."""
    return msgspec.json.decode(Path(__file__).with_name("profiles.json").read_bytes(), type=tuple[Row, ...])


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[frozenset[str], re.Pattern[str], dict[str, Any]], ...]:
    return tuple([(frozenset(row.dialects), _compiled(row.match), row.facts) for row in rows()])


def _compiled(match: tuple[str, ...]) -> re.Pattern[str]:
    words = ["[^/]*".join([re.escape(piece) for piece in pattern.split("*")]) for pattern in match]
    # A model may be named with its route or publisher in front: "anthropic/claude-opus-5", "models/gemini-3".
    return re.compile(rf"(?:.*/)?(?:{'|'.join(words)})\Z", re.IGNORECASE)


@lru_cache(maxsize=1024)
def lookup(dialect: str, model: str) -> Profile:
    """What is known about `model` when it is asked in `dialect`."""
    facts: dict[str, Any] = {}
    for dialects, pattern, known in _patterns():
        if dialect in dialects and pattern.match(model):
            facts.update(known)
    return msgspec.convert(facts, Profile) if facts else DEFAULT_PROFILE
