"""Owns the evidence by which an Anthropic Messages document is detected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "document"})
_SETTINGS = ("max_tokens", "stop_sequences", "thinking", "output_config", "anthropic_version")
_EVENTS = frozenset(
    {"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "ping"}
)


_CLAUDE = re.compile(r"(?:[a-z]+\.)?(?:anthropic\.)?claude\b").match


def evidence(document: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Reasons to believe that a document is a Messages document, each with a weight."""
    found: list[tuple[int, str]] = []
    messages = document.get("messages")
    if isinstance(messages, list):
        found.append((1, "messages[]"))
        found.extend(_in_messages(messages))
        model = document.get("model")
        if isinstance(model, str) and _CLAUDE(model):
            # Messages refuses a request without max_tokens (anthropic 2.8.0); Chat hosts accept one.
            found.append((4 if "max_tokens" in document else 2, "a model of the family claude"))
        if "system" in document:
            found.append((5, "system beside messages"))
        for key in _SETTINGS:
            if key in document:
                light = key == "max_tokens" or (key == "thinking" and not _is_claudes(document[key]))
                found.append((1 if light else 3, key))
    tools = document.get("tools")
    if isinstance(tools, list) and any(isinstance(tool, dict) and "input_schema" in tool for tool in tools):
        found.append((6, "tools[].input_schema"))
    choice = document.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") in ("auto", "any", "tool", "none"):
        found.append((3, "tool_choice{type}"))
    if document.get("type") == "message" and document.get("role") == "assistant":
        found.append((9, "type message, role assistant"))
    if "stop_reason" in document and isinstance(document.get("content"), list):
        found.append((5, "content[] and stop_reason"))
    kind = document.get("type")
    if isinstance(kind, str) and kind in _EVENTS:
        found.append((9, f"event {kind}"))
    if kind == "error" and isinstance(document.get("error"), dict):
        found.append((6, "type error, error{}"))
    return found


def _is_claudes(thinking: Any) -> bool:
    """Whether a thinking switch has a form that DeepSeek and z.ai do not have on Chat."""
    if not isinstance(thinking, dict):
        return False
    return "budget_tokens" in thinking or "display" in thinking or thinking.get("type") == "adaptive"


def _in_messages(messages: list[Any]) -> list[tuple[int, str]]:
    kinds: set[str] = set()
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            named = [block.get("type") for block in content if isinstance(block, dict)]
            kinds.update([kind for kind in named if isinstance(kind, str)])
    seen = sorted(kinds & _BLOCKS)
    return [(6, f"a {seen[0]} block in messages")] if seen else []
