"""Owns the searches for deferred tools that Messages ran: `server_tool_use` and `tool_search_tool_result` blocks.

A search of another upstream is also written for an upstream, if the request declares a search and every found tool.
Anthropic accepted searches that it did not run (recorded 2026: claude-opus-4-8, claude-sonnet-4-6). Anthropic
refuses a reference to an undeclared tool.
"""

from __future__ import annotations

from typing import Any

from ...canon.parts import HostedCall, HostedResult
from ...canon.tools import HostedTool, Tool
from ...codec.hosted_calls import arguments, members, objects, queries, word
from ...codec.tool_names import found_tools
from ...context import Context
from .hosted_programs_and_mcp import Written

_RESULT = "tool_search_tool_result"
_BM25, _REGEX = "tool_search_tool_bm25", "tool_search_tool_regex"


def read_query(text: str) -> str:
    """The input of a search in the common form."""
    fields = members(text)
    return arguments(query=word(fields, "query") or word(fields, "pattern"))


def read_found(content: Any) -> tuple[str, ...]:
    """The names of the found tools."""
    listed = content.get("tool_references") if isinstance(content, dict) else None
    return tuple([word(one, "tool_name") for one in objects(listed) if word(one, "tool_name")])


def write_search(call: HostedCall, result: HostedResult | None, context: Context, *, request: bool) -> Written | None:
    """The blocks of a search, without ids; None if Anthropic would refuse them."""
    offered = _offered(context, request)
    names = _names(result, offered, context, request)
    tool = next((tool for tool in offered if isinstance(tool, HostedTool) and tool.kind.startswith(_BM25[:-4])), None)
    if names is None or (request and (tool is None or result is None)):
        return None
    by_regex = tool is not None and tool.kind.startswith(_REGEX)
    query_texts = queries(call) or [one for one in members(call.arguments).get("paths", ()) if isinstance(one, str)]
    use = {
        "type": "server_tool_use",
        "name": _REGEX if by_regex else _BM25,
        # The two kinds of search take different input: a regular expression, or words (anthropic 2.8.0, 2026-11).
        "input": {"pattern": "|".join(query_texts)} if by_regex else {"query": " ".join(query_texts)},
    }
    if not request:
        use["caller"] = {"type": "direct"}
    listed = [{"type": "tool_reference", "tool_name": name} for name in names]
    content: dict[str, Any] = {"type": "tool_search_tool_search_result", "tool_references": listed}
    if result is not None and result.is_error:
        content = {"type": "tool_search_tool_result_error", "error_code": "unavailable", "error_message": None}
    return use, {"type": _RESULT, "content": content}, ""


def _offered(context: Context, request: bool) -> tuple[Tool | HostedTool, ...]:
    if request:
        return context.offered
    return context.answers.tools if context.answers is not None else ()


def _names(
    result: HostedResult | None, offered: tuple[Tool | HostedTool, ...], context: Context, request: bool
) -> list[str] | None:
    """The names of the found tools as the target has them; None if one of them is unknown to an upstream."""
    found = result.tools if result is not None else ()
    if not request and not offered:
        return list(found)
    known = found_tools(found, offered)
    if request:
        # Every tool_reference must name a declared tool with defer_loading (docs "Tool search", 2026-10).
        if len(known) < len(found) or not all(tool.deferred for tool in known):
            return None
        from .tools import NAMES  # late: tools.py imports this module indirectly

        return [NAMES.send(tool.name, tool.namespace, context, tool.at) for tool in known]
    return [tool.name for tool in known]
