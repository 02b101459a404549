"""Endpoints of Chat Completions: addresses, headers, environment variables, set-up of clients."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ...dialect.endpoints_record import (
    OPENAI_LISTS,
    Claim,
    EndpointCall,
    Endpoints,
    Fields,
    Query,
    ReferenceClient,
    RehearsalForm,
    Served,
    SetupLine,
    StreamForm,
    UpstreamForm,
)
from ...dialect.openai_base_url_and_forwarded_headers import BASE_URL, HEADERS
from . import NAME

# Azure's older addresses name the deployment in place of `model` in the body.
_AZURE = re.compile(r"/openai/deployments/(?P<model>[^/]+)/chat/completions\Z")


def _deployment(path: str, query: Query, decode: Callable[[str], str]) -> EndpointCall | None:
    """The call for an address of Azure, which contains the model."""
    found = _AZURE.match(path)
    return EndpointCall("generate", NAME, decode(found["model"])) if found is not None else None


def _one_model(path: str, query: Query, decode: Callable[[str], str]) -> EndpointCall:
    return EndpointCall("model", NAME, decode(path.removeprefix("/v1/models/")))


def asking(fields: Fields, stream: bool) -> dict[str, Any]:
    """A request for a stream or for a whole answer. A stream has its usage only with `stream_options.include_usage`,
    and `stream_options` may be set for a stream only (openai 3.49.0, ChatCompletionStreamOptionsParam)."""
    out: dict[str, Any] = {**fields, "stream": stream}
    if stream:
        out.setdefault("stream_options", {"include_usage": True})
    else:
        out.pop("stream_options", None)
    return out


def _client() -> ReferenceClient:
    from .conformance_client import CLIENT  # Only the conformance kit needs the client.

    return CLIENT


ENDPOINTS = Endpoints(
    served=Served(
        claims=(
            Claim(("POST",), "/v1/chat/completions", EndpointCall("generate", NAME)),
            Claim(("POST",), "/openai/deployments/", read=_deployment, verbs=("generate",)),
            Claim(("GET",), "/v1/models", EndpointCall("models", NAME)),
            Claim(("GET",), "/v1/models/", read=_one_model, verbs=("model",)),
        ),
        shown=("POST /v1/chat/completions", "GET /v1/models"),
        near=("/v1beta/openai",),
        usual=True,
        before=("openai",),
        bare=("/chat/", "/models"),
    ),
    headers=HEADERS,
    models=OPENAI_LISTS,
    stream=StreamForm(marks=(b'"choices"', b"data: [DONE]"), line_ends=2, asking=asking),
    upstream=UpstreamForm(BASE_URL),
    rehearsal=RehearsalForm(least_tokens=1),
    setup=(SetupLine("openai", lambda base, key, model: f'OpenAI(base_url="{base}/v1", api_key="{key}")', 50),),
    example_model="gpt-5.2",
    client=_client,
)
