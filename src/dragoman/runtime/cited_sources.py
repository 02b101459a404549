"""Owns the text of an answer with its sources: numbers at the citations, and a list of the sources."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from ..canon.parts import Text
from ..canon.response import Response


class CitedSource(NamedTuple):
    """A page that an answer cites."""

    url: str
    title: str = ""


def with_source_list(text: str, sources: list[CitedSource]) -> str:
    """A text, followed by the list of its sources."""
    if not sources:
        return text
    lines = [f"[{i}] {source.title or 'Untitled'} ({source.url})" for i, source in enumerate(sources, 1)]
    return "\n".join([f"{text}\n", "Sources:", *lines])


def with_citation_numbers(response: Response) -> tuple[str, list[CitedSource]]:
    """The answer's text with a number after each cited passage, and the sources in the order of the numbers."""
    found: dict[str, CitedSource] = {source.url: source for source in _searched_sources(response)}
    texts: list[str] = []
    for part in response.parts:
        if not isinstance(part, Text):
            continue
        marks: dict[int, set[str]] = {}
        for citation in part.citations:
            if citation.url:
                found.setdefault(citation.url, CitedSource(citation.url, citation.title))
                if citation.end is not None:
                    # An upstream may count characters in another way, so a position can be beyond the end of the text.
                    marks.setdefault(min(citation.end, len(part.text)), set()).add(citation.url)
        order = list(found)
        text = part.text
        # From the end, so that the earlier positions stay valid.
        for position in sorted(marks, reverse=True):
            numbers = "".join([f"[{i}]" for i, url in enumerate(order, 1) if url in marks[position]])
            text = text[:position] + numbers + text[position:]
        texts.append(text)
    return "".join(texts), list(found.values())


def _searched_sources(response: Response) -> list[CitedSource]:
    """All sources that a search found, also uncited ones. Only Gemini's responses list them (groundingMetadata), in
    this order."""
    for name, value in (response.extra or {}).get("gemini", {}).items():
        if name.endswith("groundingMetadata"):
            chunks = _search_chunks(value)
            return [CitedSource(web["uri"], web.get("title", "")) for chunk in chunks if (web := _web_source(chunk))]
    return []


def _search_chunks(value: msgspec.Raw) -> list[Any]:
    """The chunks of Google's search in the extra fields of an answer. The fields may hold any JSON."""
    try:
        found = msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return []
    chunks = found.get("groundingChunks") if isinstance(found, dict) else None
    return chunks if isinstance(chunks, list) else []


def _web_source(chunk: Any) -> dict[str, str] | None:
    web = chunk.get("web") if isinstance(chunk, dict) else None
    return web if isinstance(web, dict) and isinstance(web.get("uri"), str) else None
