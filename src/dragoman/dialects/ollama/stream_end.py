"""Where an Ollama stream ends: at the line with `done: true`, or at a line with an error."""

from __future__ import annotations

from typing import Any

import msgspec

from ...codec.passthrough_stream_end import decoded


class _Line(msgspec.Struct):
    done: Any = None
    error: Any = None


_line = msgspec.json.Decoder(_Line).decode


class StreamEnd:
    ended = False
    error: bytes = b""
    arrays = False

    def passed(self, frames: bytes) -> None:
        """Some whole lines went by, and others followed: the last one ends the stream."""

    def look(self, frames: bytes) -> None:
        """Some whole lines went by: decode all of them."""
        for line in frames.splitlines():
            if line:
                self.frame(b"", line)

    def last(self, chunks: list[bytes]) -> None:
        """The last whole lines of the stream."""
        for chunk in reversed(chunks):
            self.look(chunk)
            if self.ended:
                return

    def frame(self, name: bytes, data: bytes) -> None:
        """Decode one line, and note what it ends."""
        line = decoded(data, _line, _Line)
        if line is None:
            return
        if line.error:
            self.ended = True
            self.error = data + b"\n"
        elif line.done is True:
            self.ended = True
