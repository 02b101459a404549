"""Lists the settings that are set, and moves sampling values and token limits into the range that a target takes."""

from __future__ import annotations

from typing import Any

from ..canon.parts import Path
from ..canon.request import Settings
from ..context import Context
from .dialect_extras import Fields


def set_settings(settings: Settings, names: Fields) -> list[tuple[str, Any]] | tuple[()]:
    """The settings in `names` that are not None, with their values. Most settings of most requests are not set at
    all."""
    if not names.any_set(settings):
        return ()
    return [(name, value) for name, value in zip(names, names.values(settings), strict=True) if value is not None]


def report_parallel(settings: Settings, context: Context, *, tools: bool) -> None:
    """Report that the target does not forbid parallel calls. Without tools there are no calls, and upstreams refuse
    the switch ("only allowed when 'tools' are specified").
    """
    if settings.parallel is False:
        at = settings.at.get("parallel", ())
        context.lose("parallel.unenforced", at, "" if tools else "no tools", None if tools else "info")


def clamp(value: float, low: float, high: float, at: Path, context: Context) -> float:
    """`value`, moved into the range if needed."""
    if low <= value <= high:
        return value
    # The nearest legal value keeps the direction of the wish; a dropped value would not.
    moved = min(max(value, low), high)
    context.lose("sampling.clamped", at, f"{value:g} is sent as {moved:g}")
    return moved


def clamp_limit(limit: int, at: Path, context: Context, *, streamed: bool = True) -> int | None:
    """`limit`, lowered to the largest limit of the model. None for a negative limit, which clients of local servers
    send for "no limit".
    """
    # Ollama writes -1 and -2 for no limit (server sources, 2026-08).
    if limit < 0:
        context.lose("limit.lowered", at, f"{limit} is sent as no limit but the model's own")
        return None
    profile = context.profile
    most = profile.most_tokens
    # Gemini 4 yields fewer tokens without streaming (docs, 2026-10).
    if not streamed and profile.most_tokens_whole is not None:
        most = profile.most_tokens_whole
    if most is None or limit <= most:
        return limit
    context.lose("limit.lowered", at, f"from {limit} to {most}")
    return most
