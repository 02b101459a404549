"""Reports the id and the model of an answer that a stream names after its beginning.

A target writes both with its first bytes. So a name that comes later, or that changes, has no place.
"""

from __future__ import annotations

from ..canon.parts import Path
from ..context import Context


def report_id(context: Context, at: Path, first: str, now: str | None) -> None:
    """Report an id that differs from the id with which the answer began."""
    # Chunks repeat the id. Some leave it out or empty, which is not a change.
    if now and now != first:
        context.lose("id.dropped", at, f"{now} came after the beginning of the answer")


def report_model(context: Context, at: Path, first: str, now: str | None) -> None:
    """Report a model that differs from the model with which the answer began."""
    if now and now != first:
        context.lose("field.dropped", at, f"{now} came after the beginning of the answer", "info")
