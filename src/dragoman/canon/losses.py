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


Noted = tuple[str, Path, str, Severity | None]
"""A loss as it was written down: code, path, detail, severity if not the usual one."""


class Losses(Struct, eq=False):
    """Append-only. The same code at the same place is said once, however many stream events repeat it.

    A loss is spelled out when someone looks: most translations have some, and few callers read them all.
    """

    _noted: list[Noted] = []
    _seen: set[tuple[str, Path]] = set()
    _spelled: tuple[Loss, ...] = ()

    def add(self, code: str, path: Path = (), detail: str = "", severity: Severity | None = None) -> None:
        key = (code, path)
        if key not in self._seen:
            if code not in CODES:
                raise KeyError(code)
            self._seen.add(key)
            self._noted.append((code, path, detail, severity))

    def __len__(self) -> int:
        return len(self._noted)

    def noted(self) -> tuple[Noted, ...]:
        """What was written down so far."""
        return tuple(self._noted)

    def replay(self, noted: tuple[Noted, ...]) -> None:
        """Write down again what was written down before."""
        for one in noted:
            self.add(*one)

    def all(self) -> tuple[Loss, ...]:
        known = len(self._spelled)
        if known < len(self._noted):
            self._spelled += tuple([_spell(*noted) for noted in self._noted[known:]])
        return self._spelled

    def beyond(self, tolerance: Severity) -> tuple[Loss, ...]:
        """The losses that are worse than `tolerance`."""
        limit = SEVERITIES.index(tolerance)
        return tuple([loss for loss in self.all() if SEVERITIES.index(loss.severity) > limit])


def _spell(code: str, path: Path, detail: str, severity: Severity | None) -> Loss:
    known = CODES[code]
    return Loss(code, known.effect, severity or known.severity, pointer(path), detail)
