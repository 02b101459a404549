"""Writes uses of hosted tools in a history as text.

Program runs, MCP calls, searches, fetched pages and uses of tools that only one dialect has become text for every
upstream but their own; only Responses gets searches in its own form. The READMEs of the dialects state which foreign
uses an upstream accepts. The text holds the call and the result, so that the model gets both.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..canon.parts import Citation, HostedCall, HostedResult, Media, Part, Text, is_stored_elsewhere
from ..context import Context
from . import json_text
from .hosted_calls import drop_use, members, queries, word


def program(call: HostedCall) -> tuple[str, str]:
    """The code that was run, and its language ("" if unknown)."""
    arguments = members(call.arguments)
    return word(arguments, "code"), word(arguments, "language")


def output(result: HostedResult | None) -> str:
    """All text of a result, each text on its own lines; the standard error of a program last."""
    return join_on_lines([stdout(result), result.stderr if result is not None else ""])


def text_of_result(result: HostedResult | None) -> str:
    """All text of a result, as in `output`. If there is none, and only the result's own dialect has the tool: the text
    in the dialect's JSON."""
    words = output(result)
    if words or result is None or result.family or result.sources or is_stored_elsewhere(result):
        return words
    return text_in(json_text.plain(result.value))


def stdout(result: HostedResult | None) -> str:
    """All text of a result without standard error."""
    return join_on_lines([part.text for part in (result.parts if result is not None else ()) if type(part) is Text])


def join_on_lines(texts: Iterable[str]) -> str:
    """The texts joined, each on its own lines."""
    out = ""
    for text in texts:
        if text:
            out += text if not out or out.endswith("\n") else f"\n{text}"
    return out


def files(result: HostedResult | None) -> list[Media]:
    """The images and files of a result."""
    return [part for part in result.parts if type(part) is Media] if result is not None else []


def has_text(call: HostedCall) -> bool:
    """Whether uses of this family can become text."""
    return call.family in _DESCRIPTIONS


def as_text(call: HostedCall, result: HostedResult | None, context: Context) -> tuple[Part, ...]:
    """The use as a text of the assistant."""
    context.lose("part.as_text", call.at, call.kind)
    if result is not None and result.at != call.at:
        context.lose("part.as_text", result.at, result.kind)
    for part in (call, result):
        # A signature is bound to its part. The text cannot carry it, so the loss is reported apart.
        if part is not None and b'"thoughtSignature"' in bytes(part.value):
            context.lose("seal.dropped", part.at, part.kind)
    # Text cannot hold an image, and no upstream accepts images in an assistant turn from others.
    for media in files(result):
        context.lose("media.dropped", media.at, media.mime or media.kind)
    description = _DESCRIPTIONS[call.family](call)
    came_back = "\n".join([text for text in (_pages(result), output(result)) if text])
    if result is not None and not call.family and not result.parts and not is_stored_elsewhere(result):
        came_back = text_in(json_text.plain(result.value))
    if result is None:
        # The model must know that there is no result; else it may invent one.
        description += "\n[no result was recorded]"
    elif came_back:
        # The end is marked, because a page may hold text that looks like the model's own words.
        description += f"\n[{_failed(result) or 'result'}]\n{came_back}\n[end of the result]"
    else:
        description += f"\n[{_failed(result) or 'no output'}]"
    return (Text(description, at=call.at),)


def _failed(result: HostedResult) -> str:
    if not result.is_error:
        return ""
    return f"it failed with exit code {result.exit_code}" if result.exit_code else "it failed"


def _run(call: HostedCall) -> str:
    code, language = program(call)
    return f"[{language} code was run]\n{code}" if language else f"[code was run]\n{code}"


def _call(call: HostedCall) -> str:
    server = f" of the MCP server {call.server}" if call.server else ""
    return f"[the tool {call.name}{server} was called]\n{call.arguments}"


def _search(call: HostedCall) -> str:
    terms = queries(call)
    return f"[the web was searched for: {'; '.join(terms)}]" if terms else "[the web was searched]"


def _fetch(call: HostedCall) -> str:
    arguments = members(call.arguments)
    pattern = word(arguments, "pattern")
    return f"[the page {word(arguments, 'url')} was fetched{f', to find {pattern}' if pattern else ''}]"


def _other(call: HostedCall) -> str:
    arguments = call.arguments if call.arguments not in ("", "{}") else ""
    named = call.name or call.kind
    return f"[the tool {named} was used]\n{arguments}" if arguments else f"[the tool {named} was used]"


_DESCRIPTIONS = {"": _other, "code_execution": _run, "mcp": _call, "web_search": _search, "web_fetch": _fetch}
"""The function that describes the call, by family. "": tools that only one dialect has."""

_PAIRING = frozenset({"id", "status", "call_id", "tool_use_id", "container_id", "toolType", "tool_type"})
"""Members of a use that describe neither the call nor the result."""


def text_in(value: Any) -> str:
    """The text in a JSON value: its only text, else the value without ids, types and seals; "" for none."""
    value = _trimmed({key: one for key, one in value.items() if key != "type"} if isinstance(value, dict) else value)
    # A single text inside of wrappers is the result of the tool. The wrappers have no meaning.
    while isinstance(value, dict | list) and len(value) == 1:
        value = value[0] if isinstance(value, list) else next(iter(value.values()))
    if isinstance(value, str) or value in (None, {}, []):
        return value or ""
    return json_text.encode(value).decode()


def _trimmed(value: Any) -> Any:
    if isinstance(value, list):
        return [trimmed for one in value if (trimmed := _trimmed(one)) not in (None, {}, [])]
    if not isinstance(value, dict):
        return value
    fields = {
        key: _trimmed(one) for key, one in value.items() if key not in _PAIRING and not key.startswith("encrypted")
    }
    # In these objects `type` always has the same value, so it is of no use to the model.
    if fields.get("type") == "text" or str(fields.get("type", "")).endswith("_result"):
        del fields["type"]
    return {key: one for key, one in fields.items() if one not in (None, {}, [])}


def _pages(result: HostedResult | None) -> str:
    """The pages of a result, each with title, address and shown words."""
    found = result.sources if result is not None else ()
    return "\n".join([_page(page) for page in found])


def _page(page: Citation) -> str:
    named = f"- {page.title} {page.url}" if page.title else f"- {page.url}"
    if page.age:
        named += f" ({page.age})"
    return f"{named}\n{page.quote}" if page.quote else named


def write_as_text(call: HostedCall, result: HostedResult | None, context: Context, request: bool) -> tuple[Part, ...]:
    """For dialects without hosted tools of these families: text in a history, nothing in an answer."""
    if request and has_text(call):
        return as_text(call, result, context)
    if call.family == "tool_search":
        return drop_search(call, result, context)
    # The client does not see the search, but gets the text that the model wrote with it.
    return drop_use(call, result, context, severity="info" if call.family in ("web_search", "web_fetch") else None)


def drop_search(call: HostedCall, result: HostedResult | None, context: Context) -> tuple[Part, ...]:
    """Drop a tool search: it has no use if all tools are declared."""
    for part in (call, result):
        if part is not None:
            context.lose("hosted.dropped", part.at, f"{part.kind}: the tools are declared in full", "info")
    return ()
