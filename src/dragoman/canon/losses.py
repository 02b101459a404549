"""Loss: meaning that was dropped, approximated or invented on the way; Losses: the log of one translation.

The codes, with their meaning and severity, are registered in `loss_codes.py`; an unregistered code is a KeyError.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .loss_codes import CODES
from .loss_severity import Severity as Severity
from .loss_severity import severity_of
from .parts import Path, pointer

Effect = Literal["dropped", "approximated", "invented"]

SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")
"""From harmless to grave. info: no change of meaning; warning: the model or the client may behave differently;
error: content that the conversation depends on did not cross. What means nothing (padding, times) is no loss at all."""


class Loss(Struct, frozen=True, gc=False):
    """One thing that did not cross as it was. `path` is a JSON pointer into the source document."""

    code: str
    effect: Effect
    severity: Severity
    path: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.severity}: {self.code} at {self.path or '/'}" + (f": {self.detail}" if self.detail else "")


class Noted(Struct, gc=False):
    """A loss as it was written down. What is written down again and again (`Losses.replay`) is spelled out once."""

    code: str
    path: Path
    detail: str
    severity: Severity | None
    """If it is not the usual one."""
    spelled: Loss | None = None


class Losses(Struct, eq=False):
    """Append-only. The same code at the same place is said once, however many stream events repeat it.

    A loss is spelled out when someone looks: most translations have some, and few callers read them all.
    """

    _noted: dict[tuple[str, Path], Noted] = {}
    _spelled: tuple[Loss, ...] = ()

    def add(self, code: str, path: Path = (), detail: str = "", severity: Severity | None = None) -> None:
        key = (code, path)
        if key not in self._noted:
            if code not in CODES:
                raise KeyError(code)
            self._noted[key] = Noted(code, path, detail, severity)

    def __len__(self) -> int:
        return len(self._noted)

    def noted(self) -> tuple[Noted, ...]:
        """What was written down so far."""
        return tuple(self._noted.values())

    def replay(self, noted: tuple[Noted, ...]) -> None:
        """Write down again what was written down before."""
        for one in noted:
            self._noted.setdefault((one.code, one.path), one)

    def all(self) -> tuple[Loss, ...]:
        if len(self._spelled) < len(self._noted):
            self._spelled = tuple([one.spelled or _spell(one) for one in self._noted.values()])
        return self._spelled


def beyond(losses: tuple[Loss, ...], tolerance: Severity) -> tuple[Loss, ...]:
    """Those that are worse than `tolerance`."""
    limit = SEVERITIES.index(tolerance)
    return tuple([loss for loss in losses if SEVERITIES.index(loss.severity) > limit])


def _spell(noted: Noted) -> Loss:
    severity = noted.severity or severity_of(noted.code, noted.path, noted.detail)
    effect = CODES[noted.code].effect
    noted.spelled = loss = Loss(noted.code, effect, severity, pointer(noted.path), noted.detail)
    return loss
