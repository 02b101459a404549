"""Owns the evidence by which a Gemini document is detected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...dialect import listed


def evidence(document: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Reasons to believe that a document is a Gemini document, each with a weight."""
    found: list[tuple[int, str]] = []
    contents = document.get("contents")
    if isinstance(contents, list):
        found.append((5, "contents[]"))
        if any(isinstance(content, dict) and "parts" in content for content in contents):
            found.append((4, "contents[].parts"))
    elif isinstance(contents, str) or (isinstance(contents, dict) and "parts" in contents):
        found.append((5, "contents as one text or one turn"))
    for key in ("generationConfig", "generation_config", "systemInstruction", "system_instruction", "safetySettings"):
        if key in document:
            found.append((5, key))
    for key in ("toolConfig", "tool_config", "cachedContent"):
        if key in document:
            found.append((3, key))
    for tool in listed(document, "tools"):
        if isinstance(tool, dict) and ("functionDeclarations" in tool or "function_declarations" in tool):
            found.append((6, "tools[].functionDeclarations"))
            break
    if isinstance(document.get("candidates"), list):
        found.append((6, "candidates[]"))
    for key in ("usageMetadata", "promptFeedback", "modelVersion"):
        if key in document:
            found.append((4, key))
    error = document.get("error")
    if isinstance(error, dict) and isinstance(error.get("status"), str) and isinstance(error.get("code"), int):
        found.append((5, "error.status beside a numeric code"))
    return found
