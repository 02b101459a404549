"""Translation: a document in another dialect and its losses. And what all translations do with documents and losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from .canon.losses import SEVERITIES, Loss, Severity
from .canon.repairs import Repair
from .canon.request import Request
from .codec import jsontext
from .crossing import Crossing
from .dialect import Dialect
from .errors import ConfigError, LossError, WireError

Body = bytes | bytearray | memoryview | str | Mapping[str, Any] | list[Any]
"""A document: JSON text, or the decoded value."""

Found = Callable[[], tuple[Loss, ...]]
"""The losses, counted when someone asks for them."""


class Translation:
    """A document in the target's dialect, and what was lost on the way."""

    # What few translations have is found in the class until one does: one is made for every document.
    repairs: tuple[Repair, ...] = ()
    """What was mended in the history of the source, with `repair="report"`."""
    model = ""
    """The model asked of the upstream. Dialects that name it in the address do not have it in the body."""
    asked = ""
    """The model's name as the client wrote it."""
    host: str | None = None
    """The upstream's host, as it was given."""
    stream: bool | None = None
    request: Request | None = None
    """The request in canon, for the way back; None when the bytes passed untouched."""
    called: tuple[frozenset[str], ...] | None = ()
    """The ids of the calls in its history; None: not known."""

    def __init__(self, body: bytes, crossing: Crossing, losses: Found) -> None:
        self.body = body
        """JSON of the target dialect; the same bytes for the same input."""
        self._losses = losses
        self.headers = crossing.headers.copy()  # the caller's own: a crossing on which nothing is noted is shared
        """Headers to send it with, beside those of every request: what the upstream wants for something in it."""
        self.source = crossing.source
        self.target = crossing.target
        self.renamed = crossing.renamed
        self.wrapped = crossing.custom
        self.stand_ins = crossing.stand_ins
        """Functions offered in place of tools that the source's upstream runs itself: name -> what it stands for. Their
        calls come to a client that never declared them, and are reported as `call.stand_in`: whoever stands between
        must run them, or the client answers them as it answers any tool it does not know."""

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What was dropped, approximated or invented on the way."""
        return self._losses()

    def json(self) -> Any:
        """The body, decoded. WireError if it carries, untouched, what no decoder takes (a number such as 1e999)."""
        return jsontext.plain(Raw(self.body))

    def __repr__(self) -> str:
        return f"<Translation {self.source} to {self.target}: {len(self.body)} bytes, {len(self.losses)} losses>"


class FaultTranslation(Translation):
    """A fault in the target's dialect, with the status and the headers to send it with."""

    def __init__(self, body: bytes, crossing: Crossing, losses: Found, status: int, headers: dict[str, str]) -> None:
        super().__init__(body, crossing, losses)
        self.status = status
        self.headers = headers


def as_bytes(body: Body, dialect: str) -> bytes:
    """A document as JSON bytes, which are UTF-8."""
    document = loose_bytes(body, dialect)
    check_text(document, dialect)
    return document


def check_text(document: bytes, dialect: str) -> None:
    """WireError for what is not UTF-8: decoding checks no text that is merely carried."""
    if not document.isascii():
        try:
            document.decode()
        except UnicodeDecodeError as error:
            raise WireError(dialect, "", "UTF-8", f"byte {document[error.start]:#x} at {error.start}") from None


def loose_bytes(body: Body, dialect: str) -> bytes:
    """A document as bytes, which may be cut or broken if they came as bytes."""
    if type(body) is bytes:
        return body
    if isinstance(body, bytes | bytearray | memoryview):
        return bytes(body)
    try:
        return body.encode("utf-8") if isinstance(body, str) else _encode(body)
    except UnicodeEncodeError:
        raise WireError(dialect, "", "text that UTF-8 can hold", "a lone surrogate") from None
    except (TypeError, RecursionError) as error:
        raise WireError(dialect, "", "a JSON value", str(error)) from None


def _as_dict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


_encode = msgspec.json.Encoder(enc_hook=_as_dict).encode


def nothing() -> tuple[Loss, ...]:
    return ()


def settled(crossing: Crossing, reader: Dialect, writer: Dialect, tolerance: Severity | None) -> Found:
    """The losses, the fields that only the source knows counted among them."""
    if crossing.kept and reader.name != writer.name and reader.name not in writer.kin:

        def found() -> tuple[Loss, ...]:
            crossing.settle(reader.noise)
            return crossing.losses.all()

    elif len(crossing.losses):
        found = crossing.losses.all
    else:
        found = nothing
    if tolerance is not None:
        checked_tolerance(tolerance)
        found()
        beyond = crossing.losses.beyond(tolerance)
        if beyond:
            raise LossError(tolerance, beyond)
    return found


def checked_tolerance(tolerance: Severity | None) -> None:
    if tolerance is not None and tolerance not in SEVERITIES:
        raise ConfigError("tolerance", str(tolerance), SEVERITIES)
