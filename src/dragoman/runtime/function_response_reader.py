"""Owns the reading of a `functionResponse` part that a tool returns: Gemini's form of a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ..canon.parts import Text, ToolResult


def function_response(value: Any) -> ToolResult | None:
    """The result in a value that is a single `functionResponse` part; None for any other value.

    `response.output` is the text, `response.error` the text of a failure. A list of MCP blocks under `response.content`
    gives its texts. Every other response is passed through as JSON. The id and the name are those of the call.
    """
    if not isinstance(value, Mapping) or set(value) != {"functionResponse"}:
        return None
    response = value["functionResponse"].get("response") if isinstance(value["functionResponse"], Mapping) else None
    if not isinstance(response, Mapping):
        return None
    content = response.get("content")
    if isinstance(content, list):
        texts = [one["text"] for one in content if isinstance(one, Mapping) and isinstance(one.get("text"), str)]
        if texts:
            return ToolResult("", (Text("\n".join(texts)),))
    for name in ("output", "error"):
        if set(response) == {name} and isinstance(response[name], str):
            return ToolResult("", (Text(response[name]),), is_error=name == "error")
    return ToolResult("", (Text(msgspec.json.encode(response).decode()),), structured=True)
