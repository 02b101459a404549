"""Model lists in every dialect's shape. What is listed is what can be asked for by name.

What nobody has said of a model (its limits, its price) is left open in the way the dialect has for that, or left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

_DAY = datetime(2026, 1, 1, tzinfo=UTC)
_METHODS = ["generateContent", "streamGenerateContent", "countTokens"]
_PARAMETERS = [
    "frequency_penalty",
    "include_reasoning",
    "max_completion_tokens",
    "max_tokens",
    "parallel_tool_calls",
    "presence_penalty",
    "reasoning",
    "reasoning_effort",
    "response_format",
    "seed",
    "stop",
    "structured_outputs",
    "temperature",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
]
"""What OpenRouter's clients are told that they may set: all of it crosses, or its loss is reported."""


class Model(Struct, frozen=True):
    """A model that can be asked for."""

    name: str
    upstream: str
    title: str = ""
    context: int | None = None
    """Tokens that it takes."""
    output: int | None = None
    """Tokens that it gives."""
    dialect: str = ""
    said: dict[str, Any] | None = None
    """How its upstream lists it, in the dialect above."""


def listed(dialect: str, models: Sequence[Model], publisher: str = "") -> Any:
    """The list. `publisher` is the part of a Vertex address that names one: there the list has a shape of its own."""
    entries = [entry(dialect, model, publisher) for model in models]
    if dialect == "anthropic":
        first, last = (entries[0]["id"], entries[-1]["id"]) if entries else (None, None)
        return {"data": entries, "has_more": False, "first_id": first, "last_id": last}
    if dialect == "gemini" and publisher:
        return {"publisherModels": entries}
    if dialect in ("gemini", "ollama"):
        return {"models": entries}
    if dialect == "openrouter":
        return {"data": entries, "total_count": len(entries), "links": {"next": None}}
    return {"object": "list", "data": entries}


def entry(dialect: str, model: Model, publisher: str = "") -> dict[str, Any]:
    """One model, as its own upstream lists it where that is the same dialect."""
    said = model.said if model.said is not None and model.dialect == dialect and not publisher else {}
    return {**_SHAPES.get(dialect, _openai)(model, publisher), **said, **_named(dialect, model, publisher)}


def _named(dialect: str, model: Model, publisher: str) -> dict[str, Any]:
    if dialect == "gemini":
        return {"name": f"{publisher}models/{model.name}"}
    return {"name": model.name, "model": model.name} if dialect == "ollama" else {"id": model.name}


def _openai(model: Model, publisher: str) -> dict[str, Any]:
    return {"id": model.name, "object": "model", "created": int(_DAY.timestamp()), "owned_by": model.upstream}


def _anthropic(model: Model, publisher: str) -> dict[str, Any]:
    return {
        "type": "model",
        "id": model.name,
        "display_name": model.title or model.name,
        "created_at": _DAY.isoformat(),
        "capabilities": None,
        "lifecycle": "active",
        "line": None,
        "max_input_tokens": model.context,
        "max_tokens": model.output,
    }


def _gemini(model: Model, publisher: str) -> dict[str, Any]:
    if publisher:
        return {"name": model.name, "versionId": "default", "launchStage": "GA"}
    limits = {"inputTokenLimit": model.context, "outputTokenLimit": model.output}
    return {
        "name": model.name,
        "version": "001",
        "displayName": model.title or model.name,
        **{name: value for name, value in limits.items() if value is not None},
        "supportedGenerationMethods": _METHODS,
    }


def _ollama(model: Model, publisher: str) -> dict[str, Any]:
    return {
        "name": model.name,
        "model": model.name,
        "modified_at": _DAY.isoformat(),
        "size": 0,
        # Its command line shows the first twelve characters, and fails without them.
        "digest": hashlib.sha256(model.name.encode()).hexdigest(),
        "details": {
            "parent_model": "",
            "format": "",
            "family": model.upstream,
            "families": [model.upstream],
            "parameter_size": "",
            "quantization_level": "",
        },
    }


def _openrouter(model: Model, publisher: str) -> dict[str, Any]:
    return {
        "id": model.name,
        "canonical_slug": model.name,
        "name": model.title or model.name,
        "created": int(_DAY.timestamp()),
        "description": f"served by {model.upstream}",
        "context_length": model.context,
        "architecture": {
            "modality": "text+image->text",
            "input_modalities": ["text", "image", "file"],
            "output_modalities": ["text"],
            "tokenizer": "Other",
            "instruct_type": None,
        },
        "pricing": {"prompt": "-1", "completion": "-1"},  # what OpenRouter writes where the price is not known before
        "top_provider": {
            "context_length": model.context,
            "max_completion_tokens": model.output,
            "is_moderated": False,
        },
        "per_request_limits": None,
        "supported_parameters": _PARAMETERS,
        "default_parameters": None,
        "supported_voices": None,
        "links": {"details": f"/api/v1/models/{model.name}/endpoints"},
    }


_SHAPES = {"anthropic": _anthropic, "gemini": _gemini, "ollama": _ollama, "openrouter": _openrouter}


def shown(model: Model) -> dict[str, Any]:
    """Ollama's `/api/show`, which its clients ask for capabilities and context first."""
    info: dict[str, Any] = {"general.architecture": model.upstream}
    if model.context is not None:
        info[f"{model.upstream}.context_length"] = model.context
    return {
        "license": "",
        "modelfile": "",
        "parameters": "",
        "template": "",
        "details": _ollama(model, "")["details"],
        "model_info": info,
        "capabilities": ["completion", "tools", "thinking", "vision"],
        "modified_at": _DAY.isoformat(),
    }
