"""Reads and writes the uses of hosted tools that OpenRouter runs: details of the type `reasoning.server_tool_call`.

Chat clients get the uses of other dialects in the same form (`openai_chat/hosted_calls.py`). Such details are written
for clients only, with a marked id: no documentation shows that OpenRouter accepts details that it did not make
(2026-11). In a request these uses become text (`codec/hosted_calls_as_text.py`).
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
    """A detail that is not a thought: a hosted call and its result, if it is one."""
    return read_use(value, at, NAME)


def write_hosted(call: HostedCall, result: HostedResult | None, context: Context, request: bool) -> tuple[Part, ...]:
    """The detail for a use of a hosted tool in another dialect; a text in a request."""
    if request:
        return write_as_text(call, result, context, request)
    return (Opaque(NAME, DETAIL, json_text.raw(written_use(call, result, context)), at=call.at),)
