"""Owns uses of hosted tools in `reasoning_details`: entries of the type `reasoning.server_tool_call`.

OpenRouter made this type for tools that it runs itself (schema of 2026-08): an entry holds the call and its result,
both as text, and the name of any tool. The same list carries seals to Chat clients (`reasoning_details.py`), so a Chat
client gets uses of other dialects in this form. Such entries have a marked id, so that they are recognised when the
client returns them. No upstream gets them: in a request the uses become text (`codec/hosted_calls_as_text.py`).
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import ELSEWHERE, Citation, HostedCall, HostedResult, Opaque, Part, Path, Text, is_stored_elsewhere
from ...codec import json_text
from ...codec.hosted_calls import (
    arguments,
    foreign_id,
    full_name,
    members,
    objects,
    own_id,
    report_mapped_use,
    split_name,
    use_id,
    word,
)
from ...codec.hosted_calls_as_text import files, output, program, stdout, write_as_text
from ...codec.packed_seals import MARK, MARK_BYTES
from ...context import Context
from . import wire

DETAIL = "reasoning.server_tool_call"
SEARCHES = frozenset({"web_search", "web_fetch"})
"""Tools that OpenRouter itself runs for Chat Completions."""
_RUN, _MCP = "code_execution", "mcp"
_EDITOR = "text_editor"
"""The language of a run whose code is itself an object of arguments."""
_PREFIXES = {_RUN: "run_", _MCP: "mcp_"}
"""First letters of the ids of entries for uses that only other dialects have."""


def read_use(value: Raw, at: Path, dialect: str) -> tuple[Opaque, ...]:
    """An entry that is not a thought: a hosted call and its result, or an Opaque."""
    kind = json_text.kind(value)
    if kind != DETAIL:
        return (Opaque(dialect, kind, value, at=at),)
    detail = json_text.plain(value)
    name = word(detail, "tool_name")
    family = name.removeprefix("openrouter:")
    call_id = word(detail, "tool_call_id") or word(detail, "id")
    made = next((one for one, prefix in _PREFIXES.items() if call_id.startswith(prefix + MARK)), "")
    family = made or (family if family in SEARCHES else "")
    call_id = own_id(_PREFIXES.get(made, ""), call_id)
    result = word(detail, "result")
    call_arguments = word(detail, "arguments")
    if family == _RUN and "code" not in members(call_arguments):
        call_arguments = arguments(code=call_arguments, language=_EDITOR)
    server, name = split_name(name) if family == _MCP else ("", name)
    call = HostedCall(dialect, DETAIL, value, family, call_id, name, call_arguments, server, at=at)
    if family == _RUN:
        return call, _read_run(result, call, (*at, "result"))
    sources, parts = _read_result(result, (*at, "result"))
    error = members(result).get("error") if family and is_marked(value) and result.endswith("}") else None
    if isinstance(error, str):  # the form of `_written`
        parts = (Text(error, at=(*at, "result")),) if error else ()
    failed = isinstance(error, str)
    return call, HostedResult(dialect, DETAIL, ELSEWHERE, family, call_id, sources, parts, failed, at=at)


def is_marked(value: Raw) -> bool:
    """Whether an entry represents a use of another dialect's upstream."""
    return MARK_BYTES in bytes(value) and json_text.kind(value) == DETAIL


def _read_run(text: str, call: HostedCall, at: Path) -> HostedResult:
    """Read the output of `_written_run`."""
    fields = members(text)
    stderr, code = word(fields, "stderr"), fields.get("exit_code")
    known = type(code) is int
    wrote = word(fields, "stdout") if known else text
    parts: tuple[Part, ...] = (Text(wrote, at=at),) if wrote else ()
    outcome = (parts, known and code != 0, (), stderr, code if known else None)
    return HostedResult(call.dialect, DETAIL, ELSEWHERE, call.family, call.id, (), *outcome, at=call.at)


def _read_result(text: str, at: Path) -> tuple[tuple[Citation, ...], tuple[Part, ...]]:
    """The pages of a result, if it is a list of pages or an object with one; else its text."""
    found: Any = members(b'{"results":%b}' % text.encode("utf-8", "surrogatepass")).get("results") if text else None
    if isinstance(found, dict):
        found = next((inner for inner in found.values() if isinstance(inner, list)), [found])
    pages = tuple(
        [
            Citation(
                word(page, "url"),
                word(page, "title"),
                word(page, "content") or word(page, "text"),
                age=word(page, "page_age"),
            )
            for page in objects(found)
            if word(page, "url")
        ]
    )
    return pages, () if pages or not text else (Text(text, at=at),)


def written_use(call: HostedCall, result: HostedResult | None, context: Context) -> dict[str, Any]:
    """The entry for another dialect's use of any tool: name and texts are free."""
    code, language = program(call) if call.family == _RUN else ("", "")
    entry = {
        "type": DETAIL,
        "tool_name": call.family if call.family in SEARCHES else full_name(call),
        "arguments": (code if language == _EDITOR else call.arguments) or "{}",
        "result": _written_run(result) if call.family == _RUN else _written(result),
        "tool_call_id": foreign_id(_PREFIXES.get(call.family, ""), use_id(call)),
        "format": "unknown",
    }
    left = "the files of the program have no place" if files(result) else ""
    report_mapped_use(call, result, context, DETAIL, left, request=False)
    return entry


def write_hosted(call: HostedCall, result: HostedResult | None, context: Context, request: bool) -> tuple[Part, ...]:
    """The entry for a Chat client; text for an upstream."""
    if request:
        return write_as_text(call, result, context, request)
    return (Opaque(wire.NAME, DETAIL, json_text.raw(written_use(call, result, context)), at=call.at),)


def _written_run(result: HostedResult | None) -> str:
    """The result of a program: its output alone, or with standard error and exit code if these are known."""
    if result is None or (result.exit_code is None and not result.is_error):
        return output(result)
    code = int(result.is_error) if result.exit_code is None else result.exit_code
    return json_text.encode({"stdout": stdout(result), "stderr": result.stderr, "exit_code": code}).decode()


def _written(result: HostedResult | None) -> str:
    """The result as text: its pages as JSON, or its text."""
    if result is None:
        return ""
    words = [part.text for part in result.parts if type(part) is Text]
    pages = [_page(page) for page in result.sources]
    if result.tools:
        return json_text.encode(list(result.tools)).decode()
    if not result.family and not words and not pages and not is_stored_elsewhere(result):
        return _own_content(result.value)
    if result.is_error and result.family:
        return json_text.encode({**(pages[0] if pages else {}), "error": "\n".join(words)}).decode()
    if words and pages:
        pages[0]["content"] = "\n".join(words)
    return json_text.encode(pages).decode() if pages else "\n".join(words)


def _page(page: Citation) -> dict[str, Any]:
    fields = {"url": page.url, "title": page.title, "content": page.quote, "page_age": page.age}
    return {name: value for name, value in fields.items() if value}


def _own_content(value: Raw) -> str:
    """The result of a tool that only its own dialect has, in that dialect's form."""
    fields = json_text.fields(value)
    return json_text.text(fields.get("content", value))
