"""ShareGPT conversations, as LLaMA-Factory describes them.

A line has `conversations` (entries with `from` and `value`), and may have `system` and `tools` (JSON text). The sides
take turns: `human` or `observation`, then `gpt` or `function_call`. The value of a `function_call` is the JSON text of
one call, or of a list of calls. There are no ids, no error flags, no thoughts and no media here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from ....canon.parts import Part, Text, ToolCall, ToolResult
from ....canon.request import Request
from ....canon.tools import Tool
from ....canon.turns import SYSTEM_ROLES, Turn
from ....codec import json_text
from ....context import Context
from ....dialects import get
from ....errors import WireError
from ..file_format_record import conversation_dialect, members, text_of
from ._training import part_text, training_format, without_settings

NAME = "sharegpt"
ROLES = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "chatgpt": "assistant",
    "model": "assistant",
    "system": "system",
    "function_call": "call",
    "observation": "tool",
    "tool": "tool",
}
"""The words of `from`. LLaMA-Factory has human, gpt, system, function_call and observation; the others are common."""
_NULL = Raw(b"null")


class _Entry(msgspec.Struct, rename={"who": "from"}):
    who: str
    value: str


_entries = msgspec.json.Decoder(list[_Entry]).decode


def read_request(body: bytes, context: Context) -> Request:
    """Read a conversation, by way of a Chat request: each entry is one message."""
    found = members(body, NAME)
    try:
        entries = _entries(found.pop("conversations", Raw(b"null")))
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise WireError(NAME, "/conversations", "a list of entries with from and value", str(error)) from None
    messages: list[dict[str, Any]] = []
    system = text_of(found, "system", NAME)
    found.pop("system", None)
    if system:
        context.moved["messages", 0] = ("system",)
        messages.append({"role": "system", "content": system})
    for number, entry in enumerate(entries):
        context.moved["messages", len(messages)] = ("conversations", number)
        messages.append(_message(entry, number))
    document: dict[str, Any] = {**found, "messages": messages}
    tools = found.get("tools", _NULL)
    document.pop("tools", None)
    declared = _tools(tools)
    if declared:
        document["tools"] = declared
    return get("openai-chat").read_request(json_text.encode(document), context)


def _message(entry: _Entry, number: int) -> dict[str, Any]:
    role = ROLES.get(entry.who)
    if role is None:
        raise WireError(NAME, f"/conversations/{number}/from", " or ".join(ROLES), repr(entry.who[:40]))
    if role != "call":
        return {"role": role, "content": entry.value}
    text = entry.value.strip()
    try:
        calls = msgspec.json.decode(text, type=list[dict[str, Raw]]) if text[:1] == "[" else [json_text.fields(text)]
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise WireError(NAME, f"/conversations/{number}/value", "the JSON text of a call", str(error)) from None
    return {"role": "assistant", "tool_calls": [{"type": "function", "function": call} for call in calls]}


def _tools(tools: Raw) -> list[Any]:
    if tools == _NULL:
        return []
    text = text_of({"tools": tools}, "tools", NAME) if bytes(tools)[:1] == b'"' else bytes(tools).decode()
    if not (text or "").strip():
        return []
    try:
        listed = msgspec.json.decode(text or "", type=list[dict[str, Raw]])
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise WireError(NAME, "/tools", "the JSON text of a list of tools", str(error)) from None
    return [one if "function" in one else {"type": "function", "function": one} for one in listed]


def write_request(request: Request, context: Context) -> bytes:
    """Write a conversation."""
    request = without_settings(request, context)
    document: dict[str, Any] = {"conversations": []}
    entries: list[dict[str, str]] = document["conversations"]
    turns = list(request.turns)
    systems: list[str] = []
    while turns and turns[0].role in SYSTEM_ROLES:
        systems += _texts(turns.pop(0).parts, context)
    for turn in turns:
        _write_turn(turn, entries, context)
    if systems:
        document["system"] = "\n\n".join(systems)
    tools = [_tool(tool, context) for tool in request.tools if isinstance(tool, Tool)]
    if tools:
        document["tools"] = json_text.encode(tools).decode()
    return json_text.encode(document)


def _texts(parts: tuple[Part, ...], context: Context) -> list[str]:
    return [text for part in parts if (text := part_text(part, context)) is not None]


def _write_turn(turn: Turn, entries: list[dict[str, str]], context: Context) -> None:
    if turn.role == "tool":
        _write_results(turn, entries, context)
        return
    calls = [part for part in turn.parts if isinstance(part, ToolCall)]
    texts: list[str] = []
    for part in turn.parts:
        if calls and isinstance(part, Text) and part.text:
            context.lose("part.dropped", part.at, "an entry holds a text or calls", severity="warning")
        elif not isinstance(part, ToolCall):
            texts += _texts((part,), context)
    if calls:
        made = [_call(call, context) for call in calls]
        value = json_text.encode(made[0] if len(made) == 1 else made).decode()
        entries.append({"from": "function_call", "value": value})
        return
    if not texts:
        context.lose("turn.dropped", turn.at)
        return
    if turn.role in SYSTEM_ROLES:
        context.lose("system.demoted", turn.at)
    side = "gpt" if turn.role == "assistant" else "human"
    text = "\n\n".join(texts)
    if entries and entries[-1]["from"] == side:  # the sides must take turns
        entries[-1]["value"] += f"\n\n{text}"
    else:
        entries.append({"from": side, "value": text})


def _call(call: ToolCall, context: Context) -> dict[str, Any]:
    arguments = json_text.object_raw(call.arguments)
    if arguments is None:
        context.lose("arguments.invalid", call.at)
        # The arguments are an object here, so the broken text is kept under one key.
        arguments = json_text.raw({"__raw": call.arguments})
    return {"name": call.name, "arguments": arguments}


def _write_results(turn: Turn, entries: list[dict[str, str]], context: Context) -> None:
    """The results of one step become one observation: a second one would not take turns."""
    texts: list[str] = []
    results = [part for part in turn.parts if isinstance(part, ToolResult)]
    for result in results:
        text = "\n".join(_texts(result.parts, context))
        if result.is_error:
            context.lose("result.error.as_text", result.at)
            text = f"Error: {text}"
        texts.append(text)
    if len(results) > 1:
        context.lose("result.texts.joined", turn.at, "the results of several calls", severity="warning")
    entries.append({"from": "observation", "value": "\n".join(texts)})


def _tool(tool: Tool, context: Context) -> dict[str, Any]:
    if tool.strict:
        context.lose("tool.strict.dropped", tool.at)
    schema = Raw(tool.schema) if tool.schema is not None else Raw(b'{"type":"object","properties":{}}')
    return {"name": tool.name, "description": tool.description, "parameters": schema}


def evidence(document: Mapping[str, Any]) -> str:
    """Why a line is one of these."""
    entries = document.get("conversations")
    first = entries[0] if isinstance(entries, list) and entries else None
    return "conversations with from and value" if isinstance(first, dict) and {"from", "value"} <= first.keys() else ""


_DIALECT = conversation_dialect(NAME, "ShareGPT", read_request, write_request)

FORMAT = training_format(
    NAME,
    "ShareGPT conversations",
    "https://llamafactory.readthedocs.io/en/latest/getting_started/data_preparation.html",
    "2026-11-18",
    _DIALECT,
    evidence,
    {"conversations": [{"from": "text", "value": "text"}], "system": "text", "tools": "text"},
)
