"""How an answer is framed for the client: content types, signs of life, a stream as one JSON array."""

from __future__ import annotations

from ...dialects import endpoints, get

_COMMENT = b": keep-alive\n\n"


def media_type(dialect: str, *, array: bool) -> str:
    if array:
        return "application/json"
    return "text/event-stream; charset=utf-8" if get(dialect).framing == "sse" else "application/x-ndjson"


def keep_alive(dialect: str) -> bytes:
    """What a client of the dialect takes as a sign of life and nothing else; b"" where there is no such thing."""
    declared = endpoints(dialect).stream.heartbeat
    if declared is not None:
        return declared
    return _COMMENT if get(dialect).framing == "sse" else b""


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
