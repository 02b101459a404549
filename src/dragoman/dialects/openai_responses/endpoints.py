"""Endpoints of Responses: addresses, stored responses, headers, token counts, environment variables, set-up of
clients."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ...dialect.endpoints_record import (
    OPENAI_LISTS,
    Claim,
    EndpointCall,
    Endpoints,
    Environment,
    Fields,
    Query,
    ReferenceClient,
    RehearsalForm,
    Served,
    SetupLine,
    StreamForm,
    TokenCounts,
    UpstreamForm,
)
from ...dialect.openai_base_url_and_forwarded_headers import BASE_URL, HEADERS
from . import NAME

_STORED = re.compile(r"/v1/(?P<verb>responses|conversations)(?:/(?P<rest>.+))?\Z")
_COUNTED = frozenset(
    {"conversation", "input", "instructions", "model", "parallel_tool_calls", "previous_response_id", "reasoning"}
    | {"text", "tool_choice", "tools", "truncation"}
)
"""Fields that cost tokens. The counting endpoint takes no other field (openai 3.49.0, InputTokenCountParams)."""


def _stored(path: str, query: Query, decode: Callable[[str], str]) -> EndpointCall | None:
    """The call for a stored response or conversation."""
    found = _STORED.match(path)
    return EndpointCall(found["verb"], NAME, rest=decode(found["rest"] or "")) if found is not None else None


def _counted(fields: Fields, model: str, project: str) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name in _COUNTED}


def _count(tokens: int) -> dict[str, Any]:
    return {"object": "response.input_tokens", "input_tokens": tokens}


def _codex(base: str, key: str, model: str) -> str:
    named = f'name="dragoman",base_url="{base}/v1",wire_api="responses"'
    secret, shown = ("DRAGOMAN_KEY=$KEY ", ',env_key="DRAGOMAN_KEY"') if key != "any" else ("", "")
    return f"{secret}codex -c 'model_providers.dragoman={{{named}{shown}}}' -c model_provider=dragoman{model}"


def _client() -> ReferenceClient:
    from .conformance_client import CLIENT  # Only the conformance kit needs the client.

    return CLIENT


ENDPOINTS = Endpoints(
    served=Served(
        claims=(
            Claim(("POST",), "/v1/responses", EndpointCall("generate", NAME)),
            # The WebSocket mode has the same path (openai 3.49.0, 2026-11). The gateway refuses it with its reason.
            Claim(("GET",), "/v1/responses", EndpointCall("socket", NAME)),
            Claim(("POST",), "/v1/responses/input_tokens", EndpointCall("count", NAME)),
            Claim(("POST",), "/v1/responses/compact", EndpointCall("compact", NAME)),
            Claim(("POST",), "/api/v1/responses", EndpointCall("generate", NAME)),
            Claim((), "/v1/responses", read=_stored, verbs=("responses", "conversations")),
            Claim((), "/v1/conversations", read=_stored, verbs=("responses", "conversations")),
        ),
        shown=(
            "POST /v1/responses",
            "GET /v1/responses/ID",
            "POST /v1/responses/input_tokens",
            "POST /v1/conversations",
            "GET /v1/models",
        ),
        near=("/v1/responses", "/v1/conversations"),
        before=("openai",),
        bare=("/responses", "/conversations"),
        # `store` is true by default, and clients then send only previous_response_id (openai 3.49.0, 2026-11). The
        # gateway holds the conversation for upstreams that do not.
        stored=True,
        # An answer repeats the tools of its request (openai 3.49.0, 2026-11).
        repeats_tools=True,
    ),
    headers=HEADERS,
    models=OPENAI_LISTS,
    counts=TokenCounts("/v1/responses/input_tokens", taken=_counted, written=_count),
    # Each event has an `event:` line, a `data:` line and a blank line.
    stream=StreamForm(marks=(b'"response.',), line_ends=3),
    upstream=UpstreamForm(
        BASE_URL,
        environment=(
            Environment(
                "openai",
                ("OPENAI_API_KEY",),
                ("OPENAI_BASE_URL",),
                ("gpt-*", "o1*", "o3*", "o4*", "chatgpt-*", "codex-*"),
                "gpt-5.1",  # 2026-11-15
                order=10,
            ),
        ),
    ),
    rehearsal=RehearsalForm(least_tokens=1, quiet=True),
    setup=(SetupLine("Codex", _codex, 20, "gpt-6.1-sol", "-m"),),
    example_model="gpt-6-sol",
    client=_client,
)
