"""Writes uses of other dialects' hosted tools for clients, as parts `toolCall` and `toolResponse`, and reads these
parts.

Google's schema (2026-11) has both parts for tools that a server ran: a name (`toolName`), arguments and a response,
both free objects. "The client is NOT expected to execute this ToolCall", and sends both parts back. So the parts can
hold uses that the metadata of a candidate cannot hold: calls of MCP servers' tools, searches for tools and in files,
and the content of pages. Such a part has a marked id. No upstream gets such a part: in a request the use is text
(`codec/hosted_calls_as_text.py`).
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import Citation, Extra, HostedCall, HostedResult, Opaque, Part, Path, Text
from ...codec import json_text
from ...codec.hosted_calls import (
    arguments,
    arguments_object,
    foreign_id,
    full_name,
    objects,
    own_id,
    split_name,
    use_id,
    word,
)
from ...codec.hosted_calls_as_text import text_in, text_of_result
from ...codec.packed_seals import MARK
from . import wire

CALL, RESPONSE = "toolCall", "toolResponse"
_TYPES = {"web_search": "GOOGLE_SEARCH_WEB", "web_fetch": "URL_CONTEXT"}
_FAMILIES = {kind: family for family, kind in _TYPES.items()}
_NO_TYPE = "TOOL_TYPE_UNSPECIFIED"
_PREFIXES = {"mcp": "mcp_", "tool_search": "search_"}
"""The prefixes of marked ids for families that have no word in `toolType`."""


def read_tool_part(kind: str, value: Raw, extra: Extra | None, at: Path) -> Opaque:
    """A `toolCall` or a `toolResponse`."""
    inner = json_text.plain(value).get(kind)
    tool = word(inner, "toolType") or word(inner, "tool_type")
    found_id = word(inner, "id")
    # `toolType` has no value for these tools (google-genai 3.3.0, 2026-11).
    # So only the mark in the id shows the kind when a client returns the part.
    family = next((one for one, prefix in _PREFIXES.items() if found_id.startswith(prefix + MARK)), "")
    call_id = own_id(_PREFIXES.get(family, ""), found_id)
    family = family or _FAMILIES.get(tool, "")
    if kind == RESPONSE:
        # The form of a response of Google's own tools is not documented
        # (google-genai 3.1.0: a free object), so only our own form is read.
        answer = inner.get("response") if call_id != found_id and isinstance(inner, dict) else None
        return _read_response(value, family, call_id, answer if isinstance(answer, dict) else {}, extra, at)
    found_args = inner.get("args") if isinstance(inner, dict) else None
    args = found_args if isinstance(found_args, dict) else {}
    server, name = split_name(word(inner, "toolName")) if call_id != found_id else ("", word(inner, "toolName"))
    if family in _TYPES:
        known = arguments(queries=args.get("queries"), query=word(args, "query"), url=word(args, "url"))
        return HostedCall(wire.NAME, kind, value, family, call_id, family, known, extra=extra, at=at)
    text = json_text.encode(args).decode() if call_id != found_id else text_in(args)
    return HostedCall(wire.NAME, kind, value, family, call_id, name or tool.lower(), text, server, extra=extra, at=at)


def _read_response(
    value: Raw, family: str, call_id: str, answer: dict[str, Any], extra: Extra | None, at: Path
) -> HostedResult:
    """The result of a use, in the form of `write_use`. The responses of Gemini's own tools have no
    documented form (google-genai 3.3.0, 2026-11: an object without named members).
    """
    place = (*at, RESPONSE, "response")
    words = word(answer, "error") or word(answer, "output")
    found = objects(answer.get("results"))
    sources = [
        Citation(word(page, "url"), word(page, "title"), word(page, "content"), age=word(page, "page_age"))
        for page in found
    ]
    listed = answer.get("tools")
    tools = tuple([one for one in listed if isinstance(one, str)]) if isinstance(listed, list) else ()
    parts: tuple[Part, ...] = (Text(words, at=place),) if words else ()
    failed = "error" in answer
    return HostedResult(
        wire.NAME, RESPONSE, value, family, call_id, tuple(sources), parts, failed, tools, extra=extra, at=at
    )


def write_use(call: HostedCall, result: HostedResult | None) -> tuple[Part, ...]:
    """The parts for another dialect's use of any hosted tool."""
    call_id = foreign_id(_PREFIXES.get(call.family, ""), use_id(call))
    # `toolType` is an enumeration of six words (Google's schema, 2026-08): a client made from it fails at any other
    # word.
    kind = _TYPES.get(call.family, "FILE_SEARCH" if call.name == "file_search" else _NO_TYPE)
    used = {"toolType": kind, "toolName": full_name(call), "args": arguments_object(call), "id": call_id}
    made: list[Part] = [Opaque(wire.NAME, CALL, json_text.raw({CALL: used}), at=call.at)]
    if result is not None:
        gave = {"toolType": kind, "response": _response(result), "id": call_id}
        made.append(Opaque(wire.NAME, RESPONSE, json_text.raw({RESPONSE: gave}), at=result.at))
    return tuple(made)


def _response(result: HostedResult) -> dict[str, Any]:
    words = text_of_result(result)
    out: dict[str, Any] = {"error" if result.is_error else "output": words} if words or result.is_error else {}
    if result.sources:
        out["results"] = [_page(page) for page in result.sources]
    if result.tools:
        out["tools"] = list(result.tools)
    return out


def _page(page: Citation) -> dict[str, str]:
    fields = {"url": page.url, "title": page.title, "content": page.quote, "page_age": page.age}
    return {name: value for name, value in fields.items() if value}
