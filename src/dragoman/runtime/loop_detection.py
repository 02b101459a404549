"""Owns loop detection: a model that repeats the same calls, or the same words."""

from __future__ import annotations

from collections.abc import Iterable

from ..canon.parts import ToolCall
from ..canon.turns import Turn

CALLS = 5
"""Steps in a row with equal calls that count as a loop."""
PHRASES = 10
"""Repetitions of the same words that count as a loop."""
_SHORTEST, _LONGEST = 12, 200
_TAIL = PHRASES * _LONGEST
_FENCE = "```"


def same_calls(turns: Iterable[Turn], most: int = CALLS) -> ToolCall | None:
    """The first call of the last step, if the last `most` steps since the user's words made the same calls."""
    last: list[tuple[str, str]] = []
    found: ToolCall | None = None
    count = 0
    for turn in reversed(tuple(turns)):
        # After new words of the user, the same call may be right.
        if turn.role == "user":
            break
        if turn.role != "assistant":
            continue
        calls = [part for part in turn.parts if isinstance(part, ToolCall)]
        made = [(call.name, call.arguments) for call in calls]
        if not made or (found is not None and made != last):
            break
        found, last, count = found or calls[0], made, count + 1
        if count >= most:
            return found
    return None


class RepeatedText:
    """Watches a growing text without its code blocks. Code may contain the same line ten times."""

    def __init__(self) -> None:
        self._tail = ""
        self._new = 0
        self._line = ""
        self._code = False

    def feed(self, text: str) -> bool:
        """Whether the text ends with the same words for the tenth time. Rows of dashes and similar signs are not
        words."""
        for line in text.splitlines(keepends=True):
            self._line += line
            if not self._code:
                self._tail = (self._tail + line)[-_TAIL:]
            if line.endswith("\n"):
                if self._line.lstrip().startswith(_FENCE):
                    self._code, self._tail = not self._code, ""
                self._line = ""
        self._new += len(text)
        if self._new < _SHORTEST:  # not checked after every piece, because each check reads the whole text
            return False
        self._new = 0
        for size in range(_SHORTEST, min(_LONGEST, len(self._tail) // PHRASES) + 1):
            unit = self._tail[-size:]
            if self._tail.endswith(unit * PHRASES) and len({char for char in unit if char.isalpha()}) >= 4:
                return True
        return False
