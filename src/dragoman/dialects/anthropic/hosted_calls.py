"""Owns the calls and results of tools that Messages runs itself: `server_tool_use`, `mcp_tool_use`, `*_tool_result`
blocks.

Uses of other dialects are written for clients only. Anthropic refuses results that it did not make: each page of a
search has an `encrypted_content` that only Anthropic can write (schema RequestWebSearchResultBlock, 2026-11). In a
request they become text (`codec/hosted_calls_as_text.py`). Blocks for a client have a marked id, so that they are
recognised when the client returns them.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import Citation, HostedCall, HostedResult, Media, Opaque, Part, Path, Seal, Text
from ...codec import json_text
from ...codec.hosted_calls import (
    OTHER,
    drop_use,
    foreign_id,
    generic_id,
    is_other,
    legal_id,
    members,
    objects,
    own_id,
    pages,
    queries,
    report_mapped_use,
    use_id,
    word,
)
from ...codec.hosted_calls_as_text import as_text, drop_search, has_text, stdout
from ...codec.packed_seals import pack
from ...context import Context
from . import wire
from .hosted_programs_and_mcp import Written, read_mcp_content, read_output, read_program, write_mcp, write_run
from .hosted_tool_search import read_found, read_query, write_search

_PREFIX = "srvtoolu_"
_MCP_PREFIX = "mcptoolu_"
_RESULT = "_tool_result"
_DIRECT = {"type": "direct"}

_FAMILIES = {
    "web_search": "web_search",
    "web_fetch": "web_fetch",
    "code_execution": "code_execution",
    "bash_code_execution": "code_execution",
    "text_editor_code_execution": "code_execution",
    "tool_search_tool_bm25": "tool_search",
    "tool_search_tool_regex": "tool_search",
    "tool_search": "tool_search",
    "mcp": "mcp",
}
"""The family of a tool. The key is the name of the called tool, or the type of a result block without its ending."""


def read_hosted(kind: str, value: Raw, at: Path) -> Opaque:
    """A block that only this dialect has: a hosted call, a hosted result, or an Opaque."""
    # Blocks of the server's own tools return unchanged, and are never answered with a tool_result (anthropic 2.8.0,
    # 2026-11).
    if kind in ("server_tool_use", "mcp_tool_use"):
        return _read_call(kind, value, at)
    if kind.endswith(_RESULT):
        return _read_result(kind, value, at)
    return Opaque(wire.NAME, kind, value, at=at)


def _read_call(kind: str, value: Raw, at: Path) -> HostedCall:
    block = json_text.plain(value)
    name = word(block, "name")
    family = "mcp" if kind == "mcp_tool_use" else _FAMILIES.get(name, "")
    tool_input = block.get("input")
    text = json_text.encode(tool_input).decode() if isinstance(tool_input, dict) else ""
    if family == "code_execution":
        text = read_program(name, text)
    elif family == "tool_search":
        text = read_query(text)
    family, call_id = _own(family, word(block, "id"))
    server = word(block, "server_name") if family else ""
    return HostedCall(wire.NAME, kind, value, family, call_id, name, text, server, at=at)


def _own(family: str, call_id: str) -> tuple[str, str]:
    """The family of a use, and its id without the prefix and the mark that clients get."""
    if family == "mcp" and is_other(_MCP_PREFIX, call_id):
        return "", own_id(_MCP_PREFIX + OTHER, call_id)
    return family, own_id(_MCP_PREFIX if family == "mcp" else _PREFIX, call_id)


def _read_result(kind: str, value: Raw, at: Path) -> HostedResult:
    block = json_text.plain(value)
    family = _FAMILIES.get(kind.removesuffix(_RESULT), "")
    given, (family, call_id) = family, _own(family, word(block, "tool_use_id"))
    content = block.get("content")
    # Only mcp_tool_result has a flag; all others have a content of a type that ends in `_error` (anthropic 2.8.0,
    # 2026-11).
    failed = block.get("is_error") is True or word(content, "type").endswith("_error")
    sources: tuple[Citation, ...] = ()
    parts: tuple[Part, ...] = ()
    run: tuple[str, int | None] = ("", None)
    if failed and family in ("web_search", "web_fetch") and word(content, "error_code"):
        parts = (Text(word(content, "error_code"), at=(*at, "content", "error_code")),)
    elif family == "web_search":
        sources = tuple([_found(page) for page in objects(content)])
    elif family == "web_fetch" and isinstance(content, dict) and not failed:
        document = content.get("content")
        sources = (Citation(word(content, "url"), word(document, "title")),)
        parts = _page(document, (*at, "content", "content"))
    elif family == "code_execution":
        out = read_output(content, (*at, "content"))
        run = (out.stderr, out.exit_code)
        parts, failed = out.parts, out.failed
    elif given == "mcp":
        parts = read_mcp_content(content, (*at, "content"))
    tools = read_found(content) if family == "tool_search" else ()
    return HostedResult(wire.NAME, kind, value, family, call_id, sources, parts, failed, tools, *run, at=at)


def _found(page: dict[str, Any]) -> Citation:
    """A page that a search found. Other hosts of this dialect add words of the page (`snippet`, recorded)."""
    return Citation(word(page, "url"), word(page, "title"), word(page, "snippet"), age=word(page, "page_age"))


def _page(document: Any, at: Path) -> tuple[Part, ...]:
    """The content of a fetched page."""
    source = document.get("source") if isinstance(document, dict) else None
    data = word(source, "data")
    if not data:
        return ()
    # A fetched page is plain text or a PDF in base64 (anthropic 2.8.0, 2026-11).
    if word(source, "type") == "text":
        return (Text(data, at=at),)
    return (Media("document", word(source, "media_type"), data, name=word(document, "title"), at=at),)


def write_hosted(call: HostedCall, result: HostedResult | None, context: Context, request: bool) -> tuple[Part, ...]:
    """The blocks for another dialect's use of a hosted tool."""
    if request and has_text(call):
        return as_text(call, result, context)
    if call.family == "tool_search":
        blocks = write_search(call, result, context, request=request)
        if blocks is None:
            return drop_search(call, result, context)
        return _parts(call, result, blocks, context, request)
    write = _WRITERS.get(call.family)
    if request or write is None:
        return drop_use(call, result, context)
    return _parts(call, result, write(call, result, context), context, request)


