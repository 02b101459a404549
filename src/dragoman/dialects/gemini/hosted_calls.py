"""Owns the calls and results of tools that Gemini runs itself.

The result of a search is in the metadata of a candidate (`groundingMetadata`, `urlContextMetadata`), which no client
returns. Gemini 3 may also send parts (`toolCall`, `toolResponse`), which go back to Gemini only. Searches and fetches
of other dialects are written as metadata for clients. An upstream gets none of them, because its own parts have seals;
in a request they become text (`codec/hosted_calls_as_text.py`).
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import (
    ELSEWHERE,
    Citation,
    Extra,
    HostedCall,
    HostedResult,
    Opaque,
    Part,
    Path,
    Text,
    is_stored_elsewhere,
)
from ...codec import json_text
from ...codec.hosted_calls import arguments, members, objects, pages, queries, report_mapped_use, word
from ...codec.hosted_calls_as_text import as_text, files, stdout
from ...context import Context
from . import wire
from .call_pairing import Ids
from .code_execution import write_hosted as write_run
from .foreign_hosted_calls_for_clients import CALL, RESPONSE, read_tool_part, write_use
from .grounding import PAGES, Grounding
from .original_values import peek

GROUNDING, FETCHED = "groundingMetadata", "urlContextMetadata"
_SUCCESS, _ERROR = "URL_RETRIEVAL_STATUS_SUCCESS", "URL_RETRIEVAL_STATUS_ERROR"


def read_hosted(kind: str, value: Raw, extra: Extra | None, at: Path) -> Opaque:
    """A part of a hosted tool: a hosted call or result."""
    if kind in (CALL, RESPONSE):
        return read_tool_part(kind, value, extra, at)
    return Opaque(wire.NAME, kind, value, extra=extra, at=at)


def read_metadata(grounding: Raw, fetched: Raw, parts: list[Part], at: Path, ids: Ids) -> list[Opaque]:
    """The searches and fetches in the metadata of a candidate, for another dialect. `parts`: the parts of the
    candidate, which may already hold its searches.
    """
    return uses_in(Grounding(grounding) if grounding else None, fetched, parts, at, ids)


def uses_in(grounding: Grounding | None, fetched: Raw, parts: list[Part], at: Path, ids: Ids) -> list[Opaque]:
    """The searches and fetches, as in `read_metadata`, from decoded metadata."""
    found: list[Opaque] = []
    # Within this dialect the metadata goes back unchanged as an extra.
    if not (grounding or fetched) or ids.context.target in wire.KIN:
        return found
    salt = ids.of_search(int(at[1]))
    # Gemini 3 may send a search as parts and as metadata (recorded traffic, 2026-11). One search must not appear twice.
    if grounding and not any(type(part) is HostedCall and part.family == "web_search" for part in parts):
        found += _read_search(grounding, (*at, GROUNDING), salt)
    if fetched:
        found += _read_fetches(peek(fetched), (*at, FETCHED), salt, ids.context)
    return found


def _read_search(grounding: Grounding, at: Path, salt: str) -> list[Opaque]:
    queries = grounding.queries
    # Retrieval from a store also fills groundingChunks, but has no webSearchQueries: it is not a web search.
    if not queries:
        return []
    found = [chunk.get(name) for chunk in objects(grounding.chunks) for name in PAGES if name in chunk]
    sources = tuple([Citation(word(page, "uri"), word(page, "title")) for page in objects(found)])
    name = f"{salt}search"
    args = arguments(query=queries[0], queries=queries if len(queries) > 1 else None)
    call = HostedCall(
        wire.NAME, GROUNDING, ELSEWHERE, "web_search", name, "web_search", args, at=(*at, "webSearchQueries")
    )
    return [
        call,
        HostedResult(wire.NAME, GROUNDING, ELSEWHERE, "web_search", name, sources, at=(*at, "groundingChunks")),
    ]


def _read_fetches(value: Any, at: Path, salt: str, context: Context) -> list[Opaque]:
    listed = value.get("urlMetadata") if isinstance(value, dict) else None
    if not isinstance(listed, list) or not any(word(page, "retrievedUrl") for page in listed):
        return []
    context.keep(at, {name: json_text.raw(inner) for name, inner in value.items() if name != "urlMetadata"})
    found: list[Opaque] = []
    for i, page in enumerate(listed):
        if word(page, "retrievedUrl"):
            found += _read_fetch(page, (*at, "urlMetadata", i), f"{salt}fetch_{i}")
        else:
            context.lose("field.dropped", (*at, "urlMetadata", i), "a page without an address", "info")
    return found


def _read_fetch(page: Any, at: Path, name: str) -> list[Opaque]:
    url = word(page, "retrievedUrl")
    status = word(page, "urlRetrievalStatus")
    failed = status not in ("", _SUCCESS)
    # The status word is the only message about the failure.
    parts = (Text(status, at=(*at, "urlRetrievalStatus")),) if failed else ()
    call = HostedCall(wire.NAME, FETCHED, ELSEWHERE, "web_fetch", name, "web_fetch", arguments(url=url), at=at)
    result = HostedResult(wire.NAME, FETCHED, ELSEWHERE, "web_fetch", name, (Citation(url),), parts, failed, at=at)
    return [call, result]


def before_text(parts: list[Part], found: list[Opaque]) -> list[Part]:
    """The parts of an answer with its searches before the first text."""
    # In Messages and Responses, a search comes before the text that was written from it.
    place = next((i for i, part in enumerate(parts) if type(part) is Text), len(parts))
    return [*parts[:place], *found, *parts[place:]]


def write_hosted(call: HostedCall, result: HostedResult | None, context: Context, request: bool) -> tuple[Part, ...]:
    """The metadata for another dialect's use of a hosted tool."""
    if call.family not in ("web_search", "web_fetch"):
        return write_run(call, result, context, request)
    if request:
        return as_text(call, result, context)
    # The schema of the metadata has no field for the words of a page. `toolResponse` is a free object, and can hold
    # them.
    shown = write_use(call, result) if _has_more(call, result) else ()
    if call.family == "web_search":
        chunks = [_chunk(page) for page in pages(result)]
        value: dict[str, Any] = {"webSearchQueries": queries(call), "groundingChunks": chunks}
        report_mapped_use(call, result, context, GROUNDING, request=False)
        return (*shown, Opaque(wire.NAME, GROUNDING, json_text.raw(value), at=call.at))
    url = word(members(call.arguments), "url") or next((page.url for page in pages(result)), "")
    failed = result is not None and result.is_error
    page = {"retrievedUrl": url, "urlRetrievalStatus": _status(result) if failed else _SUCCESS}
    report_mapped_use(call, result, context, FETCHED, _files_left(result), request=False)
    return (*shown, Opaque(wire.NAME, FETCHED, json_text.raw({"urlMetadata": [page]}), at=call.at))


