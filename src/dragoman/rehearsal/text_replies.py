"""Owns the plain texts of the rehearsal: the opening of every text, and the words that are quoted back."""

from __future__ import annotations

from collections.abc import Sequence

OPENING = "Rehearsal (no model): "
"""Every text of the rehearsal begins with this opening."""

REFUSAL = "rehearse a refusal"
"""The rules refuse if the user's last message contains this phrase."""

_MAX_QUOTE = 400
"""Longest quotation of the last message, in characters."""
_MAX_EARLIER = 80
"""Longest quotation of the words before. Words of several lines are not quoted: agents put context there."""


def reply(words: str, earlier: Sequence[str]) -> str:
    """The answer to plain words, without the opening. It quotes the user's last message and the message before."""
    quoted = shorten(words)
    if not quoted:
        return "there were no words to answer."
    message = earlier[-1].strip() if earlier else ""
    before = "" if "\n" in message else shorten(message, _MAX_EARLIER)
    return f"you said: “{quoted}”." + (f" Before that you said: “{before}”." if before else "")


def shorten(text: str, most: int = _MAX_QUOTE) -> str:
    """The text on one line. A long text is cut in the middle."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most * 3 // 4]} … {line[-most // 4 :]}"
