"""Owns the names of MCP tools: legal, at most 63 characters, unique, and the same every time."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container

LONGEST = 63
_ILLEGAL = re.compile(r"[^A-Za-z0-9_.-]")
_HEAD, _TAIL = 28, 32


def legal_name(name: str) -> str:
    """A name in legal characters. Of a too long name the beginning and the end stay."""
    clean = _ILLEGAL.sub("_", name)
    return clean if len(clean) <= LONGEST else f"{clean[:_HEAD]}___{clean[-_TAIL:]}"


def qualified_name(server: str, tool: str) -> str:
    """The name with the server's name before it."""
    return legal_name(f"{server}__{tool}")


def choose_name(server: str, tool: str, taken: Container[str]) -> str:
    """The tool's own name, or the qualified name if the own name is taken, or the qualified name with a hash if that is
    taken too (two names may become equal by cleaning or cutting)."""
    for name in (legal_name(tool), qualified_name(server, tool)):
        if name not in taken:
            return name
    # A name holds no zero byte, so server and tool stay separate in the hash.
    digest = hashlib.sha256(f"{server}\0{tool}".encode()).hexdigest()
    return f"{_ILLEGAL.sub('_', f'{server}__{tool}')[: LONGEST - 13]}_{digest[:12]}"
