"""Calls and results of the tools that OpenRouter runs itself: details of the type `reasoning.server_tool_call`.

A detail holds the call and its result, both as text. Details that stand for other dialects' uses are written for
clients only, with a marked id: nothing shows that OpenRouter takes details which it did not make (2026-11). In a
request such uses are text (`codec/hosted_text.py`).
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import ELSEWHERE, Citation, HostedCall, HostedResult, Opaque, Part, Path, Text
from ...codec import jsontext
from ...codec.hosted_calls import foreign_id, mapped, members, objects, own_id, use_id, word
from ...codec.hosted_text import write_as_text
from ...crossing import Crossing
from .wire import NAME

DETAIL = "reasoning.server_tool_call"
_FAMILIES = frozenset({"web_search", "web_fetch"})


def read_hosted(value: Raw, at: Path) -> tuple[Opaque, ...]:
    """A detail of another kind than thoughts: a hosted call and its result where it is one."""
    kind = jsontext.kind(value)
    if kind != DETAIL:
        return (Opaque(NAME, kind, value, at=at),)
    detail = jsontext.plain(value)
    name = word(detail, "tool_name")
    family = name.removeprefix("openrouter:")
    family = family if family in _FAMILIES else ""
    call_id = own_id("", word(detail, "tool_call_id") or word(detail, "id"))
    said = word(detail, "result")
    sources, parts = _read_result(said, (*at, "result"))
    call = HostedCall(NAME, DETAIL, value, family, call_id, name, word(detail, "arguments"), at=at)
    return call, HostedResult(NAME, DETAIL, ELSEWHERE, family, call_id, sources, parts, at=at)


def _read_result(text: str, at: Path) -> tuple[tuple[Citation, ...], tuple[Part, ...]]:
    """The pages of a result, where it is a list of them or an object with one; else its words."""
    found: Any = members(b'{"results":%b}' % text.encode("utf-8", "surrogatepass")).get("results") if text else None
    if isinstance(found, dict):
        found = next((inner for inner in found.values() if isinstance(inner, list)), [found])
    pages = tuple(
        [
            Citation(word(page, "url"), word(page, "title"), word(page, "content") or word(page, "text"))
            for page in objects(found)
            if word(page, "url")
        ]
    )
    return pages, () if pages or not text else (Text(text, at=at),)


def write_hosted(call: HostedCall, result: HostedResult | None, crossing: Crossing, request: bool) -> tuple[Part, ...]:
    """The detail for another dialect's use of a hosted tool."""
    if request or call.family not in _FAMILIES:
        return write_as_text(call, result, crossing, request)
    detail = {
        "type": DETAIL,
        "tool_name": call.family,
        "arguments": call.arguments or "{}",
        "result": _written(result),
        "tool_call_id": foreign_id("", use_id(call)),
        "format": "unknown",
    }
    mapped(call, result, crossing, DETAIL, request=False)
    return (Opaque(NAME, DETAIL, jsontext.raw(detail), at=call.at),)


def _written(result: HostedResult | None) -> str:
    """The result as text: its pages as JSON, or its words."""
    if result is None:
        return ""
    words = [part.text for part in result.parts if isinstance(part, Text)]
    pages = [_page(page) for page in result.sources]
    if words and pages:
        pages[0]["content"] = "\n".join(words)
    return jsontext.encode(pages).decode() if pages else "\n".join(words)


def _page(page: Citation) -> dict[str, Any]:
    said = {"url": page.url, "title": page.title, "content": page.quote}
    return {name: value for name, value in said.items() if value}
