"""Owns the verdict whether a stream is complete. Every frame is decoded, by rules that are written a second time.

It is slow and simple on purpose. The library finds the end without decoding all frames, and is compared with this
module.
"""

from __future__ import annotations

import json
import re
from typing import Any

_BLANK = re.compile(r"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))")
_TERMINAL = {"response.completed", "response.incomplete", "response.failed", "response.cancelled", "error"}


def events(raw: bytes) -> list[tuple[str, str]]:
    """The name and the data of each event of a stream."""
    out = []
    for block in _BLANK.split(raw.decode("utf-8", "replace").removeprefix("\ufeff")):
        name, data = "", []
        for line in re.split(r"\r\n|\n|\r", block):
            if line.startswith("data:"):
                data.append(line[5:].strip())
            elif line.startswith("event:"):
                name = line[6:].strip()
        if data:
            out.append((name, "\n".join(data)))
    return out


def ended(dialect: str, raw: bytes) -> bool:
    """Whether the answer in a stream is complete, or ended by an error."""
    if dialect == "ollama":
        lines = [_object(line) for line in raw.decode("utf-8", "replace").split("\n")]
        return any(line.get("done") is True or bool(line.get("error")) for line in lines)
    found = [(name, data, _object(data)) for name, data in events(raw)]
    if dialect in ("openai-chat", "openrouter"):
        return _chat_ended(found)
    if dialect in ("gemini", "code-assist"):
        return _google_ended([value for _, _, value in found])
    kinds = [value.get("type") or name for name, _, value in found]
    if dialect == "anthropic":
        return any(kind in ("message_stop", "error") for kind in kinds) or any(
            value.get("error") for *_, value in found
        )
    return any(kind in _TERMINAL for kind in kinds)


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _chat_ended(found: list[tuple[str, str, dict[str, Any]]]) -> bool:
    choices = [choice for *_, value in found for choice in value.get("choices") or ()]
    seen = {choice.get("index") or 0 for choice in choices}
    finished = {choice.get("index") or 0 for choice in choices if choice.get("finish_reason")}
    done = any(data == "[DONE]" or value.get("error") for _, data, value in found)
    return done or (bool(seen) and seen == finished)


def _google_ended(chunks: list[dict[str, Any]]) -> bool:
    chunks = [chunk.get("response", chunk) for chunk in chunks]
    candidates = [candidate for chunk in chunks for candidate in chunk.get("candidates") or ()]
    seen = {candidate.get("index") or 0 for candidate in candidates}
    finished = {candidate.get("index") or 0 for candidate in candidates if candidate.get("finishReason")}
    stopped = any(chunk.get("error") or (chunk.get("promptFeedback") or {}).get("blockReason") for chunk in chunks)
    return stopped or (bool(seen) and seen == finished)
