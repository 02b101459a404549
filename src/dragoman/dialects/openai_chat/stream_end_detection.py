"""Finds the end of a Chat stream: `[DONE]` as all data of a frame, or a `finish_reason` for every choice.

Many hosts send no `[DONE]`, and some send it without a `finish_reason` before. An error also ends a stream.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...codec.passthrough_stream_end import AnswersStreamEnd, decode_event


class _Choice(msgspec.Struct):
    index: Any = None
    finish_reason: Any = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    object: Any = None
    error: Any = None


_chunk = msgspec.json.Decoder(_Chunk).decode


class StreamEnd(AnswersStreamEnd):
    """The end of a Chat stream."""

    def __init__(self) -> None:
        super().__init__(b"finish_reason")

    def frame(self, name: bytes, data: bytes) -> None:
        """Decode one frame, and take note of an end or an error."""
        if data.strip() == b"[DONE]":
            self.end()
            return
        chunk = decode_event(data, _chunk, _Chunk)
        if chunk is None:
            return
        # An error ends a stream without [DONE] (openai 3.49.0, 2026-11). Some hosts name it in `object` or in an
        # `event:` line.
        if chunk.error or (not chunk.choices and (chunk.object == "error" or name == b"error")):
            self.fail(name, data)
            return
        for choice in chunk.choices or ():
            self.answer(choice.index, choice.finish_reason)
