"""What a target accepts (`Subset`) and what was done to a schema for its sake (`Change`): plain data, no rules."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Path: TypeAlias = tuple[str | int, ...]

DROPPED = "schema.keyword.dropped"
REWRITTEN = "schema.rewritten"
CUT = "schema.ref.cut"
INLINED = "schema.ref.inlined"
INVALID = "schema.invalid"


class Subset(msgspec.Struct, frozen=True, cache_hash=True, kw_only=True):
    """The JSON Schema that one target accepts. Every default is the most permissive choice.

    A `Subset` in which only `root_object` is set leaves everything below the root alone.
    """

    keywords: frozenset[str] | None = None
    """Accepted keywords, validation and annotation; None: any, known to us or not."""
    root_keywords: frozenset[str] | None = None
    """Accepted at the root, where that differs from `keywords`."""
    refs: Literal["keep", "inline"] = "keep"
    """Local references kept (all of them into the root's definitions) or resolved in place."""
    recursive: bool = True
    """May a kept reference lead back to itself."""
    root_ref: bool = True
    """May a kept reference name the whole document (`#`)."""
    ref_siblings: bool = True
    """May keywords stand beside a kept reference; else the reference is resolved in place."""
    const: Literal["keep", "enum"] = "keep"
    one_of: Literal["keep", "any_of"] = "keep"
    all_of: Literal["keep", "merge"] = "keep"
    any_of_alone: bool = False
    """No keyword may stand beside `anyOf`: its siblings are written into every branch."""
    types: Literal["list", "nullable"] = "list"
    """`"type": ["string", "null"]` kept, or one type, `nullable: true`, and `anyOf` for several."""
    typed: bool = False
    """Every schema must say its type (or be a union or a reference)."""
    complete: bool = False
    """Every object lists its properties, if only as {}; every array says its items, also beside `prefixItems`."""
    modern: bool = False
    """Spellings of older drafts and of OpenAPI must go, also where `keywords` is None."""
    upper: bool = False
    """Type names in capitals, `ref` and `defs` without the dollar sign."""
    formats: frozenset[str] | None = None
    """Accepted values of `format`; None: any."""
    root_object: bool = False
    """The root must be an object that says so; references and unions there are merged away."""
    root_keys: str | None = None
    """What names the root's properties may have, as a pattern; None: any. Others are told in words."""
    closed: bool = False
    """Every object must say `additionalProperties: false`."""
    all_required: bool = False
    """Every property must be required; an optional one becomes nullable."""
    string_enum: bool = False
    """Enum values must be non-empty strings."""
    scalar_enum: bool = False
    """Enum values must not be objects or arrays."""
    min_items: int | None = None
    """The largest `minItems` accepted; None: any."""


class Change(msgspec.Struct, frozen=True):
    """One thing done to a schema. `path` leads into the original schema."""

    code: str
    path: Path
    detail: str
