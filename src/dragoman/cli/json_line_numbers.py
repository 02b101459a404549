"""Finds the line of a value in a JSON text, for annotations."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ..canon.parts import Path, pointer

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+|\n')


def lines_of(body: bytes, pointers: set[str]) -> dict[str, int]:
    """The line (from 1) of each value that a JSON pointer names; for an absent value the line of its nearest parent.

    The text was decoded before, so it is JSON. Any other text gives line 1.
    """
    wanted = {pointer_[:end] for pointer_ in pointers for end in _ends(pointer_)}
    found = {"": 1}
    text = body.decode("utf-8", "replace")
    line = 1
    path: list[Any] = []  # one step for each open object (its key) or array (its index)
    fresh = True  # a value comes next
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "\n":
            line += 1
        elif token in "]}":
            if path:
                path.pop()
            fresh = False
        elif token == ",":
            if path and isinstance(path[-1], int):
                path[-1] += 1
                fresh = True
            else:
                fresh = False  # a key comes next
        elif token == ":":
            fresh = True
        elif not fresh and token[0] == '"':
            if path:
                path[-1] = _text(token)
                _note(found, wanted, path, line)
        else:
            _note(found, wanted, path, line)
            if token in "[{":
                path.append(0 if token == "[" else None)
            fresh = token == "["
    return {one: next(found[one[:end]] for end in reversed(_ends(one)) if one[:end] in found) for one in pointers}


def _ends(pointer_: str) -> list[int]:
    """The ends of all prefixes of a pointer, the whole pointer last."""
    return [0, *[match.start() for match in re.finditer("/", pointer_)][1:], len(pointer_)]


def _note(found: dict[str, int], wanted: set[str], path: list[Any], line: int) -> None:
    where: Path = tuple(path)
    if None not in where:
        spelled = pointer(where)
        if spelled in wanted:
            found.setdefault(spelled, line)


def _text(token: str) -> str:
    try:
        decoded = msgspec.json.decode(token)
    except (msgspec.DecodeError, UnicodeError):
        return token
    return decoded if isinstance(decoded, str) else token
