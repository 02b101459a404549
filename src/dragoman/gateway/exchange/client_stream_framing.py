"""Owns the framing of answers to the client: content types, keep-alives, a stream as one JSON array."""

from __future__ import annotations

from ...dialects import endpoints, get

_COMMENT = b": keep-alive\n\n"


def media_type(dialect: str, *, array: bool) -> str:
    """The content type of a stream in a dialect. `array`: the stream is sent as one JSON array."""
    if array:
        return "application/json"
    return "text/event-stream; charset=utf-8" if get(dialect).framing == "sse" else "application/x-ndjson"


def keep_alive(dialect: str) -> bytes:
    """Bytes that a client of the dialect ignores, sent to keep a silent stream open; b"" where the dialect has no such
    bytes."""
    declared = endpoints(dialect).stream.heartbeat
    if declared is not None:
        return declared
    # A line that begins with a colon is a comment (WHATWG HTML, 9.2.6 "Interpreting an event stream").
    return _COMMENT if get(dialect).framing == "sse" else b""


class array_frames:
    """Turns server-sent events into members of one JSON array, which is how Gemini streams without `alt=sse`."""

    def __init__(self) -> None:
        self._open = False

    def feed(self, frames: bytes) -> bytes:
        """The members for some whole frames."""
        out: list[bytes] = []
        # An upstream ends its lines with \n or \r\n.
        for frame in frames.split(b"\n\n" if b"\r\n\r\n" not in frames else b"\r\n\r\n"):
            data = frame.strip().removeprefix(b"data:").strip()
            if data:
                out += (b",\r\n" if self._open else b"[", data)
                self._open = True
        return b"".join(out)

    def close(self) -> bytes:
        """The end of the array."""
        return b"]" if self._open else b"[]"
