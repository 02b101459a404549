"""The schema subsets of OpenAI's endpoints, which several dialects share: LOOSE, and STRICT for tools with `strict`."""

from __future__ import annotations

from typing import Final

from .subset_and_change import Subset

LOOSE: Final = Subset(root_object=True, complete=True, modern=True)
"""Without strict, OpenAI demands an object at the root, `items` in every array (also beside `prefixItems`), and the
keywords of 2020-12: 400 "[] is not of type 'object', 'boolean'". It does not check anything else.
"""

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
"""OpenAI's documentation of structured output lists these keywords (2026-11). Strict mode also refuses a schema with
neither a type nor a union: 400 "schema must have a 'type' key". `$schema` is in the schemas that OpenAI's own SDK sends
(openai-node, recorded with gpt-4o-2024-08-06).
"""
