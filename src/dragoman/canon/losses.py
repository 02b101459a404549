"""Owns Loss (meaning that was dropped, approximated or invented) and Losses (the log of one translation).

The codes are registered in `loss_codes.py`, with meaning and severity. An unregistered code is a KeyError.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .loss_codes import CODES
from .parts import Path, pointer

Effect = Literal["dropped", "approximated", "invented"]
Severity = Literal["info", "warning", "error"]

SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")
"""From harmless to grave. info: the meaning is unchanged. warning: the model or the client may behave differently.
error: content that the conversation depends on is missing. Padding and times are never a loss.
"""


class Loss(Struct, frozen=True, gc=False):
    """One piece of meaning that changed. `path` is a JSON pointer into the source document."""

    code: str
    effect: Effect
    severity: Severity
    path: str
    detail: str = ""

    @property
    def meaning(self) -> str:
        """What the loss means, in a sentence."""
        return CODES[self.code].meaning

    @property
    def advice(self) -> str:
        """What a caller can do about the loss."""
        from .loss_advice import advice_for  # late: few callers read it

        return advice_for(self.code)

    def __str__(self) -> str:
        return f"{self.severity}: {self.code} at {self.path or '/'}" + (f": {self.detail}" if self.detail else "")


class Noted(Struct, gc=False):
    """A loss as recorded. `Losses.replay` records the same value again, so the text form is made only once."""

    code: str
    path: Path
    detail: str
    severity: Severity | None
    """None: the usual severity of the code."""
    spelled: Loss | None = None


class Losses(dict[tuple[str, Path], Noted]):
    """The append-only log of one translation: records by code and path. The same code at the same path is recorded
    once, even if many stream events repeat it.

    A Loss is made of a record only on request: most translations have losses, and few callers read them all.
    """

    __slots__ = ()

    def add(self, code: str, path: Path = (), detail: str = "", severity: Severity | None = None) -> None:
        """Record a loss once for each code and path. Raises KeyError for an unregistered code."""
        key = (code, path)
        if key not in self:
            if code not in CODES:
                raise KeyError(code)
            self[key] = Noted(code, path, detail, severity)

    def noted(self) -> tuple[Noted, ...]:
        """The records so far."""
        return tuple(self.values())

    def replay(self, noted: tuple[Noted, ...]) -> None:
        """Record losses of an earlier translation again."""
        for one in noted:
            # As in `add`, the first record of a loss stays.
            self.setdefault((one.code, one.path), one)

    def all(self) -> tuple[Loss, ...]:
        """All losses so far, in the order in which they were recorded."""
        return tuple([one.spelled or self._spell(one) for one in self.values()])

    def severity_of(self, noted: Noted) -> Severity:
        """The severity of a loss that was recorded without one: the usual severity of its code."""
        return CODES[noted.code].severity

    def _spell(self, noted: Noted) -> Loss:
        severity = noted.severity or self.severity_of(noted)
        effect = CODES[noted.code].effect
        noted.spelled = loss = Loss(noted.code, effect, severity, pointer(noted.path), noted.detail)
        return loss


def losses_above(losses: tuple[Loss, ...], tolerance: Severity) -> tuple[Loss, ...]:
    """The losses whose severity is above `tolerance`."""
    limit = SEVERITIES.index(tolerance)
    return tuple([loss for loss in losses if SEVERITIES.index(loss.severity) > limit])
