"""Where a seal comes from, and whether that is where a request goes: dialect, host and model."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from ..canon.parts import Seal

_STAMP = re.compile(r"(?:-latest|-preview|-exp|-0|-\d{3}|-\d{2}-\d{2}|-\d{2}-\d{4}|-\d{4}-\d{2}-\d{2}|[-@]\d{6,8})\Z")


class Origin(Struct, frozen=True):
    """An upstream as seals know it. What is "" is not known, and tells nothing apart."""

    dialect: str
    model: str = ""
    host: str = ""


@lru_cache(maxsize=1024)
def family(model: str) -> str:
    """A model's name without its route and without the stamp of its version: an upstream answers for
    claude-sonnet-4-5 as claude-sonnet-4-5-20250929."""
    name = model.rpartition("/")[2].lower()
    while True:
        shorter = _STAMP.sub("", name)
        if shorter == name or not shorter:
            return name
        name = shorter


def same_origin(seal: Seal, upstream: Origin) -> bool:
    """Whether this upstream made the seal, as far as can be told: only then it may see it."""
    if seal.dialect != upstream.dialect:
        return False
    if seal.host and upstream.host and seal.host != upstream.host:
        return False
    return not seal.model or not upstream.model or family(seal.model) == family(upstream.model)
