"""Limits how much of a schema may be written more than once: inlined references, and siblings copied into every branch
of a union.

Without a limit, a schema of 2 KB whose definitions name each other becomes half a megabyte, and a long enum that is
named a thousand times is written a thousand times. The limit grows with the size of the schema, so the cost of a
request grows with its size.
"""

from __future__ import annotations

from typing import Any, Final

from .json_with_exact_numbers import ExactNumber
from .keywords import CONTAINERS, LISTS, MAPS, REFS, SCHEMAS

SMALL: Final = 200
"""A value of at most this many bytes is copied even after the limit."""
NODE: Final = 16
"""The size of a copied schema besides its keywords."""
UNFOLDING: Final = (100, 5, 3, 2, 1)
"""How many references may be followed one inside the other. The largest number is used whose copies stay within the
limit.
"""

# 1 KB: small schemas may be copied freely, whatever their structure.
_FLOOR: Final = 1024
# A small schema may be written about four times over.
_FACTOR: Final = 4
# Above 32 KB the cost matters more than the shape.
_LARGE: Final = 32 * 1024

INNER: Final = frozenset({*SCHEMAS, *LISTS, *MAPS, *REFS, *CONTAINERS, "ref", "dependencies"})
"""Keywords that hold schemas, or name one."""


def allowance(size: int) -> int:
    """The number of bytes of copies that a schema of this size may have: several times the size for small schemas, once
    the size for large ones.
    """
    return _FLOOR + _FACTOR * min(size, _LARGE) + size


class TooManyCopies(Exception):
    """The copies of a schema exceed its limit."""


class Copies:
    """Counts the bytes that are written more than once."""

    __slots__ = ("_allowed", "_bytes", "_final", "_weights")

    def __init__(self, allowed: int, *, final: bool) -> None:
        """`final`: copies beyond the limit are left out. Else they raise TooManyCopies."""
        self._bytes = 0
        self._allowed = allowed
        self._final = final
        self._weights: dict[int, int] = {}

    @property
    def too_many(self) -> bool:
        """Whether the limit is exceeded."""
        return self._bytes > self._allowed

    def add(self, schema: Any, *, lasting: bool) -> None:
        """Count a schema without the schemas inside it. `lasting`: the schema object is part of the document, so its id
        stays valid.
        """
        # The id of a temporary object may be reused after it is gone.
        size = self._weights.get(id(schema)) if lasting else None
        if not isinstance(schema, dict):
            size = NODE
        elif size is None:
            size = NODE + sum([len(name) + _weight(name, value) for name, value in schema.items()])
            if lasting:
                self._weights[id(schema)] = size
        self._bytes += size
        if self._bytes > self._allowed and not self._final:
            raise TooManyCopies


def is_long(value: Any) -> bool:
    """Whether a value is longer than `SMALL`. The value is examined only up to that size."""
    size, left = 0, [value]
    while left and size <= SMALL:
        one = left.pop()
        if isinstance(one, list | dict):
            # Two bytes for the brackets, four for the separators and quotes of each member.
            size += 2 + 4 * len(one)
            if size <= SMALL:
                left.extend([*one, *one.values()] if isinstance(one, dict) else one)
        else:
            size += _size(one)
    return size > SMALL


def _weight(name: str, value: Any) -> int:
    """The approximate size of a value, without the schemas in it."""
    if name not in INNER:
        return _size(value)
    return sum(map(len, value)) if isinstance(value, dict) else 0


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value) + 3
    if isinstance(value, list):
        return 2 + sum(map(_size, value))
    if isinstance(value, dict):
        return 2 + sum([len(name) + 4 + _size(item) for name, item in value.items()])
    return len(value.text) + 1 if isinstance(value, ExactNumber) else 6
