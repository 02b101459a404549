"""Replaces output formats and system text by plain text, for models that take neither.

The profile of a model states which of them it takes (`Profile.formats`, `Profile.json_mode`, `Profile.system`).
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from ..canon.parts import Text
from ..canon.request import Format, Request
from ..canon.turns import SYSTEM_ROLES, Turn
from ..context import Context
from ..facts.profile import Profile
from . import json_text

_NO_SCHEMA = "the model takes no JSON schema for its answer"
_NO_VALUES = "the schema of an answer must be that of an object"
_NO_JSON = "the model has no JSON mode"


def with_taken_format(request: Request, profile: Profile, context: Context, *, objects: bool = False) -> Request:
    """The request with an output format that the model takes. A refused format becomes a system turn before all others.
    `objects`: the target's formats describe objects only.
    """
    shape = request.settings.format
    if shape is None:
        return request
    # `json_mode` of the hosts yields an object; a list or a text can only be asked for in words.
    kind = "object" if _holds_objects(shape) else "value"
    refused = objects and kind == "value"
    if not refused and (profile.formats if shape.kind == "schema" else profile.json_mode):
        return request
    at = request.settings.at.get("format", ())
    why = _NO_JSON if shape.kind != "schema" else _NO_SCHEMA if not profile.formats else _NO_VALUES
    context.lose("format.as_text", at, why)
    words = f"Answer with one valid JSON {kind} and nothing else."
    if shape.schema is not None:
        words += f" It must fit this JSON Schema:\n{shape.schema}"
    # JSON mode yields objects only.
    left = Format("json") if profile.json_mode and kind == "object" else None
    settings = msgspec.structs.replace(request.settings, format=left)
    # First, so that the model reads it before the conversation, and a cached beginning stays the same.
    turns = (Turn("system", (Text(words),), at=at), *request.turns)
    return msgspec.structs.replace(request, turns=turns, settings=settings)


def _holds_objects(shape: Format) -> bool:
    if shape.schema is None:
        return True
    root = json_text.plain(Raw(shape.schema.encode()))
    # A schema without a type accepts objects; nearly all such schemas describe one.
    return isinstance(root, dict) and root.get("type", "object") == "object"


def with_system_as_user(request: Request, context: Context) -> Request:
    """The request with every system turn as a user turn."""
    turns = []
    for turn in request.turns:
        if turn.role in SYSTEM_ROLES:
            context.lose("system.demoted", turn.at, "the model has no place for system text")
            turn = msgspec.structs.replace(turn, role="user")
        turns.append(turn)
    return msgspec.structs.replace(request, turns=tuple(turns))
