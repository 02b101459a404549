"""The bytes of a document that a caller gave as bytes, as text or as a decoded value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ..errors import WireError

Body = bytes | bytearray | memoryview | str | Mapping[str, Any] | list[Any]
"""A document: JSON text, or the decoded value."""


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
        return _escaped(body, dialect)
    except (TypeError, RecursionError) as error:
        raise WireError(dialect, "", "a JSON value", str(error)) from None


def _escaped(body: Mapping[str, Any] | list[Any] | str, dialect: str) -> bytes:
    """The same for text with lone surrogates, which UTF-8 cannot hold: as the escapes that JSON has for them."""
    if isinstance(body, str):
        return body.encode("utf-8", "backslashreplace")  # which spells a surrogate as JSON does
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
