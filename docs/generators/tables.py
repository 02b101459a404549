"""Writes the rows of Markdown tables."""

from __future__ import annotations


def cells(*texts: str) -> str:
    """One row. Characters that have a meaning in a table are escaped."""
    return "| " + " | ".join([text.replace("|", "\\|").replace("*", "\\*") for text in texts]) + " |"


def heading(*texts: str) -> list[str]:
    """The first two lines of a table."""
    return [cells(*texts), "|---" * len(texts) + "|"]
