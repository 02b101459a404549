"""Owns the answer of a model: Response, the stop reason (Stop) and the token counts (Usage)."""

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
    """Why the answer ended. `unknown`: the source gives no reason.

    `at`: the place of the reason in the source, if it is not the usual one. `word`: the source's own word, if it is
    more precise than `reason`. `detail`: a sentence for people. `detail_at`: the place of that sentence, if it has a
    field of its own.
    """

    reason: StopReason
    sequence: str | None = None
    detail: str = ""
    extra: Extra | None = None
    at: Path = ()
    word: str = ""
    detail_at: Path = ()


class Tier(Struct, frozen=True, gc=False):
    """The service tier that gave an answer (standard, flex, priority, batch or scale), and its place in the source."""

    word: str
    at: Path = ()


class Usage(Struct, frozen=True, gc=False):
    """Token counts. `input` always includes cached tokens, and `output` always includes thinking, also where the source
    counts otherwise.
    """

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None
    extra: Extra | None = None
    total: int | None = None
    """The source's own total, if it is not the sum of `input` and `output`."""
    tier: Tier | None = None


class Alternative(Struct, frozen=True, gc=False):
    """A second, third ... answer to the same request (`n` > 1)."""

    parts: tuple[Part, ...]
    stop: Stop
    extra: Extra | None = None


class Response(Struct, frozen=True, gc=False):
    """One answer: the parts of an assistant turn, and the stop reason."""

    parts: tuple[Part, ...]
    stop: Stop
    id: str = ""
    model: str = ""
    created: int | None = None
    usage: Usage | None = None
    alternatives: tuple[Alternative, ...] = ()
    extra: Extra | None = None
