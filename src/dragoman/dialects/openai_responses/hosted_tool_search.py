"""Owns the searches for deferred tools that the server ran: `tool_search_call` and `tool_search_output` items.

A search of another upstream is also written for an upstream, if the request declares a search and every found tool. It
is written as a search that the client ran, which OpenAI accepted beside a search of its own (recorded 2026:
gpt-5.4); such items have no id of the server. Searches that
the client really ran are functions for other dialects (`client_tool_search.py`).
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import HostedCall, HostedResult, Opaque, Part, Path
from ...canon.tools import HostedTool, Tool
from ...codec import json_text
from ...codec.call_ids import send as send_id
from ...codec.hosted_calls import (
    arguments,
    foreign_id,
    members,
    objects,
    own_id,
    queries,
    report_mapped_use,
    use_id,
    word,
)
from ...codec.hosted_calls_as_text import drop_search
from ...codec.tool_names import found_tools, qualified_name
from ...context import Context
from . import wire
from .client_tool_search import CALL, NAME, OUTPUT
from .tools import IDS, tools_to

_FAMILY = "tool_search"
_CALL_PREFIX, _OUTPUT_PREFIX = "tsc_", "tso_"


def read_tool_search(kind: str, value: Raw, at: Path) -> Opaque | None:
    """The call or the output of a search; None for any other item."""
    if kind not in (CALL, OUTPUT):
        return None
    item = json_text.plain(value)
    if kind == CALL:
        argument = item.get("arguments")
        fields = argument if isinstance(argument, dict) else members(argument) if isinstance(argument, str) else {}
        known = {name: fields.get(name) for name in ("query", "queries", "paths")}
        call_id = own_id(_CALL_PREFIX, word(item, "id"))
        return HostedCall(wire.NAME, kind, value, _FAMILY, call_id, NAME, arguments(**known), at=at)
    names: list[str] = []
    for tool in objects(item.get("tools")):
        if word(tool, "type") == "namespace":
            names += [qualified_name(word(tool, "name"), word(one, "name")) for one in objects(tool.get("tools"))]
        elif word(tool, "name"):
            names.append(word(tool, "name"))
    # The output of a search that the server ran has the call_id null (recorded 2026-08). It belongs to the call before.
    return HostedResult(wire.NAME, kind, value, _FAMILY, "", (), (), False, tuple(names), at=at)


def write_tool_search(
    call: HostedCall, result: HostedResult | None, context: Context, *, request: bool
) -> tuple[Part, ...]:
    """The items of a search; none if the upstream would refuse them."""
    offered = context.offered if request else context.answers.tools if context.answers is not None else ()
    found = found_tools(result.tools, offered) if result is not None else []
    if request:
        searches = any(isinstance(tool, HostedTool) and tool.kind == NAME for tool in offered)
        if not searches or result is None or len(found) < len(result.tools):
            return drop_search(call, result, context)
    fields = members(call.arguments)
    # The recorded form: the queries, or the tools by name.
    criteria = {"paths": fields["paths"]} if "paths" in fields else {"queries": queries(call)}
    listed = _declared(found, context, request)
    if request:
        call_id: str | None = send_id(call.id or "search", IDS, context, call.at)
        run = {"call_id": call_id, "execution": "client", "status": "completed"}
        items: list[tuple[str, dict[str, Any]]] = [
            (CALL, {"type": CALL, "arguments": criteria, **run}),
            (OUTPUT, {"type": OUTPUT, **run, "tools": listed}),
        ]
    else:
        run = {"call_id": None, "execution": "server", "status": "completed"}
        items = [(CALL, {"id": foreign_id(_CALL_PREFIX, use_id(call)), "type": CALL, "arguments": criteria, **run})]
        if result is not None:
            made = foreign_id(_OUTPUT_PREFIX, use_id(call))
            items.append((OUTPUT, {"id": made, "type": OUTPUT, **run, "tools": listed}))
    left = "tools that the client did not declare" if result is not None and len(found) < len(result.tools) else ""
    report_mapped_use(call, result, context, f"{CALL} and {OUTPUT}", left, request=request)
    return tuple([Opaque(wire.NAME, kind, json_text.raw(item), at=call.at) for kind, item in items])


def _declared(found: list[Tool], context: Context, request: bool) -> list[Any]:
    """The declarations of the found tools: as sent to the upstream, or as the client wrote them."""
    return tools_to(found, context if request else Context(wire.NAME, wire.NAME))
