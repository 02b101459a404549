"""Endpoints of generateContent, for the Developer API and for Vertex: addresses, headers, model lists, token counts,
environment variables, set-up of clients."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ...canon.request import Settings
from ...codec import json_text
from ...dialect.endpoints_record import (
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
    RehearsalForm,
    Served,
    SetupLine,
    StreamForm,
    TokenCounts,
    UpstreamForm,
    count_request,
)
from . import NAME

# Other methods of a model, such as embedContent, are not about generation, and are refused as unknown addresses.
VERBS: dict[str, tuple[str, bool | None]] = {
    "generateContent": ("generate", False),
    "streamGenerateContent": ("generate", True),
    "countTokens": ("count", None),
}
"""The verb for each method name after the model, and whether its answer is a stream."""
_PLACE = (
    r"(?:/(?:v1|v1alpha|v1beta|v1beta1))?/(?:projects/[^/]+/locations/[^/]+/)?(?:publishers/(?P<publisher>[^/]+)/)?"
)
# Some SDKs leave `models/` out when the model's name has a slash.
_MODEL_VERB = re.compile(_PLACE + r"(?:(?:tunedModels|models)/)?(?P<model>.+?):(?P<verb>[A-Za-z]+)\Z")
_LIST = re.compile(r"/(?:v1|v1alpha|v1beta|v1beta1)/(?P<publisher>publishers/[^/]+/)?models(?:/(?P<model>.+))?\Z")
_METHODS = ["generateContent", "streamGenerateContent", "countTokens"]
# Headers of Google's clients (google-genai 3.3.0, 2026-11). They decide for `/v1/models`: OpenAI's clients use the
# same address (openai 3.49.0, 2026-11).
_SIGNS = ("x-goog-api-key", "x-goog-api-client")


def wants_array(stream: bool | None, query: Query) -> bool:
    """Whether the stream is sent as one JSON array: that is its form without `alt=sse`."""
    return bool(stream) and "sse" not in query.get("alt", ())


def _read_call(path: str, query: Query, decode: Callable[[str], str]) -> EndpointCall | None:
    found = _MODEL_VERB.match(decode(path))
    if found is None or found["verb"] not in VERBS:
        return None
    verb, stream = VERBS[found["verb"]]
    # For Vertex the SDK reads the part before a slash in a model's name as its publisher (google-genai 3.3.0, 2026-11).
    maker = f"{found['publisher']}/" if found["publisher"] not in (None, "google") else ""
    return EndpointCall(verb, NAME, maker + found["model"], stream, wants_array(stream, query))


def _one_model(path: str, query: Query, decode: Callable[[str], str]) -> EndpointCall:
    return EndpointCall("model", NAME, decode(path.removeprefix("/v1/models/")))


def _models(path: str, query: Query, decode: Callable[[str], str]) -> EndpointCall | None:
    found = _LIST.match(decode(path))
    # `models/NAME:VERB` would match as a model's name, but it is a call with the wrong method.
    if found is None or (found["model"] or "").rpartition(":")[2] in VERBS:
        return None
    return EndpointCall(
        "model" if found["model"] else "models", NAME, found["model"] or "", rest=found["publisher"] or ""
    )


def _entry(model: OfferedModel, publisher: str) -> dict[str, Any]:
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


def _named(model: OfferedModel, publisher: str) -> dict[str, Any]:
    return {"name": f"{publisher}models/{model.name}"}


def _listed(entries: list[dict[str, Any]], publisher: str) -> dict[str, Any]:
    return {"publisherModels" if publisher else "models": entries}


def _own_name(name: str) -> str:
    return name.rpartition("models/")[2]


def _count_request(fields: Fields, model: str) -> tuple[bytes | None, str]:
    if "generateContentRequest" not in fields:
        return count_request(fields, model)
    inner = json_text.fields(fields["generateContentRequest"])
    # The inner request repeats the model; the address names it.
    inner.pop("model", None)
    return json_text.encode(inner), model


def _renamed(fields: Fields, model: str) -> dict[str, Any]:
    if "generateContentRequest" not in fields:
        return dict(fields)
    inner = json_text.fields(fields["generateContentRequest"])
    return {**fields, "generateContentRequest": {**inner, "model": f"models/{model}"}}


def _counted(fields: Fields, model: str, project: str) -> dict[str, Any]:
    # For Vertex the fields are at the top, and these two are not among them (google-genai 3.3.0, 2026-11).
    if project:
        return {name: fields[name] for name in fields if name not in ("toolConfig", "labels")}
    return {"generateContentRequest": {"model": f"models/{model}", **fields}}


def total_tokens(tokens: int) -> dict[str, Any]:
    """A count in the form of Google's APIs."""
    return {"totalTokens": tokens}


