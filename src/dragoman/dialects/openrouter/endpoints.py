"""Endpoints of OpenRouter: addresses, headers, model lists, environment variables, set-up of clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...dialect.endpoints_record import (
    CREATED,
    AgentForm,
    Claim,
    EndpointCall,
    Endpoints,
    Environment,
    HeaderRules,
    ModelLists,
    OfferedModel,
    ReferenceClient,
    RehearsalForm,
    Served,
    SetupLine,
    StreamForm,
    UpstreamForm,
)
from ..openai_chat.endpoints import ENDPOINTS as CHAT
from . import NAME

_TITLE = "dragoman"
"""How the agent names itself to OpenRouter. The project has no home page, so only a configured HTTP-Referer is sent."""

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
"""The parameters that a model's entry lists as supported. Each is translated, or its loss is reported."""


def _entry(model: OfferedModel, publisher: str) -> dict[str, Any]:
    return {
        "id": model.name,
        "canonical_slug": model.name,
        "name": model.title or model.name,
        "created": CREATED,
        "description": f"served by {model.upstream}",
        "context_length": model.context,
        "architecture": {
            "modality": "text+image->text",
            "input_modalities": ["text", "image", "file"],
            "output_modalities": ["text"],
            "tokenizer": "Other",
            "instruct_type": None,
        },
        "pricing": {"prompt": "-1", "completion": "-1"},  # required texts of numbers; no price is known here
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


def _listed(entries: list[dict[str, Any]], publisher: str) -> dict[str, Any]:
    return {"data": entries, "total_count": len(entries), "links": {"next": None}}


def _attribution(own: Mapping[str, str]) -> dict[str, str]:
    from .attribution_headers import attribution  # Only the agent needs them.

    return attribution(own, title=_TITLE)


def _client() -> ReferenceClient:
    from .conformance_client import CLIENT  # Only the conformance kit needs the client.

    return CLIENT


ENDPOINTS = Endpoints(
    served=Served(
        claims=(
            Claim(("POST",), "/api/v1/chat/completions", EndpointCall("generate", NAME)),
            Claim(("GET",), "/api/v1/models", EndpointCall("models", NAME)),
            Claim(("GET",), "/api/v1/models/user", EndpointCall("models", NAME)),
        ),
        shown=("POST /api/v1/chat/completions", "GET /api/v1/models"),
        near=("/api/v1",),
        before=("openrouter",),
    ),
    headers=HeaderRules(
        names=("http-referer", "x-title"),
        begins=("x-openrouter-",),
        lost={"http-referer": "info", "x-title": "info"},
        answered_begins=("x-openrouter-",),
        ids=("x-generation-id",),
    ),
    models=ModelLists("/api/v1/models", entry=_entry, listed=_listed),
    stream=StreamForm(
        # OpenRouter's own comment line, which its clients ignore (OpenRouter's docs on streaming, 2026-11).
        heartbeat=b": OPENROUTER PROCESSING\n\n",
        marks=CHAT.stream.marks,
        line_ends=CHAT.stream.line_ends,
        asking=CHAT.stream.asking,
    ),
    upstream=UpstreamForm(
        "https://openrouter.ai/api/v1",
        environment=(
            Environment(
                "openrouter",
                ("OPENROUTER_API_KEY",),
                ("OPENROUTER_BASE_URL",),
                ("*/*",),
                "anthropic/claude-sonnet-4.5",  # 2026-11-15
                order=40,
            ),
        ),
    ),
    rehearsal=RehearsalForm(least_tokens=1),
    agent=AgentForm(headers=_attribution),
    setup=(
        SetupLine(
            "openrouter", lambda base, key, model: f'OpenRouter(server_url="{base}/api/v1", api_key="{key}")', 80
        ),
    ),
    client=_client,
)
