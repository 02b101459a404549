"""Owns the entry to the stream-grammar checkers: is this whole stream legal in its dialect?

The rules are the stream rules of each dialect (`-Snn` in docs/reference/rules.md), written a second time. Each event is
also judged on its own. A stream that ends with the dialect's in-stream fault is legal.
"""

from __future__ import annotations

from tests.oracles import (
    code_assist,
    grammar_anthropic,
    grammar_chat,
    grammar_gemini,
    grammar_ollama,
    grammar_responses,
)
from tests.oracles.body_verdict import check_event
from tests.oracles.event_stream_reader import Findings, frames


def check_stream(dialect: str, raw: bytes, *, extensions: bool = False) -> list[str]:
    """Findings in one raw stream. `extensions` permits the reasoning fields of Chat-compatible servers."""
    if dialect == "openai-chat":
        return grammar_chat.check(raw, extensions=extensions)
    checks = {
        "openai-responses": grammar_responses.check,
        "anthropic": grammar_anthropic.check,
        "gemini": grammar_gemini.check,
        "ollama": grammar_ollama.check,
        "openrouter": lambda raw: grammar_chat.check(raw, dialect="openrouter"),
        "code-assist": _code_assist,
    }
    return checks[dialect](raw)


def _code_assist(raw: bytes) -> list[str]:
    """Each chunk in its envelope, and Gemini's grammar for the inner chunks."""
    found = Findings()
    for frame in frames(raw, found):
        for text in check_event("code-assist", frame.data.encode()):
            found.at(frame.place, text)
    return found or grammar_gemini.check(code_assist.unwrap_stream(raw))
