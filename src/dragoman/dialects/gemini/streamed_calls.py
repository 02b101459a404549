"""Joins calls that Vertex streams in pieces: paths and values become the exact JSON text of the arguments."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from msgspec import Raw

from ...canon.parts import ToolCall
from ...codec import json_text
from ...errors import WireError
from . import wire

# At most six digits: a longer index is not a list of arguments, and `_MAX_GAP` would refuse it anyway.
_STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d{1,6})\]|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]""")
_ESCAPE = re.compile(r"\\(.)")
_MAX_GAP = 1000
"""How far a path may point beyond the end of its list. Without a limit one piece could demand any amount of memory."""


class Pieces:
    """One call whose arguments are still arriving."""

    __slots__ = ("call", "root")

    def __init__(self, call: ToolCall) -> None:
        self.call = call
        self.root: Any = {}

    def take(self, piece: wire.PartialArg) -> None:
        """Put one value at its path. Strings of one path are joined while `willContinue` (google-genai 3.1.0,
        2026-11).
        """
        steps = _steps(piece.jsonPath)
        if not steps:
            raise WireError(wire.NAME, "", "a jsonPath such as $.a.b[0]", piece.jsonPath)
        holder: Any = self.root
        for step, following in pairwise(steps):
            child = _get(holder, step)
            # A later path may use a place in another way than an earlier
            # one. The later one wins, as in a document that repeats a key.
            if not isinstance(child, list if isinstance(following, int) else dict) or isinstance(child, _Words):
                child = [] if isinstance(following, int) else {}
                _set(holder, step, child)
            holder = child
        last = steps[-1]
        # stringValue pieces of one path are joined while willContinue is set (google-genai 3.1.0, 2026-11).
        if piece.stringValue is None:
            _set(holder, last, _other_value(piece))
            return
        before = _get(holder, last)
        if isinstance(before, _Words):
            before.append(piece.stringValue)
        else:
            _set(holder, last, _Words([piece.stringValue]))

    def arguments(self) -> str:
        """The arguments as JSON text."""
        return json_text.encode(_whole(self.root)).decode()


class _Words(list[str]):
    """A string that arrives in pieces."""


def _whole(value: Any) -> Any:
    if isinstance(value, _Words):
        return "".join(value)
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    # Pieces of a string are joined at the end: joining at each piece would copy the string each time.
    return [_whole(item) for item in value] if isinstance(value, list) else value


def _other_value(piece: wire.PartialArg) -> Any:
    # A number of 0 is false here; it is Raw, so that its digits stay exact, and Raw(b"0") is true.
    if piece.numberValue:
        return piece.numberValue
    # nullValue is typed as "NULL_VALUE", but may arrive as JSON null (reported by users, 2026).
    return piece.boolValue if piece.boolValue is not None else Raw(b"null")


def _steps(path: str) -> list[str | int]:
    """The steps of `$.a.b[0]['c d']`; empty for another path."""
    # A jsonPath starts with `$` (lint rule GEM-S02).
    if not path.startswith("$"):
        return []
    steps: list[str | int] = []
    place = 1
    while place < len(path):
        found = _STEP.match(path, place)
        if found is None:
            return []
        name, number, single, double = found.groups()
        if number is not None:
            steps.append(int(number))
        elif name is not None:
            steps.append(name)
        else:
            steps.append(_ESCAPE.sub(r"\1", single if single is not None else double))
        place = found.end()
    return steps


def _get(holder: Any, step: str | int) -> Any:
    if isinstance(holder, list):
        return holder[step] if isinstance(step, int) and step < len(holder) else None
    return holder.get(step)


def _set(holder: Any, step: str | int, value: Any) -> None:
    if not isinstance(holder, list):
        holder[str(step)] = value
        return
    assert isinstance(step, int)
    if step > len(holder) + _MAX_GAP:
        raise WireError(wire.NAME, "", "list elements in order", f"[{step}]")
    # Elements may come in any order; a place that is skipped is null until its value comes.
    holder.extend([Raw(b"null")] * (step + 1 - len(holder)))
    holder[step] = value
