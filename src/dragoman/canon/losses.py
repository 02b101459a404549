"""Loss: meaning that was dropped, approximated or invented on the way; Losses: the log of one translation.

The codes, with their meaning and severity, are registered in `codes.py`; an unregistered code is a KeyError.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .codes import CODES
from .parts import Path, pointer

Effect = Literal["dropped", "approximated", "invented"]
Severity = Literal["info", "warning", "error"]

SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")
"""From harmless to grave. info: no change of meaning; warning: the model or the client may behave differently;
error: content that the conversation depends on did not cross."""


class Loss(Struct, frozen=True, gc=False):
    """One thing that did not cross as it was. `path` is a JSON pointer into the source document."""

    code: str
    effect: Effect
    severity: Severity
    path: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.severity}: {self.code} at {self.path or '/'}" + (f": {self.detail}" if self.detail else "")


class Losses:
    """Append-only. The same code at the same place is said once, however many stream events repeat it."""

    __slots__ = ("_items", "_seen")

    def __init__(self) -> None:
        self._items: list[Loss] = []
        self._seen: set[tuple[str, str]] = set()

    def add(self, code: str, path: Path = (), detail: str = "", severity: Severity | None = None) -> None:
        where = pointer(path)
        if (code, where) in self._seen:
            return
        self._seen.add((code, where))
        known = CODES[code]
        self._items.append(Loss(code, known.effect, severity or known.severity, where, detail))

    def __len__(self) -> int:
        return len(self._items)

    def all(self) -> tuple[Loss, ...]:
        return tuple(self._items)

    def beyond(self, tolerance: Severity) -> tuple[Loss, ...]:
        """The losses that are worse than `tolerance`."""
        limit = SEVERITIES.index(tolerance)
        return tuple([loss for loss in self._items if SEVERITIES.index(loss.severity) > limit])
