"""Model lists in every dialect's shape. What is listed is what can be asked for by name."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

Named = tuple[str, str]
"""A model's name, and the upstream that serves it."""

_DAY = datetime(2026, 1, 1, tzinfo=UTC)


def listed(dialect: str, models: Sequence[Named]) -> Any:
    entries = [entry(dialect, model) for model in models]
    if dialect == "anthropic":
        first, last = (entries[0]["id"], entries[-1]["id"]) if entries else (None, None)
        return {"data": entries, "has_more": False, "first_id": first, "last_id": last}
    if dialect in ("gemini", "ollama"):
        return {"models": entries}
    if dialect == "openrouter":
        return {"data": entries}
    return {"object": "list", "data": entries}


def entry(dialect: str, model: Named) -> dict[str, Any]:
    name, upstream = model
    if dialect == "anthropic":
        return {"type": "model", "id": name, "display_name": name, "created_at": _DAY.isoformat()}
    if dialect == "gemini":
        return {
            "name": f"models/{name}",
            "displayName": name,
            "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
        }
    if dialect == "ollama":
        return {
            "name": name,
            "model": name,
            "modified_at": _DAY.isoformat(),
            "size": 0,
            "digest": "",
            "details": {
                "format": "",
                "family": upstream,
                "families": None,
                "parameter_size": "",
                "quantization_level": "",
            },
        }
    if dialect == "openrouter":
        return {"id": name, "name": name, "created": int(_DAY.timestamp()), "context_length": None}
    return {"id": name, "object": "model", "created": int(_DAY.timestamp()), "owned_by": upstream}


def shown(model: Named) -> dict[str, Any]:
    """Ollama's `/api/show`, which its clients ask for capabilities first."""
    return {
        "modelfile": "",
        "parameters": "",
        "template": "",
        "details": entry("ollama", model)["details"],
        "model_info": {},
        "capabilities": ["completion", "tools", "thinking", "vision"],
        "modified_at": _DAY.isoformat(),
    }
