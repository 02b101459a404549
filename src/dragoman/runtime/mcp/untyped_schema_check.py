"""Owns the check of MCP schemas: every property must have a type, or a type in each branch of a union."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ...canon.parts import Path, pointer

Gate = Literal["skip", "warn", "off"]
"""What happens to a tool whose schema lacks types: skipped, offered with a note, or offered."""

_UNIONS = ("anyOf", "allOf", "oneOf")


def untyped_schema_path(schema: Any) -> str | None:
    """The JSON pointer of a schema without a type. None: every schema has one. A union beside a type is not checked,
    nor is a schema that is not an object (`true` is a schema too)."""
    todo: list[tuple[Path, Any]] = [((), schema)]
    while todo:
        at, one = todo.pop()
        if not isinstance(one, Mapping):
            continue
        kind = one.get("type")
        inner: list[tuple[Path, Any]] = []
        if not kind:
            inner = [((*at, word, i), each) for word in _UNIONS for i, each in enumerate(_listed(one.get(word)))]
            if not inner:
                return pointer(at) or "/"
        elif kind == "object" and isinstance(one.get("properties"), Mapping):
            inner = [((*at, "properties", name), each) for name, each in one["properties"].items()]
        elif kind == "array":
            inner = [((*at, "items"), one.get("items"))]
        # Reversed, because the last entry of the stack is read next, and the message should name the first fault of the
        # schema.
        todo += reversed(inner)
    return None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
