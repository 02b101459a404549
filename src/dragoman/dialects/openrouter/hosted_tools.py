"""Owns the hosted tools that OpenRouter and other dialects share: server tools, and the older plugins.

The search for deferred tools is a field of the request, `deferred_tools`. The server tool `openrouter:tool_search`
belongs to the Responses endpoint: Chat Completions refuses it with 400 (reported by a client, 2026), and OpenRouter's
Chat schema does not list it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Raw

from ...canon.tools import HostedTool, Tool
from ...codec import json_text
from ...codec.hosted_tools import IMAGES, HostedToolRow, kinds, location, plain_options
from ...context import Context
from .wire import NAME

PLUGINS = "plugins"
DEFERRED_TOOLS = "deferred_tools"
_PLUGIN = "plugin:"
_NO_OPTIONS = frozenset({"id", "type", "enabled"})
# The two tools name blocked domains differently: excluded_domains here, blocked_domains below (openrouter 1.3.84,
# 2026-11).
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
    HostedToolRow(
        NAME,
        "web_search",
        "openrouter:web_search",
        kinds("openrouter:web_search"),
        options={**plain_options(_below(_SEARCH)), **location("parameters/user_location")},
        fixed={"type": "openrouter:web_search"},
        force={"type": "openrouter:web_search"},
        quiet=frozenset({"type"}),
    ),
    HostedToolRow(
        NAME,
        "web_fetch",
        "openrouter:web_fetch",
        kinds("openrouter:web_fetch"),
        options=plain_options(_below(_FETCH)),
        fixed={"type": "openrouter:web_fetch"},
        force={"type": "openrouter:web_fetch"},
        quiet=frozenset({"type"}),
    ),
    # Any model may call this tool. It has the options of `image_config`, and a model in OpenRouter's spelling (guide to
    # the image generation server tool, 2026-11).
    HostedToolRow(
        NAME,
        "image_generation",
        "openrouter:image_generation",
        kinds("openrouter:image_generation"),
        options=plain_options(_below({name: name for name in IMAGES})),
        fixed={"type": "openrouter:image_generation"},
        force={"type": "openrouter:image_generation"},
        quiet=frozenset({"type"}),
    ),
    HostedToolRow(
        NAME,
        "tool_search",
        DEFERRED_TOOLS,
        kinds(DEFERRED_TOOLS),
        options=plain_options({"max_results": "search/max_results"}),
        # The only values of these members that OpenRouter has (SDK documentation of `DeferredToolsControl`, 2026).
        fixed={"protocol": "v1", "profile": "portable", "search": {"type": "bm25"}, "validation": "runtime"},
        quiet=frozenset({"type", "protocol", "profile", "validation"}),
    ),
    # Read, but never written: the search of the Responses endpoint, the short form of OpenAI's type, and plugins.
    HostedToolRow(
        NAME,
        "tool_search",
        "openrouter:tool_search",
        kinds("openrouter:tool_search"),
        options=plain_options({"max_results": "parameters/max_results"}),
        quiet=frozenset({"type"}),
    ),
    HostedToolRow(
        NAME,
        "web_search",
        "web_search",
        kinds(r"web_search(_preview)?(_\d{4}_\d\d_\d\d)?"),
        options={**plain_options(_SEARCH), **location("user_location")},
    ),
    HostedToolRow(
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
        quiet=_NO_OPTIONS,
    ),
    HostedToolRow(
        NAME,
        "web_fetch",
        _PLUGIN + "web-fetch",
        kinds(_PLUGIN + "web-fetch"),
        options=plain_options(_FETCH),
        quiet=_NO_OPTIONS,
    ),
)


def take_plugins(plugins: Raw, context: Context) -> tuple[list[HostedTool], Raw | None]:
    """The plugins for search and fetch as tools, and the field if it is not a list of plugins.

    All other plugins are reported one by one. A plugin that is switched off is absent elsewhere: its loss is info.
    """
    found = json_text.plain(plugins)
    if not isinstance(found, list) or not found:
        return [], plugins
    taken: list[HostedTool] = []
    for i, plugin in enumerate(found):
        if isinstance(plugin, dict) and plugin.get("enabled") is False:
            context.lose("field.dropped", (PLUGINS, i), "the plugin is switched off", "info")
        elif isinstance(plugin, dict) and plugin.get("id") in ("web", "web-fetch"):
            taken.append(HostedTool(NAME, _PLUGIN + plugin["id"], json_text.raw(plugin), (PLUGINS, i)))
        else:
            context.lose("field.dropped", (PLUGINS, i))
    return taken, None


def take_deferred_search(control: Raw) -> tuple[list[HostedTool], Raw | None]:
    """The field `deferred_tools` as a hosted tool; the field itself if the client runs the search ("custom")."""
    value = json_text.plain(control)
    search = value.get("search") if isinstance(value, dict) else None
    if not isinstance(search, dict) or search.get("type") not in ("bm25", "regex"):
        return [], control
    return [HostedTool(NAME, DEFERRED_TOOLS, control, (DEFERRED_TOOLS,))], None


def split_deferred_search(
    tools: Sequence[Tool | HostedTool],
) -> tuple[tuple[Tool | HostedTool, ...], HostedTool | None]:
    """The tools without the search for deferred tools, and that search."""
    for i, tool in enumerate(tools):
        if type(tool) is HostedTool and tool.kind == DEFERRED_TOOLS:
            return (*tools[:i], *tools[i + 1 :]), tool
    return tuple(tools), None
