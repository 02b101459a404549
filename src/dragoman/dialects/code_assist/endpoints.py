"""Endpoints of Code Assist: addresses, session calls, token counts, the Google Cloud project, set-up of clients."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ...canon.events import Fault
from ...canon.request import Settings
from ...codec import json_text
from ...dialect.endpoints_record import (
    AgentForm,
    Claim,
    EndpointCall,
    Endpoints,
    Fields,
    ProjectSearch,
    Query,
    ReferenceClient,
    Served,
    SetupLine,
    TokenCounts,
    UpstreamForm,
)
from ..gemini.endpoints import ENDPOINTS as GEMINI
from ..gemini.endpoints import VERBS, total_tokens, wants_array
from . import NAME

_SESSION = "request/session_id"
_VERB = re.compile(r"/v1internal(?:/[^:]*)?:(?P<verb>[A-Za-z]+)\Z")


def _operation(path: str, query: Query, decode: Callable[[str], str]) -> EndpointCall | None:
    """The call for a resource of the session, such as an operation that is polled by its name."""
    return EndpointCall("session", NAME, rest=path.removeprefix("/v1internal/")) if _VERB.match(path) is None else None


def _read_call(path: str, query: Query, decode: Callable[[str], str]) -> EndpointCall | None:
    found = _VERB.match(path)
    if found is None:
        return None
    known = VERBS.get(found["verb"])
    if known is None:
        return EndpointCall("session", NAME, rest=found["verb"])
    verb, stream = known
    return EndpointCall(verb, NAME, "", stream, wants_array(stream, query))


def _count_request(fields: Fields, model: str) -> tuple[bytes | None, str]:
    # countTokens has the model inside the request, with the prefix `models/`, and no other envelope fields (gemini-cli
    # 0.56, 2026-08).
    inner = json_text.fields(fields.get("request", b"{}"))
    named = inner.pop("model", None) or fields.get("model")
    found = json_text.plain(named) if named else ""
    found = found.removeprefix("models/") if isinstance(found, str) else ""
    return json_text.encode({"model": found, "request": inner}), found


def _renamed(fields: Fields, model: str) -> dict[str, Any]:
    inner = json_text.fields(fields.get("request", b"{}"))
    return {"request": {**inner, "model": f"models/{model}"}}


def _counted(fields: Fields, model: str, project: str) -> dict[str, Any]:
    # gemini-cli counts the contents only: tools and system instruction are not sent (0.56, 2026-08).
    contents = json_text.fields(fields.get("request", b"{}")).get("contents", json_text.raw([]))
    return {"request": {"model": f"models/{model}", "contents": contents}}


def _setup(base: str, key: str, model: str) -> str:
    return f"GOOGLE_GENAI_USE_GCA=true CODE_ASSIST_ENDPOINT={base} GOOGLE_CLOUD_ACCESS_TOKEN={key} gemini{model}"


def _client() -> ReferenceClient:
    from .conformance_client import CLIENT  # Only the conformance kit needs the client.

    return CLIENT


def with_project(body: bytes, project: str | None) -> bytes:
    """A written request with the user's Google Cloud project, or without a project.

    Onboarding to the free tier fails with "Precondition Failed" if a project is set (gemini-cli 0.56, 2026-08). A
    translation has no access to accounts. It keeps a project that the client sent, and else leaves the project out. The
    caller sets it.
    """
    fields = json_text.fields(body)
    fields.pop("project", None)
    if project is None:
        return json_text.encode(fields)
    first = {"model": fields.pop("model")} if "model" in fields else {}
    return json_text.encode({**first, "project": json_text.raw(project), **fields})


def _session(call: str, fields: dict[str, Any], models: Callable[[], list[str]]) -> dict[str, Any] | Fault:
    from .session_calls import session_answer  # Few gateways serve this dialect.

    return session_answer(call, fields, models)


def _project_search(body: bytes) -> ProjectSearch | None:
    if "project" in json_text.fields(body):
        return None
    from .project_search import project_search  # Few gateways use this dialect.

    return project_search()


ENDPOINTS = Endpoints(
    served=Served(
        claims=(
            Claim(("GET",), "/v1internal/", read=_operation, verbs=("session",)),
            Claim(("POST", "GET"), "/v1internal", read=_read_call, verbs=("generate", "count", "session"), alone=True),
        ),
        shown=("POST /v1internal:generateContent", "POST /v1internal:streamGenerateContent"),
        near=("/v1internal",),
        wrong_method=404,  # a wrong method is answered like an unknown address
        key_parameter=("key", "x-goog-api-key"),
        session=_session,
    ),
    headers=GEMINI.headers,
    counts=TokenCounts("/v1internal:countTokens", _count_request, _renamed, _counted, total_tokens),
    stream=GEMINI.stream,
    upstream=UpstreamForm(
        "https://cloudcode-pa.googleapis.com", "google", with_project=with_project, project_search=_project_search
    ),
    rehearsal=GEMINI.rehearsal,
    agent=AgentForm(
        parts_beside_results=True,
        # Envelope fields are snake_case, `session_id` inside the request too (gemini-cli 0.56, 2026-08).
        session=lambda session, prompt: {_SESSION: session, "user_prompt_id": f"{session}#turn-{prompt}"},
        # gemini-cli's own defaults for Gemini 2.5 (2026-08).
        budget_settings=Settings(budget=-1, temperature=0.0, top_p=1.0),
    ),
    setup=(SetupLine("  or", _setup, 40, "gemini-3-pro-preview", "-m"),),
    example_model="gemini-3-pro",
    client=_client,
)
