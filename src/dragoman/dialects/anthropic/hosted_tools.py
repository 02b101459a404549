"""Owns the rows of tools that Anthropic runs itself and other dialects have too.

An MCP server is two things on the wire: its address in `mcp_servers`, its tools in an `mcp_toolset`. Here it is one.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import Path
from ...canon.tools import Choice, HostedTool, Tool
from ...codec import json_text
from ...codec.hosted_tools import HostedToolRow, Option, kinds, location, plain_options
from ...context import Context
from .wire import NAME

TOOLSET = "mcp_toolset"
SERVERS = "mcp_servers"
# The MCP connector needs this beta, and each server exactly one toolset (docs "MCP connector", 2026-10).
BETA = "mcp-client-2025-11-20"
_SERVER = ("url", "authorization_token")
_OLD_TOOLS = "tool_configuration"


def _allowed(configs: dict[str, Any]) -> list[str]:
    """The names of the tools that a toolset enables."""
    return [name for name, config in configs.items() if config.get("enabled", True)]


_DOMAINS = {"max_uses": "max_uses", "allowed_domains": "allowed_domains", "blocked_domains": "blocked_domains"}
_CALLERS = {"callers": Option(("allowed_callers",))}

HOSTED = (
    HostedToolRow(
        NAME,
        "web_search",
        # The oldest type word that all models with web search accept; newer ones (20260209, 20260318) also run in code
        # execution (anthropic 2.8.0).
        "web_search_20250305",
        kinds(r"web_search_\d{8}"),
        options={**plain_options(_DOMAINS), **_CALLERS, **location("user_location")},
        fixed={"type": "web_search_20250305", "name": "web_search"},
        beside={"user_location": {"type": "approximate"}},
        quiet=frozenset({"type", "name", "cache_control"}),
        force={"type": "tool", "name": "web_search"},
    ),
    HostedToolRow(
        NAME,
        "web_fetch",
        "web_fetch_20250910",
        kinds(r"web_fetch_\d{8}"),
        options={**plain_options({**_DOMAINS, "max_content_tokens": "max_content_tokens"}), **_CALLERS},
        fixed={"type": "web_fetch_20250910", "name": "web_fetch"},
        quiet=frozenset({"type", "name", "cache_control"}),
        force={"type": "tool", "name": "web_fetch"},
    ),
    HostedToolRow(
        NAME,
        "code_execution",
        "code_execution_20250825",
        kinds(r"code_execution_\d{8}"),
        options=_CALLERS,
        fixed={"type": "code_execution_20250825", "name": "code_execution"},
        quiet=frozenset({"type", "name", "cache_control"}),
    ),
    HostedToolRow(
        NAME,
        "mcp",
        TOOLSET,
        kinds(TOOLSET),
        options={
            **plain_options({"label": "mcp_server_name", "url": "url", "token": "authorization_token"}),
            "allowed_tools": Option(("configs",)),
            "deferred": Option(("default_config", "defer_loading")),
        },
        fixed={"type": TOOLSET},
        quiet=frozenset({"type", "cache_control"}),
        wants=frozenset({"label", "url"}),
    ),
    HostedToolRow(
        NAME,
        "tool_search",
        "tool_search_tool_bm25_20251119",
        kinds(r"tool_search_tool_(bm25|regex)(_\d{8})?"),
        fixed={"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
        needs="tool_search",
        quiet=frozenset({"type", "name", "cache_control"}),
    ),
)


def chosen(choice: Choice, tools: tuple[Tool | HostedTool, ...]) -> Choice:
    """The choice of a tool by name, which may be a hosted tool's name."""
    if choice.mode != "one" or any(isinstance(tool, Tool) and tool.name == choice.names[0] for tool in tools):
        return choice
    for tool in tools:
        if isinstance(tool, HostedTool) and json_text.plain(tool.value).get("name") == choice.names[0]:
            return Choice("one", (tool.kind,), at=choice.at, hosted=True)
    return choice


