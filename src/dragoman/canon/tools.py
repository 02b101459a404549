"""What a model may call: Tool (the client runs it), HostedTool (the upstream runs it), Choice."""

from __future__ import annotations

from typing import Literal

from msgspec import Raw, Struct

from .parts import Extra, Path


class Grammar(Struct, frozen=True, gc=False):
    """The language a custom tool's input must be in."""

    syntax: str
    definition: str


class Tool(Struct, frozen=True, gc=False, tag_field="tool", tag="tool"):
    """A declared function, or with `custom` a tool that takes free text."""

    name: str
    description: str = ""
    schema: str | None = None
    """Standard JSON Schema of the arguments, as exact JSON text; None when the source declared none."""
    strict: bool | None = None
    custom: bool = False
    grammar: Grammar | None = None
    namespace: str = ""
    deferred: bool = False
    output_schema: str | None = None
    cache: str | None = None
    extra: Extra | None = None
    at: Path = ()
    schema_at: Path = ()
    """Where the schema stands, seen from `at`."""


class HostedTool(Struct, frozen=True, gc=False, tag_field="tool", tag="hosted"):
    """A tool the upstream runs itself, kept whole under the dialect's own type word."""

    dialect: str
    kind: str
    value: Raw
    at: Path = ()


class Choice(Struct, frozen=True, gc=False):
    """Which tools the model may or must call. `names` is the subset for auto and required, the tool for one."""

    mode: Literal["auto", "none", "required", "one"]
    names: tuple[str, ...] = ()
    extra: Extra | None = None
    at: Path = ()
    hosted: bool = False
    """The one is a HostedTool, and `names` has its kind."""
    hosted_at: tuple[Path, ...] | None = None
    """Where the HostedTools of a subset stand. None: the subset is one of functions, and hosted tools may be used."""
