"""A model's answer: Response, why it ended (Stop), what it cost (Usage)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .parts import Extra, Part

StopReason = Literal[
    "stop",
    "stop_sequence",
    "length",
    "context_full",
    "tool_calls",
    "content_filter",
    "refusal",
    "pause",
    "bad_tool_call",
    "error",
    "unknown",
]


class Stop(Struct, frozen=True, gc=False):
    """Why the answer ended. `unknown` when the source did not say."""

    reason: StopReason
    sequence: str | None = None
    detail: str = ""
    extra: Extra | None = None


class Usage(Struct, frozen=True, gc=False):
    """Tokens. `input` counts cached tokens in, `output` counts thinking in, whatever the source's habit."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None
    extra: Extra | None = None


class Alternative(Struct, frozen=True, gc=False):
    """A second, third ... answer to the same question (`n` > 1)."""

    parts: tuple[Part, ...]
    stop: Stop
    extra: Extra | None = None


class Response(Struct, frozen=True, gc=False):
    """One answer: the parts of an assistant turn and how it ended."""

    parts: tuple[Part, ...]
    stop: Stop
    id: str = ""
    model: str = ""
    created: int | None = None
    usage: Usage | None = None
    alternatives: tuple[Alternative, ...] = ()
    extra: Extra | None = None
