"""Which schemas are let in: those that say the type of everything, or say it in each branch of a union."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ...canon.parts import Path, pointer

Gate = Literal["skip", "warn", "off"]
"""What becomes of a tool whose schema leaves types out: skipped, offered with a note, offered."""

_UNIONS = ("anyOf", "allOf", "oneOf")


def untyped(schema: Any) -> str | None:
    """Where a schema says no type, as a JSON pointer; None if it always does. What stands beside a type (a union, say)
    is not looked at, and neither is what is no object: `true` is a schema, too."""
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
        todo += reversed(inner)
    return None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