def _parts(
    call: HostedCall, result: HostedResult | None, blocks: Written, context: Context, request: bool
) -> tuple[Part, ...]:
    """The blocks as parts, with a marked id for a client, or a legal id for an upstream."""
    use, found, left = blocks
    if use["type"] == "mcp_tool_use":
        call_id = generic_id(_MCP_PREFIX, call)
    else:
        call_id = legal_id(_PREFIX, call.id) if request else foreign_id(_PREFIX, use_id(call))
    report_mapped_use(call, result, context, f"{use['type']} and {found['type']}", left, request=request)
    use = {"type": use["type"], "id": call_id, **use}
    found = {"type": found["type"], "tool_use_id": call_id, **found}
    return (
        Opaque(wire.NAME, use["type"], json_text.raw(use), at=call.at),
        Opaque(wire.NAME, found["type"], json_text.raw(found), at=call.at),
    )


def _search_blocks(name: str, tool_input: dict[str, Any], content: Any, left: str) -> Written:
    """The blocks of a search or a fetch, without ids."""
    use = {"type": "server_tool_use", "name": name, "input": tool_input, "caller": _DIRECT}
    return use, {"type": f"{name}{_RESULT}", "content": content, "caller": _DIRECT}, left


def _write_search(call: HostedCall, result: HostedResult | None, context: Context) -> Written:
    query_texts = queries(call)
    proof = pack(Seal(call.dialect, ""))  # an empty packed seal: no upstream of this dialect wrote the page
    found: Any = [
        {
            "type": "web_search_result",
            "url": page.url,
            "title": page.title,
            "encrypted_content": proof,
            "page_age": page.age or None,
        }
        for page in pages(result)
    ]
    if result is not None and result.is_error and not found:
        found = {"type": "web_search_tool_result_error", "error_code": _error_code(result, _SEARCH_ERRORS)}
    left = "the words of the pages have no place" if any(page.quote for page in pages(result)) else ""
    tool_input: dict[str, Any] = {"query": query_texts[0]} if query_texts else {}
    if len(query_texts) > 1:
        # Anthropic's search has one `query` (anthropic 2.8.0, 2026-11). `input` takes other members, so the rest is
        # kept there.
        tool_input["queries"] = query_texts
    return _search_blocks("web_search", tool_input, found, left)


_ERRORS = frozenset({"invalid_tool_input", "max_uses_exceeded", "too_many_requests", "unavailable"})
_SEARCH_ERRORS = _ERRORS | {"query_too_long", "request_too_large"}
_FETCH_ERRORS = _ERRORS | {"url_too_long", "url_not_allowed", "url_not_accessible", "unsupported_content_type"}
"""Error codes in the schema (2026-08)."""
_CODES = {
    "URL_RETRIEVAL_STATUS_ERROR": "url_not_accessible",
    "URL_RETRIEVAL_STATUS_PAYWALL": "url_not_accessible",
    "URL_RETRIEVAL_STATUS_UNSAFE": "url_not_allowed",
}
"""Gemini's words for errors -> the codes of this dialect."""


def _error_code(result: HostedResult, codes: frozenset[str]) -> str:
    """The error code of a failed result: its text, if this is a code or Gemini's word for a code; else
    `unavailable`."""
    words = stdout(result)
    words = _CODES.get(words, words)
    return words if words in codes else "unavailable"


def _write_fetch(call: HostedCall, result: HostedResult | None, context: Context) -> Written:
    fields = members(call.arguments)
    url = word(fields, "url") or next((page.url for page in pages(result)), "")
    if result is not None and result.is_error:
        error = {"type": "web_fetch_tool_result_error", "error_code": _error_code(result, _FETCH_ERRORS)}
        return _search_blocks("web_fetch", {"url": url}, error, "")
    title = next((page.title for page in pages(result)), "") or None
    text = "\n".join([part.text for part in (result.parts if result is not None else ()) if type(part) is Text])
    media = next((part for part in (result.parts if result is not None else ()) if type(part) is Media), None)
    source = {"type": "text", "media_type": "text/plain", "data": text}
    if media is not None and media.data and media.mime == "application/pdf":
        source = {"type": "base64", "media_type": media.mime, "data": media.data}
    page = {"type": "document", "source": source, "title": title, "citations": None}
    content = {"type": "web_fetch_result", "url": url, "content": page, "retrieved_at": None}
    left = "the words that were looked for in the page" if word(fields, "pattern") else ""
    return _search_blocks("web_fetch", {"url": url}, content, left)


_WRITERS = {
    "": write_mcp,
    "web_search": _write_search,
    "web_fetch": _write_fetch,
    "code_execution": write_run,
    "mcp": write_mcp,
}
