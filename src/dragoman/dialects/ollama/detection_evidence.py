"""Owns the evidence by which an Ollama document is detected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...dialect import listed

_TAGGED = re.compile(r"(?:[a-z][a-z0-9._-]*:[a-z0-9][a-z0-9._-]*|llama[0-9][0-9.]*)$").match
"""A model name as Ollama's library spells it: with a tag (`qwen3:4b`), or one of Meta's models without a dash
(`llama3`).
"""


def evidence(document: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Reasons to believe that a document is an Ollama document, each with a weight.

    Requests look like those of openai-chat. Shared fields weigh a little less than in openai-chat, so that only fields
    of this dialect alone decide.
    """
    found: list[tuple[int, str]] = []
    messages = document.get("messages")
    if isinstance(messages, list):
        found += _request_evidence(document, [message for message in messages if isinstance(message, dict)])
    if isinstance(document.get("done"), bool) and isinstance(document.get("message"), dict):
        found.append((9, "message beside done"))
    for key in ("prompt_eval_count", "eval_count", "done_reason", "total_duration"):
        if key in document:
            found.append((3, key))
    # Other dialects have an object as `error`; this server has a text (server sources, 2026-08).
    if isinstance(document.get("error"), str):
        found.append((3, "error is a text"))
    return found


def _request_evidence(document: Mapping[str, Any], messages: list[dict[str, Any]]) -> list[tuple[int, str]]:
    found = [(1, "messages[]")]
    calls = [call for message in messages for call in listed(message, "tool_calls") if isinstance(call, dict)]
    functions = [call["function"] for call in calls if isinstance(call.get("function"), dict)]
    if any(message.get("role") == "tool" for message in messages):
        found.append((4, "a message with role tool"))
    if messages and messages[0].get("role") == "system":
        found.append((2, "the first message is a system message"))
    if calls:
        found.append((4, "messages[].tool_calls"))
    for tool in listed(document, "tools"):
        if isinstance(tool, dict) and isinstance(tool.get("function"), dict):
            found.append((4, "tools[].function{}"))
            break
    # Chat Completions has a JSON text here, so an object is the surest sign in a history (server sources, 2026-08).
    if any(isinstance(function.get("arguments"), dict) for function in functions):
        found.append((5, "arguments is an object"))
    for key, weight in (("tool_name", 5), ("images", 4), ("thinking", 4)):
        if any(key in message for message in messages):
            found.append((weight, f"messages[].{key}"))
    model = document.get("model")
    if isinstance(model, str) and _TAGGED(model):
        found.append((2, "a model's name as Ollama's library spells it"))
    if isinstance(document.get("options"), dict):
        found.append((5, "options{}"))
    # `format` and `think` are at the top; sampling is only in `options` (server sources, 2026-08).
    for key in ("keep_alive", "think", "format"):
        if key in document:
            found.append((4, key))
    return found
