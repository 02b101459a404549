"""Owns the marks: values of an Ollama document that are kept only to restore it exactly.

A mark is an extra with a name that no wire has ("dragoman. ..."). It is not kept in the Context, so its removal is not
a loss.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import Extra
from ...codec.dialect_extras import restore
from .wire import NAME

ID = "dragoman.id"
"""The original id (null: none) if call and result are paired by another id."""
TEXT = "dragoman.text"
"""The arguments were a text instead of an object."""
OTHER_ARGUMENTS = "dragoman.bare"
"""The arguments were a list or another value that is neither an object nor a text."""
NO_STREAM_FIELD = "dragoman.stream"
"""`stream` was absent, which means true (server sources, 2026-08)."""
URL = "dragoman.url"
"""The image was a data URL: the part before its base64."""

NULL = Raw(b"null")
TRUE = Raw(b"true")

_PREFIX = "dragoman."


def with_field(extra: Extra | None, name: str, value: Raw) -> Extra:
    """`extra` with one more field of this dialect."""
    if extra is None:
        return {NAME: {name: value}}
    return {**extra, NAME: {**extra.get(NAME, {}), name: value}}


def own(extra: Extra | None, name: str) -> Raw | None:
    """This dialect's field or mark in `extra`."""
    return extra[NAME].get(name) if extra is not None and NAME in extra else None


def put_back(out: dict[str, Any], extra: Extra | None) -> dict[str, Any]:
    """Restore this dialect's extra fields in a written object. Fields that are already written stay."""
    if extra is None or NAME not in extra:
        return out
    fields = {name: value for name, value in extra[NAME].items() if not name.startswith(_PREFIX)}
    return restore(out, {NAME: fields}, NAME)
