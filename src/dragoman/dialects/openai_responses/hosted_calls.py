"""Owns the calls and results of tools that Responses runs itself. One item holds both: a `web_search_call` has the
query and, if `include` asks for it, the found pages.

In a request an item of another dialect's upstream has no id. If the server stores nothing, it answers 400 to an id that
it did not give. Codex sends these items without an id (codex-rs protocol/models.rs, read 2026-11). A client gets a
marked id, which is removed when the client returns the item.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import ELSEWHERE, Citation, HostedCall, HostedResult, Opaque, Part, Path, Text
from ...codec import json_text
from ...codec.hosted_calls import (
    arguments,
    foreign_id,
    members,
    objects,
    own_id,
    pages,
    queries,
    report_mapped_use,
    use_id,
    word,
)
from ...codec.hosted_calls_as_text import as_text, has_text
from ...codec.packed_seals import MARK_BYTES
from ...context import Context
from . import wire
from .hosted_programs_and_mcp import (
    LISTING,
    MCP,
    RUN,
    SHELL,
    SHELL_OUTPUT,
    read_mcp,
    read_run,
    read_shell,
    write_mcp,
    write_run,
)
from .hosted_tool_search import read_tool_search, write_tool_search

SEARCH = "web_search_call"
FILES = "file_search_call"
_PREFIX = "ws_"


def read_hosted(kind: str, value: Raw, at: Path) -> tuple[Opaque, ...]:
    """An item that only this dialect has: a hosted call and its result, or an Opaque."""
    if kind == SEARCH:
        return _read_search(value, at)
    if kind == RUN:
        return read_run(value, at)
    if kind == MCP:
        return read_mcp(value, at)
    if kind in (SHELL, SHELL_OUTPUT):
        return (read_shell(kind, value, at) or Opaque(wire.NAME, kind, value, at=at),)
    if kind in (FILES, LISTING):
        return _read_only_here(kind, value, at)
    return (read_tool_search(kind, value, at) or Opaque(wire.NAME, kind, value, at=at),)


def _read_only_here(kind: str, value: Raw, at: Path) -> tuple[Opaque, ...]:
    """A file search, or the list of an MCP server's tools. No other dialect has a form of its own for them."""
    fields, item = json_text.fields(value), json_text.plain(value)
    call_id = word(item, "id")
    if kind == FILES:
        name, call_arguments, results_field = "file_search", arguments(queries=item.get("queries")), "results"
        whole = value
    else:
        name, call_arguments, results_field = LISTING, arguments(server_label=word(item, "server_label")), "tools"
        whole = ELSEWHERE  # its loss is only info
    parts: tuple[Part, ...] = ()
    if isinstance(item.get(results_field), list) and item[results_field]:
        parts = (Text(json_text.text(fields[results_field]), at=(*at, results_field)),)
    failed = word(item, "status") == "failed" or bool(item.get("error"))
    call = HostedCall(wire.NAME, kind, whole, "", call_id, name, call_arguments, at=at)
    return call, HostedResult(wire.NAME, kind, ELSEWHERE, "", call_id, (), parts, failed, at=at)


def _read_search(value: Raw, at: Path) -> tuple[Opaque, ...]:
    item = json_text.plain(value)
    action = item.get("action")
    call_id = own_id(_PREFIX, word(item, "id"))
    url = word(action, "url")
    if word(action, "type") in ("open_page", "find_in_page"):
        family, call_arguments = "web_fetch", arguments(url=url, pattern=word(action, "pattern"))
        # `open_page` and `find_in_page` name a page, and the item never has its content (openai 3.49.0, 2026-11).
        sources: tuple[Citation, ...] = (Citation(url),) if url else ()
    else:
        listed = action.get("queries") if isinstance(action, dict) else None
        family, call_arguments = "web_search", arguments(query=word(action, "query"), queries=listed)
        found = action.get("sources") if isinstance(action, dict) else None
        # A source of the type api has a name ("oai-weather") and no address (recorded 2025-09).
        sources = tuple([Citation(word(page, "url"), word(page, "name")) for page in objects(found)])
    failed = word(item, "status") == "failed"
    call = HostedCall(wire.NAME, SEARCH, value, family, call_id, family, call_arguments, at=at)
    return call, HostedResult(wire.NAME, SEARCH, ELSEWHERE, family, call_id, sources, (), failed, at=at)


def write_hosted(call: HostedCall, result: HostedResult | None, context: Context, request: bool) -> tuple[Part, ...]:
    """The item for another dialect's use of a hosted tool."""
    if request and has_text(call) and call.family != "web_search" and not _is_opened(call, result):
        return as_text(call, result, context)
    if call.family == "code_execution":
        return write_run(call, result, context)
    if call.family == "mcp" or not call.family:
        return write_mcp(call, result, context)
    if call.family == "tool_search":
        return write_tool_search(call, result, context, request=request)
    found = pages(result)
    item: dict[str, Any] = {"type": SEARCH}
    if not request:
        item["id"] = foreign_id(_PREFIX, use_id(call))
    item["status"] = "failed" if result is not None and result.is_error else "completed"
    left = ""
    if call.family == "web_search":
        query_texts = queries(call)
        action: dict[str, Any] = {"type": "search"}
        if query_texts:
            # `query` is deprecated in favour of `queries` (schema of 2026-08); both are written for older clients.
            action |= {"query": query_texts[0], "queries": query_texts}
        if found:
            # A source has `type` and `url` only (published schema, 2026-11).
            action["sources"] = [{"type": "url", "url": page.url} for page in found]
        if any(page.title or page.quote for page in found):
            left = "of the pages only the addresses have a place"
    else:
        fields = members(call.arguments)
        url = word(fields, "url") or next((page.url for page in found), "")
        pattern = word(fields, "pattern")
        action = (
            {"type": "find_in_page", "url": url, "pattern": pattern} if pattern else {"type": "open_page", "url": url}
        )
        if result is not None and result.parts:
            left = "the content of the page has no place"
    item["action"] = action
    report_mapped_use(call, result, context, SEARCH, left, request=request)
    return (Opaque(wire.NAME, SEARCH, json_text.raw(item), at=call.at),)


def _is_opened(call: HostedCall, result: HostedResult | None) -> bool:
    """Whether a page was fetched and only its address is known: an item can express that."""
    return call.family == "web_fetch" and (result is None or not result.parts)


def sent(part: Opaque) -> Raw:
    """A hosted item for an upstream: without a marked id."""
    if MARK_BYTES not in bytes(part.value):
        return part.value
    fields = json_text.fields(part.value)
    if MARK_BYTES in bytes(fields.get("id", b"")):
        del fields["id"]
    return json_text.raw(fields)
