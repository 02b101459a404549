"""Owns the tool google_web_search: a web search with sources, by the upstream's hosted search or by a configured
endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

from ...errors import ConfigError
from ...transport.search_service_config import SearchService
from ..cited_sources import CitedSource, with_citation_numbers, with_source_list
from ..fetch import fetch
from ..tool_interface import Kind, Outcome, Tool, ToolEnvironment, ToolError

MAX_RESULTS = 10


class SearchEndpoint(Struct, frozen=True):
    """A search service that answers in JSON. The user configures it, so it may have a private address."""

    url: str
    """The address, with `{query}` as the place of the query: https://host/search?format=json&q={query}"""
    headers: Mapping[str, str] = {}
    posts: bool = False
    """The query is posted as JSON ({"query": ...}), and the address has no place for it."""


def endpoint_of(service: SearchService, environment: Mapping[str, str]) -> SearchEndpoint:
    """The request to a search service for a query. ConfigError: the address or the key of the service is missing."""
    url, variable = service.address, service.key_variable
    if not url or (service.kind == "json" and "{query}" not in url):
        wanted = "an address" if service.kind == "searxng" else "an address with {query}"
        raise ConfigError("search", service.kind, problem=f"it needs {wanted}: set search.url")
    key = environment.get(variable, "") if variable else ""
    if variable and not key:
        raise ConfigError("search", service.kind, problem=f"the variable {variable} is empty")
    if service.kind == "brave":
        return SearchEndpoint(f"{url}?count={MAX_RESULTS}&q={{query}}", {"X-Subscription-Token": key})
    bearer = {"Authorization": f"Bearer {key}"} if key else {}
    if service.kind == "tavily":
        return SearchEndpoint(url, bearer, posts=True)
    if service.kind == "searxng":  # the path and the format of SearXNG's search API
        url = url.rstrip("/").removesuffix("/search") + "/search?format=json&q={query}"
    return SearchEndpoint(url, bearer)


class GoogleWebSearch(Tool):
    """The tool `google_web_search`. Searches the web."""

    name = "google_web_search"
    description = "Searches the web and returns what was found, with numbers in the text that lead to its sources."
    kind: Kind = "fetch"
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "What to search for."}},
        "required": ["query"],
    }

    def __init__(self, endpoint: SearchEndpoint | None = None) -> None:
        self.endpoint = endpoint
        self.needs_hosted = "" if endpoint is not None else "web_search"

    def check(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
        return None if arguments["query"].strip() else "The 'query' parameter cannot be empty."

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        query = arguments["query"]
        # A configured service goes first, because the user chose it.
        if self.endpoint is not None:
            text, sources = await _search_service(self.endpoint, query)
        elif around.ask is not None and "web_search" in around.hosted:
            text, sources = with_citation_numbers(await around.ask(query, hosted=("web_search",)))
        else:
            message = "There is no web search here: the upstream has none, and no search service is configured."
            raise ToolError("web_search_failed", message)
        if not text.strip():
            return Outcome(f'No search results or information found for query: "{query}"', "No information found.")
        message = with_source_list(f'Web search results for "{query}":\n{text}', sources)
        return Outcome(message, f'Search results for "{query}" returned.')


async def _search_service(endpoint: SearchEndpoint, query: str) -> tuple[str, list[CitedSource]]:
    """The results of a search service: an excerpt of each page, with a number."""
    # All signs are quoted: a query must not add parameters of its own.
    url, body = endpoint.url.replace("{query}", quote(query, safe="")), None
    if endpoint.posts:
        body = msgspec.json.encode({"query": query, "max_results": MAX_RESULTS})
    # The user chose this address, so a private address is allowed here.
    page = await fetch(url, headers=endpoint.headers, body=body, public=lambda address: True)
    if page.status != 200:
        raise ToolError("web_search_failed", f"The search endpoint answered with status {page.status}.")
    try:
        found = _result_rows(msgspec.json.decode(page.body))
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise ToolError("web_search_failed", f"The search endpoint did not answer in JSON: {error}") from error
    sources = [CitedSource(_word(row, "url", "link"), _word(row, "title", "name")) for row in found]
    lines = [
        f"{_word(row, 'title', 'name')}: {_word(row, 'content', 'snippet', 'description')}[{i}]"
        for i, row in enumerate(found, 1)
    ]
    return "\n".join(lines), sources


def _result_rows(answer: Any) -> list[dict[str, Any]]:
    """The list of results. Services put the list under different keys."""
    for name in ("results", "items", "organic", "organic_results", "value", "web", "webPages", "data"):
        found = answer.get(name) if isinstance(answer, dict) else None
        if isinstance(found, list):
            return [row for row in found if isinstance(row, dict) and _word(row, "url", "link")][:MAX_RESULTS]
        if isinstance(found, dict):
            return _result_rows(found)
    return []


def _word(row: dict[str, Any], *names: str) -> str:
    return next((value for name in names if isinstance(value := row.get(name), str) and value), "")
