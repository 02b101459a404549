"""The vocabulary of JSON Schema (2020-12, with leftovers of older drafts and OpenAPI), as tables."""

from __future__ import annotations

from typing import Any, Final

TYPES: Final = ("string", "number", "integer", "boolean", "object", "array", "null")

# Type names that people write by hand, after Python and OpenAPI.
ALIASES: Final[dict[str, str]] = {
    "str": "string",
    "text": "string",
    "int": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "bool": "boolean",
    "dict": "object",
    "map": "object",
    "list": "array",
    "none": "null",
}

REFS: Final = ("$ref", "$dynamicRef", "$recursiveRef")
CONTAINERS: Final = ("$defs", "definitions", "defs")

# Keywords whose value is a schema, a list of schemas, or an object of schemas. All other values are data and not
# walked.
SCHEMAS: Final = frozenset(
    {
        "items",
        "additionalItems",
        "additionalProperties",
        "contains",
        "propertyNames",
        "not",
        "if",
        "then",
        "else",
        "unevaluatedItems",
        "unevaluatedProperties",
        "contentSchema",
    }
)
LISTS: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
MAPS: Final = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})

# Keywords with `true` or `false` as the usual value; no target demands `{}` there.
BOOLEANS: Final = frozenset({"additionalProperties", "additionalItems", "unevaluatedItems", "unevaluatedProperties"})

STRINGS: Final = frozenset(
    {
        "$schema",
        "$id",
        "id",
        "$anchor",
        "$dynamicAnchor",
        "$comment",
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "title",
        "description",
        "pattern",
        "format",
        "contentEncoding",
        "contentMediaType",
    }
)
LOWER_BOUNDS: Final = frozenset(
    {"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"}
)
UPPER_BOUNDS: Final = frozenset(
    {"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"}
)
NUMBERS: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
COUNTS: Final = (LOWER_BOUNDS | UPPER_BOUNDS) - NUMBERS
FLAGS: Final = frozenset({"uniqueItems", "deprecated", "readOnly", "writeOnly", "nullable", "$recursiveAnchor"})
NAMES: Final = frozenset({"required", "propertyOrdering"})

# The type that a keyword constrains. A keyword that is not listed constrains any value.
APPLIES: Final[dict[str, str]] = {
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"), "string"),
    "contentSchema": "string",
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), "number"),
    **dict.fromkeys(("properties", "required", "additionalProperties", "patternProperties", "propertyNames"), "object"),
    **dict.fromkeys(("minProperties", "maxProperties", "unevaluatedProperties", "propertyOrdering"), "object"),
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "dependencies"), "object"),
    **dict.fromkeys(("items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"), "array"),
    **dict.fromkeys(("minItems", "maxItems", "uniqueItems", "minContains", "maxContains"), "array"),
}
NUMBER_FORMATS: Final = frozenset({"int32", "int64", "uint32", "uint64", "float", "double"})

# Keywords that help the model even if a target refuses them: they move into the description.
NOTED: Final = (
    frozenset(APPLIES)
    | frozenset({"type", "enum", "const", "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "nullable"})
    | frozenset({"default", "examples", "example", *REFS})
) - {"propertyOrdering"}
# The keywords of `NOTED` that forbid nothing.
ANNOTATIONS: Final = frozenset({"default", "examples", "example", "contentEncoding", "contentMediaType"})

# Keywords that have a meaning only together. A second set cannot be merged into a first keyword by keyword.
GROUPS: Final = (("if", "then", "else"), ("contains", "minContains", "maxContains"))

# Keywords that allow less if a schema inside them allows more.
DELICATE: Final = frozenset({"not", "if", "oneOf", "contains"})


_EMPTY: Final = frozenset(
    {"required", "properties", "patternProperties", "dependentRequired", "dependentSchemas", "dependencies"}
)


def is_without_effect(name: str, value: Any) -> bool:
    """True for a constraint that forbids nothing, or only values that no model would send."""
    if name in BOOLEANS:
        return isinstance(value, bool)
    if name in ("uniqueItems", "nullable"):
        return value is False
    if name in _EMPTY:
        return not value
    return value is True and name in SCHEMAS
