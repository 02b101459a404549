"""A client of OpenRouter, written from its documentation. The conformance kit judges our own writers by it."""

from __future__ import annotations

from typing import Any

import msgspec

from ..openai_chat.conformance_client import CLIENT as CHAT
from ..openai_chat.conformance_client import with_answer

_MESSAGE = ("role", "content", "refusal", "tool_calls", "reasoning", "reasoning_details")


def answered(request: dict[str, Any], answer: Any, outputs: list[Any], strict: bool) -> dict[str, Any]:
    """The next request: the answer, and the results of its calls."""
    return with_answer(request, answer, outputs, _MESSAGE if strict else None)


CLIENT = msgspec.structs.replace(CHAT, answered=answered)
