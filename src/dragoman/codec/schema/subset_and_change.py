"""Plain data: the JSON Schema that a target accepts (`Subset`), and one change that was made to a schema (`Change`)."""

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
    """The JSON Schema that one target accepts. Every default is the most permissive value.

    A `Subset` with only `root_object` set leaves everything below the root unchanged.
    """

    keywords: frozenset[str] | None = None
    """The accepted keywords, both constraints and annotations. None: any keyword, also unknown ones."""
    root_keywords: frozenset[str] | None = None
    """The keywords accepted at the root, if they differ from `keywords`."""
    refs: Literal["keep", "inline"] = "keep"
    """Local references are kept (all of them into the root's definitions), or replaced by their target."""
    recursive: bool = True
    """Whether a kept reference may be recursive."""
    root_ref: bool = True
    """Whether a kept reference may name the whole document (`#`)."""
    ref_siblings: bool = True
    """Whether keywords may be beside a kept reference. Else the reference is replaced by its target."""
    const: Literal["keep", "enum"] = "keep"
    one_of: Literal["keep", "any_of"] = "keep"
    all_of: Literal["keep", "merge"] = "keep"
    any_of_alone: bool = False
    """No keyword may be beside `anyOf`. Its siblings are written into every branch."""
    types: Literal["list", "nullable"] = "list"
    """list: `"type": ["string", "null"]` is accepted. nullable: one type with `nullable: true`, and `anyOf` for several
    types.
    """
    typed: bool = False
    """Every schema must have a type, or be a union or a reference."""
    complete: bool = False
    """Every object must have `properties` (at least {}), and every array `items`, also beside `prefixItems`."""
    modern: bool = False
    """Spellings of older drafts and of OpenAPI are refused, also if `keywords` is None."""
    upper: bool = False
    """Type names in capitals; `ref` and `defs` without the dollar sign."""
    formats: frozenset[str] | None = None
    """The accepted values of `format`. None: any."""
    root_object: bool = False
    """The root must have the type object. References and unions at the root are merged."""
    root_keys: str | None = None
    """The pattern of the root's property names. None: any name. Other properties move into the description."""
    closed: bool = False
    """Every object must have `additionalProperties: false`."""
    all_required: bool = False
    """Every property must be required. An optional property becomes nullable."""
    string_enum: bool = False
    """Enum values must be non-empty strings."""
    scalar_enum: bool = False
    """Enum values must not be objects or arrays."""
    min_items: int | None = None
    """The largest accepted `minItems`. None: any."""


class Change(msgspec.Struct, frozen=True):
    """One change of a schema. `path` is the path in the original schema."""

    code: str
    path: Path
    detail: str
