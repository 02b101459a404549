"""Tool names: legal ones pass; others are cleaned, shortened and given a hash of the original, so that two never meet.

The way back is a table kept with the translation (`Crossing.renamed`): deterministic, so no store is needed.
"""

from __future__ import annotations

import hashlib
import re

from ..canon.parts import Path
from ..crossing import Crossing

_REMEMBERED = 4096
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]+")


class Names:
    """What a target takes as a tool's name. Make one for each dialect and keep it: it remembers names it has seen."""

    __slots__ = ("_pattern", "_seen")

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)
        self._seen: dict[str, str] = {}

    def legal(self, name: str) -> str:
        """`name` if it fits the pattern, else a name that fits every dialect."""
        sent = self._seen.get(name)
        if sent is None:
            sent = name if self._pattern.fullmatch(name) else _made_legal(name)
            if len(self._seen) >= _REMEMBERED:
                self._seen.clear()
            self._seen[name] = sent
        return sent

    def send(self, name: str, namespace: str, crossing: Crossing, at: Path) -> str:
        """A tool's name as the target takes it; a change is noted, and remembered for the way back.

        For targets without namespaces: `namespace` goes in front. Use it for declarations, calls and choices alike.
        On the way back a name is the client's own, and legal because the client declared it.
        """
        if not namespace and (self._seen.get(name) == name or crossing.answers is not None):
            return name
        full = f"{namespace}__{name}" if namespace else name
        sent = self.legal(full)
        if sent != name and sent not in crossing.renamed:
            crossing.renamed[sent] = (namespace, name)
            code = "tool.namespace.prefixed" if sent == full else "tool.renamed"
            crossing.lose(code, at, f"{full} is sent as {sent}")
        return sent


def _made_legal(name: str) -> str:
    stem = _ILLEGAL.sub("_", name).strip("_") or "tool"
    if not (stem[0].isalpha() and stem[0].isascii()):
        stem = "t_" + stem
    return f"{stem[:50]}_{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"
