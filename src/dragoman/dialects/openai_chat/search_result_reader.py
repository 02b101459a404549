"""Reads the web searches of Chat hosts: the fields `search_results`, `citations` and `web_search` beside `choices`.

Perplexity fills `search_results` and `citations` in every chunk (recorded 2025): `citations` has addresses, and `[2]`
in the text refers to the second of them. z.ai and BigModel send the pages as `web_search`, with other names for the
same members (zai-sdk 0.2.3, 2026-11); `[ref_2]` in the text refers to the page whose `refer` is "ref_2". For other
dialects the fields are a hosted call with its result, and citations of the text. No host sends the search query. None
of the fields is written: OpenAI's schema of an answer lacks them (2026-11), and no host accepts them in a request. The
cited pages are written as annotations.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import ELSEWHERE, Citation, HostedCall, HostedResult, Opaque, Part, Text
from ...codec import json_text
from ...codec.call_ids import hashed_id
from ...codec.hosted_calls import numbered_objects, objects, word
from ...context import Context
from . import wire

RESULTS, ADDRESSES, PAGES = "search_results", "citations", "web_search"
_FIELDS = (RESULTS, ADDRESSES, PAGES)
_NUMBER = re.compile(r"\[(?:ref_)?(\d{1,3})\]")


class Search:
    """The search in the fields of an answer."""

    __slots__ = ("_cited", "_found", "_sources", "fields")

    def __init__(self, results: Raw | None, addresses: Raw | None, pages: Raw | None = None) -> None:
        self.fields = results, addresses, pages
        """As they came."""
        found = json_text.plain(results) if results is not None else None
        listed = json_text.plain(addresses) if addresses is not None else None
        self._sources = [
            Citation(word(page, "url"), word(page, "title"), word(page, "snippet"), age=word(page, "date"))
            for page in objects(found)
        ]
        self._sources += _pages_of_zai(json_text.plain(pages)) if pages is not None else []
        known = {page.url: page for page in self._sources}
        urls = [url for url in listed if isinstance(url, str)] if isinstance(listed, list) else []
        # The numbers in the text count `citations` (Perplexity, recorded 2025-08). Without that field the numbers count
        # the pages.
        self._cited = [known.get(url, Citation(url)) for url in urls] or self._sources
        self._sources += [page for page in self._cited if page.url not in known]
        self._found = bool(self._sources)

    def __bool__(self) -> bool:
        return self._found

    def parts(self, answer_id: str) -> tuple[Opaque, Opaque]:
        """The search as a hosted call with its result."""
        name = hashed_id(f"{answer_id}\x1fsearch", "search_")
        found = PAGES if self.fields[2] is not None else RESULTS
        called = found if found == PAGES and self.fields[1] is None else ADDRESSES
        call = HostedCall(wire.NAME, called, ELSEWHERE, "web_search", name, "web_search", "{}", at=(called,))
        sources = tuple(self._sources)
        return call, HostedResult(wire.NAME, found, ELSEWHERE, "web_search", name, sources, at=(found,))

    def citations(self, text: str) -> tuple[Citation, ...]:
        """The citations of a text: a page for each number in brackets."""
        found: list[Citation] = []
        for match in _NUMBER.finditer(text):
            number = int(match[1]) - 1
            # A number in brackets may be text of the answer, such as an index in code.
            if 0 <= number < len(self._cited):
                page = self._cited[number]
                found.append(Citation(page.url, page.title, page.quote, match.start(), match.end()))
        return tuple(found)


def take_search(fields: dict[str, Raw], context: Context, before: Search | None = None) -> Search | None:
    """The search in the fields of an answer, removed from them; None if there is none. Within this dialect the fields
    stay. `before`: the search of the last chunk, which most chunks repeat.
    """
    if context.target == wire.NAME or fields.keys().isdisjoint(_FIELDS):
        return None
    found = fields.get(RESULTS), fields.get(ADDRESSES), fields.get(PAGES)
    search = before if before is not None and before.fields == found else Search(*found)
    if not search:
        return None
    if search is not before and found[2] is not None:
        _report_rest(json_text.plain(found[2]), context)
    for name in _FIELDS:
        fields.pop(name, None)
    return search


_READ = frozenset({"link", "title", "content", "publish_date", "refer"})
"""The members of z.ai's pages that are read."""


def _pages_of_zai(listed: Any) -> list[Citation]:
    """The pages in the order of their numbers in the text."""
    pages = [page for page in objects(listed) if word(page, "link")]
    pages.sort(key=lambda page: int(word(page, "refer").removeprefix("ref_") or 0) if _is_numbered(page) else 0)
    return [
        Citation(word(page, "link"), word(page, "title"), word(page, "content"), age=word(page, "publish_date"))
        for page in pages
    ]


def _is_numbered(page: dict[str, Any]) -> bool:
    return word(page, "refer").removeprefix("ref_").isdecimal()


def _report_rest(listed: Any, context: Context) -> None:
    """Report the members of z.ai's pages that no other dialect has: the name of the site, its icon, pictures."""
    for i, page in numbered_objects(listed):
        for name, value in page.items():
            if name not in _READ and value not in (None, "", []):
                context.lose("field.dropped", (PAGES, i, name), severity="info")


def with_search(parts: list[Part], search: Search, answer_id: str) -> list[Part]:
    """The parts of an answer with its search before the first text, and with citations on each text. A text with
    annotations keeps these: LiteLLM makes them of the numbers, and sends both.
    """
    cited = [
        msgspec.structs.replace(part, citations=search.citations(part.text))
        if type(part) is Text and not part.refusal and not part.citations
        else part
        for part in parts
    ]
    place = next((i for i, part in enumerate(cited) if type(part) is Text), len(cited))
    return [*cited[:place], *search.parts(answer_id), *cited[place:]]