def _vertex(location: str) -> str:
    """The address of Vertex: one host for each location, and one for `global` (google-genai 3.1.0)."""
    return f"https://{'' if location == 'global' else location + '-'}aiplatform.googleapis.com"


def _located(path: str, project: str, location: str) -> str:
    if not project or not path.startswith("/v1beta/"):
        return path
    return f"/v1/projects/{project}/locations/{location}/publishers/google" + path.removeprefix("/v1beta")


def _setup(base: str, key: str, model: str) -> str:
    return f"GOOGLE_GENAI_USE_VERTEXAI=true GOOGLE_VERTEX_BASE_URL={base} GOOGLE_API_KEY={key} gemini{model}"


def _client() -> ReferenceClient:
    from .conformance_client import CLIENT  # Only the conformance kit needs the client.

    return CLIENT


ENDPOINTS = Endpoints(
    served=Served(
        claims=(
            Claim(("POST",), "/", read=_read_call, verbs=("generate", "count")),
            Claim(("GET",), "/v1/models", EndpointCall("models", NAME), headers=_SIGNS, query=("key",)),
            Claim(("GET",), "/v1/models/", read=_one_model, verbs=("model",), headers=_SIGNS, query=("key",)),
            Claim(("GET",), "/", read=_models, verbs=("model", "models")),
        ),
        shown=(
            "POST /v1beta/models/MODEL:generateContent",
            "POST /v1beta/models/MODEL:streamGenerateContent",
            "POST /v1beta/models/MODEL:countTokens",
            "GET /v1beta/models",
        ),
        near=("/v1beta", "/v1alpha", "/v1/projects", "/v1/publishers"),
        headers=_SIGNS,
        before=("gemini", "google"),
        wrong_method=404,  # a wrong method is answered like an unknown address
        key_parameter=("key", "x-goog-api-key"),
    ),
    headers=HeaderRules(
        family="google",
        # google-genai's time limit for the server; the request goes to the same server, so the limit still holds.
        names=("x-server-timeout",),
        begins=("x-goog-", "x-gemini-"),
        never=_SIGNS,
        lost={"x-goog-user-project": "info"},
        answered_begins=("x-goog-", "x-gemini-"),
        ids=("x-goog-request-id",),
    ),
    models=ModelLists(
        # One large page, so that one request gets the whole list.
        "/v1beta/models?pageSize=1000",
        "/v1beta1/publishers/google/models?pageSize=1000",
        entry=_entry,
        named=_named,
        listed=_listed,
        own_name=_own_name,
    ),
    counts=TokenCounts("/v1beta/models/{model}:countTokens", _count_request, _renamed, _counted, total_tokens),
    stream=StreamForm(
        # google-genai 3.1 decodes every line as JSON that is neither blank nor data, so a comment would fail.
        heartbeat=b"\r\n\r\n",
        marks=(b'"candidates"',),
        line_ends=2,
    ),
    upstream=UpstreamForm(
        "https://generativelanguage.googleapis.com",
        "x-goog-api-key",
        (
            Environment(
                "gemini",
                ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
                ("GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"),
                ("gemini-*", "gemma-*"),
                "gemini-2.5-pro",  # 2026-11-15
                order=30,
            ),
        ),
        project_base=_vertex,
        project_auth="google",
        located=_located,
    ),
    rehearsal=RehearsalForm(least_tokens=1, quiet=True),
    # -1: Gemini 2.5 itself decides how much it thinks. gemini-cli sends this value (2026-08).
    agent=AgentForm(parts_beside_results=True, budget_settings=Settings(budget=-1)),
    setup=(
        SetupLine("Gemini CLI", _setup, 30, "gemini-3-pro-preview", "-m"),
        SetupLine(
            "google-genai",
            lambda base, key, model: f'genai.Client(api_key="{key}", http_options={{"base_url": "{base}"}})',
            70,
        ),
    ),
    example_model="gemini-3-pro",
    client=_client,
)
