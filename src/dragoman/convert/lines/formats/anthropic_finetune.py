"""The fine-tuning sets for Claude on Amazon Bedrock: one conversation on each line, in the form of Messages.

A line has `messages` and may have `system`; no other key is allowed. The contents are texts. The first message is the
user's, the last one the assistant's, and both take turns. Calls, results and media have no place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._training import texts_only, training_dialect, training_format

NAME = "anthropic-finetune"
_MEMBERS = frozenset({"system", "messages"})


def evidence(document: Mapping[str, Any]) -> str:
    """Why a line is one of these. Without `system` the line looks like the fine-tuning set of OpenAI."""
    messages = document.get("messages")
    if document.keys() != _MEMBERS or not isinstance(messages, list) or not messages:
        return ""
    last = messages[-1]
    ends = isinstance(last, dict) and last.get("role") == "assistant"
    return "system and messages that end with the assistant's, and no model" if ends else ""


_DIALECT = training_dialect("anthropic", NAME, _MEMBERS, texts_only)

FORMAT = training_format(
    NAME,
    "Claude fine-tuning set (Amazon Bedrock)",
    "https://platform.claude.com/cookbook/finetuning-finetuning-on-bedrock",
    "2026-11-18",
    _DIALECT,
    evidence,
    {"system": "text", "messages": [{"role": "text", "content": "text"}]},
)
