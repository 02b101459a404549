"""Same dialect on both sides: the upstream's frames as they come, byte for byte, and only whole ones.

Half a frame waits for its other half: what a broken upstream leaves behind is then one fault frame after the last whole
one, never half a call. Looked into are the first bytes, for a fault that should be the answer's status, and the last.
"""

from __future__ import annotations

import re

from ..canon.events import Fault
from ..canon.losses import Loss
from ..crossing import Crossing
from ..dialects import get

_ENDS = (b"\n\n", b"\r\n\r\n")
_ERROR = re.compile(rb'"error"\s*:\s*[{"]|event: error')
_TERMINAL: dict[str, tuple[bytes, ...]] = {
    "anthropic": (b"message_stop", b"event: error"),
    "openai-responses": (b"response.completed", b"response.incomplete", b"response.failed", b'"error"'),
    "openai-chat": (b"[DONE]", b'"finish_reason":"', b'"finish_reason": "', b'"error"'),
    "openrouter": (b"[DONE]", b'"finish_reason":"', b'"finish_reason": "', b'"error"'),
    "ollama": (b'"done":true', b'"done": true', b'"error"'),
}
"""What the last frames of a whole stream have in them. Google's streams have no end but that of the bytes."""
LOOKED = 4096
"""Of the first bytes, those that are looked into."""
_CUT = "the upstream's stream ended before the answer did"


class Passing:
    """A StreamTranslator for one dialect."""

    losses: tuple[Loss, ...] = ()
    fault: Fault | None = None
    """The fault that the stream begins with, or is ended with."""
    _first = True
    _before = _last = b""

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self._ends = _ENDS if get(dialect).framing == "sse" else (b"\n",)
        self._held = bytearray()

    def feed(self, piece: bytes) -> bytes:
        """The whole frames that are there by now."""
        if not self._held and piece.endswith(self._ends):
            out = piece
        else:
            seen = max(0, len(self._held) - 3)
            self._held += piece
            end = self._end(seen)
            if not end:
                return b""
            out = bytes(self._held[:end])
            del self._held[:end]
        if self._first:
            self._first = False
            if _ERROR.search(out, 0, LOOKED) is not None:
                self.fault = self._read(out)
        self._before, self._last = self._last, out
        return out

    def _end(self, seen: int) -> int:
        """Behind the last whole frame; 0 when there is none."""
        if self._ends is not _ENDS:
            return self._held.rfind(b"\n", seen) + 1
        plain, other = self._held.rfind(b"\n\n", seen), self._held.rfind(b"\r\n\r\n", seen)
        return max(plain + 2 if plain >= 0 else 0, other + 4 if other >= 0 else 0)

    def _read(self, frames: bytes, *, whole: bool = False) -> Fault | None:
        reader = get(self._dialect).reader(Crossing(self._dialect, self._dialect))
        events = [*reader.feed(frames), *(reader.close() if whole else ())]
        last = events[-1] if events else None
        return last if isinstance(last, Fault) else None

    def close(self, fault: Fault | None = None) -> bytes:
        """The bytes are over, or with `fault` broken off: the rest."""
        if fault is None and self._first:  # not one whole frame: something else than a stream
            fault = self._read(bytes(self._held), whole=True)
        if fault is None:
            rest = bytes(self._held)
            ending = self._before + self._last + rest
            marks = _TERMINAL.get(self._dialect, ())
            if not marks or any(mark in ending for mark in marks):
                return rest
            fault = Fault("upstream_bad", _CUT, 502)
        self.fault = fault
        return get(self._dialect).writer(Crossing(self._dialect, self._dialect)).send(fault)
