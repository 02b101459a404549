"""A schema as the target takes it: adapted to its subset, every change written down with its place in the source."""

from __future__ import annotations

from msgspec import Raw

from ..canon.parts import Path
from ..crossing import Crossing
from .schema import Subset, adapt


def fit(schema: str, subset: Subset, crossing: Crossing, at: Path) -> Raw:
    """`schema` within `subset`. `at` is where the schema stands in the source."""
    fitted, changes = adapt(schema.encode(), subset)
    for change in changes:
        crossing.lose(change.code, (*at, *change.path), change.detail)
    return Raw(fitted)
