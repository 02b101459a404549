"""Owns the six events of a stream: Start PartStart PartDelta PartEnd Finish Fault.

Grammar: Start (PartStart PartDelta* PartEnd)* Finish. A Fault, if there is one, comes last; it replaces the rest of the
stream.

Parts of one answer never overlap. If a wire interleaves parts, its reader holds the later part back until the earlier
part ends. `index` numbers the parts of all answers in the order in which they start. `answer` is the number of the
answer (n > 1) that the part belongs to. Parts of different answers may overlap. Text and arguments come in PartDeltas
only; a PartStart never holds any.
"""

from __future__ import annotations

from typing import Literal, final

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


@final
class Start(Struct, frozen=True, gc=False):
    """The answer begins."""

    id: str = ""
    model: str = ""
    created: int | None = None
    usage: Usage | None = None
    extra: Extra | None = None


@final
class PartStart(Struct, frozen=True, gc=False):
    """A part begins. `part` holds the fields that are known at once: a call has its id and name, an Opaque is whole."""

    index: int
    part: Part
    answer: int = 0


@final
class PartDelta(Struct, frozen=True, gc=False):
    """More of a part. `text` is appended to the part's text or arguments; a seal or citations are added to the part.
    `tokens` are the log probabilities of the text so far; they come in deltas of their own.
    """

    index: int
    text: str = ""
    seal: Seal | None = None
    citations: tuple[Citation, ...] = ()
    tokens: tuple[Token, ...] = ()


@final
class PartEnd(Struct, frozen=True, gc=False):
    """The part is over. `extra`: fields of one dialect that the source sent only at the end. `cut`: the part breaks
    off.
    """

    index: int
    extra: Extra | None = None
    cut: bool = False


@final
class Finish(Struct, frozen=True, gc=False):
    """The answer is complete. With n > 1 there is one Finish for each answer; the last one carries the usage."""

    stop: Stop
    usage: Usage | None = None
    answer: int = 0
    last: bool = True
    extra: Extra | None = None


NO_MESSAGE = "no message came with the error"
"""How the message of a fault begins if the sender wrote no message."""


@final
class Fault(Struct, frozen=True, gc=False):
    """An error on the wire, in place of a response or in the middle of a stream. The message is never empty."""

    kind: FaultKind
    message: str
    status: int = 500
    code: str = ""
    param: str = ""
    retry_after: float | None = None
    request_id: str = ""
    extra: Extra | None = None

    def __post_init__(self) -> None:
        # Some upstreams send no message, and a client that shows an empty one hides the error.
        if not self.message.strip():
            force_setattr(self, "message", f"{NO_MESSAGE} (status {self.status})")


Event = Start | PartStart | PartDelta | PartEnd | Finish | Fault
