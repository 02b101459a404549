"""Marks: what is remembered of an Ollama document so that the same value goes back, and says nothing to anyone else.

A mark is an extra under a name that no wire has ("dragoman. ..."). It is not kept in the Context, so it is no loss.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import Extra
from ...codec.dialect_extras import restore
from .wire import NAME

ID = "dragoman.id"
"""The id as it stood there (null: none) where another one pairs call and result."""
TEXT = "dragoman.text"
"""The arguments stood there as a text, not as an object."""
BARE = "dragoman.bare"
"""The arguments stood there as a list or another value that is neither an object nor a text."""
UNSAID = "dragoman.stream"
"""`stream` was left out, which means true."""
URL = "dragoman.url"
"""The image stood there as a data URL: what comes before its base64."""

NULL = Raw(b"null")
TRUE = Raw(b"true")

_PREFIX = "dragoman."


def with_field(extra: Extra | None, name: str, value: Raw) -> Extra:
    """`extra` and one field more of this dialect."""
    if extra is None:
        return {NAME: {name: value}}
    return {**extra, NAME: {**extra.get(NAME, {}), name: value}}


def own(extra: Extra | None, name: str) -> Raw | None:
    """This dialect's field or mark in `extra`."""
    return extra[NAME].get(name) if extra is not None and NAME in extra else None


def put_back(out: dict[str, Any], extra: Extra | None) -> dict[str, Any]:
    """Put this dialect's extra fields back into the object it writes; what is written already stays."""
    if extra is None or NAME not in extra:
        return out
    fields = {name: value for name, value in extra[NAME].items() if not name.startswith(_PREFIX)}
    return restore(out, {NAME: fields}, NAME)
