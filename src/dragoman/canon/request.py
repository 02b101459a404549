"""One question to a model: Request, its Settings and the Format asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from .parts import Extra, Path
from .tools import Choice, HostedTool, Tool
from .turns import Turn


class Format(Struct, frozen=True, gc=False):
    """The shape the answer must have: any JSON object, or one that fits a schema."""

    kind: Literal["json", "schema"]
    schema: str | None = None
    """JSON Schema as exact JSON text."""
    name: str = ""
    description: str = ""
    strict: bool | None = None
    extra: Extra | None = None
    schema_at: Path = ()
    """Where the schema stands, seen from the place of the format."""
    enforced: bool = False
    """Every upstream of the source's dialect holds its answers to the schema, whatever `strict` says."""


class Settings(Struct, frozen=True, gc=False):
    """Sampling, limits and wishes. None means: not said."""

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
    """False: at most one call a step."""
    effort: str | None = None
    """none, minimal, low, medium, high, xhigh, max."""
    budget: int | None = None
    """Thinking tokens; 0 is off, -1 lets the model decide."""
    thoughts: bool | None = None
    """Whether the answer should show what the model thought."""
    verbosity: str | None = None
    format: Format | None = None
    user: str | None = None
    metadata: dict[str, Any] | None = None
    tier: str | None = None
    cache_key: str | None = None
    cache: str | None = None
    """Automatic caching of the longest prefix, with its time to live."""
    stream_usage: bool | None = None
    """The client of a stream asked for usage figures (False or None: it did not)."""
    open_effort: str | None = None
    """The effort that the source's upstreams take where thinking is on without one (a budget of -1)."""
    compact_at: int | None = None
    """Input tokens at which the upstream itself puts a summary in place of the history; 0: the upstream decides."""
    images: bool | None = None
    """The answer may hold images that the model makes. Read only for targets whose requests can ask for images."""
    at: Mapping[str, Path] = {}
    """Where each setting stands in the source, for the loss report; one shared table for each dialect."""


class Request(Struct, frozen=True, gc=False):
    """One question to a model."""

    turns: tuple[Turn, ...]
    model: str = ""
    tools: tuple[Tool | HostedTool, ...] = ()
    choice: Choice | None = None
    settings: Settings = Settings()
    stream: bool | None = None
    extra: Extra | None = None
