"""Owns the comparison of canon values and JSON values: as plain trees without places, with a pointer to each
difference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw, Struct

Json = Any


def placeless(value: Any) -> Json:
    """Return a canon value as a plain tree without `at` (the places), with raw JSON decoded."""
    if isinstance(value, Raw):
        return {"json": msgspec.json.decode(value)}
    if isinstance(value, Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__ if name not in ("at", "schema_at")}
        return {"is": type(value).__name__} | {name: placeless(item) for name, item in fields.items()}
    if isinstance(value, tuple | list):
        return [placeless(item) for item in value]
    if isinstance(value, dict):
        return {name: placeless(item) for name, item in value.items()}
    return value


def differences(before: Json, after: Json) -> list[str]:
    """Return each difference of two trees with its pointer. The values 1, 1.0 and true are all different."""
    return [f"{place or '/'}: {text}" for place, text in _walk(before, after, "")]


def _walk(before: Json, after: Json, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *[key for key in after if key not in before]]:
            step = f"{place}/{key}"
            if key not in after:
                yield step, f"gone: {_short(before[key])}"
            elif key not in before:
                yield step, f"new: {_short(after[key])}"
            else:
                yield from _walk(before[key], after[key], step)
    elif isinstance(before, list) and isinstance(after, list):
        for i, (one, other) in enumerate(zip(before, after, strict=False)):
            yield from _walk(one, other, f"{place}/{i}")
        if len(before) != len(after):
            yield place, f"{len(before)} items became {len(after)}"
    elif before != after or isinstance(before, bool) is not isinstance(after, bool):
        yield place, f"{_short(before)} became {_short(after)}"


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."
