"""Replaces escapes of half characters in arguments that a stream sends in pieces.

Arguments are JSON text inside a JSON string, so an escape such as `\\ud83d` in them is plain text for the decoder of a
frame. No client can decode arguments with half a character. Each escape without its other half becomes `\\ufffd`, with
a loss. An escape may be split between deltas at any point, so text that may still become a character is held back.
"""

from __future__ import annotations

import re

import msgspec

from ...canon.events import PartDelta
from ...canon.parts import Path
from ...context import Context
from .documents import REPLACED

_HEX = "[0-9a-fA-F]"
_ESCAPE = re.compile(
    rf"\\u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}"  # a whole character
    rf"|(?P<open>\\u[dD][89abAB]{_HEX}{{2}}(?:\\(?:u(?:[dD](?:[c-fC-F]{_HEX}?)?)?)?)?\Z"  # its second half may follow
    rf"|\\(?:u(?:[dD](?:[89a-fA-F]{_HEX}?)?)?)?\Z)"  # the rest of an escape may follow
    rf"|(?P<lone>\\u[dD][89a-fA-F]{_HEX}{{2}})"
    r"|\\.",
    re.DOTALL,
)


class EscapedHalves:
    """Repairs the arguments of all calls of one stream."""

    __slots__ = ("_context", "calls", "holding")

    def __init__(self, context: Context) -> None:
        self._context = context
        self.calls: dict[int, tuple[str, Path]] = {}
        """The open calls: the held text of their arguments, and their path."""
        self.holding = False
        """Whether any text is held back."""

    def begin(self, index: int, at: Path) -> None:
        """A call begins."""
        self.calls[index] = ("", at)

    def mended(self, event: PartDelta) -> PartDelta | None:
        """The delta of an open call with whole characters; None if nothing can be sent yet."""
        text = self.text(event.index, event.text)
        if text == event.text:
            return event
        # A delta without text may still carry a seal or citations, which must not be lost.
        if not text and event.seal is None and not event.citations:
            return None
        return msgspec.structs.replace(event, text=text)

    def text(self, index: int, text: str) -> str:
        """More arguments of an open call with whole characters, as far as they can be sent yet."""
        pending, at = self.calls[index]
        # Arguments without a backslash cannot hold an escape. That is the usual case.
        if not pending and "\\" not in text:
            return text
        text = pending + text
        out: list[str] = []
        sent = 0
        rest = ""
        for found in _ESCAPE.finditer(text):
            # A match that is open ends the text, so it is the last one.
            if found.lastgroup == "open":
                rest = found[0]
                text = text[: found.start()]
            elif found.lastgroup == "lone":
                out += (text[sent : found.start()], "\\ufffd")
                sent = found.end()
        if out:
            self._context.lose(REPLACED, at)
        if rest != pending:
            self.calls[index] = (rest, at)
            self.holding = any(pending for pending, _ in self.calls.values())
        return "".join(out) + text[sent:]

    def end(self, index: int) -> str:
        """The held text of a call that ends."""
        pending, at = self.calls.pop(index)
        if not pending:
            return ""
        self.holding = any(pending for pending, _ in self.calls.values())
        # Less than an escape: the arguments break off, and the client shall see the same characters.
        if len(pending) < _WHOLE:
            return pending
        self._context.lose(REPLACED, at)
        return "\\ufffd" + pending[_WHOLE:]


_WHOLE = len("\\ud83d")
