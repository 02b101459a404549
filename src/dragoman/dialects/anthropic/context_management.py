"""Owns `context_management.edits`: the parts that the upstream may remove from a long history.

A `compact_20260112` edit has a counterpart in Responses and becomes `Settings.compact_at`. Edits that clear tool uses
or thoughts have none anywhere, and are reported one by one. Source: Anthropic's page on compaction at a token threshold
(2026-11). The beta is `compact-2026-01-12`, the smallest trigger is 50,000 input tokens, the default 150,000.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.request import Settings
from ...codec import json_text
from ...codec.compaction_setting import DIALECTS, UPSTREAM_DECIDES, tokens_for
from ...context import Context
from . import wire
from .beta_header import ask_for
from .compaction import BETA

FIELD = "context_management"
_COMPACT = "compact_20260112"
_DEFAULT = 150_000
_LEAST = 50_000
_QUIET = frozenset({"type", "trigger"})


def read_edits(extras: dict[str, Raw], settings: Settings, context: Context) -> Settings:
    """The settings for another dialect, with the edits that can be translated. Translated and reported edits are
    removed from `extras`.
    """
    if context.target == wire.NAME or FIELD not in extras:
        return settings
    edits = _edits(extras[FIELD])
    if edits is None:
        return settings
    if all(map(_clears_nothing, edits)):
        del extras[FIELD]
        return settings
    place = next((i for i, edit in enumerate(edits) if edit.get("type") == _COMPACT), None)
    tokens = _trigger(edits[place]) if place is not None else None
    if place is None or tokens is None or context.target not in DIALECTS:
        return settings
    del extras[FIELD]
    at = (FIELD, "edits", place)
    for i, edit in enumerate(edits):
        if i != place and not _clears_nothing(edit):
            context.lose("field.dropped", (FIELD, "edits", i), str(edit.get("type")))
    for name, value in edits[place].items():
        if name not in _QUIET and value not in (None, False):
            context.lose("field.dropped", (*at, name))
    number = (*at, "trigger", "value") if edits[place].get("trigger") else at
    places = {**settings.at, "compaction": at, "compact_at": number}
    return msgspec.structs.replace(settings, compact_at=tokens, at=places)


def _edits(management: Raw) -> list[dict[str, Any]] | None:
    """The edits; None for a value of another form."""
    value = json_text.plain(management)
    edits = value.get("edits") if isinstance(value, dict) and len(value) == 1 else None
    return edits if isinstance(edits, list) and all(isinstance(edit, dict) for edit in edits) else None


def _clears_nothing(edit: dict[str, Any]) -> bool:
    """Whether an edit keeps all thoughts, which is the behaviour of other dialects anyway."""
    keep = edit.get("keep")
    everything = keep == "all" or (isinstance(keep, dict) and keep.get("type") == "all")
    return str(edit.get("type")).startswith("clear_thinking_") and everything


def _trigger(edit: dict[str, Any]) -> int | None:
    """The number of tokens that triggers an edit; None for another kind of trigger."""
    trigger = edit.get("trigger")
    # An absent trigger means 150,000 input tokens (Anthropic's page on compaction, 2026-11).
    if trigger is None:
        return _DEFAULT
    value = trigger.get("value") if isinstance(trigger, dict) and trigger.get("type") == "input_tokens" else None
    return value if type(value) is int and value > 0 else None


def write_edits(settings: Settings, out: dict[str, Any], context: Context) -> None:
    """Ask for compaction, if a client of another dialect did."""
    tokens = tokens_for(settings, _LEAST, context)
    if tokens is None:
        return
    edit: dict[str, Any] = {"type": _COMPACT}
    if tokens != UPSTREAM_DECIDES:
        edit["trigger"] = {"type": "input_tokens", "value": tokens}
    out[FIELD] = {"edits": [edit]}
    ask_for(BETA, context)