def with_servers(
    tools: tuple[Tool | HostedTool, ...], servers: Raw, context: Context
) -> tuple[Tool | HostedTool, ...] | None:
    """The tools of a request for another dialect: each toolset with its server's address. A server without a toolset
    (first beta) gets one. None: the servers are malformed.
    """
    found = json_text.plain(servers)
    if not isinstance(found, list) or not all(
        isinstance(one, dict) and isinstance(one.get("name"), str) and isinstance(one.get("url"), str) for one in found
    ):
        return None
    by_name = {one["name"]: (i, one) for i, one in enumerate(found)}
    out: list[Tool | HostedTool] = []
    for tool in tools:
        if isinstance(tool, HostedTool) and tool.kind == TOOLSET:
            value = json_text.plain(tool.value)
            name = value.get("mcp_server_name")
            i, server = by_name.pop(name, (0, {})) if isinstance(name, str) else (0, {})
            tool = HostedTool(NAME, TOOLSET, json_text.raw(_joined(value, tool.at, server, i, context)), tool.at)
        out.append(tool)
    for i, server in by_name.values():
        at: Path = (SERVERS, i)
        value = {"type": TOOLSET, "mcp_server_name": server["name"]}
        context.moved[(*at, "mcp_server_name")] = (*at, "name")
        out.append(HostedTool(NAME, TOOLSET, json_text.raw(_joined(value, at, server, i, context)), at))
    return tuple(out)


def _joined(toolset: dict[str, Any], at: Path, server: dict[str, Any], i: int, context: Context) -> dict[str, Any]:
    """The toolset at `at` with the fields of its server, number `i`. Losses of these fields are reported at the
    server.
    """
    joined = dict(toolset)
    there: Path = (SERVERS, i)
    for name, value in server.items():
        if name in _SERVER or (name not in ("type", "name", _OLD_TOOLS) and name not in joined):
            joined[name] = value
            context.moved[(*at, name)] = (*there, name)
    old = server.get(_OLD_TOOLS)
    if isinstance(old, dict):
        if isinstance(old.get("allowed_tools"), list):
            joined["configs"] = old["allowed_tools"]
            context.moved[(*at, "configs")] = (*there, _OLD_TOOLS, "allowed_tools")
            old = {name: value for name, value in old.items() if name != "allowed_tools"}
        # Tools are enabled by default.
        joined[_OLD_TOOLS] = {name: value for name, value in old.items() if name != "enabled" or value is not True}
        context.moved[(*at, _OLD_TOOLS)] = (*there, _OLD_TOOLS)
    shut, configs = joined.get("default_config"), joined.get("configs")
    if isinstance(shut, dict) and shut.get("enabled") is False and isinstance(configs, dict):
        if all(isinstance(config, dict) for config in configs.values()):
            joined["configs"] = _allowed(configs)
            joined["default_config"] = {name: value for name, value in shut.items() if name != "enabled"}
    return joined


def mcp_servers(tools: tuple[Tool | HostedTool, ...]) -> list[dict[str, Any]]:
    """The addresses for toolsets of another dialect."""
    return [parted(tool)[1] for tool in tools if type(tool) is HostedTool and tool.kind == TOOLSET]


def parted(tool: HostedTool) -> tuple[dict[str, Any], dict[str, Any]]:
    """A toolset of another dialect as its entry in `tools` and its entry in `mcp_servers`."""
    toolset = json_text.plain(tool.value)
    # `url` is the only type of server (docs "MCP connector", 2026-10).
    server = {"type": "url", "name": toolset["mcp_server_name"]}
    for name in _SERVER:
        if name in toolset:
            server[name] = toolset.pop(name)
    names = toolset.get("configs")
    if names is not None:
        # The default is disabled, so that only the listed tools are enabled.
        toolset["default_config"] = {**toolset.get("default_config", {}), "enabled": False}
        toolset["configs"] = {name: {"enabled": True} for name in names}
    return toolset, server
