"""Joins the metadata of a candidate from several chunks of a stream.

Some chunks repeat earlier metadata and add to it, some have only new metadata, and some are empty. Each member of a
list counts once. The source indexes of a support refer to the joined list.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import Path
from ...codec import json_text
from ...context import Context
from .hosted_calls import FETCHED
from .original_values import peek

_CHUNKS, _SUPPORTS, _INDICES = "groundingChunks", "groundingSupports", "groundingChunkIndices"


def joined(pieces: list[Raw]) -> Raw:
    """One field of a candidate from several chunks, oldest first. There is at least one."""
    if len(pieces) == 1:
        return pieces[0]
    out: dict[str, Any] = {}
    known: dict[str, dict[bytes, int]] = {}
    for piece in pieces:
        value = peek(piece)
        if isinstance(value, dict):
            _add(out, value, known)
    return Raw(json_text.encode(out))


def _add(out: dict[str, Any], value: dict[str, Any], known: dict[str, dict[bytes, int]]) -> None:
    """Add the fields of one more chunk. `known`: the members of each list so far, and their positions."""
    sources = value.get(_CHUNKS)
    places = _members(out, _CHUNKS, sources, known) if isinstance(sources, list) else []
    for name, inner in value.items():
        # The positions of the sources are needed first: supports of the same chunk refer to them.
        if name == _CHUNKS and isinstance(sources, list):
            continue
        if isinstance(inner, list):
            members = [_renumbered(member, places) for member in inner] if name == _SUPPORTS else inner
            _members(out, name, members, known)
        else:
            out[name] = inner


def _members(out: dict[str, Any], name: str, members: list[Any], known: dict[str, dict[bytes, int]]) -> list[int]:
    """Add the members that a list does not hold yet. Returns the position of each."""
    merged = out.get(name)
    if not isinstance(merged, list):
        merged = out[name] = []
    found = known.setdefault(name, {})
    places: list[int] = []
    for member in members:
        key = json_text.encode(member)
        if key not in found:
            found[key] = len(merged)
            merged.append(member)
        places.append(found[key])
    return places


def _renumbered(support: Any, places: list[int]) -> Any:
    if not isinstance(support, dict) or not isinstance(support.get(_INDICES), list):
        return support
    # A number beyond the list is kept as it came: the client then sees the upstream's own mistake.
    numbers = [places[n] if type(n) is int and 0 <= n < len(places) else n for n in support[_INDICES]]
    return {**support, _INDICES: numbers}


# Both fields are lists, and each chunk has a piece of the list. The reader joins the pieces, so nothing is replaced.
_JOINED = frozenset({FETCHED, "logprobsResult"})


def report_replaced(earlier: dict[str, Raw], more: dict[str, Raw], at: Path, context: Context) -> None:
    """Report fields that a later chunk replaces by a value that lacks some of their names. A later rating or count
    that has the same names repeats the earlier one with newer figures, and is not a loss.
    """
    for name, value in more.items():
        before = earlier.get(name)
        if before is None or bytes(before) == bytes(value) or name in _JOINED:
            continue
        if _names(peek(before)) - _names(peek(value)):
            context.lose("field.dropped", (*at, name), "a later chunk replaces it", "info")


def _names(value: Any) -> set[str]:
    """All names inside a value."""
    if isinstance(value, dict):
        return set(value).union(*[_names(inner) for inner in value.values()])
    return set().union(*[_names(inner) for inner in value]) if isinstance(value, list) else set()
