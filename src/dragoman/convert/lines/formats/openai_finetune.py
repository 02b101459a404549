"""The fine-tuning sets of OpenAI: one conversation on each line, in the form of Chat Completions.

A line has `messages`, and may have `tools`, `parallel_tool_calls` and the older `functions`. An assistant message may
have a `weight` of 0 or 1, which other formats do not have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._training import chat_columns, training_dialect, training_format

NAME = "openai-finetune"
_MEMBERS = frozenset({"messages", "tools", "parallel_tool_calls", "functions"})


def evidence(document: Mapping[str, Any]) -> str:
    """Why a line is one of these: a whole conversation in the form of Chat, with a text for every call's arguments, and
    no model.
    """
    messages = document.get("messages")
    if not isinstance(messages, list) or not messages or not document.keys() <= _MEMBERS:
        return ""
    last = messages[-1]
    if not isinstance(last, dict) or last.get("role") != "assistant" or "content" in _block_types(messages):
        return ""
    return "messages that end with the assistant's, and no model" if _texts(messages) else ""


def _block_types(messages: list[Any]) -> set[str]:
    """{"content"} if a content has blocks that only Messages has."""
    kinds = {"tool_use", "tool_result", "thinking"}
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") in kinds:
                return {"content"}
    return set()


def _texts(messages: list[Any]) -> bool:
    """Whether the arguments of all calls are texts. Hugging Face chat has objects there."""
    for message in messages:
        for call in (message.get("tool_calls") if isinstance(message, dict) else None) or ():
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict) and isinstance(function.get("arguments"), dict):
                return False
    return True


_DIALECT = training_dialect("openai-chat", NAME, _MEMBERS)

FORMAT = training_format(
    NAME,
    "OpenAI fine-tuning set (chat)",
    "https://platform.openai.com/docs/guides/supervised-fine-tuning",
    "2026-11-18",
    _DIALECT,
    evidence,
    chat_columns("text", {"weight": "int", "refusal": "text"}, parallel_tool_calls="bool"),
)
