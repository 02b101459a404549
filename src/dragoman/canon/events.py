"""The six steps of a stream: Start PartStart PartDelta PartEnd Finish Fault.

Grammar:  Start (PartStart PartDelta* PartEnd)* Finish   with Fault, if any, last and instead of what is missing.
Parts of one answer never overlap: a reader whose wire interleaves them holds the later one back until the earlier ends.
`index` numbers the parts of all answers in the order they start; `answer` says which answer (n > 1) a part belongs to,
and parts of different answers do overlap. Text and arguments come in PartDeltas only; a PartStart never holds any.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from .parts import Citation, Extra, Part, Seal, Token
from .response import Stop, Usage

FaultKind = Literal[
    "invalid_request",
    "context_too_long",
    "auth",
    "billing",
    "permission",
    "not_found",
    "conflict",
    "too_large",
    "unprocessable",
    "rate_limit",
    "cancelled",
    "server",
    "upstream_bad",
    "overloaded",
    "timeout",
]


class Start(Struct, frozen=True, gc=False):
    """The answer begins."""

    id: str = ""
    model: str = ""
    created: int | None = None
    usage: Usage | None = None
    extra: Extra | None = None


class PartStart(Struct, frozen=True, gc=False):
    """A part begins. `part` is what is known at once: a call has its id and name, an Opaque is whole."""

    index: int
    part: Part
    answer: int = 0


class PartDelta(Struct, frozen=True, gc=False):
    """More of a part: `text` is appended to its text or arguments; a seal or citations are added to it. `tokens`, the
    log probabilities of a text so far, come in deltas of their own."""

    index: int
    text: str = ""
    seal: Seal | None = None
    citations: tuple[Citation, ...] = ()
    tokens: tuple[Token, ...] = ()


class PartEnd(Struct, frozen=True, gc=False):
    """The part is over. `extra`: fields of one dialect that were known only now. `cut`: it breaks off."""

    index: int
    extra: Extra | None = None
    cut: bool = False


class Finish(Struct, frozen=True, gc=False):
    """The answer is complete. One for each answer when n > 1; the last one carries the usage."""

    stop: Stop
    usage: Usage | None = None
    answer: int = 0
    last: bool = True
    extra: Extra | None = None


NO_MESSAGE = "no message came with the error"
"""The beginning of the message of a fault whose sender wrote none."""


class Fault(Struct, frozen=True, gc=False):
    """An error said on the wire: instead of a response, or in the middle of a stream. Its message is never empty."""

    kind: FaultKind
    message: str
    status: int = 500
    code: str = ""
    param: str = ""
    retry_after: float | None = None
    request_id: str = ""
    extra: Extra | None = None

    def __post_init__(self) -> None:
        if not self.message.strip():
            force_setattr(self, "message", f"{NO_MESSAGE} (status {self.status})")


Event = Start | PartStart | PartDelta | PartEnd | Finish | Fault
