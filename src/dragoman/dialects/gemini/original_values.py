"""Marks: what is remembered of a Gemini document so that the same value goes back, and says nothing to anyone else.

A mark is an extra under a name that no wire has ("dragoman. ..."). Extras made here are not kept in the Context, so
they are never counted as losses: nothing that a reader of another dialect would miss stands in them.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Extra
from ...codec import json_text
from . import wire

ID = "dragoman.id"
"""The id as it stood there (null: none) where another one pairs call and result."""
KEY = "dragoman.key"
"""The key of `response` under which a result's value stood; "" for the whole object."""
URLSAFE = "dragoman.urlsafe"
"""The media's bytes were spelled in the URL-safe alphabet."""

ABSENT = "dragoman.absent"
"""Fields that were absent and that the writer would write: zeros and empty objects, mostly."""

NULL = Raw(b"null")
TRUE = Raw(b"true")
FALSE = Raw(b"false")

_PREFIX = "dragoman."


def peek(value: Raw) -> Any:
    """A carried value, decoded for a look inside; None when it is nested too deeply for that."""
    try:
        return json_text.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return None


def with_field(extra: Extra | None, name: str, value: Raw) -> Extra:
    """`extra` and one field more of this dialect."""
    if extra is None:
        return {wire.NAME: {name: value}}
    return {**extra, wire.NAME: {**extra.get(wire.NAME, {}), name: value}}


def own(extra: Extra | None, name: str) -> Raw | None:
    """This dialect's field or mark in `extra`."""
    return extra[wire.NAME].get(name) if extra is not None and wire.NAME in extra else None


def put_back(out: dict[str, Any], extra: Extra | None) -> dict[str, Any]:
    """Put this dialect's extra fields back into the object it writes; what is written already stays, unless empty.

    Unlike the general `restore` it makes the objects on a field's way, since whole branches of a Gemini request
    (toolConfig, generationConfig) may hold nothing but extras.
    """
    if extra is None or wire.NAME not in extra:
        return out
    for name, value in extra[wire.NAME].items():
        if name.startswith(_PREFIX):
            if name == ABSENT:
                _take_out(out, value)
        elif "/" not in name:
            _put(out, _plain(name), value)
        else:
            _put_below(out, name.split("/"), value)
    return out


def _put_below(out: Any, steps: list[str], value: Raw) -> None:
    for step in steps[:-1]:
        step = _plain(step)
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
        _put(out, _plain(steps[-1]), value)


def _put(out: dict[str, Any], name: str, value: Raw) -> None:
    """Put a field back. What was not understood stands in place of the nothing that was made of it."""
    if name not in out or (out[name] in _NOTHING and value != NULL):
        out[name] = value


_NOTHING: tuple[Any, ...] = ("", [], {}, None)


def _take_out(out: dict[str, Any], names: Raw) -> None:
    for name in msgspec.json.decode(names, type=list[str]):
        out.pop(name, None)


def _spelled(step: str, out: dict[str, Any]) -> str:
    """The key under which we write what the source spelled `step`: always camelCase."""
    if step in out or "_" not in step:
        return step
    head, *tail = step.split("_")
    camel = head + "".join([word.capitalize() for word in tail])
    return camel if camel in out else step


def _plain(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")
