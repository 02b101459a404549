"""Owns the JSON Schema engine of the judges: OpenAPI to 2020-12, precise loosening, readable findings with pointers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any

import jsonschema_rs

Json = Any
_TAGS = ("type", "role", "object", "status")
_LONGEST = 240
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class BadJson(ValueError):
    """The bytes are not one JSON value without repeated keys."""


def load(body: bytes | str) -> Json:
    """Decode JSON, and refuse everything that a strict peer may refuse: repeated keys, NaN, lone surrogates, a byte
    order mark."""
    try:
        text = body if isinstance(body, str) else body.decode("utf-8")
        value = json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        raise BadJson(f"not UTF-8: {error}") from error
    except UnicodeEncodeError as error:
        raise BadJson(f"a lone surrogate: {error.reason}") from error
    except json.JSONDecodeError as error:
        raise BadJson(f"not JSON: {error}") from error
    except RecursionError as error:
        raise BadJson("nested too deep to judge") from error
    return value


def _pairs(items: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(items)
    if len(value) != len(items):
        names = [name for name, _ in items]
        raise BadJson(f"repeated keys {sorted({name for name in names if names.count(name) > 1})}")
    return value


def _constant(name: str) -> Json:
    raise BadJson(f"{name} is not JSON")


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise BadJson(f"{text[:40]} is beyond every number")
    return value


def pointer(path: Iterable[str | int]) -> str:
    """The RFC 6901 pointer of a path. The whole document is written as `(root)`, so that it is visible in a message."""
    steps = [str(step).replace("~", "~0").replace("/", "~1") for step in path]
    return "/" + "/".join(steps) if steps else "(root)"


class Judge:
    """One compiled schema."""

    def __init__(self, schema: Json) -> None:
        # Formats are not checked: base64 and date-times of recordings were shortened or redacted.
        self._validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=False, offline=True)

    def accepts(self, value: Json) -> bool:
        return self._validator.is_valid(value)

    def findings(self, value: Json) -> list[str]:
        """Every breach as `pointer: message`; for unions only the breaches of the intended variant."""
        found: list[str] = []
        for error in self._validator.iter_errors(value):
            for path, message, _ in _flatten(error):
                line = f"{pointer(path)}: {message[:_LONGEST]}"
                if line not in found:
                    found.append(line)
        return found


Flat = tuple[list[str | int], str, str]


def _flatten(error: jsonschema_rs.ValidationError) -> list[Flat]:
    branches = getattr(error.kind, "context", None)
    here = list(error.instance_path)
    if not branches:
        return [(here, error.message, error.kind.name)]
    # Unions nest (nullable unions of unions), so every leaf is compared with the value of the outer union.
    scored = [[flat for inner in branch for flat in _flatten(inner)] for branch in branches]
    distance = [_distance(branch, here) for branch in scored]
    nearest = min(distance)
    if nearest == _OTHER:
        return [(here, f"no variant known here accepts {_label(error.instance)}", "union")]
    meant = [branch for branch, far in zip(scored, distance, strict=True) if far == nearest]
    return max(meant, key=lambda branch: (max(len(path) for path, _, _ in branch), -len(branch)))


_SAME, _UNTAGGED, _OTHER = range(3)


def _distance(branch: list[Flat], here: list[str | int]) -> int:
    """How far a variant is from the intended one: same tag, no tag, or another tag or JSON type."""
    untagged = False
    for path, message, kind in branch:
        if path == here and kind in ("type", "const", "enum", "union"):
            return _OTHER
        if kind in ("const", "enum", "union") and path[:-1] == here and path[-1] in _TAGS:
            return _OTHER
        untagged = untagged or (kind == "required" and path == here and message.startswith('"type"'))
    return _UNTAGGED if untagged else _SAME


def _label(value: Json) -> str:
    if isinstance(value, dict):
        tags = {key: value[key] for key in _TAGS if key in value}
        return f"an object with {tags or sorted(value)}"
    return f"the {type(value).__name__} {str(value)[:60]!r}"


def component(document: Json, name: str) -> Json:
    """A schema that stands for one named schema of an OpenAPI document."""
    return {"$ref": f"#/components/schemas/{name}", "components": document["components"]}


def from_openapi(node: Json, *, mapping: bool = False) -> Json:
    """OpenAPI 3.0/3.1 schema to 2020-12.

    `nullable` becomes a union with null. Discriminators are removed, because they only choose a variant sooner. `oneOf`
    becomes `anyOf`, because without discriminators two variants may accept one value. `mapping`: the keys are names
    from the document (`properties`), not keywords.
    """
    if isinstance(node, list):
        return [from_openapi(item) for item in node]
    if not isinstance(node, dict):
        return node
    if mapping:
        return {key: from_openapi(value) for key, value in node.items()}
    out: dict[str, Json] = {}
    for key, value in node.items():
        if key in ("enum", "const", "default", "example", "required"):
            out[key] = value
        elif key in ("properties", "schemas", "patternProperties", "$defs"):
            out[key] = from_openapi(value, mapping=True)
        elif key == "oneOf":
            out["anyOf"] = from_openapi(value)
        elif key not in ("discriminator", "nullable", "$recursiveRef", "$recursiveAnchor", "default", "example"):
            out[key] = from_openapi(value)
    return {"anyOf": [out, {"type": "null"}]} if node.get("nullable") is True else out


def closed(node: Json, *, mapping: bool = False) -> Json:
    """The same schema, with every object that names its properties closed against others.

    Providers answer 400 to unknown request fields. So an unknown field in a request is a breach, even where the
    published types are open.
    """
    if isinstance(node, list):
        return [closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    if mapping:
        return {key: closed(value) for key, value in node.items()}
    out = {
        key: value
        if key in ("enum", "const", "default", "required")
        else closed(value, mapping=key in ("properties", "schemas", "patternProperties", "$defs"))
        for key, value in node.items()
    }
    if isinstance(node.get("properties"), dict) and node.get("additionalProperties", True) is True:
        out["additionalProperties"] = False
    return out


def optional(schemas: dict[str, Json], name: str, /, *fields: str) -> None:
    """Loosen one named schema: these fields may be absent. Fails when they are optional already."""
    required = schemas[name]["required"]
    for field in fields:
        required.remove(field)


def extra(schemas: dict[str, Json], name: str, /, **fields: Json) -> None:
    """Loosen one named schema: these further fields may be present. Fails when the schema has them already."""
    properties = schemas[name]["properties"]
    for field, schema in fields.items():
        if field in properties:
            raise LookupError(f"{name}.{field} is known: drop this loosening")
        properties[field] = schema
