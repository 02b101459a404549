"""The one tool that Chat Completions runs itself: the search of the models made for it, asked for by a field."""

from __future__ import annotations

from ...codec.hosted_tools import Row, kinds, location, plain_options
from .wire import NAME

OPTIONS = "web_search_options"

HOSTED = (
    Row(
        NAME,
        "web_search",
        OPTIONS,
        kinds(OPTIONS),
        options={**plain_options({"context_size": "search_context_size"}), **location("user_location/approximate")},
        beside={"user_location": {"type": "approximate"}},
        needs=OPTIONS,
    ),
)
