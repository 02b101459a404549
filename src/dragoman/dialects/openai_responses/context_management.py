"""Owns `context_management`: the setting with which a client asks the server to compact a long history.

An entry of the type `compaction` has a counterpart in Messages and becomes `Settings.compact_at`. Source: OpenAI's
guide to compaction and its schema of 2026-08. The threshold may be absent, and is at least 1,000 tokens; the server
also compacts with `store: false`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...canon.request import Settings
from ...codec import json_text
from ...codec.compaction_setting import DIALECTS, UPSTREAM_DECIDES, tokens_for
from ...context import Context
from . import wire

FIELD = "context_management"
_COMPACTION = "compaction"
_THRESHOLD = "compact_threshold"
_LEAST = 1000


def read_context_management(request: wire.ResponsesRequest, settings: Settings, context: Context) -> Settings:
    """The settings for another dialect, with the entry that can be translated. The entry is removed from the
    request.
    """
    if not request.context_management or context.target == wire.NAME or context.target not in DIALECTS:
        return settings
    entries = json_text.plain(request.context_management)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return settings
    place = next((i for i, entry in enumerate(entries) if entry.get("type") == _COMPACTION), None)
    if place is None:
        return settings
    tokens = entries[place].get(_THRESHOLD)
    # A threshold that the schema does not allow stays a field of this dialect, and is reported as such.
    if tokens is not None and (type(tokens) is not int or tokens <= 0):
        return settings
    request.context_management = wire.NONE
    at = (FIELD, place)
    for i, entry in enumerate(entries):
        if i != place:
            context.lose("field.dropped", (FIELD, i), str(entry.get("type")))
    for name in entries[place].keys() - {"type", _THRESHOLD}:
        context.lose("field.dropped", (*at, name))
    places = {**settings.at, "compaction": at, "compact_at": at if tokens is None else (*at, _THRESHOLD)}
    return msgspec.structs.replace(settings, compact_at=tokens or UPSTREAM_DECIDES, at=places)


def write_context_management(settings: Settings, out: dict[str, Any], context: Context) -> None:
    """Ask for compaction, if a client of another dialect did."""
    tokens = tokens_for(settings, _LEAST, context)
    if tokens is None:
        return
    entry: dict[str, Any] = {"type": _COMPACTION}
    if tokens != UPSTREAM_DECIDES:
        entry[_THRESHOLD] = tokens
    out[FIELD] = [entry]
