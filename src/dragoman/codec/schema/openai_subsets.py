"""The schemas OpenAI's endpoints take, which several dialects share: loose as a rule, a small subset with `strict`."""

from __future__ import annotations

from typing import Final

from .subset import Subset

LOOSE: Final = Subset(root_object=True, complete=True, modern=True)
"""Without strict the server wants an object at the root, `items` in every array, also beside `prefixItems`, and every
word as 2020-12 has it ("[] is not of type 'object', 'boolean'"). It leaves the rest alone."""

_STRICT_WORDS: Final = frozenset(
    {
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "const",
        "description",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "items",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "multipleOf",
        "pattern",
        "properties",
        "required",
        "title",
        "type",
    }
)

STRICT: Final = Subset(
    keywords=_STRICT_WORDS,
    root_keywords=_STRICT_WORDS | {"$schema"},
    ref_siblings=False,
    one_of="any_of",
    all_of="merge",
    typed=True,
    complete=True,
    modern=True,
    formats=frozenset({"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"}),
    root_object=True,
    closed=True,
    all_required=True,
)
"""Strict mode also refuses a schema that says neither its type nor a union ("schema must have a 'type' key"). `$schema`
stands in the schemas that OpenAI's own SDK sends (openai-node, recorded with gpt-4o-2024-08-06)."""
