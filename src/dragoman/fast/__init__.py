"""Owns everything that exists only for speed. Translations are the same without this package.

An agent sends its whole history with every turn, so the library remembers documents that it read and wrote, by their
exact bytes (`continued_requests`, `prefix_memory`, `request_envelope_memory`). The gateway remembers requests that
come again unchanged (`identical_requests`), and the heads of HTTP messages (`repeated_request_heads`,
`repeated_response_heads`). Plain answers and repeated frames of streams have fast paths (`plain_answer`,
`repeated_frames`).

    from dragoman import fast

    fast.off()               # use nothing of this package from now on, and empty the memories
    fast.on()                # use it again
    fast.budget(8_000_000)   # bytes for all memories and caches of the process together; the default is 32 MB
    fast.held()              # about how many bytes they hold now
    fast.forget()            # empty them

The environment variable DRAGOMAN_FAST=0 is the same as `off` at the start of the process. All functions, and
translations that use the memories, may be called by several threads at once.
"""

from __future__ import annotations

import os

from ..codec.cache_memory_budget import DEFAULT, budget, forget, held, use_document_memories

__all__ = ["DEFAULT", "VARIABLE", "budget", "enabled", "forget", "held", "off", "on"]

VARIABLE = "DRAGOMAN_FAST"

_enabled = os.environ.get(VARIABLE, "").strip().lower() not in ("0", "off", "no", "false")
use_document_memories(_enabled)


def enabled() -> bool:
    """Whether anything of this package is used."""
    return _enabled


def off() -> None:
    """Use nothing of this package from now on, and empty the memories."""
    global _enabled
    _enabled = False
    use_document_memories(False)
    forget()


def on() -> None:
    """Use this package again."""
    global _enabled
    _enabled = True
    use_document_memories(True)
