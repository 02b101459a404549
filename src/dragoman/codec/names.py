"""Tool names: legal ones pass; others are cleaned, shortened and given a hash of the original, so that two never meet.

The way back is a table kept with the translation (`Crossing.renamed`): deterministic, so no store is needed.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from ..canon.parts import Path
from ..crossing import Crossing

_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]+")


@lru_cache(maxsize=4096)
def legal(name: str, pattern: re.Pattern[str]) -> str:
    """`name` if it fits the target's pattern, else a name that fits every dialect."""
    if pattern.match(name):
        return name
    stem = _ILLEGAL.sub("_", name).strip("_") or "tool"
    if not (stem[0].isalpha() and stem[0].isascii()):
        stem = "t_" + stem
    return f"{stem[:50]}_{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"


def send(name: str, namespace: str, pattern: re.Pattern[str], crossing: Crossing, at: Path) -> str:
    """A tool's name as the target takes it; a change is noted, and remembered for the way back.

    For targets without namespaces: `namespace` goes in front. Use it for declarations, calls and choices alike.
    """
    full = f"{namespace}__{name}" if namespace else name
    sent = legal(full, pattern)
    if sent is not name and sent != name and sent not in crossing.renamed:
        crossing.renamed[sent] = (namespace, name)
        crossing.lose("tool.namespace.prefixed" if sent == full else "tool.renamed", at, f"{full} is sent as {sent}")
    return sent
