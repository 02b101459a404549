"""Owns the rows of tools that Gemini runs itself and other dialects have too."""

from __future__ import annotations

import msgspec

from ...codec.hosted_tools import HostedToolRow, Option, kinds, plain_options
from .wire import NAME

_EXCLUDED = ("excludeDomains",)

_SEARCH = HostedToolRow(
    NAME,
    "web_search",
    "googleSearch",
    kinds("googleSearch|google_search|googleSearchRetrieval|google_search_retrieval|enterpriseWebSearch"),
    # excludeDomains is for Vertex only (google-genai 3.1.0 converters, 2026-11), so it is not written for the Developer
    # API.
    options={"blocked_domains": Option(_EXCLUDED, write=None)},
    inside="googleSearch",
)
_FETCH = HostedToolRow(NAME, "web_fetch", "urlContext", kinds("urlContext|url_context"), inside="urlContext")
_CODE = HostedToolRow(
    NAME, "code_execution", "codeExecution", kinds("codeExecution|code_execution"), inside="codeExecution"
)

HOSTED = (
    _SEARCH,
    _FETCH,
    _CODE,
    HostedToolRow(
        NAME,
        "mcp",
        "mcpServers",
        kinds("mcpServers|mcp_servers"),
        options=plain_options(
            {
                "label": "name",
                "url": "streamableHttpTransport/url",
                "headers": "streamableHttpTransport/headers",
            }
        ),
        inside="mcpServers",
        many=True,
        quiet=frozenset(),
        wants=frozenset({"label", "url"}),
    ),
)

VERTEX = (
    msgspec.structs.replace(_SEARCH, options={"blocked_domains": Option(_EXCLUDED)}),
    _FETCH,
    _CODE,
)
"""The tools of Vertex, and so of Code Assist."""
