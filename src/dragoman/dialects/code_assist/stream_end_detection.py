"""Finds the end of a Code Assist stream: the same rule as for Gemini, applied to the wrapped chunks. A fault has no
envelope.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...codec.passthrough_stream_end import decode_event
from ..gemini import stream_end_detection as gemini


class _Wrapped(msgspec.Struct):
    response: gemini.ChunkEnd | None = None
    error: Any = None


_wrapped = msgspec.json.Decoder(_Wrapped).decode


class StreamEnd(gemini.StreamEnd):
    """Finds the end of a stream of wrapped chunks."""

    def chunk(self, data: bytes) -> gemini.ChunkEnd | None:
        """The Gemini chunk in a frame's data."""
        wrapped = decode_event(data, _wrapped, _Wrapped)
        if wrapped is None or not wrapped.error:
            return None if wrapped is None else wrapped.response
        return gemini.ChunkEnd(error=wrapped.error)
