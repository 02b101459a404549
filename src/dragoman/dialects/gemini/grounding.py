"""Translates citations: groundingMetadata and citationMetadata to canon citations and back.

Gemini counts bytes of UTF-8 in the whole text of the answer (recorded: also if a hosted part comes first, and in
streams, where the metadata comes last). The canon counts characters of the part that the citation belongs to.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Citation, Path, Text
from ...codec import json_text
from ...codec.dialect_extras import sent_fields
from ...context import Context
from .original_values import peek
from .wire import NAME

METADATA = ("groundingMetadata", "citationMetadata")
_SOURCES = ("web", "maps", "retrievedContext", "image")
PAGES = _SOURCES[:2]
"""Sources that a search found: each has an address and a title."""


Span = tuple[int | None, int | None]
"""The first and the last character of a cited text; None if unknown."""


class Grounding:
    """The `groundingMetadata` of a candidate, decoded once. Members that only this dialect has stay raw: the HTML of
    `searchEntryPoint` is most of the metadata.
    """

    __slots__ = ("_placed", "chunks", "members", "queries", "supports")

    def __init__(self, sent: Raw) -> None:
        self.members = _members(sent)
        self.chunks = self._list("groundingChunks")
        self.supports = self._list("groundingSupports")
        self.queries = [one for one in self._list("webSearchQueries") if isinstance(one, str)]
        self._placed: list[Span] | None = None

    def _list(self, name: str) -> list[Any]:
        found = peek(self.members[name]) if name in self.members else None
        return found if isinstance(found, list) else []

    # Citations and the report need the same spans. Finding them costs a search through the text, so it is done once.
    def spans(self, places: CharacterOffsets) -> list[Span]:
        """The span of each support in the text."""
        if self._placed is None:
            segments = [_segment(support) for support in self.supports]
            # A start of 0 is absent: Google's JSON leaves default values out (recorded).
            self._placed = [
                places.span(one.get("startIndex", 0), one.get("endIndex"), one.get("text")) for one in segments
            ]
        return self._placed


def _members(sent: Raw) -> dict[str, Raw]:
    try:
        return json_text.fields(sent)
    except (msgspec.DecodeError, RecursionError):
        return {}


def _segment(support: Any) -> dict[str, Any]:
    segment = support.get("segment") if isinstance(support, dict) else None
    return segment if isinstance(segment, dict) else {}


def read_citations(grounding: Raw, citation: Raw, places: CharacterOffsets) -> list[Citation]:
    """All citations, with positions in the whole text; without a position if the metadata gives none that fits."""
    return citations_of(Grounding(grounding) if grounding else None, citation, places)


def citations_of(grounding: Grounding | None, citation: Raw, places: CharacterOffsets) -> list[Citation]:
    """All citations, as in `read_citations`, from decoded metadata."""
    found: list[Citation] = []
    if grounding is not None:
        sources = [_source(chunk) for chunk in grounding.chunks]
        for support, span in zip(grounding.supports, grounding.spans(places), strict=True):
            for number in _list(support, "groundingChunkIndices"):
                if isinstance(number, int) and 0 <= number < len(sources):
                    found.append(Citation(*sources[number], *span))
    if citation:
        value = peek(citation)
        # Both names are in use: Vertex has `citations`, the Developer
        # API `citationSources` (google-genai 3.1.0, 2026-11).
        for cited in [*_list(value, "citations"), *_list(value, "citationSources")]:
            if isinstance(cited, dict):
                start, end = places.span(cited.get("startIndex", 0), cited.get("endIndex"), None)
                found.append(Citation(_word(cited, "uri"), _word(cited, "title"), "", start, end))
    return found


def _source(chunk: Any) -> tuple[str, str, str]:
    """(address, title, quoted text) of one grounding chunk."""
    for name in _SOURCES:
        inner = chunk.get(name) if isinstance(chunk, dict) else None
        if isinstance(inner, dict):
            # Retrieved documents have `uri` too, pictures have `sourceUri` (google-genai 3.1.0, 2026-11).
            return _word(inner, "uri") or _word(inner, "sourceUri"), _word(inner, "title"), _word(inner, "text")
    return "", "", ""


def _list(value: Any, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _word(value: dict[str, Any], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


_SEARCHED = 50_000_000
"""The largest number of characters to search for segments whose offsets do not fit: each such segment costs a search
through the text.
"""


_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


class CharacterOffsets:
    """Converts byte offsets of a text to character offsets. The text may grow."""

    def __init__(self, pieces: list[str]) -> None:
        """`pieces` of the text; more may be appended to the list."""
        self._pieces = pieces
        self._counted = 0  # number of counted pieces
        self._length = 0
        self._measured = 0  # number of measured pieces: only for answers with citations
        self._measured_length = 0
        self._searched = 0
        self._bytes = 0  # length of the measured pieces
        # For each character that is not ASCII: its end in bytes, and in characters.
        self._byte_ends: list[int] = []
        self._char_ends: list[int] = []

    def length(self) -> int:
        """The number of characters of the text."""
        for number in range(self._counted, len(self._pieces)):
            self._length += len(self._pieces[number])
        self._counted = len(self._pieces)
        return self._length

    def _measure(self) -> None:
        """Find the end of each character that is not ASCII."""
        for number in range(self._measured, len(self._pieces)):
            piece = self._pieces[number]
            more = 0  # bytes of the piece beyond one for each character
            if not piece.isascii():
                for run in _NOT_ASCII.finditer(piece):
                    for i, char in enumerate(run[0], run.start() + 1):
                        more += len(char.encode("utf-8", "surrogatepass")) - 1
                        self._byte_ends.append(self._bytes + i + more)
                        self._char_ends.append(self._measured_length + i)
            self._bytes += len(piece) + more
            self._measured_length += len(piece)
        self._measured = len(self._pieces)

    def whole(self) -> str:
        """The whole text."""
        if len(self._pieces) > 1:
            self.length()
            self._measure()
            self._pieces[:] = ["".join(self._pieces)]
            self._counted = self._measured = 1
        return self._pieces[0] if self._pieces else ""

    def span(self, start: Any, end: Any, text: Any) -> Span:
        """The first and the last character of a segment. If the numbers do not fit, the segment's own text decides."""
        if isinstance(start, int) and isinstance(end, int):
            first, last = self._characters(start), self._characters(end)
            if first is not None and last is not None and first <= last:
                # Only the text of the segment proves that the numbers fit.
                # Equal text at another position is better than a wrong span.
                if not isinstance(text, str) or self.whole()[first:last] == text:
                    return first, last
        if isinstance(text, str) and text:
            place = self._find(text)
            if place >= 0:
                return place, place + len(text)
        return None, None

    def _find(self, text: str) -> int:
        """The first position of these words; -1 if there is none, or if the search limit is reached."""
        if self._searched > _SEARCHED:
            return -1
        place = self.whole().find(text)
        self._searched += self.length() if place < 0 else place
        return place

    def _characters(self, offset: int) -> int | None:
        if self._measured < len(self._pieces):
            self._measure()
        if not 0 <= offset <= self._bytes:
            return None
        if not self._byte_ends:
            return offset
        wide = bisect_right(self._byte_ends, offset)
        # The characters after the last wide one before the offset are ASCII, up to the next wide one.
        count = offset - self._byte_ends[wide - 1] + self._char_ends[wide - 1] if wide else offset
        # An offset inside a wide character belongs to that character.
        return min(count, self._char_ends[wide] - 1) if wide < len(self._char_ends) else count


