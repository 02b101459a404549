"""Where an OpenRouter stream ends: as a Chat stream does. Its comments are no frames."""

from __future__ import annotations

from ..openai_chat.stream_end import StreamEnd

__all__ = ["StreamEnd"]
