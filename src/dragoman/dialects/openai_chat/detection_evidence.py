"""Owns the evidence by which a Chat Completions document is detected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...dialect import listed

_GPT = re.compile(r"(?:ft:)?(?:gpt-[34]|gpt-5|chatgpt|o[1345](?:-|$))").match
_SETTINGS = (
    *("max_completion_tokens", "response_format", "logit_bias", "stream_options", "functions", "n", "seed"),
    *("parallel_tool_calls", "reasoning_effort", "presence_penalty", "frequency_penalty"),
)
_PARTS = frozenset({"image_url", "input_audio", "video_url"})
_ERROR = frozenset({"type", "param"})


def evidence(document: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Reasons to believe that a document is a Chat document, each with a weight."""
    found: list[tuple[int, str]] = []
    messages = document.get("messages")
    if isinstance(messages, list):
        found.append((2, "messages[]"))
        roles = [message.get("role") for message in messages if isinstance(message, dict)]
        for role in ("tool", "developer", "function"):
            if role in roles:
                found.append((4, f"a message with role {role}"))
        if messages and isinstance(messages[0], dict) and messages[0].get("role") == "system":
            found.append((2, "the first message is a system message"))
        if any(isinstance(m, dict) and ("tool_calls" in m or "function_call" in m) for m in messages):
            found.append((4, "messages[].tool_calls"))
        entries = [message for message in messages if isinstance(message, dict)]
        if any(_has_text_arguments(call) for message in entries for call in listed(message, "tool_calls")):
            found.append((3, "arguments is a text"))
        if any(_kind(part) in _PARTS for message in entries for part in listed(message, "content")):
            found.append((4, "a content part of Chat's own"))
        model = document.get("model")
        if isinstance(model, str) and _GPT(model):
            found.append((3, "a model of the family gpt"))
        if "max_tokens" in document:
            found.append((1, "max_tokens"))
    for tool in listed(document, "tools"):
        if isinstance(tool, dict) and isinstance(tool.get("function"), dict):
            found.append((4, "tools[].function{}"))
            break
    for key in _SETTINGS:
        if key in document:
            found.append((2, key))
    if isinstance(document.get("tool_choice"), str):
        found.append((2, "tool_choice is a word"))
    named = document.get("object")
    if isinstance(named, str) and named.startswith("chat.completion"):
        found.append((9, f"object {named}"))
    if isinstance(document.get("choices"), list):
        found.append((5, "choices[]"))
    error = document.get("error")
    if isinstance(error, dict) and "message" in error and not _ERROR.isdisjoint(error) and "status" not in error:
        found.append((2, "error{} with a message and a type"))
    return found


def _has_text_arguments(call: Any) -> bool:
    function = call.get("function") if isinstance(call, dict) else None
    return isinstance(function, dict) and isinstance(function.get("arguments"), str)


def _kind(part: Any) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    return kind if isinstance(kind, str) else ""
