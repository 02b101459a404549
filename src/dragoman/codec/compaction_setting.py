"""The setting by which a client asks the upstream itself to compact a long history (`Settings.compact_at`).

Messages and Responses both have the setting: once the input has that many tokens, the upstream replaces the history by
a summary, which stands in the answer and comes back with the next request. The dialects differ in the smallest number,
and in what holds when none is given. No other dialect has such a setting.
"""

from __future__ import annotations

from ..canon.request import Settings
from ..context import Context

DIALECTS = frozenset({"anthropic", "openai-responses"})
"""The dialects that have the setting. A reader puts it into the settings for these targets only."""

UPSTREAM_DECIDES = 0
"""No number is given: the upstream compacts when it holds that to be right."""


def tokens_for(settings: Settings, least: int, context: Context) -> int | None:
    """The number of tokens to write for a target whose smallest is `least`. None, with a loss, where the target's model
    does not compact. Nothing is reported and None is returned where nothing is asked for."""
    asked = settings.compact_at
    if asked is None:
        return None
    at = settings.at.get("compact_at", ())
    if not context.profile.compacts:
        context.lose("compaction.dropped", settings.at.get("compaction", at))
        return None
    if asked == UPSTREAM_DECIDES:
        context.lose("compaction.approximated", at, "the upstream's own number of tokens")
    elif asked < least:
        context.lose("compaction.approximated", at, f"from {asked} to {least} tokens")
        return least
    return asked
