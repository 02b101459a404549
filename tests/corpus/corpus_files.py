"""Owns the place of the corpus, and how its ids end."""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).parent / "data"
DIALECTS = ("openai-chat", "openai-responses", "anthropic", "gemini", "ollama", "openrouter")
OWN = "-own"
"""The end of a synthetic exchange's id. In front of it stands the id of the recording that gave the shape."""
