"""The vocabulary of JSON Schema (2020-12, with what older drafts and OpenAPI left behind), as tables."""

from __future__ import annotations

from typing import Any, Final

TYPES: Final = ("string", "number", "integer", "boolean", "object", "array", "null")

# Type names people write by hand, from Python and OpenAPI habits.
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

# Keywords whose value is a schema, a list of schemas, or an object of schemas. Everything else is data and not walked.
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

# Where `true` and `false` are the usual spelling and no target asks for `{}`.
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

# The type a keyword speaks about; keywords not listed speak about any value.
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

# Keywords that tell the model something when a target refuses them: they move into the description.
NOTED: Final = (
    frozenset(APPLIES)
    | frozenset({"type", "enum", "const", "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "nullable"})
    | frozenset({"default", "examples", "example", *REFS})
) - {"propertyOrdering"}
# Of these, the ones that forbid nothing.
ANNOTATIONS: Final = frozenset({"default", "examples", "example", "contentEncoding", "contentMediaType"})

# Only together do these mean anything: a second set cannot be merged word by word into a first.
GROUPS: Final = (("if", "then", "else"), ("contains", "minContains", "maxContains"))

# Keywords that allow less when a schema inside them allows more.
DELICATE: Final = frozenset({"not", "if", "oneOf", "contains"})


_EMPTY: Final = frozenset(
    {"required", "properties", "patternProperties", "dependentRequired", "dependentSchemas", "dependencies"}
)


def vacuous(name: str, value: Any) -> bool:
    """True for a constraint that forbids nothing, or only what nobody would send."""
    if name in BOOLEANS:
        return isinstance(value, bool)
    if name in ("uniqueItems", "nullable"):
        return value is False
    if name in _EMPTY:
        return not value
    return value is True and name in SCHEMAS
