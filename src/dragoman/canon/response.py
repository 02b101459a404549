"""A model's answer: Response, why it ended (Stop), what it cost (Usage)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .parts import Extra, Part, Path

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
    """Why the answer ended. `unknown` when the source did not say.

    `at`: where the source says so, if not in the usual place. `word`: the source's own word, where it says more than
    `reason`. `detail`: a sentence about it, for people; `detail_at`: where that stands, if in a field of its own.
    """

    reason: StopReason
    sequence: str | None = None
    detail: str = ""
    extra: Extra | None = None
    at: Path = ()
    word: str = ""
    detail_at: Path = ()


class Tier(Struct, frozen=True, gc=False):
    """The service tier that gave an answer: standard, flex, priority, batch or scale; and where the source says so."""

    word: str
    at: Path = ()


class Usage(Struct, frozen=True, gc=False):
    """Tokens. `input` counts cached tokens in, `output` counts thinking in, whatever the source's habit."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None
    extra: Extra | None = None
    total: int | None = None
    """The source's own total, where it is not the sum of `input` and `output`."""
    tier: Tier | None = None


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
