"""Reads the web searches of Chat hosts: the fields `search_results` and `citations` beside `choices`.

Perplexity fills both in every chunk (recorded 2025: `openai-chat-8a94592424d1`): `citations` has addresses, and `[2]`
in the text refers to the second of them. For other dialects they are a hosted call with its result, and citations of
the text. No host sends the search query. Neither field is written: OpenAI's schema of an answer lacks them (2026-11),
and no host accepts them in a request. The cited pages cross as annotations.
"""

from __future__ import annotations

import re

import msgspec
from msgspec import Raw

from ...canon.parts import ELSEWHERE, Citation, HostedCall, HostedResult, Opaque, Part, Text
from ...codec import json_text
from ...codec.call_ids import hashed
from ...codec.hosted_calls import objects, word
from ...context import Context
from . import wire

RESULTS, ADDRESSES = "search_results", "citations"
_NUMBER = re.compile(r"\[(\d{1,3})\]")


class Search:
    """The search in the fields of an answer."""

    __slots__ = ("_cited", "_found", "_sources", "fields")

    def __init__(self, results: Raw | None, addresses: Raw | None) -> None:
        self.fields = results, addresses
        """As they came."""
        found = json_text.plain(results) if results is not None else None
        listed = json_text.plain(addresses) if addresses is not None else None
        self._sources = [
            Citation(word(page, "url"), word(page, "title"), word(page, "snippet"), age=word(page, "date"))
            for page in objects(found)
        ]
        known = {page.url: page for page in self._sources}
        urls = [url for url in listed if isinstance(url, str)] if isinstance(listed, list) else []
        self._cited = [known.get(url, Citation(url)) for url in urls] or self._sources
        self._sources += [page for page in self._cited if page.url not in known]
        self._found = bool(self._sources)

    def __bool__(self) -> bool:
        return self._found

    def parts(self, answer_id: str) -> tuple[Opaque, Opaque]:
        """The search as a hosted call with its result."""
        name = hashed(f"{answer_id}\x1fsearch", "search_")
        call = HostedCall(wire.NAME, ADDRESSES, ELSEWHERE, "web_search", name, "web_search", "{}", at=(ADDRESSES,))
        sources = tuple(self._sources)
        return call, HostedResult(wire.NAME, RESULTS, ELSEWHERE, "web_search", name, sources, at=(RESULTS,))

    def citations(self, text: str) -> tuple[Citation, ...]:
        """The citations of a text: a page for each number in brackets."""
        found: list[Citation] = []
        for match in _NUMBER.finditer(text):
            number = int(match[1]) - 1
            if 0 <= number < len(self._cited):
                page = self._cited[number]
                found.append(Citation(page.url, page.title, page.quote, match.start(), match.end()))
        return tuple(found)


def take_search(fields: dict[str, Raw], context: Context, before: Search | None = None) -> Search | None:
    """The search in the fields of an answer, removed from them; None if there is none. Within this dialect the fields
    stay. `before`: the search of the last chunk, which most chunks repeat.
    """
    if context.target == wire.NAME or not (RESULTS in fields or ADDRESSES in fields):
        return None
    found = fields.get(RESULTS), fields.get(ADDRESSES)
    search = before if before is not None and before.fields == found else Search(*found)
    if not search:
        return None
    fields.pop(RESULTS, None)
    fields.pop(ADDRESSES, None)
    return search


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
