"""Converts a caller's document (bytes, text or decoded value) to JSON bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ..errors import WireError

Body = bytes | bytearray | memoryview | str | Mapping[str, Any] | list[Any]
"""A document: JSON text, or the decoded value."""


def as_bytes(body: Body, dialect: str) -> bytes:
    """A document as JSON bytes in UTF-8."""
    document = loose_bytes(body, dialect)
    check_text(document, dialect)
    return document


def check_text(document: bytes, dialect: str) -> None:
    """Raise WireError for bytes that are not UTF-8. The JSON decoder does not check the UTF-8 of raw values."""
    if not document.isascii():
        try:
            document.decode()
        except UnicodeDecodeError as error:
            raise WireError(dialect, "", "UTF-8", f"byte {document[error.start]:#x} at {error.start}") from None


def loose_bytes(body: Body, dialect: str) -> bytes:
    """A document as bytes. Bytes from the caller may be cut or broken."""
    if type(body) is bytes:
        return body
    if isinstance(body, bytes | bytearray | memoryview):
        return bytes(body)
    try:
        return body.encode("utf-8") if isinstance(body, str) else _encode(body)
    except UnicodeEncodeError:
        return _escaped(body, dialect)
    except (TypeError, RecursionError) as error:
        raise WireError(dialect, "", "a JSON value", str(error)) from None


def _escaped(body: Mapping[str, Any] | list[Any] | str, dialect: str) -> bytes:
    """The same for text with lone surrogates, which UTF-8 cannot hold: they become JSON escapes."""
    if isinstance(body, str):
        return body.encode("utf-8", "backslashreplace")  # this handler writes a surrogate like a JSON escape
    from json import dumps  # late: hardly any document needs it

    try:
        return dumps(body, default=_as_dict, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise WireError(dialect, "", "a JSON value", str(error)) from None


def _as_dict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


_encode = msgspec.json.Encoder(enc_hook=_as_dict).encode
