"""Owns the facts of an exchange: its key paths, the type at each, and the values of its enumerations, by kind.

List places are collapsed to `[]` and names of the user to `*`. Equal facts exercise the same readers and writers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.corpus.frames import Frame, frames
from tests.corpus.key_meanings import MODELS, Region, inside, is_enum, is_name

Json = Any
Fact = tuple[str, ...]
"""Kind and path; the third member is a JSON type or an enumeration's value."""


def of_exchange(exchange: dict[str, Json]) -> set[Fact]:
    """The facts of one exchange in the form of ../shared/wire."""
    dialect = exchange["dialect"]
    out: set[Fact] = {("provider", str(exchange["provider"])), ("status", str(exchange["status"]))}
    if exchange["request"] is not None:
        out |= _of_value(dialect, "request", exchange["request"])
    if exchange["stream"] is not None:
        for frame in frames(exchange["stream"]):
            out |= of_frame(dialect, frame)
        return out | {("framing", str(exchange["framing"]), str("\r\n" in exchange["stream"]))}
    if isinstance(exchange["response"], list):
        for chunk in exchange["response"]:
            out |= _of_value(dialect, "stream", chunk)
        return out
    failed = exchange["status"] not in (None, 200) or "error" in exchange["features"]
    return out | _of_value(dialect, "error" if failed else "answer", exchange["response"])


def of_frame(dialect: str, frame: Frame) -> set[Fact]:
    """The facts of one frame of a stream."""
    if isinstance(frame.payload, str):
        return {("stream", "", frame.payload)}
    return _of_value(dialect, "stream", frame.payload) | {("stream", "event", frame.event)}


def _of_value(dialect: str, kind: str, value: Json) -> set[Fact]:
    return {(kind, *fact) for fact in _walk(dialect, value, Region.WIRE, "", "")}


def _walk(dialect: str, value: Json, region: Region, path: str, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        yield path, "object"
        for name, item in value.items():
            own = is_name(region, name)
            place = f"{path}/{'*' if own else name}"
            yield from _walk(dialect, item, inside(region, dialect, value, name), place, "" if own else name)
    elif isinstance(value, list):
        yield path, "array" if value else "empty array"
        for item in value:
            yield from _walk(dialect, item, region, path + "/[]", key)
    elif isinstance(value, str):
        yield path, "string" if value else "empty string"
        if region is not Region.FREE and key not in MODELS and is_enum(key, value):
            yield path, "=" + value
    else:
        yield path, "null" if value is None else "boolean" if isinstance(value, bool) else "number"
