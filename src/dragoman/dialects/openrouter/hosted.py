"""The tools that OpenRouter runs itself, as far as other dialects have them too: server tools, and plugins of old."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.tools import HostedTool
from ...codec import jsontext
from ...codec.hosted import Row, kinds, location, plain_options
from .wire import NAME

PLUGINS = "plugins"
_PLUGIN = "plugin:"
_SEARCH = {
    "max_uses": "max_uses",
    "max_results": "max_results",
    "allowed_domains": "allowed_domains",
    "blocked_domains": "excluded_domains",
    "context_size": "search_context_size",
}
_FETCH = {
    "max_uses": "max_uses",
    "max_content_tokens": "max_content_tokens",
    "allowed_domains": "allowed_domains",
    "blocked_domains": "blocked_domains",
}


def _below(names: dict[str, str]) -> dict[str, str]:
    return {name: f"parameters/{path}" for name, path in names.items()}


HOSTED = (
    Row(
        NAME,
        "web_search",
        "openrouter:web_search",
        kinds("openrouter:web_search"),
        options={**plain_options(_below(_SEARCH)), **location("parameters/user_location")},
        fixed={"type": "openrouter:web_search"},
        force={"type": "openrouter:web_search"},
        quiet=frozenset({"type"}),
    ),
    Row(
        NAME,
        "web_fetch",
        "openrouter:web_fetch",
        kinds("openrouter:web_fetch"),
        options=plain_options(_below(_FETCH)),
        fixed={"type": "openrouter:web_fetch"},
        force={"type": "openrouter:web_fetch"},
        quiet=frozenset({"type"}),
    ),
    # Read, never written: the short form of OpenAI's word, and plugins.
    Row(
        NAME,
        "web_search",
        "web_search",
        kinds(r"web_search(_preview)?(_\d{4}_\d\d_\d\d)?"),
        options={**plain_options(_SEARCH), **location("user_location")},
    ),
    Row(
        NAME,
        "web_search",
        _PLUGIN + "web",
        kinds(_PLUGIN + "web"),
        options={
            **plain_options(
                {
                    "max_uses": "max_uses",
                    "max_results": "max_results",
                    "allowed_domains": "include_domains",
                    "blocked_domains": "exclude_domains",
                }
            ),
            **location("user_location"),
        },
        quiet=frozenset({"id", "type", "enabled"}),
    ),
    Row(
        NAME,
        "web_fetch",
        _PLUGIN + "web-fetch",
        kinds(_PLUGIN + "web-fetch"),
        options=plain_options(_FETCH),
        quiet=frozenset({"id"}),
    ),
)


def take_plugins(plugins: Raw) -> tuple[list[HostedTool], Raw | None]:
    """The plugins that search and fetch, as tools, and the field without them; None when nothing is left of it."""
    found = jsontext.plain(plugins)
    taken: list[HostedTool] = []
    left: list[Any] = []
    for i, plugin in enumerate(found if isinstance(found, list) else ()):
        if not isinstance(plugin, dict) or plugin.get("id") not in ("web", "web-fetch"):
            left.append(plugin)
        elif plugin.get("enabled") is not False:
            taken.append(HostedTool(NAME, _PLUGIN + plugin["id"], jsontext.raw(plugin), (PLUGINS, i)))
    if not isinstance(found, list) or len(left) == len(found):
        return [], plugins
    return taken, jsontext.raw(left) if left else None
