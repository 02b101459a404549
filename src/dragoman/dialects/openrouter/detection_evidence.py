"""Owns the evidence by which an OpenRouter document is detected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...dialect import listed
from ..openai_chat.detection_evidence import evidence as chat_evidence
from ..openai_chat.reasoning_details import is_chat_entry

_FIELDS = ("provider", "plugins", "models", "transforms", "route", "top_a", "include_reasoning", "deferred_tools")


# The prefixes of OpenRouter's model names. Groq also has models with the name openai/gpt-oss-... (recorded traffic,
# 2026-11), so that name is not evidence.
_SLUG = re.compile(
    r"(?:anthropic|openai|google|x-ai|deepseek|mistralai|minimax|moonshotai|qwen|meta-llama|z-ai|openrouter|amazon"
    r"|cohere|nvidia|perplexity|microsoft)/(?!gpt-oss)[a-z0-9._:-]+$"
).match
_VARIANT = re.compile(r".*:(?:free|nitro|floor|online|exacto|thinking|extended)$").match


def evidence(document: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Reasons to believe that a document is an OpenRouter document, each with a weight: fields of OpenRouter alone,
    then Chat's reasons.
    """
    found: list[tuple[int, str]] = []
    if isinstance(document.get("messages"), list):
        found.extend([(4, key) for key in _FIELDS if key in document])
        if isinstance(document.get("reasoning"), dict):
            found.append((4, "reasoning{}"))
        if isinstance(document.get("usage"), dict):
            found.append((4, "usage{} in a request"))
        found.extend(_in_messages(document["messages"]))
        model = document.get("model")
        if isinstance(model, str) and _SLUG(model):
            found.append((4 if _VARIANT(model) else 1, "a model's name as OpenRouter spells it"))
    for tool in listed(document, "tools"):
        kind = tool.get("type") if isinstance(tool, dict) else None
        if isinstance(kind, str) and kind.startswith("openrouter:"):
            found.append((6, f"tools[].type {kind}"))
            break
    found.extend(_in_answer(document))
    return found and [*found, *chat_evidence(document)]


def _in_messages(messages: list[Any]) -> list[tuple[int, str]]:
    if any(isinstance(message, dict) and _has_details(message) for message in messages):
        return [(6, "messages[].reasoning_details")]
    return []


def _has_details(message: dict[str, Any]) -> bool:
    """Whether a message has a list of details that dragoman did not write for a client of Chat."""
    if "reasoning_details" not in message:
        return False
    entries = message["reasoning_details"]
    return not (isinstance(entries, list) and entries and all(map(is_chat_entry, entries)))


def _in_answer(document: Mapping[str, Any]) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    choices = document.get("choices")
    if isinstance(choices, list):
        if isinstance(document.get("provider"), str):
            found.append((4, "provider"))
        if any(isinstance(choice, dict) and "native_finish_reason" in choice for choice in choices):
            found.append((6, "choices[].native_finish_reason"))
        for choice in choices:
            message = (choice.get("message") or choice.get("delta")) if isinstance(choice, dict) else None
            if isinstance(message, dict) and _has_details(message):
                found.append((6, "reasoning_details"))
                break
    error = document.get("error")
    if isinstance(error, dict) and isinstance(error.get("code"), int) and "status" not in error:
        if isinstance(error.get("metadata"), dict) or set(error) == {"code", "message"}:
            found.append((4, "error.code as a number"))
    return found
