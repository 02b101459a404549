"""A model's answer: Response, why it ended (Stop), what it cost (Usage)."""

from __future__ import annotations

from typing import Literal

from msgspec import Raw, Struct

from .parts import Extra, Part, Path, Seal

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


Named = tuple[tuple[Path, tuple[str, ...]], ...]
"""Names of fields, and where they stand."""


class PlainCall(Struct, gc=False):
    """A call in a plain answer."""

    name: str
    arguments: str


class Plain(Struct, gc=False):
    """What nearly all answers are: at most one text, then calls, nothing hanging on either, whole or cut by its length.

    A dialect that reads and writes these spares them the way through parts (`Dialect.read_plain`, `write_plain`);
    what it writes, and the losses, are the same. Half of the time, measured for an answer with two calls.
    """

    id: str
    model: str
    text: Raw
    """As JSON spells it; empty for none, then there are calls."""
    calls: dict[str, PlainCall]
    """By their ids, each of which is one call's; what the ids and the names are like is not looked at before
    `codec.plain.plain_calls`."""
    stop: Literal["stop", "tool_calls", "length"]
    input: int
    output: int
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None
    created: int | None = None
    tier: str | None = None
    """The service tier, in the canon's word."""
    parsed: bool = False
    """The arguments came as JSON objects, whose numbers nobody has looked at; else as text that may be anything before
    `codec.plain.plain_calls`."""
    kept: Named = ()
    """The fields that only the source's dialect knows and that say something. Their names are those of a wire Struct,
    and their places few: so there are few such tuples, worth remembering."""
    seals: dict[str, Seal] | None = None
    """Those on the calls, by their ids; None where no call has one."""
    slots: dict[str, str] | None = None
    """The packed seals to write on the calls, and"""
    thoughts: dict[str, str] | None = None
    """those to write into thoughts before them."""
    listed: list[str] | None = None
    """The packed seals to write into a list beside the parts."""
