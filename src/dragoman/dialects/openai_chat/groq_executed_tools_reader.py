"""Reads `executed_tools`: the tools that Groq's compound models ran themselves, in a message or a delta.

An entry has a type, its arguments as JSON text, and one kind of result: `search_results`, `code_results`,
`browser_results`, or only the text `output` (groq SDK 1.7.0, 2026-11). The type words are not listed there, so an entry
is read by its result and its arguments. In a stream an entry may come twice with the same `index`: first without a
result. For other dialects an entry is a hosted call with its result. The field is never written: only Groq has it.
"""

from __future__ import annotations

from typing import Any

from ...canon.parts import ELSEWHERE, Citation, HostedCall, HostedResult, Media, Opaque, Part, Path, Text
from ...codec import json_text
from ...codec.call_ids import hashed_id
from ...codec.hosted_calls import arguments, members, numbered_objects, objects, word
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from . import wire

FIELD = "executed_tools"
_RESULTS = ("output", "search_results", "code_results", "browser_results")
_READ = frozenset({"type", "index", "name", "arguments", *_RESULTS})


class ExecutedTools:
    """The tools of one answer. In a stream, the entries that wait for their result."""

    __slots__ = ("_context", "_waiting")

    def __init__(self, context: Context) -> None:
        self._context = context
        self._waiting: dict[tuple[int, Any], tuple[dict[str, Any], Path, str]] = {}

    def take(self, unknown: Unknown, at: Path, answer_id: str, *, streamed: int | None = None) -> list[Opaque]:
        """The entries of the message or delta at `at`, removed from the unknown fields. `streamed`: the number of the
        answer in a stream, whose entries wait for their result."""
        fields = unknown.get(at, {})
        if FIELD not in fields or self._context.target == wire.NAME:
            return []
        listed = json_text.plain(fields[FIELD])
        if not isinstance(listed, list):
            return []
        del fields[FIELD]
        out: list[Opaque] = []
        entries = dict(numbered_objects(listed))
        for i, value in enumerate(listed):
            place = (*at, FIELD, i)
            if i not in entries:
                self._context.lose_field((*at, FIELD), str(i), json_text.raw(value), wire.NOISE)
                continue
            entry, key = entries[i], (streamed or 0, entries[i].get("index", i))
            # The first of the two entries has no result (groq SDK 1.7.0, 2026-11). As a use of its own it would be a
            # second search.
            if streamed is not None and not any(entry.get(name) for name in _RESULTS):
                self._waiting[key] = entry, place, answer_id
                continue
            before = self._waiting.pop(key, None)
            if before is not None:
                entry = {**before[0], **{name: value for name, value in entry.items() if value}}
            out += self._read(entry, place, answer_id)
        return out

    def rest(self) -> list[Opaque]:
        """The entries of a stream that ended without a result."""
        waiting, self._waiting = self._waiting, {}
        return [part for entry, place, answer_id in waiting.values() for part in self._read(entry, place, answer_id)]

    def _read(self, entry: dict[str, Any], at: Path, answer_id: str) -> list[Opaque]:
        given = members(word(entry, "arguments"))
        pages = [page for page in objects(_inside(entry, "search_results").get("results")) if word(page, "url")]
        kind = word(entry, "type")
        number = entry.get("index", at[-1])
        name = hashed_id(f"{answer_id}\x1f{FIELD}\x1f{at[1:2]}\x1f{number}", "run_")
        sources: list[Citation] = []
        parts: list[Part] = []
        if pages or "search" in kind:
            family, own = "web_search", arguments(query=word(given, "query"))
            sources = [Citation(word(page, "url"), word(page, "title"), word(page, "content")) for page in pages]
            self._report_rest(_inside(entry, "search_results"), ("results",), (*at, "search_results"))
            for i, page in numbered_objects(_inside(entry, "search_results").get("results")):
                self._report_rest(page, ("url", "title", "content"), (*at, "search_results", "results", i))
        elif "code" in given or entry.get("code_results"):
            family, own = "code_execution", arguments(code=word(given, "code"), language="python")
            parts = self._output_of_code(entry, at)
        elif word(given, "url") or entry.get("browser_results"):
            family, own = "web_fetch", arguments(url=word(given, "url"))
            for i, page in numbered_objects(entry.get("browser_results")):
                sources.append(Citation(word(page, "url"), word(page, "title"), word(page, "content")))
                self._report_rest(page, ("url", "title", "content"), (*at, "browser_results", i))
        else:
            self._context.lose("field.dropped", at, kind)
            return []
        text = word(entry, "output")
        if text and not parts and not sources:
            parts = [Text(text, at=(*at, "output"))]
        elif text and family != "code_execution":
            self._context.lose("field.dropped", (*at, "output"), "it repeats the pages", "info")
        self._report_rest(entry, tuple(_READ), at)
        self._report_rest(given, ("query", "code", "url"), (*at, "arguments"))
        call = HostedCall(wire.NAME, FIELD, ELSEWHERE, family, name, family, own, at=at)
        found = (tuple(sources), tuple(parts))
        return [call, HostedResult(wire.NAME, FIELD, ELSEWHERE, family, name, *found, at=at)]

    def _output_of_code(self, entry: dict[str, Any], at: Path) -> list[Part]:
        """The output of a program: its text once, and its pictures."""
        parts: list[Part] = []
        if word(entry, "output"):
            parts.append(Text(word(entry, "output"), at=(*at, "output")))
        for i, result in numbered_objects(entry.get("code_results")):
            place = (*at, "code_results", i)
            text = word(result, "text")
            if text and text.strip() not in word(entry, "output"):
                parts.append(Text(text, at=(*place, "text")))
            if word(result, "png"):
                parts.append(Media("image", "image/png", word(result, "png"), at=(*place, "png")))
            self._report_rest(result, ("text", "png"), place)
        return parts

    def _report_rest(self, value: dict[str, Any], read: tuple[str, ...], at: Path) -> None:
        """Report the members that no other dialect has: scores, charts, pictures of a search."""
        for name, member in value.items():
            if name not in read and member not in (None, "", [], {}):
                self._context.lose("field.dropped", (*at, name), severity="info")


def _inside(entry: dict[str, Any], name: str) -> dict[str, Any]:
    value = entry.get(name)
    return value if isinstance(value, dict) else {}


def take_executed(unknown: Unknown, at: Path, answer_id: str, context: Context) -> list[Opaque]:
    """The tools that the host ran, from a whole message."""
    return ExecutedTools(context).take(unknown, at, answer_id) if FIELD in unknown.get(at, {}) else []
