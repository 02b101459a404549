"""Endpoints of Messages: addresses, headers, model lists, token counts, environment variables, set-up of clients."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Raw

from ...canon.events import Fault
from ...canon.losses import Loss
from ...dialect.endpoints_record import (
    CREATED_DAY,
    AgentForm,
    Claim,
    EndpointCall,
    Endpoints,
    Environment,
    Fields,
    HeaderRules,
    ModelLists,
    OfferedModel,
    Query,
    ReferenceClient,
    Served,
    SetupLine,
    StreamForm,
    TokenCounts,
    UpstreamForm,
)
from . import NAME

_SIGNS = ("anthropic-version", "x-api-key")
_COUNTED = frozenset(
    {"messages", "model", "system", "tools", "tool_choice", "thinking", "cache_control", "context_management"}
    | {"mcp_servers", "output_config", "output_format", "speed"}
)
"""Fields that cost tokens. The counting endpoint takes no other field (anthropic 2.8.0,
MessageCountTokensParams)."""
_THREAD = {NAME: {"details": Raw(b'{"error_code":"thread_not_found"}')}}


def _one_model(path: str, query: Query, decode: Callable[[str], str]) -> EndpointCall:
    return EndpointCall("model", NAME, decode(path.removeprefix("/v1/models/")))


def _entry(model: OfferedModel, publisher: str) -> dict[str, Any]:
    return {
        "type": "model",
        "id": model.name,
        "display_name": model.title or model.name,
        "created_at": CREATED_DAY,
        "capabilities": None,
        "lifecycle": "active",
        "line": None,
        "max_input_tokens": model.context,
        "max_tokens": model.output,
    }


def _listed(entries: list[dict[str, Any]], publisher: str) -> dict[str, Any]:
    first, last = (entries[0]["id"], entries[-1]["id"]) if entries else (None, None)
    return {"data": entries, "has_more": False, "first_id": first, "last_id": last}


def _counted(fields: Fields, model: str, project: str) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name in _COUNTED}


def unknown_thread_fault(losses: Iterable[Loss]) -> Fault | None:
    """The fault for a request that continues a thread which no server here holds. The client then has to send the whole
    conversation."""
    for loss in losses:
        if loss.code == "state.dropped" and loss.path == "/thread":
            why = "this gateway does not hold the thread. Send the whole conversation."
            return Fault("not_found", why, 404, "thread_not_found", "thread", extra=_THREAD)
    return None


def _client() -> ReferenceClient:
    from .conformance_client import CLIENT  # Only the conformance kit needs the client.

    return CLIENT


ENDPOINTS = Endpoints(
    served=Served(
        claims=(
            Claim(("POST",), "/v1/messages", EndpointCall("generate", NAME)),
            Claim(("POST",), "/v1/messages/count_tokens", EndpointCall("count", NAME)),
            Claim(("POST",), "/api/v1/messages", EndpointCall("generate", NAME)),
            Claim(("GET",), "/v1/models", EndpointCall("models", NAME), headers=_SIGNS),
            Claim(("GET",), "/v1/models/", read=_one_model, verbs=("model",), headers=_SIGNS),
        ),
        shown=("POST /v1/messages", "POST /v1/messages/count_tokens", "GET /v1/models"),
        near=("/v1/messages", "/v1/complete"),
        headers=("anthropic-version",),
        before=("anthropic",),
        bare=("/messages",),
        # Claude Code 2.1.325 sends a request six times after a 400, and asks for a login after a 401 or 403. It shows a
        # 424 at once (measured 2026-11-16; docs/how-to/run-the-gateway.md has the table).
        statuses={"upstream_key_refused": 424},
        refused=unknown_thread_fault,
    ),
    headers=HeaderRules(
        begins=("anthropic-", "x-claude-code-"),
        never=("anthropic-dangerous-direct-browser-access",),
        of_body=("anthropic-version",),
        lost={"anthropic-beta": "info"},  # Most flags belong to fields of the body, whose losses are reported there.
        acting={"anthropic-beta": ("context-1m-", "output-128k-")},
        answered_begins=("anthropic-",),
        ids=("request-id",),
        request_id="request-id",
    ),
    models=ModelLists("/v1/models?limit=1000", entry=_entry, listed=_listed),
    counts=TokenCounts("/v1/messages/count_tokens", taken=_counted),
    stream=StreamForm(
        # A `ping` event may come anywhere in a stream, and clients ignore it (Anthropic's page on streaming, October
        # 2026).
        heartbeat=b'event: ping\ndata: {"type": "ping"}\n\n',
        marks=(b'"index"', b"event: message_", b"event: ping"),
        line_ends=3,
    ),
    upstream=UpstreamForm(
        "https://api.anthropic.com",
        "x-api-key",
        (
            Environment(
                "anthropic",
                ("ANTHROPIC_API_KEY",),
                ("ANTHROPIC_BASE_URL",),
                ("claude-*",),
                "claude-sonnet-4-5",  # 2026-11-15
                order=20,
            ),
        ),
    ),
    agent=AgentForm(limited=True),
    setup=(
        SetupLine(
            "Claude Code",
            lambda base, key, model: f"ANTHROPIC_BASE_URL={base} ANTHROPIC_AUTH_TOKEN={key} claude{model}",
            10,
            "claude-opus-4-8",
            "--model",
        ),
        SetupLine("anthropic", lambda base, key, model: f'Anthropic(base_url="{base}", api_key="{key}")', 60),
    ),
    example_model="claude-opus-5",
    client=_client,
)
