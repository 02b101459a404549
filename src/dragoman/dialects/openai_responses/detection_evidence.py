"""Owns the evidence by which a Responses document is detected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...dialect import listed

_ITEMS = frozenset(
    {
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "web_search_call",
        "item_reference",
        "compaction",
        "additional_tools",
        "tool_search_call",
        "tool_search_output",
    }
)
_PARTS = frozenset({"input_text", "input_image", "input_file", "output_text"})


def evidence(document: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Reasons to believe that a document is a Responses document, each with a weight."""
    found: list[tuple[int, str]] = []
    for name in ("input", "output"):
        items = document.get(name)
        # A text as `input` is a sign that other endpoints share, so it weighs little.
        if isinstance(items, str) and name == "input":
            found.append((3, "input as a string"))
        elif isinstance(items, list):
            found.append((3, f"{name}[]"))
            found.extend(_item_evidence([item for item in items if isinstance(item, dict)], name))
    for tool in listed(document, "tools"):
        # Tools are flat; Chat has an object `function` around the same members (openai 3.49.0, 2026-11).
        if isinstance(tool, dict) and isinstance(tool.get("type"), str) and "function" not in tool:
            if "name" in tool and ("parameters" in tool or tool["type"] == "custom"):
                found.append((4, "flat tools with a type"))
                break
    for key in ("instructions", "previous_response_id", "max_output_tokens", "include", "text", "conversation"):
        if key in document:
            found.append((2, key))
    if document.get("object") == "response":
        found.append((9, "object response"))
    error = document.get("error")
    if isinstance(error, dict) and "message" in error and "param" in error and "choices" not in document:
        found.append((1, "error{} with a message and a param"))
    event = document.get("type")
    if isinstance(event, str) and event.startswith("response."):
        found.append((9, f"event {event}"))
    return found


def _item_evidence(items: list[dict[str, Any]], name: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for item in items:
        if _typed(item, _ITEMS):
            found.append((5, f"{name}[] with an item {item['type']}"))
            break
    for item in items:
        if any(_typed(part, _PARTS) for part in listed(item, "content")):
            found.append((4, f"{name}[].content with input or output parts"))
            break
    return found


def _typed(value: Any, kinds: frozenset[str]) -> bool:
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and kind in kinds