def place(texts: list[Text], citations: list[Citation], context: Context) -> list[Text]:
    """The texts of an answer with each citation on its text. A citation without a position goes to the last text."""
    hung: list[list[Citation]] = [[] for _ in texts]
    ends = list(accumulate([len(text.text) for text in texts]))
    for cited in citations:
        if cited.start is None or cited.end is None:
            hung[-1].append(cited)
            continue
        number = min(bisect_right(ends, cited.start), len(texts) - 1)
        before = ends[number - 1] if number else 0
        if cited.end > ends[number]:
            context.lose("citation.approximated", texts[number].at, "it reaches into the next part")
        start, end = cited.start - before, min(cited.end, ends[number]) - before
        # A segment may reach over two parts, because Gemini counts in the joined text of the answer (recorded traffic,
        # 2026-11). A citation of the canon belongs to one part.
        hung[number].append(Citation(cited.url, cited.title, cited.quote, start, end, cited.extra))
    return [
        Text(text.text, text.refusal, tuple(own), seal=text.seal, extra=text.extra, at=text.at) if own else text
        for text, own in zip(texts, hung, strict=True)
    ]


_SOURCE = frozenset({"uri", "sourceUri", "title", "text"})
_PLACE = frozenset({"startIndex", "endIndex", "text"})
_CITED = frozenset({"startIndex", "endIndex", "uri", "title"})
_CHUNK = dict.fromkeys(_SOURCES, _SOURCE)
_SUPPORT = {"segment": _PLACE, "groundingChunkIndices": frozenset()}
_CITATIONS = {"citations": _CITED, "citationSources": _CITED}
"""The metadata fields that citations are made of, with the fields of the objects in them."""


