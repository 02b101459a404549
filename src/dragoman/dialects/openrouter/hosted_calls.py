"""Calls and results of the tools that OpenRouter runs itself: details of the type `reasoning.server_tool_call`.

Chat clients get other dialects' uses in the same form (`openai_chat/hosted_calls.py`). Details that stand for other
dialects' uses are written for clients only, with a marked id: nothing shows that OpenRouter takes details which it did
not make (2026-11). In a request such uses are text (`codec/hosted_calls_as_text.py`).
"""

from __future__ import annotations

from msgspec import Raw

from ...canon.parts import HostedCall, HostedResult, Opaque, Part, Path
from ...codec import json_text
from ...codec.hosted_calls_as_text import write_as_text
from ...context import Context
from ..openai_chat.hosted_calls import DETAIL, read_use, written_use
from .wire import NAME

__all__ = ["DETAIL", "read_hosted", "write_hosted"]


def read_hosted(value: Raw, at: Path) -> tuple[Opaque, ...]:
    """A detail of another kind than thoughts: a hosted call and its result where it is one."""
    return read_use(value, at, NAME)


def write_hosted(call: HostedCall, result: HostedResult | None, context: Context, request: bool) -> tuple[Part, ...]:
    """The detail for another dialect's use of a hosted tool."""
    if request:
        return write_as_text(call, result, context, request)
    return (Opaque(NAME, DETAIL, json_text.raw(written_use(call, result, context)), at=call.at),)
