"""Recorded documents that grow in one place: every list in a recorded request or answer, and every kind of frame in a
recorded stream, each repeated many times.

`doubling_shapes.py` has handwritten shapes. The shapes of this file come from the recordings.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tests.recorded.recorded_bodies import Case, cases

_FREE = frozenset({"parameters", "parametersJsonSchema", "input_schema", "schema", "responseSchema", "properties"})
"""Fields that hold a schema. `doubling_shapes.py` has the lists of schemas."""
_GIVEN = frozenset({"input", "args", "arguments", "response"})
"""Fields of a call or a result that hold any JSON."""
_NAMES = frozenset({"id", "call_id", "tool_call_id", "tool_use_id", "item_id", "name", "text"})
"""Fields that differ from one element to the next."""
Path = tuple[str | int, ...]


class Growing(NamedTuple):
    """A document and the place where it grows."""

    name: str
    make: Callable[[int], Any]


def requests(dialect: str) -> Iterator[Growing]:
    yield from _documents(dialect, cases(dialect, "request"))


def answers(dialect: str) -> Iterator[Growing]:
    yield from _documents(dialect, cases(dialect, "response"))


def streams(dialect: str) -> Iterator[Growing]:
    """For each kind of frame, the shortest stream that has one."""
    found: dict[str, tuple[list[bytes], int]] = {}
    for case in sorted(cases(dialect, "stream"), key=lambda case: len(case.body)):
        frames = _frames(case.body)
        for place, frame in enumerate(frames):
            found.setdefault(_kind(frame), (frames, place))
    for kind, (frames, place) in sorted(found.items()):
        if kind:
            yield Growing(f"frames of {kind}", _repeated(frames, place))


def _documents(dialect: str, recorded: tuple[Case, ...]) -> Iterator[Growing]:
    """For each list, the shortest document that has one."""
    found: dict[str, tuple[Any, Path]] = {}
    for case in sorted(recorded, key=lambda case: len(case.body)):
        document = json.loads(case.body)
        for path in _lists(document, ()):
            found.setdefault("/".join(["*" if isinstance(step, int) else step for step in path]), (document, path))
    for pattern, (document, path) in sorted(found.items()):
        yield Growing(pattern, _grown(document, path))


def _lists(value: Any, path: Path) -> Iterator[Path]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in _FREE and not (name in _GIVEN and len(path) > 1):
                yield from _lists(inner, (*path, name))
    elif isinstance(value, list):
        if value:
            yield path
        for place, inner in enumerate(value):
            yield from _lists(inner, (*path, place))


def _grown(document: Any, path: Path) -> Callable[[int], bytes]:
    def make(n: int) -> bytes:
        return json.dumps(_with_list(document, path, n)).encode()

    return make


def _with_list(value: Any, path: Path, n: int) -> Any:
    """The value with n elements in the list at a path."""
    if not path:
        return [_numbered(value[i % len(value)], i) if i >= len(value) else value[i] for i in range(n)]
    copy = value.copy()
    copy[path[0]] = _with_list(value[path[0]], path[1:], n)
    return copy


def _numbered(value: Any, number: int) -> Any:
    """An element with unique names."""
    if isinstance(value, list):
        return [_numbered(inner, number) for inner in value]
    if not isinstance(value, dict):
        return value
    return {
        name: f"{inner}_{number}" if name in _NAMES and isinstance(inner, str) else _numbered(inner, number)
        for name, inner in value.items()
    }


def _frames(stream: bytes) -> list[bytes]:
    end = b"\n\n" if b"\n\n" in stream else b"\r\n\r\n" if b"\r\n\r\n" in stream else b"\n"
    return [frame + end for frame in stream.split(end) if frame.strip()]


def _kind(frame: bytes) -> str:
    """The names of the fields in a frame; "" for a frame that is no JSON object."""
    data = frame.partition(b"data:")[2] or frame
    try:
        document = json.loads(data)
    except ValueError:
        return ""
    if not isinstance(document, dict):
        return ""
    word = document.get("type")
    item = document.get("item") or document.get("delta") or document.get("content_block") or document.get("part")
    inner = item.get("type", "") if isinstance(item, dict) else ""
    return f"{word} {inner}" if word else " ".join(sorted(_fields(document, "")))


def _fields(value: Any, path: str) -> set[str]:
    if isinstance(value, list):
        return {name for inner in value for name in _fields(inner, path)}
    if not isinstance(value, dict):
        return set()
    return {f"{path}{name}" for name, inner in value.items() if inner is not None} | {
        each for name, inner in value.items() if name not in _GIVEN for each in _fields(inner, f"{path}{name}.")
    }


def _repeated(frames: list[bytes], place: int) -> Callable[[int], list[bytes]]:
    return lambda n: [*frames[:place], *[frames[place]] * n, *frames[place:]]
