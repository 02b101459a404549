"""Finds the end of an Ollama stream: the line with `done: true`, or a line with an error."""

from __future__ import annotations

from typing import Any

import msgspec

from ...codec.passthrough_stream_end import decode_event


class _Line(msgspec.Struct):
    done: Any = None
    error: Any = None


_line = msgspec.json.Decoder(_Line).decode


class StreamEnd:
    """Watches the lines that are forwarded unchanged."""

    ended = False
    error: bytes = b""
    arrays = False

    def passed(self, frames: bytes) -> None:
        """Nothing to note: only the last line can end the stream."""

    def look(self, frames: bytes) -> None:
        """Decode all of these whole lines."""
        for line in frames.splitlines():
            if line:
                self.frame(b"", line)

    def last(self, chunks: list[bytes]) -> None:
        """Search the last lines of the stream for its end."""
        for chunk in reversed(chunks):
            self.look(chunk)
            if self.ended:
                return

    def frame(self, name: bytes, data: bytes) -> None:
        """Decode one line, and note whether it ends the stream."""
        line = decode_event(data, _line, _Line)
        if line is None:
            return
        # Nothing follows a line with an error (server sources, 2026-08).
        if line.error:
            self.ended = True
            self.error = data + b"\n"
        elif line.done is True:
            self.ended = True
