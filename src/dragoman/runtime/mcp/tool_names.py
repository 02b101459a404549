"""Names under which tools of MCP servers are offered: legal, at most 63 characters, unique, the same every time."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container

LONGEST = 63
_ILLEGAL = re.compile(r"[^A-Za-z0-9_.-]")
_HEAD, _TAIL = 28, 32


def legal(name: str) -> str:
    """A name in legal characters; of one that is too long, beginning and end."""
    clean = _ILLEGAL.sub("_", name)
    return clean if len(clean) <= LONGEST else f"{clean[:_HEAD]}___{clean[-_TAIL:]}"


def qualified(server: str, tool: str) -> str:
    """The name that says whose tool it is."""
    return legal(f"{server}__{tool}")


def chosen(server: str, tool: str, taken: Container[str]) -> str:
    """The tool's own name; where another tool has it, the qualified one; where that does not help either (two names
    became one by cleaning or cutting), the qualified one with a hash."""
    for name in (legal(tool), qualified(server, tool)):
        if name not in taken:
            return name
    # The server's name may hold anything but a zero byte, so the two cannot be confused.
    digest = hashlib.sha256(f"{server}\0{tool}".encode()).hexdigest()
    return f"{_ILLEGAL.sub('_', f'{server}__{tool}')[: LONGEST - 13]}_{digest[:12]}"
