"""The one hosted tool of Chat Completions: the web search of the search models, which a request asks for with the field
`web_search_options` (openai 3.49.0).
"""

from __future__ import annotations

from ...codec.hosted_tools import HostedToolRow, kinds, location, plain_options
from .wire import NAME

OPTIONS = "web_search_options"

HOSTED = (
    HostedToolRow(
        NAME,
        "web_search",
        OPTIONS,
        kinds(OPTIONS),
        options={**plain_options({"context_size": "search_context_size"}), **location("user_location/approximate")},
        beside={"user_location": {"type": "approximate"}},
        needs=OPTIONS,
    ),
)
