"""Calls and results of the tools that OpenRouter runs itself: details of the type `reasoning.server_tool_call`.

A detail holds the call and its result, both as text, and the name of any tool (schema of 2026-08). Details that stand
for other dialects' uses are written for clients only, with a marked id: nothing shows that OpenRouter takes details
which it did not make (2026-11). In a request such uses are text (`codec/hosted_calls_as_text.py`).
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import ELSEWHERE, Citation, HostedCall, HostedResult, Opaque, Part, Path, Text
from ...codec import json_text
from ...codec.hosted_calls import arguments, foreign_id, mapped, members, objects, own_id, use_id, word
from ...codec.hosted_calls_as_text import files, output, program, stdout, write_as_text
from ...codec.packed_seals import MARK
from ...context import Context
from .wire import NAME

DETAIL = "reasoning.server_tool_call"
_FAMILIES = frozenset({"web_search", "web_fetch"})
"""Tools that OpenRouter itself runs for Chat Completions."""
_RUN, _MCP = "code_execution", "mcp"
_EDITOR = "text_editor"
"""The language of a run whose code is itself an object of arguments."""
_PREFIXES = {_RUN: "run_", _MCP: "mcp_"}
"""How the ids of details begin that stand for uses which only other dialects have."""


def read_hosted(value: Raw, at: Path) -> tuple[Opaque, ...]:
    """A detail of another kind than thoughts: a hosted call and its result where it is one."""
    kind = json_text.kind(value)
    if kind != DETAIL:
        return (Opaque(NAME, kind, value, at=at),)
    detail = json_text.plain(value)
    name = word(detail, "tool_name")
    family = name.removeprefix("openrouter:")
    call_id = word(detail, "tool_call_id") or word(detail, "id")
    made = next((one for one, prefix in _PREFIXES.items() if call_id.startswith(prefix + MARK)), "")
    family = made or (family if family in _FAMILIES else "")
    call_id = own_id(_PREFIXES.get(made, ""), call_id)
    said = word(detail, "result")
    asked = word(detail, "arguments")
    if family == _RUN and "code" not in members(asked):
        asked = arguments(code=asked, language=_EDITOR)
    call = HostedCall(NAME, DETAIL, value, family, call_id, name, asked, at=at)
    if family == _RUN:
        return call, _read_run(said, call, (*at, "result"))
    sources, parts = _read_result(said, (*at, "result"))
    return call, HostedResult(NAME, DETAIL, ELSEWHERE, family, call_id, sources, parts, at=at)


def _read_run(text: str, call: HostedCall, at: Path) -> HostedResult:
    """What `_written_run` wrote."""
    said = members(text)
    stderr, code = word(said, "stderr"), said.get("exit_code")
    known = type(code) is int
    wrote = word(said, "stdout") if known else text
    parts: tuple[Part, ...] = (Text(wrote, at=at),) if wrote else ()
    told = (parts, known and code != 0, (), stderr, code if known else None)
    return HostedResult(NAME, DETAIL, ELSEWHERE, call.family, call.id, (), *told, at=call.at)


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


def write_hosted(call: HostedCall, result: HostedResult | None, context: Context, request: bool) -> tuple[Part, ...]:
    """The detail for another dialect's use of a hosted tool."""
    if request or call.family not in (*_FAMILIES, *_PREFIXES):
        return write_as_text(call, result, context, request)
    code, language = program(call) if call.family == _RUN else ("", "")
    detail = {
        "type": DETAIL,
        "tool_name": call.family if call.family in _FAMILIES else call.name or call.family,
        "arguments": (code if language == _EDITOR else call.arguments) or "{}",
        "result": _written_run(result) if call.family == _RUN else _written(result),
        "tool_call_id": foreign_id(_PREFIXES.get(call.family, ""), use_id(call)),
        "format": "unknown",
    }
    left = "the files of the program have no place" if files(result) else ""
    if call.server and not left:
        left = "the name of the MCP server has no place"
    mapped(call, result, context, DETAIL, left, request=False)
    return (Opaque(NAME, DETAIL, json_text.raw(detail), at=call.at),)


def _written_run(result: HostedResult | None) -> str:
    """What came back of a program: its output alone, or with its standard error and exit code where they are known."""
    if result is None or (result.exit_code is None and not result.is_error):
        return output(result)
    code = int(result.is_error) if result.exit_code is None else result.exit_code
    return json_text.encode({"stdout": stdout(result), "stderr": result.stderr, "exit_code": code}).decode()


def _written(result: HostedResult | None) -> str:
    """The result as text: its pages as JSON, or its words."""
    if result is None:
        return ""
    words = [part.text for part in result.parts if isinstance(part, Text)]
    pages = [_page(page) for page in result.sources]
    if words and pages:
        pages[0]["content"] = "\n".join(words)
    return json_text.encode(pages).decode() if pages else "\n".join(words)


def _page(page: Citation) -> dict[str, Any]:
    said = {"url": page.url, "title": page.title, "content": page.quote}
    return {name: value for name, value in said.items() if value}
