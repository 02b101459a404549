"""Converts a caller's document (bytes, text or decoded value) to JSON bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import msgspec

from ..errors import ConfigError, WireError


@runtime_checkable
class PydanticModel(Protocol):
    """An object of pydantic, such as the objects of the providers' SDKs. pydantic itself is not needed."""

    def model_dump(self, *, mode: str, by_alias: bool, exclude_unset: bool) -> dict[str, Any]:
        """The object as JSON values."""
        ...


Body = bytes | bytearray | memoryview | str | Mapping[str, Any] | list[Any] | PydanticModel
"""A document: JSON text, the decoded value, or an object of an SDK."""


def as_bytes(body: Body, dialect: str) -> bytes:
    """A document as JSON bytes in UTF-8."""
    document = loose_bytes(body, dialect)
    check_text(document, dialect)
    return document


def stream_bytes(chunk: Any) -> bytes:
    """A piece of a stream as bytes. ConfigError for text: a stream is cut anywhere, also inside a character."""
    if isinstance(chunk, bytes | bytearray | memoryview):
        return bytes(chunk)
    problem = "a piece of a stream is bytes. Encode text first: chunk.encode()"
    raise ConfigError("chunk", type(chunk).__name__, problem=problem)


def check_text(document: bytes, dialect: str) -> None:
    """Raise WireError for bytes that are not UTF-8. The JSON decoder does not check the UTF-8 of raw values."""
    # `isascii` reads the bytes once and stores nothing. Most documents are ASCII.
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
    # Surrogates come from texts that were cut in the middle of an emoji.
    except UnicodeEncodeError:
        return _escaped(body, dialect)
    except (TypeError, RecursionError) as error:
        raise WireError(dialect, "", "a JSON value", str(error)) from None


def _escaped(body: Mapping[str, Any] | list[Any] | str | PydanticModel, dialect: str) -> bytes:
    """A document as bytes, with JSON escapes for lone surrogates, which UTF-8 cannot hold."""
    if isinstance(body, str):
        return body.encode("utf-8", "backslashreplace")  # this handler writes a surrogate like a JSON escape
    from json import dumps  # late: hardly any document needs it

    try:
        # `allow_nan=False`: NaN is not JSON, and no upstream accepts it.
        return dumps(body, default=_as_dict, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise WireError(dialect, "", "a JSON value", str(error)) from None


def _as_dict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, PydanticModel):  # an object of an SDK. A field without a set value was not on the wire.
        # `by_alias`: the SDKs name some fields differently in Python, for example `from_` for `from`.
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    raise TypeError(f"an object of the type {type(value).__name__}")


_encode = msgspec.json.Encoder(enc_hook=_as_dict).encode
