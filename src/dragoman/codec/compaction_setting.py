"""Owns the setting that asks the upstream to compact a long history (`Settings.compact_at`).

Messages and Responses have this setting: at that number of input tokens the upstream replaces the history by a summary.
The answer holds the summary, and the next request returns it. The dialects differ in the smallest number and in the
default. No other dialect has such a setting.
"""

from __future__ import annotations

from ..canon.request import Settings
from ..context import Context

DIALECTS = frozenset({"anthropic", "openai-responses"})
"""The dialects with this setting. Readers set it for these targets only."""

UPSTREAM_DECIDES = 0
"""The request gives no number: the upstream decides when to compact."""


def tokens_for(settings: Settings, least: int, context: Context) -> int | None:
    """The number of tokens to write for a target whose smallest number is `least`. None without a setting. None with a
    loss if the target's model does not compact.
    """
    tokens = settings.compact_at
    if tokens is None:
        return None
    at = settings.at.get("compact_at", ())
    if not context.profile.compacts:
        context.lose("compaction.dropped", settings.at.get("compaction", at))
        return None
    if tokens == UPSTREAM_DECIDES:
        context.lose("compaction.approximated", at, "the upstream's own number of tokens")
    # A number below the minimum is refused by the upstream (400). Compacting later is better than no answer.
    elif tokens < least:
        context.lose("compaction.approximated", at, f"from {tokens} to {least} tokens")
        return least
    return tokens
