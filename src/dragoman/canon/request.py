"""Owns the request to a model: Request, its Settings and the Format of the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from .parts import Extra, Path
from .tools import Choice, HostedTool, Tool
from .turns import Turn


class Format(Struct, frozen=True, gc=False):
    """The required shape of the answer: any JSON object, or an object that fits a schema."""

    kind: Literal["json", "schema"]
    schema: str | None = None
    """JSON Schema, as exact JSON text."""
    name: str = ""
    description: str = ""
    strict: bool | None = None
    extra: Extra | None = None
    schema_at: Path = ()
    """The path of the schema, relative to the format."""
    enforced: bool = False
    """Every upstream of the source's dialect enforces the schema, whatever `strict` is."""


class Settings(Struct, frozen=True, gc=False):
    """Sampling, limits and other options. None: the request does not set the option."""

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: float | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    n: int | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    parallel: bool | None = None
    """False: at most one call in each step."""
    effort: str | None = None
    """none, minimal, low, medium, high, xhigh, max."""
    budget: int | None = None
    """Thinking tokens. 0 turns thinking off; -1 lets the model decide."""
    thoughts: bool | None = None
    """Whether the answer should show the model's thoughts."""
    verbosity: str | None = None
    format: Format | None = None
    user: str | None = None
    metadata: dict[str, Any] | None = None
    tier: str | None = None
    cache_key: str | None = None
    cache: str | None = None
    """Automatic caching of the longest prefix; the value is its time to live."""
    stream_usage: bool | None = None
    """True: the client of a stream asked for usage figures."""
    open_effort: str | None = None
    """The effort that the source's upstreams use if thinking is on without an effort (a budget of -1)."""
    compact_at: int | None = None
    """The number of input tokens at which the upstream itself replaces the history by a summary. 0: the upstream
    decides.
    """
    images: bool | None = None
    """The answer may hold images that the model makes. Readers set this only for targets whose requests can ask for
    images.
    """
    at: Mapping[str, Path] = {}
    """The place of each setting in the source, for the loss report. All requests of a dialect share one table."""


class Request(Struct, frozen=True, gc=False):
    """One request to a model: turns, tools and settings."""

    turns: tuple[Turn, ...]
    model: str = ""
    tools: tuple[Tool | HostedTool, ...] = ()
    choice: Choice | None = None
    settings: Settings = Settings()
    stream: bool | None = None
    extra: Extra | None = None
