"""Owns marks: original values of a Gemini document that are restored in this dialect and have no meaning in others.

A mark is an extra with a name that no wire has ("dragoman. ..."). Marks are not kept in the Context, so they never
count as losses.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Extra
from ...codec import json_text
from . import wire

ID = "dragoman.id"
"""The original id (null: none) of a call or result that is paired with another id."""
KEY = "dragoman.key"
"""The key of `response` that held a result's value; "" for the whole object."""
URLSAFE = "dragoman.urlsafe"
"""The bytes of the media were in the URL-safe alphabet."""

ABSENT = "dragoman.absent"
"""Absent fields that the writer would write: mostly zeros and empty objects."""

NULL = Raw(b"null")
TRUE = Raw(b"true")
FALSE = Raw(b"false")

# No field of Google's API has a dot in its name, so a mark cannot hide a field.
_PREFIX = "dragoman."


def peek(value: Raw) -> Any:
    """A carried value, decoded to look inside; None if it is nested too deeply."""
    try:
        # These values are carried, not understood: a value that cannot be looked into still goes back unchanged.
        return json_text.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return None


def with_field(extra: Extra | None, name: str, value: Raw) -> Extra:
    """`extra` with one more field of this dialect."""
    if extra is None:
        return {wire.NAME: {name: value}}
    return {**extra, wire.NAME: {**extra.get(wire.NAME, {}), name: value}}


def own(extra: Extra | None, name: str) -> Raw | None:
    """This dialect's field or mark in `extra`."""
    return extra[wire.NAME].get(name) if extra is not None and wire.NAME in extra else None


def put_back(out: dict[str, Any], extra: Extra | None) -> dict[str, Any]:
    """Restore this dialect's extra fields in the object that it writes. A written value stays unless it is empty.

    Unlike the general `restore`, it makes the objects on the way to a field, because whole branches of a Gemini request
    (toolConfig, generationConfig) may hold only extras.
    """
    if extra is None or wire.NAME not in extra:
        return out
    for name, value in extra[wire.NAME].items():
        if name.startswith(_PREFIX):
            if name == ABSENT:
                _take_out(out, value)
        elif "/" not in name:
            _put(out, _unescaped(name), value)
        else:
            _put_below(out, name.split("/"), value)
    return out


def _put_below(out: Any, steps: list[str], value: Raw) -> None:
    for step in steps[:-1]:
        step = _unescaped(step)
        if isinstance(out, dict):
            out = out.setdefault(_spelled(step, out), {})
        elif isinstance(out, list) and step.isdigit() and int(step) < len(out):
            out = out[int(step)]
        else:
            return
    if not isinstance(out, dict):
        return
    if steps[-1] == ABSENT:
        _take_out(out, value)
    else:
        _put(out, _unescaped(steps[-1]), value)


def _put(out: dict[str, Any], name: str, value: Raw) -> None:
    """Restore a field. An unknown value replaces the empty value that was written for it."""
    # A written empty value replaces a value that could not be read. The original value is more exact.
    if name not in out or (out[name] in _NOTHING and value != NULL):
        out[name] = value


_NOTHING: tuple[Any, ...] = ("", [], {}, None)


def _take_out(out: dict[str, Any], names: Raw) -> None:
    # The writer always writes fields such as `index` that a server may
    # leave out. Within this dialect the answer must stay as it came.
    for name in msgspec.json.decode(names, type=list[str]):
        out.pop(name, None)


def _spelled(step: str, out: dict[str, Any]) -> str:
    """The key to write for the source's key `step`: always camelCase."""
    if step in out or "_" not in step:
        return step
    head, *tail = step.split("_")
    camel = head + "".join([word.capitalize() for word in tail])
    return camel if camel in out else step


def _unescaped(step: str) -> str:
    # The order matters: `~01` is the name `~1`, not a slash (RFC 6901).
    return step.replace("~1", "/").replace("~0", "~")