def _status(result: HostedResult | None) -> str:
    """The status of a fetch that failed. Gemini's own words, such as those for paid or unsafe pages, are kept."""
    words = stdout(result)
    return words if words.startswith("URL_RETRIEVAL_STATUS_") else _ERROR


def _has_more(call: HostedCall, result: HostedResult | None) -> bool:
    """Whether a use has content without a field in the metadata: the text or the age of a page, the title of a fetched
    page, or the words that were searched in a page."""
    if result is not None and (result.parts or any(page.quote or page.age for page in result.sources)):
        return True
    if call.family == "web_search":
        return False
    titled = result is not None and any(page.title for page in result.sources)
    return titled or bool(word(members(call.arguments), "pattern"))


def _files_left(result: HostedResult | None) -> str:
    return "the file has no place" if files(result) else ""


def _chunk(page: Citation) -> dict[str, Any]:
    return {"web": {"uri": page.url, "title": page.title} if page.title else {"uri": page.url}}


def is_metadata(part: Part) -> bool:
    """Whether a part belongs to the metadata of its candidate, not to the content."""
    return isinstance(part, Opaque) and part.dialect == wire.NAME and part.kind in (GROUNDING, FETCHED)


def write_metadata(grounding: dict[str, Any] | None, parts: list[Opaque]) -> dict[str, Any]:
    """The metadata of a candidate: its citations, and the parts of `write_hosted`."""
    out: dict[str, Any] = {}
    for part in parts:
        if is_stored_elsewhere(part):
            continue
        for name, listed in json_text.plain(part.value).items():
            out.setdefault(part.kind, {}).setdefault(name, []).extend(listed)
    if grounding is not None:
        cited = {word(chunk.get("web"), "uri") for chunk in grounding["groundingChunks"]}
        uses = out.get(GROUNDING, {})
        # A page that is cited and found must appear once: clients number their list of sources by groundingChunks.
        more = [chunk for chunk in uses.get("groundingChunks", ()) if chunk["web"]["uri"] not in cited]
        out[GROUNDING] = {**uses, **grounding, "groundingChunks": [*grounding["groundingChunks"], *more]}
    return out
