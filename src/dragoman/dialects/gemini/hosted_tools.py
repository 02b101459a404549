"""The tools that Gemini runs itself, as far as other dialects have them too."""

from __future__ import annotations

import msgspec

from ...codec.hosted_tools import Option, Row, kinds, plain_options
from .wire import NAME

_EXCLUDED = ("excludeDomains",)

_SEARCH = Row(
    NAME,
    "web_search",
    "googleSearch",
    kinds("googleSearch|google_search|googleSearchRetrieval|google_search_retrieval|enterpriseWebSearch"),
    # Vertex only, so it is not written where the Developer API listens.
    options={"blocked_domains": Option(_EXCLUDED, write=None)},
    inside="googleSearch",
)
_FETCH = Row(NAME, "web_fetch", "urlContext", kinds("urlContext|url_context"), inside="urlContext")
_CODE = Row(NAME, "code_execution", "codeExecution", kinds("codeExecution|code_execution"), inside="codeExecution")

HOSTED = (
    _SEARCH,
    _FETCH,
    _CODE,
    Row(
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
"""What Vertex runs, and so Code Assist."""
