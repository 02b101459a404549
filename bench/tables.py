"""Owns the form of the report: aligned plain-text tables."""

from __future__ import annotations

from collections.abc import Sequence


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    """Format a table with columns as wide as needed; the first `left` are text, the others are right-aligned
    numbers."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        padded = [c.ljust(w) if i < left else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=True))]
        return "  ".join(padded).rstrip()

    return "\n".join([title, line(head), line(["-" * w for w in widths]), *map(line, rows)])


def number(value: float | None, digits: int = 2) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def micro(value: float | None) -> str:
    """Microseconds with a useful number of digits."""
    return "" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def against(value: float, goal: float) -> str:
    """A ratio beside its goal. Nothing fails here."""
    return "over" if value > goal else "ok"