def report(
    candidate: Any,
    places: CharacterOffsets,
    at: Path,
    context: Context,
    *,
    searched: bool,
    grounding: Grounding | None = None,
) -> None:
    """Keep the metadata that no citation holds. The metadata itself is an extra of the answer, whole. `searched`:
    queries and pages belong to a hosted call and its result. `grounding`: the decoded metadata, if it is at hand.
    """
    if not places.length():
        # There is no text that could be cited.
        context.keep(at, sent_fields(candidate, METADATA) or {})
        return
    if candidate.groundingMetadata:
        found = grounding or Grounding(candidate.groundingMetadata)
        _report_grounding(found, places, (*at, METADATA[0]), context, searched=searched)
    if candidate.citationMetadata:
        _report(peek(candidate.citationMetadata), _CITATIONS, (*at, METADATA[1]), context)


def _report_grounding(
    grounding: Grounding, places: CharacterOffsets, at: Path, context: Context, *, searched: bool
) -> None:
    indices = [_list(support, "groundingChunkIndices") for support in grounding.supports]
    used = {number for each in indices for number in each if isinstance(number, int)}
    for i, chunk in enumerate(grounding.chunks):
        if i not in used and isinstance(chunk, dict) and not (searched and not chunk.keys().isdisjoint(PAGES)):
            # A source that supports no text is not a citation.
            context.keep((*at, "groundingChunks", i), {name: json_text.raw(inner) for name, inner in chunk.items()})
            # The chunk is reported whole, so that the walk below must not report its members again.
            chunk.clear()
    for i, (support, span) in enumerate(zip(grounding.supports, grounding.spans(places), strict=True)):
        words = _word(_segment(support), "text")
        if words and span[0] is None:
            context.keep((*at, "groundingSupports", i, "segment"), {"text": json_text.raw(words)})
    for name, sent in grounding.members.items():
        if name == "groundingChunks":
            _report(grounding.chunks or peek(sent), _CHUNK, (*at, name), context)
        elif name == "groundingSupports":
            _report(grounding.supports or peek(sent), _SUPPORT, (*at, name), context)
        elif name != "webSearchQueries" or not searched:
            context.keep(at, {name: sent})


def _report(value: Any, carried: Mapping[str, frozenset[str]], at: Path, context: Context) -> None:
    if isinstance(value, list):
        for i, item in enumerate(value):
            _report(item, carried, (*at, i), context)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name in carried:
                _report_others(inner, carried[name], at, name, context)
            else:
                context.keep(at, {name: json_text.raw(inner)})


def _report_others(value: Any, known: frozenset[str], at: Path, name: str | int, context: Context) -> None:
    """Keep the fields of an object, or of the objects in a list, that are not known."""
    if isinstance(value, list):
        for i, item in enumerate(value):
            if isinstance(item, dict):
                _report_others(item, known, (*at, name), i, context)
    elif isinstance(value, dict) and not value.keys() <= known:
        for other, inner in value.items():
            if other not in known:
                context.keep((*at, name), {other: json_text.raw(inner)})


_NO_PLACE = frozenset({"type", "encrypted_index"})
"""Fields of a citation that name no place in its source: its kind, and a seal, whose loss is reported when it is
read."""

Cited = tuple[str, tuple[Citation, ...], Path]
"""A text, its citations, and its path in the source."""


def write_grounding(texts: list[Cited], context: Context) -> dict[str, Any] | None:
    """Citations of other dialects as groundingMetadata; None if there are none."""
    chunks: dict[tuple[str, str, str], int] = {}
    written: list[Any] = []
    supports: list[Any] = []
    before = 0
    for text, citations, at in texts:
        for cited in citations:
            if not (cited.url or cited.title or cited.quote):
                context.lose("citation.dropped", at)
                continue
            if cited.url and cited.quote:
                context.lose("citation.approximated", at, "the quoted text has no place")
            if any(fields.keys() - _NO_PLACE for fields in (cited.extra or {}).values()):
                context.lose("citation.approximated", at, "there is no field for its place in the source")
            key = (cited.url, cited.title, "" if cited.url else cited.quote)
            if key not in chunks:
                chunks[key] = len(written)
                written.append(_write_source(*key))
            support: dict[str, Any] = {"groundingChunkIndices": [chunks[key]]}
            first, last = cited.start, cited.end
            if (first is None or last is None) and context.source != NAME:
                # The whole text is cited. A stream joins texts, so the segment must be explicit.
                first, last = 0, len(text)
            words = text[first:last] if first is not None and last is not None else ""
            if words:
                start = before + _size(text[:first])
                support["segment"] = {"startIndex": start, "endIndex": start + _size(words), "text": words}
            supports.append(support)
        before += _size(text)
    return {"groundingChunks": written, "groundingSupports": supports} if written else None


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _write_source(url: str, title: str, quote: str) -> dict[str, Any]:
    if url:
        return {"web": {"uri": url, "title": title} if title else {"uri": url}}
    fields = {"title": title, "text": quote}
    # gemini-cli shows sources of the kind `web` only (sources, 2026-08),
    # so a page with an address is never written as a retrievedContext.
    return {"retrievedContext": {name: value for name, value in fields.items() if value}}
