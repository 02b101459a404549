"""Finds the end of a Gemini stream: a `finishReason` for every candidate, or a `blockReason` of the prompt.

The API sends no terminator (no [DONE]). Chunks with figures may follow the finishReason. An error also ends a stream.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...codec.passthrough_stream_end import AnswersStreamEnd, decode_event


class CandidateEnd(msgspec.Struct):
    """The end of one candidate."""

    index: Any = None
    finishReason: Any = None


class Feedback(msgspec.Struct):
    """The verdict on the prompt."""

    blockReason: Any = None


class ChunkEnd(msgspec.Struct):
    """The fields of a chunk that decide whether it ends the stream."""

    candidates: list[CandidateEnd] | None = None
    promptFeedback: Feedback | None = None
    error: Any = None


_chunk = msgspec.json.Decoder(ChunkEnd).decode


class StreamEnd(AnswersStreamEnd):
    """The end of a Gemini stream."""

    # Without `alt=sse` a stream is one JSON array.
    arrays = True

    def __init__(self) -> None:
        super().__init__(b"finishReason")

    def frame(self, name: bytes, data: bytes) -> None:
        """Decode one frame, and take note of an end or an error."""
        chunk = self.chunk(data)
        if chunk is None:
            return
        # Errors may come in the middle of a stream, after HTTP 200 was sent.
        if chunk.error:
            self.fail(name, data)
            return
        if chunk.promptFeedback is not None and chunk.promptFeedback.blockReason:
            # A blocked prompt has no candidates, so no finishReason will come (google-genai 3.1.0, 2026-11).
            self.end()
            return
        for candidate in chunk.candidates or ():
            self.answer(candidate.index, candidate.finishReason)

    def chunk(self, data: bytes) -> ChunkEnd | None:
        """The chunk in a frame's data."""
        return decode_event(data, _chunk, ChunkEnd)
