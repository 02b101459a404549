"""Sampling figures in the range that a target takes."""

from __future__ import annotations

from ..canon.parts import Path
from ..crossing import Crossing


def within(value: float, low: float, high: float, at: Path, crossing: Crossing) -> float:
    """`value`, moved into the range if it lies outside."""
    if low <= value <= high:
        return value
    moved = min(max(value, low), high)
    crossing.lose("sampling.clamped", at, f"{value:g} is sent as {moved:g}")
    return moved
