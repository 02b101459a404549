"""Owns the tool search that the client runs: a separate item here, a function `tool_search` for every other dialect.

The model calls it to load tools that are not declared yet. The client answers with their declarations, which are
declared from then on. In an answer for the client, a call of that function becomes the item again.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import Path, Text, ToolCall, ToolResult
from ...canon.tools import HostedTool, Tool
from ...codec import json_text
from ...codec.call_ids import send as send_id
from ...context import Context
from . import wire
from .tools import IDS

NAME = "tool_search"
CALL = "tool_search_call"
OUTPUT = "tool_search_output"

_CLIENT = "client"
_KNOWN = frozenset({"type", "call_id", "execution", "arguments", "status", "tools"})
# `parameters` and `description` of a declared search are optional (openai 3.49.0, 2026-11); a function elsewhere needs
# both to be of use.
_SCHEMA = '{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}'
_DESCRIPTION = "Searches for tools that are not declared yet, and loads what it finds."


def as_function(value: Any) -> Tool | None:
    """The declaration as a function; None if the upstream itself searches."""
    if not isinstance(value, dict) or value.get("execution") != _CLIENT:
        return None
    description, schema = value.get("description"), value.get("parameters")
    return Tool(
        NAME,
        description if isinstance(description, str) and description else _DESCRIPTION,
        json_text.encode(schema).decode() if isinstance(schema, dict) else _SCHEMA,
        schema_at=("parameters",),
    )


def read_search(item: wire.Item, at: Path, context: Context) -> ToolCall | ToolResult | None:
    """The call or the output of a search that the client ran, for other dialects; None for anything else."""
    fields = json_text.fields(item.strange)
    kind = json_text.kind(item.strange)
    # `execution` is `server` or `client` (openai 3.49.0, 2026-11): the server's own search is a hosted tool.
    if kind not in (CALL, OUTPUT) or _value(fields, "execution") != _CLIENT:
        return None
    call_id = _value(fields, "call_id")
    if not isinstance(call_id, str) or not call_id:
        return None
    rest = {name: value for name, value in fields.items() if name not in _KNOWN}
    if rest:
        context.keep(at, rest)
    if kind == CALL:
        context.lose("tool.hosted.as_function", at, f"{kind} is sent as a call", "info")
        return ToolCall(call_id, NAME, json_text.text(fields["arguments"]) if "arguments" in fields else "", at=at)
    context.lose("part.as_text", at, kind)
    # The found tools are declared for the other upstream, so the result need not repeat their schemas.
    return ToolResult(call_id, (Text(_listed(_value(fields, "tools")), at=at),), NAME, at=at)


def _value(fields: dict[str, Raw], name: str) -> Any:
    return json_text.plain(fields[name]) if name in fields else None


def _listed(tools: Any) -> str:
    """The names of the found tools as text. Their declarations are among the tools."""
    names: list[str] = []
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict) and tool.get("type") == "namespace":
            listed = tool.get("tools")
            inner = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
            names += [f"{tool.get('name')}__{one.get('name')}" for one in inner]
        elif isinstance(tool, dict):
            names.append(str(tool.get("name") or tool.get("type")))
    return f"These tools are available now: {', '.join(names)}." if names else "No tool was found."


def is_search(call: ToolCall, context: Context) -> bool:
    """Whether a call in an answer is the search of a client that declared one."""
    return (
        call.name == NAME and context.answers is not None and any(_is_declared(tool) for tool in context.answers.tools)
    )


def _is_declared(tool: Tool | HostedTool) -> bool:
    return type(tool) is HostedTool and tool.kind == NAME and as_function(json_text.plain(tool.value)) is not None


def search_item(call: ToolCall, name: str, text: str, context: Context) -> dict[str, Any]:
    """The item for a client whose search is called."""
    # `arguments` of a search is an object, not a JSON text as in a function_call (recorded 2026).
    arguments: Any = {}
    if json_text.is_object(text):
        arguments = Raw(text)
    elif text.strip():
        context.lose("arguments.invalid", call.at)
        arguments = {"__raw": text}
    if call.seal is not None:
        context.lose("seal.dropped", call.at)
    return {
        "id": name,
        "type": CALL,
        "call_id": send_id(call.id, IDS, context, call.at),
        "execution": _CLIENT,
        "arguments": arguments,
        "status": "completed",
    }
