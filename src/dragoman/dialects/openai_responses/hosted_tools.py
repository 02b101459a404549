"""Owns the rows of tools that Responses runs itself and other dialects have too."""

from __future__ import annotations

from typing import Any

from ...codec.hosted_tools import IMAGES, HostedToolRow, Option, kinds, location, plain_options
from .client_tool_search import as_function
from .client_tools import ROWS, SHELL_ROW
from .max_tool_calls import OPTION as MAX_USES
from .wire import NAME


def _tool_names(value: Any) -> Any:
    """`allowed_tools` is a list of names, or an object that may filter by more than names."""
    return value.get("tool_names") if isinstance(value, dict) and value.keys() == {"tool_names"} else value


HOSTED = (
    HostedToolRow(
        NAME,
        "web_search",
        "web_search",
        kinds(r"web_search(_preview)?(_\d{4}_\d\d_\d\d)?"),
        options={
            **plain_options(
                {
                    "allowed_domains": "filters/allowed_domains",
                    "context_size": "search_context_size",
                    "live": "external_web_access",
                }
            ),
            **location("user_location"),
            **MAX_USES,
        },
        fixed={"type": "web_search"},
        covers=frozenset({"web_fetch"}),  # it also opens pages: action.type open_page
        beside={"user_location": {"type": "approximate"}},
        # A choice cannot have the type web_search (openai 3.49.0, 2026-11).
        force={"type": "allowed_tools", "mode": "required", "tools": [{"type": "web_search"}]},
    ),
    SHELL_ROW,
    HostedToolRow(
        NAME,
        "code_execution",
        "code_interpreter",
        kinds("code_interpreter"),
        fixed={"type": "code_interpreter", "container": {"type": "auto"}},
        force={"type": "code_interpreter"},
    ),
    HostedToolRow(
        NAME,
        "image_generation",
        "image_generation",
        kinds("image_generation"),
        options=plain_options({name: name for name in IMAGES}),
        fixed={"type": "image_generation"},
        force={"type": "image_generation"},
        needs="image_generation",
    ),
    HostedToolRow(
        NAME,
        "mcp",
        "mcp",
        kinds("mcp"),
        options={
            **plain_options(
                {
                    "label": "server_label",
                    "url": "server_url",
                    "description": "server_description",
                    "token": "authorization",
                    "headers": "headers",
                    "approval": "require_approval",
                }
            ),
            "allowed_tools": Option(("allowed_tools",), _tool_names),
            "deferred": Option(("defer_loading",)),
        },
        # Other dialects have no approval: every call is made at once.
        fixed={"type": "mcp", "require_approval": "never"},
        implied={"approval": "always"},
        wants=frozenset({"label", "url"}),
    ),
    HostedToolRow(
        NAME,
        "tool_search",
        "tool_search",
        kinds("tool_search"),
        fixed={"type": "tool_search"},
        needs="tool_search",
        function=as_function,
        quiet=frozenset({"type", "execution", "description", "parameters"}),
    ),
    *ROWS,
)
