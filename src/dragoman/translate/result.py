"""Owns Translation, the result of a translation, and the checks of losses that all translations share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Raw, Struct

from ..canon.losses import SEVERITIES, Loss, Severity, beyond
from ..canon.repair_codes import Repair
from ..canon.request import Request
from ..codec import json_text
from ..context import Context
from ..dialect import Dialect
from ..errors import ConfigError, LossError
from ..seals.conversation_digest import ConversationDigest

Found = Callable[[], tuple[Loss, ...]]
"""The losses, computed on demand."""


class Translation(Struct, eq=False, weakref=True):
    """A document in the target's dialect, and its losses."""

    body: bytes
    """JSON of the target dialect. The same input always gives the same bytes."""
    source: str
    target: str
    _losses: tuple[Loss, ...] | Found = ()
    requested_model: str = ""
    """The client's own model name."""
    model: str = ""
    """The model name for the upstream. Some dialects name the model in the address and not in the body."""
    stream: bool | None = None
    request: Request | None = None
    """The request in canon, for the answer. None: the bytes passed unchanged."""
    called: tuple[frozenset[str], ...] | None = ()
    """The ids of the calls in the history. None: unknown."""
    host: str | None = None
    """The upstream's host, as the caller gave it."""
    repairs: tuple[Repair, ...] = ()
    """The repairs of the source's history, with `repair="report"`."""
    headers: dict[str, str] = {}
    """Headers that the upstream requires for content of this request."""
    renamed: dict[str, tuple[str, str]] = {}
    wrapped: set[str] = set()
    stand_ins: dict[str, str] = {}
    """Functions offered in place of hosted tools, if the caller asked for them (`stand_ins=True`): name -> the replaced
    tool. The client never declared them, so the caller must run them. A call that reaches the client anyway is reported
    as `call.stand_in`.
    """
    absent: dict[str, Any] = {}
    """The places in the answer at which null means an absent property. The answer's translation removes these nulls."""
    history: ConversationDigest | None = None
    """The digest of the client's original conversation. A vault stores the seals of the answer for this
    conversation."""
    tokens: tuple[int | None, int | None] | None = None
    """For a translated answer: the tokens in and out, in the upstream's count."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The meaning that was dropped, approximated or invented."""
        found = self._losses
        # Losses are computed only on demand, because most callers never read them.
        if callable(found):
            self._losses = found = found()
        return found

    @losses.setter
    def losses(self, found: tuple[Loss, ...]) -> None:
        self._losses = found

    def json(self) -> Any:
        """The decoded body. Raises WireError if the body holds an unchanged value that no decoder accepts (a number
        such as 1e999).
        """
        return json_text.plain(Raw(self.body))

    def _repr_html_(self) -> str:
        """For notebooks."""
        from .notebook_html import translation_html  # late: only notebooks need it

        return translation_html(f"{self.source} to {self.target}", self.body, self.losses)

    def __repr__(self) -> str:
        return f"<Translation {self.source} to {self.target}: {len(self.body)} bytes, {len(self.losses)} losses>"


class FaultTranslation(Translation, kw_only=True):
    """A fault in the target's dialect, with its status and headers."""

    status: int


def translated(body: bytes, context: Context, losses: tuple[Loss, ...] | Found) -> Translation:
    """The translation of a document, with the notes of its Context."""
    return Translation(
        body,
        context.source,
        context.target,
        losses,
        headers=context.headers,
        renamed=context.renamed,
        wrapped=context.custom,
        stand_ins=context.stand_ins,
        absent=context.absent,
    )


def settled(context: Context, reader: Dialect, writer: Dialect, tolerance: Severity | None) -> tuple[Loss, ...] | Found:
    """The losses, including the fields that exist only in the source dialect."""
    found: tuple[Loss, ...] | Found = ()
    # Kin dialects accept each other's fields, so no field is lost between them.
    if context.kept and reader.name != writer.name and reader.name not in writer.kin:
        found = partial(_counted, context, reader.noise)
    elif context.losses:
        found = context.losses.all
    if tolerance is not None:
        checked_tolerance(tolerance)
        # A tolerance needs the losses before the result is returned.
        found = found() if callable(found) else found
        check_losses(found, tolerance)
    return found


def _counted(context: Context, noise: frozenset[str]) -> tuple[Loss, ...]:
    context.settle(noise)
    return context.losses.all()


def check_losses(losses: tuple[Loss, ...], tolerance: Severity) -> None:
    """Raise LossError for losses above the tolerance."""
    worse = beyond(losses, tolerance)
    if worse:
        raise LossError(tolerance, worse)


def checked_tolerance(tolerance: Severity | None) -> None:
    """Raise ConfigError for an unknown tolerance."""
    if tolerance is not None and tolerance not in SEVERITIES:
        raise ConfigError("tolerance", str(tolerance), SEVERITIES)
