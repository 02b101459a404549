"""Owns the tools that a model may call: Tool (the client runs it), HostedTool (the upstream runs it), Choice."""

from __future__ import annotations

from typing import Literal, final

from msgspec import Raw, Struct

from .parts import Extra, Path


class Grammar(Struct, frozen=True, gc=False):
    """The grammar that the input of a custom tool must follow."""

    syntax: str
    definition: str


@final
class Tool(Struct, frozen=True, gc=False, tag_field="tool", tag="tool"):
    """A declared function. With `custom`: a tool that takes free text."""

    name: str
    description: str = ""
    schema: str | None = None
    """JSON Schema of the arguments, as exact JSON text. None: the source declared no schema."""
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
    """The path of the schema, relative to `at`."""


@final
class HostedTool(Struct, frozen=True, gc=False, tag_field="tool", tag="hosted"):
    """A tool that the upstream runs itself, kept whole under the type word of its dialect."""

    dialect: str
    kind: str
    value: Raw
    at: Path = ()


class Choice(Struct, frozen=True, gc=False):
    """Which tools the model may or must call. `names`: the allowed tools for auto and required, the tool for one."""

    mode: Literal["auto", "none", "required", "one"]
    names: tuple[str, ...] = ()
    extra: Extra | None = None
    at: Path = ()
    hosted: bool = False
    """The chosen tool is a HostedTool, and `names` holds its kind."""
    hosted_at: tuple[Path, ...] | None = None
    """The places of the HostedTools of a subset. None: the subset limits functions only, and the model may use all
    hosted tools.
    """
