"""Owns the shapes of results and confirmations in events as JSON: parts of Gemini's protocol, and confirmations by
type.

Programs that know gemini-cli's events can read them. In Python the events hold canon parts and a Confirmation.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ..canon.parts import Part, Text, ToolCall, ToolResult
from ..canon.request import Request
from ..canon.turns import Turn
from ..codec import json_text
from .tool_interface import Confirmation

_MODEL = "gemini-2.5-pro"
"""A model that takes media as parts beside a result, not inside the result."""


def response_parts(results: tuple[Part, ...], name: str) -> list[dict[str, Any]]:
    """Results of the tool `name` as parts that Gemini takes: `functionResponse`, and the parts beside it."""
    from .seals_ids_and_names_for_upstream import GEMINI, export_request  # late: most programs write no events

    found = tuple([part for part in results if isinstance(part, ToolResult)])
    calls = tuple([ToolCall(result.call_id, name, "{}") for result in found])
    # A history needs a prompt and the calls before the results.
    request = Request((Turn("user", (Text("-"),)), Turn("assistant", calls), Turn("tool", found)))
    contents = json_text.decode(export_request(request, GEMINI, _MODEL)[0])["contents"]
    # The first two contents are the prompt and the calls.
    return [part for content in contents[2:] for part in content["parts"]]


def confirmation_details(confirmation: Confirmation) -> dict[str, Any]:
    """A question to a person, by its type: edit, exec, mcp or info."""
    if confirmation.server:
        names = {
            "serverName": confirmation.server,
            "toolName": confirmation.tool,
            "toolDisplayName": confirmation.display or confirmation.tool,
        }
        return {"type": "mcp", "title": confirmation.title, **names}
    if confirmation.diff is not None:
        diff = msgspec.to_builtins(confirmation.diff)
        return {"type": "edit", "title": confirmation.title, **diff}
    if confirmation.command:
        found = {
            "command": confirmation.command,
            "rootCommand": ", ".join(confirmation.roots),
            "directory": confirmation.folder,
        }
        return {"type": "exec", "title": confirmation.title, **found}
    return {
        "type": "info",
        "title": confirmation.title,
        **({"urls": list(confirmation.urls)} if confirmation.urls else {}),
    }
