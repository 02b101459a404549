"""Owns the path of the corpus, and the suffix of its ids."""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).parent / "data"
DIALECTS = ("openai-chat", "openai-responses", "anthropic", "gemini", "ollama", "openrouter")
OWN = "-own"
"""The suffix of the id of a synthetic exchange. The text before it is the id of the recording with the same shape."""
