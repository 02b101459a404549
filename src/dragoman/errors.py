"""The exceptions that a caller can meet.

    DragomanError
    ├── WireError       the bytes do not fit the dialect: dialect, path, expected, got
    ├── LossError       a translation lost more than the caller's tolerance allows: losses
    ├── RepairError     a history is broken, and the caller wants no repair: repairs
    ├── FaultError      the upstream answered with a Fault: fault, body
    ├── ArgumentsError  the arguments of a tool call are not JSON, or not whole: the call must not be run
    ├── TransportError  no answer from an upstream: kind (connect, timeout, closed, upstream_bad)
    └── ConfigError     an unknown name or option, or one that cannot be used: the problem, and the valid values

Translation never raises an exception for meaning that it cannot carry. That is a Loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .canon.base_and_tool_call_errors import ArgumentsError as ArgumentsError
from .canon.base_and_tool_call_errors import DragomanError as DragomanError

if TYPE_CHECKING:
    from .canon.events import Fault
    from .canon.losses import Loss
    from .canon.repair_codes import Repair


VALID_JSON = "valid JSON"
"""What a WireError expects where the bytes are not JSON at all."""


class WireError(DragomanError):
    """The bytes do not fit the dialect that the caller named."""

    def __init__(self, dialect: str, path: str, expected: str, got: str = "") -> None:
        self.dialect = dialect
        self.path = path
        self.expected = expected
        self.got = got
        where = f" at {path}" if path else ""
        found = f", got {got}" if got else ""
        words = f"not {dialect}{where}: expected {expected}{found}"
        if expected == VALID_JSON:  # true of no dialect, so none is named
            words = f"not valid JSON{where}" + (f": {got}" if got else "")
        super().__init__(words)


class LossError(DragomanError):
    """The translation would lose more than `tolerance` allows; nothing was sent."""

    def __init__(self, tolerance: str, losses: tuple[Loss, ...]) -> None:
        self.tolerance = tolerance
        self.losses = losses
        worst = "; ".join(f"{loss.code} at {loss.path or '/'}" for loss in losses[:5])
        more = f" and {len(losses) - 5} more" if len(losses) > 5 else ""
        super().__init__(f"{len(losses)} losses beyond tolerance {tolerance!r}: {worst}{more}")


class RepairError(DragomanError):
    """The history breaks the rules of its own dialect, and the caller refuses broken histories. Nothing was sent."""

    def __init__(self, dialect: str, repairs: tuple[Repair, ...]) -> None:
        self.dialect = dialect
        self.repairs = repairs
        """All repairs that the history would need."""
        first = "; ".join(map(str, repairs[:5]))
        more = f" and {len(repairs) - 5} more" if len(repairs) > 5 else ""
        super().__init__(f"the {dialect} history is broken: {first}{more}")


class TransportError(DragomanError):
    """No answer arrived from an upstream. `kind`: connect, timeout, closed, upstream_bad."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)


class FaultError(DragomanError):
    """The upstream answered with a fault instead of a response."""

    def __init__(self, fault: Fault, body: bytes = b"", losses: tuple[Loss, ...] = ()) -> None:
        """`losses`: losses in an answer that became a fault."""
        self.fault = fault
        self.body = body
        self.losses = losses
        super().__init__(f"{fault.kind} ({fault.status}): {fault.message}")


def _nearest(got: str, valid: tuple[str, ...]) -> str:
    from difflib import get_close_matches  # late: only a mistake needs it

    return next(iter(get_close_matches(got.lower(), valid, 1)), "")


class ConfigError(DragomanError):
    """An unknown name or option. With `problem`: a known one that cannot be used, for that reason. `meant`: the name
    that the caller probably means; by default the valid name that is most similar."""

    def __init__(self, what: str, got: str, valid: tuple[str, ...] = (), problem: str = "", *, meant: str = "") -> None:
        self.what = what
        self.got = got
        self.valid = valid
        self.problem = problem
        named = f"{what} {got!r}" if got else what
        hint = f"; valid: {', '.join(valid)}" if valid else ""
        if valid and not problem and got not in valid and (meant := meant or _nearest(got, valid)):
            hint = f"; did you mean {meant}? (valid: {', '.join(valid)})"
        super().__init__(f"{named}: {problem}{hint}" if problem else f"unknown {named}{hint}")
