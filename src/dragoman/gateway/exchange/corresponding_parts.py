"""Finds the places of two requests, or of two answers, that hold the same words, call, result, tool or setting.

Both documents are read into canon, and every part has its place (`at`). Parts are joined in order, by kind and content.
A part without a counterpart is not joined. The losses state why the counterpart is missing.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

import msgspec

from ...canon.parts import Media, Part, Path, Reasoning, Text, ToolCall, ToolResult, pointer
from ...canon.request import Request
from ...canon.response import Response
from ...canon.tools import Tool
from ...context import Context
from ...dialects import get, is_known
from ...errors import DragomanError

MOST = 2000
"""Joined places of one pair of documents. The page shows no more."""


class FoundPart(NamedTuple):
    """A part that can be joined: a key of its kind and content, its place, and its id."""

    key: tuple[Any, ...]
    path_or_frames: str | list[list[int]]
    """A JSON pointer; in a stream, the frames."""
    id: str


class CanonDocument(NamedTuple):
    """A document in canon, and the path of the document inside the envelope of its dialect, if there is one."""

    document: Request | Response
    within: Path


def read_document(dialect: str, body: bytes, kind: Literal["request", "response"] = "request") -> CanonDocument | None:
    """A document in canon; None when it cannot be read."""
    if not is_known(dialect):
        return None
    context = Context(dialect, dialect)
    try:
        document: Request | Response
        if kind == "request":
            document = get(dialect).read_request(body, context)
        else:
            document = get(dialect).read_response(body, context)
    except (DragomanError, RecursionError):
        return None
    return CanonDocument(document, context.within)


def join_documents(one: CanonDocument | None, other: CanonDocument | None) -> list[dict[str, Any]]:
    """The places that belong together. Each has `from` and `to` (JSON pointers), `what` (the kind), and `ids` (both ids
    of a call, if they differ)."""
    if one is None or other is None:
        return []
    sides = [
        [FoundPart(key, pointer(side.within + path), name) for key, path, name in joinable_parts(side.document)]
        for side in (one, other)
    ]
    return join_parts(*sides)


def join_parts(one: Iterable[FoundPart], other: Iterable[FoundPart]) -> list[dict[str, Any]]:
    """Joins places that were already found, and returns rows like `join_documents`."""
    waiting: dict[Any, deque[FoundPart]] = defaultdict(deque)
    for there in other:
        waiting[there.key].append(there)
    rows = []
    for here in one:
        if waiting.get(here.key):
            there = waiting[here.key].popleft()
            row: dict[str, Any] = {"from": here.path_or_frames, "to": there.path_or_frames, "what": here.key[0]}
            if here.id != there.id:
                row["ids"] = [here.id, there.id]
            rows.append(row)
            if len(rows) >= MOST:
                break
    return rows


def joinable_parts(document: Request | Response) -> Iterator[tuple[tuple[Any, ...], Path, str]]:
    """Every part that can be joined: a key of its kind and content, its place, and its id."""
    if isinstance(document, Response):
        yield from _of_parts(document.parts)
        return
    for turn in document.turns:
        yield from _of_parts(turn.parts)
    for tool in document.tools:
        if isinstance(tool, Tool) and tool.at:
            yield ("tool", tool.name), tool.at, ""
    for name, path in document.settings.at.items():
        value = getattr(document.settings, name, None)
        if value not in (None, ()) and path:
            yield ("setting", name), path, ""


def _of_parts(parts: Iterable[Part]) -> Iterator[tuple[tuple[Any, ...], Path, str]]:
    for part in parts:
        if not part.at:
            continue
        if isinstance(part, Text):
            yield ("text", part.text), part.at, ""
        elif isinstance(part, Reasoning):
            yield ("thought", part.text), part.at, ""
        elif isinstance(part, ToolCall):
            yield ("call", part.name, plain_arguments(part.arguments)), part.at, part.id
        elif isinstance(part, ToolResult):
            yield ("result", _words(part.parts)), part.at, part.call_id
        elif isinstance(part, Media):
            yield ("media", part.data or part.url or part.file), part.at, ""


def _words(parts: Iterable[Part]) -> str:
    return "".join([part.text for part in parts if isinstance(part, Text)])


def plain_arguments(arguments: str) -> str:
    """Arguments in one spelling: dialects that hold arguments as objects lose the spaces between them."""
    try:
        return msgspec.json.encode(msgspec.json.decode(arguments or "{}"), order="sorted").decode()
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return arguments
