"""Reads the OpenAPI-like notation of schemas (Gemini) into standard JSON Schema, without loss.

The notation has types in capitals (or as numbers of an enum), `nullable`, `example`, `propertyOrdering`, `ref` and
`defs` without the dollar sign, whole numbers in quotes, and sometimes keywords in snake_case. null means absent.
"""

from __future__ import annotations

import re
from typing import Any, Final

from ..cache_memory_budget import remembered
from .already_fits import is_standard
from .json_with_exact_numbers import MAX_NESTING, ExactNumber, decode, encode, too_deep
from .keywords import COUNTS, LISTS, MAPS, SCHEMAS, TYPES
from .subset_and_change import DROPPED, INVALID, Change, Path

_SNAKE: Final = {
    "additional_properties": "additionalProperties",
    "any_of": "anyOf",
    "max_items": "maxItems",
    "max_length": "maxLength",
    "max_properties": "maxProperties",
    "min_items": "minItems",
    "min_length": "minLength",
    "min_properties": "minProperties",
    "property_ordering": "propertyOrdering",
}
_FOREIGN: Final = ("nullable", "example", "propertyOrdering", "ref", "defs", *_SNAKE)
# The numbers of Google's enum Type (google-genai 3.1.0, 2026-11). Clients made from the definitions send them.
_TYPE_NUMBERS: Final = ("", "string", "number", "integer", "boolean", "array", "object", "null")
_MAY_BE_NULL: Final = frozenset({"default", "example", "examples", "const"})
_WHOLE: Final = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMERIC: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
# int64 is a string in JSON of protobuf, so Google's clients write these numbers in quotes.
_QUOTED: Final = dict.fromkeys(COUNTS, _WHOLE) | dict.fromkeys(("minimum", "maximum"), _NUMERIC)
_CACHED_BYTES: Final = 65_536


def from_openapi(schema: bytes) -> tuple[bytes, tuple[Change, ...]]:
    """Standard JSON Schema for an OpenAPI-like schema. Standard input is returned byte for byte.

    Raises ValueError for bytes that are not JSON, and nothing else.
    """
    if len(schema) > _CACHED_BYTES:
        return _from_openapi(schema)
    return _cached(schema)


def _from_openapi(schema: bytes) -> tuple[bytes, tuple[Change, ...]]:
    if is_standard(schema, _FOREIGN):
        return schema, ()
    if too_deep(schema):
        return b'{"type":"object"}', (Change(INVALID, (), f"nested deeper than {MAX_NESTING} levels: not read"),)
    root = decode(schema)
    changes: list[Change] = []
    out = _read(root, (), changes)
    written = encode(out)
    # The client's own text stays if only its spelling would change.
    return (schema if written == encode(root) else written), tuple(changes)


_cached = remembered(_from_openapi, lambda result, schema: 500 + len(schema) + len(result[0]) + 300 * len(result[1]))


def _read(schema: Any, path: Path, changes: list[Change]) -> Any:
    if not isinstance(schema, dict):
        return schema
    out: dict[str, Any] = {}
    for written, value in schema.items():
        name = _SNAKE.get(written) or written
        # Protobuf writes absent fields as null in some languages.
        if value is None and name not in _MAY_BE_NULL:
            continue
        at = (*path, written)
        if name == "type":
            kind = _type(value)
            if kind is not None:
                out[name] = kind
        elif name == "ref" and isinstance(value, str):
            out["$ref"] = _reference(value)
        elif name == "$ref" and isinstance(value, str):
            out[name] = _reference(value)
        elif name in MAPS or name == "defs":
            out["$defs" if name == "defs" else name] = _map(value, at, changes)
        elif isinstance(value, list) and (name in LISTS or name == "items"):
            items = out[name] = []
            for index, item in enumerate(value):
                items.append(_read(item, (*at, index), changes))
        elif name in SCHEMAS:
            out[name] = _read(value, at, changes)
        elif isinstance(value, str) and name in _QUOTED and _QUOTED[name].fullmatch(value):
            out[name] = ExactNumber(value)
        else:
            out[name] = value
    _order(out, path, changes)
    _enum(out)
    _example(out)
    return _nullable(out)


def _map(value: Any, at: Path, changes: list[Change]) -> Any:
    if not isinstance(value, dict):
        return value
    out = {}
    for key, item in value.items():
        out[key] = _read(item, (*at, key), changes)
    return out


def _type(value: Any) -> Any:
    """A type in lower case. None for the enum's "unspecified". A value that is not a type stays, and `adapt`
    reports it.
    """
    if isinstance(value, ExactNumber) and value.integral and 0 <= value.value < len(_TYPE_NUMBERS):
        return _TYPE_NUMBERS[int(value.value)] or None
    if isinstance(value, list):
        return [_type(item) or item for item in value]
    if isinstance(value, str):
        if value == "TYPE_UNSPECIFIED":
            return None
        return value.lower() if value.lower() in TYPES else value
    return value


def _reference(text: str) -> str:
    # Only the first step can be the container: later ones are names.
    return text.replace("#/defs/", "#/$defs/", 1) if text.startswith("#/defs/") else text


def _order(out: dict[str, Any], path: Path, changes: list[Change]) -> None:
    """Express `propertyOrdering` by the order of the properties."""
    order = out.pop("propertyOrdering", None)
    if order is None:
        return
    properties = out.get("properties")
    if not isinstance(order, list) or not isinstance(properties, dict):
        changes.append(Change(DROPPED, (*path, "propertyOrdering"), "there are no properties to order"))
        return
    first = {name: properties[name] for name in order if isinstance(name, str) and name in properties}
    # Properties that the order does not name follow in their own order.
    out["properties"] = {**first, **properties}


def _enum(out: dict[str, Any]) -> None:
    """Restore enums of numbers, which the notation writes as strings. `format: enum` has no meaning and is removed."""
    values = out.get("enum")
    if not isinstance(values, list):
        return
    if out.get("format") == "enum":
        del out["format"]
    if out.get("type") in ("integer", "number"):
        out["enum"] = [ExactNumber(v) if isinstance(v, str) and _NUMERIC.fullmatch(v) else v for v in values]


def _example(out: dict[str, Any]) -> None:
    if "example" in out:
        examples = out.get("examples")
        example = out.pop("example")
        out["examples"] = [*examples, example] if isinstance(examples, list) else [example]


def _nullable(out: dict[str, Any]) -> dict[str, Any]:
    """Express `nullable` by the types."""
    flag = out.get("nullable")
    if not isinstance(flag, bool):
        return out
    del out["nullable"]
    if not flag:
        return out
    null = {"type": "null"}
    kinds = out.get("type")
    if isinstance(kinds, str):
        kinds = [kinds]
    if isinstance(kinds, list) and "null" not in kinds:
        out["type"] = [*kinds, "null"]
    if isinstance(out.get("enum"), list) and None not in out["enum"]:
        out["enum"] = [*out["enum"], None]
    if kinds is None and isinstance(out.get("anyOf"), list) and null not in out["anyOf"]:
        out["anyOf"] = [*out["anyOf"], null]
    elif kinds is None and "$ref" in out:
        # Beside a reference no type can be written: the reference is one member of a union, null the other.
        return {("anyOf" if k == "$ref" else k): ([{k: v}, null] if k == "$ref" else v) for k, v in out.items()}
    return out
