"""Adds conversations that a Responses server holds to a request, with the caller's `resolver`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Part, Path, Reasoning, ToolCall, ToolResult
from ...canon.request import Request
from ...canon.tools import HostedTool, Tool
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.surrogates.documents import REPLACED, encode_escaped, without_surrogates
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from ...errors import WireError
from . import wire
from .tools import own_fields

Added = list[Tool | HostedTool]
ReadTurns = Callable[[list[wire.Item], list[Turn], Added, Context, Unknown], None]

_STORED_FIELDS = ("conversation", "previous_response_id")
_INSTRUCTIONS: Path = ("instructions",)


def put_earlier(
    request: wire.ResponsesRequest, turns: list[Turn], added: Added, context: Context, read: ReadTurns
) -> None:
    """Add the turns that a field names, if the resolver has them. The field is then removed.

    This also happens within the dialect, because a caller needs a resolver only for an upstream without these turns.
    """
    own = context.target == wire.NAME
    # The server refuses both fields together (openai 3.49.0, 2026-11), so at most one of them finds turns in practice.
    for name in _STORED_FIELDS:
        value: Raw = getattr(request, name)
        stored_id = json_text.plain(value) if value else None
        stored_id = stored_id.get("id") if isinstance(stored_id, dict) else stored_id
        found = context.resolver(stored_id) if context.resolver is not None and isinstance(stored_id, str) else None
        if found is None:
            continue
        setattr(request, name, wire.NONE)
        if isinstance(found, Request):
            found = [turn for turn in found.turns if turn.at != _INSTRUCTIONS]  # not carried over (openai 3.49.0)
        earlier = [turn for turn in found if isinstance(turn, Turn)]
        if len(earlier) < len(found):
            items = [item for item in found if not isinstance(item, Turn)]
            earlier = _read_apart(items, (name,), added, context, read)
        if own:
            context.adapted_to_host = True
            earlier = [_unheld(turn, (name,), context) for turn in earlier]
        else:
            earlier = [_moved(turn, (name,)) for turn in earlier]
        turns.extend(earlier)


def _read_apart(items: list[Any], at: Path, added: Added, context: Context, read: ReadTurns) -> list[Turn]:
    """Read the items of an earlier conversation. Their losses are reported at the field that names it."""
    # The stored items are not in the client's document, so their paths mean nothing to the client.
    apart = Context(context.source, context.target)
    document = b'{"input":[%b]}' % b",".join([encode_escaped(item) for item in items])
    try:
        earlier, unknown, _ = wire.REQUEST.admit(document)
    except WireError:
        repaired = without_surrogates(document)
        if repaired is None:
            raise
        context.lose(REPLACED, at)
        earlier, unknown, _ = wire.REQUEST.admit(repaired)
    turns: list[Turn] = []
    if isinstance(earlier.input, list):
        read(earlier.input, turns, added, apart, unknown)
    for loss in apart.losses.all():
        context.lose(loss.code, at, loss.detail)
    if context.target == wire.NAME:
        return turns  # they are kept
    for _, fields in apart.kept:
        for name in fields:
            context.lose("field.dropped", at, name, "info")
    return turns


def _unheld(turn: Turn, at: Path, context: Context) -> Turn:
    """The turn for an upstream of this dialect that never saw it. A reasoning item with only an id has no meaning
    there, and the call after it must not have an id that demands the reasoning item (400, reported by users, 2026).
    """
    parts: list[Part] = []
    alone = False
    for part in turn.parts:
        if isinstance(part, Reasoning):
            alone = part.seal is None and "content" not in own_fields(part.extra)
            if alone:
                context.lose("reasoning.dropped", at, "the upstream does not hold it, and it has no encrypted content")
                continue
        elif alone and isinstance(part, ToolCall) and part.extra is not None:
            left = {name: value for name, value in own_fields(part.extra).items() if name != "id"}
            part = msgspec.structs.replace(part, extra={**part.extra, wire.NAME: left})
        parts.append(msgspec.structs.replace(part, at=at + part.at[1:]))
    return msgspec.structs.replace(turn, at=at + turn.at[1:], parts=tuple(parts))


def _moved(turn: Turn, at: Path) -> Turn:
    """The turn, and all its parts, with the path `at`."""
    return msgspec.structs.replace(turn, at=at, parts=tuple([_moved_part(part, at) for part in turn.parts]))


def _moved_part(part: Part, at: Path) -> Part:
    if isinstance(part, ToolResult):
        return msgspec.structs.replace(part, at=at, parts=tuple([_moved_part(inner, at) for inner in part.parts]))
    return msgspec.structs.replace(part, at=at)
