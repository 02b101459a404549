"""How an answer is framed for the client: content types, signs of life, Gemini's stream as one JSON array."""

from __future__ import annotations

from ...dialects import get

_COMMENT = b": keep-alive\n\n"
_BLANK = b"\r\n\r\n"
_BEATS = {
    "anthropic": b'event: ping\ndata: {"type": "ping"}\n\n',
    "openrouter": b": OPENROUTER PROCESSING\n\n",
    # google-genai 3.1 takes any line that is neither blank nor data for JSON.
    "gemini": _BLANK,
    "code-assist": _BLANK,
}


def media_type(dialect: str, *, array: bool) -> str:
    if array:
        return "application/json"
    return "text/event-stream; charset=utf-8" if get(dialect).framing == "sse" else "application/x-ndjson"


def keep_alive(dialect: str) -> bytes:
    """What a client of the dialect takes as a sign of life and nothing else; b"" where there is no such thing."""
    return _BEATS.get(dialect, _COMMENT) if get(dialect).framing == "sse" else b""


class array_frames:
    """Server-sent events to the members of one JSON array, as Gemini streams without `alt=sse`."""

    def __init__(self) -> None:
        self._open = False

    def feed(self, frames: bytes) -> bytes:
        out = b""
        for frame in frames.split(b"\n\n" if b"\r\n\r\n" not in frames else b"\r\n\r\n"):
            data = frame.strip().removeprefix(b"data:").strip()
            if data:
                out += (b",\r\n" if self._open else b"[") + data
                self._open = True
        return out

    def close(self) -> bytes:
        return b"]" if self._open else b"[]"
