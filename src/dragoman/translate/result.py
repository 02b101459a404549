"""Translation: a document in another dialect and its losses. And what all translations do with documents and losses."""

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
"""The losses, counted when someone asks for them."""


class Translation(Struct, eq=False, weakref=True):
    """A document in the target's dialect, and what was lost on the way."""

    body: bytes
    """JSON of the target dialect; the same bytes for the same input."""
    source: str
    target: str
    _losses: tuple[Loss, ...] | Found = ()
    asked: str = ""
    """The model's name as the client wrote it."""
    model: str = ""
    """The model asked of the upstream. Dialects that name it in the address do not have it in the body."""
    stream: bool | None = None
    request: Request | None = None
    """The request in canon, for the way back; None when the bytes passed untouched."""
    called: tuple[frozenset[str], ...] | None = ()
    """The ids of the calls in its history; None: not known."""
    host: str | None = None
    """The upstream's host, as it was given."""
    repairs: tuple[Repair, ...] = ()
    """What was mended in the history of the source, with `repair="report"`."""
    headers: dict[str, str] = {}
    """Headers to send it with, beside those of every request: what the upstream wants for something in it."""
    renamed: dict[str, tuple[str, str]] = {}
    wrapped: set[str] = set()
    stand_ins: dict[str, str] = {}
    """Functions offered in place of tools that the source's upstream runs itself, where the caller asked for them
    (`stand_ins=True`): name -> the tool that it stands for. The client never declared them, so the caller has to run
    them. A call that comes to the client all the same is reported as `call.stand_in`."""
    absent: dict[str, Any] = {}
    """Where null stands for an absent property in the answer: it is taken out again on the way back."""
    history: ConversationDigest | None = None
    """The conversation as the client sent it: a vault keeps the seals of the answer for this conversation."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What was dropped, approximated or invented on the way."""
        found = self._losses
        return found() if callable(found) else found

    def json(self) -> Any:
        """The body, decoded. WireError if it carries, untouched, what no decoder takes (a number such as 1e999)."""
        return json_text.plain(Raw(self.body))

    def __repr__(self) -> str:
        return f"<Translation {self.source} to {self.target}: {len(self.body)} bytes, {len(self.losses)} losses>"


class FaultTranslation(Translation, kw_only=True):
    """A fault in the target's dialect, with the status and the headers to send it with."""

    status: int


def translated(body: bytes, context: Context, losses: tuple[Loss, ...] | Found) -> Translation:
    """The translation of a document, with all that was written down while it crossed."""
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
    """The losses, the fields that only the source knows counted among them."""
    found: tuple[Loss, ...] | Found = ()
    if context.kept and reader.name != writer.name and reader.name not in writer.kin:
        found = partial(_counted, context, reader.noise)
    elif len(context.losses):
        found = context.losses.all
    if tolerance is not None:
        checked_tolerance(tolerance)
        found = found() if callable(found) else found
        check_losses(found, tolerance)
    return found


def _counted(context: Context, noise: frozenset[str]) -> tuple[Loss, ...]:
    context.settle(noise)
    return context.losses.all()


def check_losses(losses: tuple[Loss, ...], tolerance: Severity) -> None:
    """LossError for what is worse than is accepted."""
    worse = beyond(losses, tolerance)
    if worse:
        raise LossError(tolerance, worse)


def checked_tolerance(tolerance: Severity | None) -> None:
    if tolerance is not None and tolerance not in SEVERITIES:
        raise ConfigError("tolerance", str(tolerance), SEVERITIES)
