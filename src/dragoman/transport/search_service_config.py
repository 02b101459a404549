"""The configuration of the user's own web search service, for upstreams without a web search."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class SearchService(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A service that finds web pages and answers in JSON."""

    kind: Literal["searxng", "brave", "tavily", "json"]
    """The form of its requests. json: any service that is asked with GET, where `url` has `{query}`."""
    url: str = ""
    """The address. SearXNG and json need one; the two others have one of their own."""
    key_env: str = ""
    """The variable with the key. Brave and Tavily have usual ones: BRAVE_API_KEY, TAVILY_API_KEY."""

    @property
    def address(self) -> str:
        """The address of the requests."""
        return self.url or _ADDRESSES.get(self.kind, "")

    @property
    def key_variable(self) -> str:
        """The variable with the key; "" where none is needed."""
        return self.key_env or _KEYS.get(self.kind, "")


_ADDRESSES = {
    # Brave's page on its web search API, and Tavily's help page on its search API (both 2026-11).
    "brave": "https://api.search.brave.com/res/v1/web/search",
    "tavily": "https://api.tavily.com/search",
}
_KEYS = {"brave": "BRAVE_API_KEY", "tavily": "TAVILY_API_KEY"}
