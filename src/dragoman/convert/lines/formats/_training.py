"""Owns the shared code of the formats of fine-tuning sets: a line is a conversation in a dialect, without settings and
model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from ....canon.parts import Media, Part, Reasoning, Text, ToolCall, ToolResult
from ....canon.request import Request, Settings
from ....canon.turns import SYSTEM_ROLES, Turn
from ....codec import json_text
from ....context import Context
from ....dialect import Dialect
from ....dialects import get
from ..file_format_record import Column, Columns, FileFormat, LineRecord

_NONE = Settings()
_PLACEHOLDER = "-"
_OWN = frozenset(
    {"model", "max_tokens", "max_completion_tokens", "stream", "store", "generationConfig", "parallel_tool_calls"}
)
"""Fields that a writer adds by itself. Leaving them out is not a loss."""


def training_format(
    name: str,
    title: str,
    source: str,
    date: str,
    dialect: Dialect,
    evidence: Callable[[Mapping[str, Any]], str],
    columns: Columns,
) -> FileFormat:
    """The format of a fine-tuning set: each line is one document of `dialect`, without an envelope."""
    return FileFormat(
        name,
        title,
        source,
        date,
        dialect,
        read=lambda line: LineRecord("request", line, dialect),
        write=lambda record: record.body,
        evidence=evidence,
        kinds=frozenset({"request"}),
        has_model=False,
        trains=True,
        columns=columns,
    )


def chat_columns(arguments: str, more: Columns, **members: Column) -> Columns:
    """The columns of messages in the form of Chat. `arguments`: the type of a call's arguments. `more`: members of a
    message that only this format has.
    """
    function: Columns = {"name": "text", "arguments": arguments}
    message: Columns = {
        "role": "text",
        "content": "text",
        "tool_calls": [{"id": "text", "type": "text", "function": function}],
        "tool_call_id": "text",
        "name": "text",
        **more,
    }
    return {"messages": [message], "tools": "json", **members}


def without_settings(request: Request, context: Context, parallel: bool = False) -> Request:
    """The request without model, settings and tool choice, which a conversation for training does not have. Each
    setting becomes a loss. `parallel`: the format has a field for parallel calls.
    """
    settings = request.settings
    for name in Settings.__struct_fields__:
        value = getattr(settings, name)
        if name != "at" and value != getattr(_NONE, name) and not (name == "parallel" and parallel):
            context.lose("field.dropped", settings.at.get(name, ()), f"the format has no {name}", severity="info")
    if request.choice is not None:
        context.lose("choice.dropped", request.choice.at, severity="info")
    # The model and the limit are placeholders: some writers would report that they had to invent them.
    kept = Settings(max_tokens=1, parallel=settings.parallel if parallel else None)
    return msgspec.structs.replace(request, model=_PLACEHOLDER, settings=kept, choice=None, stream=None)


def keep_allowed(body: bytes, allowed: frozenset[str], context: Context) -> dict[str, Raw]:
    """The members of a written request that the format has. Every other member is a loss."""
    found = json_text.fields(body)
    for name in found:
        if name not in allowed and name not in _OWN:
            context.lose("field.dropped", (name,), "the format has no such field", severity="info")
    return {name: value for name, value in found.items() if name in allowed}


def training_dialect(
    name: str, form: str, allowed: frozenset[str], change: Callable[[Request, Context], Request] | None = None
) -> Dialect:
    """The dialect of a fine-tuning set called `form`: the dialect called `name`, whose writer keeps only the `allowed`
    members. `change` prepares the request.
    """
    base = get(name)

    def write(request: Request, context: Context) -> bytes:
        request = without_settings(request, context, "parallel_tool_calls" in allowed)
        if change is not None:
            request = change(request, context)
        return json_text.encode(keep_allowed(base.write_request(request, context), allowed, context))

    # `fast=None`: the fast paths of the dialect would not use this writer.
    return msgspec.structs.replace(
        base, name=form, related=(name, *base.related), origin=base.origin or name, write_request=write, fast=None
    )


def texts_only(request: Request, context: Context) -> Request:
    """The request with one text in each turn, and without tools. Everything else becomes a loss."""
    for tool in request.tools:
        context.lose("field.dropped", tool.at, "the format holds no tools", severity="error")
    turns: list[Turn] = []
    for turn in request.turns:
        texts = [text for part in turn.parts if (text := part_text(part, context)) is not None]
        role = "user" if turn.role == "tool" else turn.role
        if not texts:
            context.lose("turn.dropped", turn.at)
            continue
        joined = "\n\n".join(texts)
        # User and assistant must take turns in such a file.
        if turns and turns[-1].role == role and role not in SYSTEM_ROLES:
            before = turns.pop().parts[0]
            assert isinstance(before, Text)
            joined = f"{before.text}\n\n{joined}"
        turns.append(Turn(role, (Text(text=joined),), at=turn.at))
    return msgspec.structs.replace(request, turns=tuple(turns), tools=())


def part_text(part: Part, context: Context) -> str | None:
    """The text of a part, for a format that holds texts only. Any other part becomes a loss."""
    if isinstance(part, Text):
        if part.citations:
            context.lose("citation.dropped", part.at)
        return part.text
    if isinstance(part, Reasoning):
        if part.text:
            context.lose("reasoning.dropped", part.at)
    elif isinstance(part, Media):
        context.lose("media.dropped", part.at)
    elif isinstance(part, ToolCall | ToolResult):
        context.lose("part.dropped", part.at, "the format holds no calls and no results", severity="error")
    else:
        context.lose("part.dropped", part.at, severity="error")
    return None
