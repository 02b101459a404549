"""Finds the end of an OpenRouter stream: the same rule as for Chat. Comment lines are not frames."""

from __future__ import annotations

from ..openai_chat.stream_end_detection import StreamEnd

__all__ = ["StreamEnd"]
