"""What exists only for speed. Translations are the same without this package.

An agent sends its whole history with every turn, so the library remembers what it read and wrote, by the exact bytes.
All memories of a process share one budget.

    from dragoman import fast

    fast.budget(8_000_000)   # bytes for all memories together; the default is 32 MB
    fast.held()              # about how many bytes they hold now
    fast.forget()            # empty them
    fast.off()               # remember nothing from now on

The environment variable DRAGOMAN_MEMORY sets the budget at start: a number of bytes, or "off".
"""

from __future__ import annotations

from ..codec.caches import DEFAULT, VARIABLE, budget, forget, held, off

__all__ = ["DEFAULT", "VARIABLE", "budget", "forget", "held", "off"]
