"""Which endpoint a client called: the address tells dialect and verb, in some dialects the model and the stream too.

Clients are pointed at a gateway with more or less of an address (`/v1`, `/openai/v1`, `/v1beta/openai`, nothing), so
what stands before an endpoint's own words is taken off where it says nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal
from urllib.parse import parse_qs, unquote

from msgspec import Struct

Verb = Literal[
    "generate",
    "count",
    "models",
    "model",
    "show",
    "version",
    "running",
    "assist",
    "responses",
    "conversations",
    "compact",
    "socket",
    "health",
    "ready",
    "exchanges",
    "home",
    "page",
]


class Call(Struct, frozen=True):
    """What a client wants."""

    verb: Verb
    dialect: str
    model: str = ""
    """Where the address names it."""
    stream: bool | None = None
    """Where the address says it."""
    array: bool = False
    """A Gemini stream as one JSON array."""
    rest: str = ""
    """What else the address names."""


_FIXED: dict[tuple[str, str], Call] = {
    ("POST", "/v1/chat/completions"): Call("generate", "openai-chat"),
    ("POST", "/v1/responses"): Call("generate", "openai-responses"),
    ("GET", "/v1/responses"): Call("socket", "openai-responses"),
    ("POST", "/v1/responses/input_tokens"): Call("count", "openai-responses"),
    ("POST", "/v1/responses/compact"): Call("compact", "openai-responses"),
    ("POST", "/v1/messages"): Call("generate", "anthropic"),
    ("POST", "/v1/messages/count_tokens"): Call("count", "anthropic"),
    ("POST", "/api/v1/chat/completions"): Call("generate", "openrouter"),
    ("POST", "/api/v1/responses"): Call("generate", "openai-responses"),
    ("POST", "/api/v1/messages"): Call("generate", "anthropic"),
    ("GET", "/api/v1/models"): Call("models", "openrouter"),
    ("GET", "/api/v1/models/user"): Call("models", "openrouter"),
    ("POST", "/api/chat"): Call("generate", "ollama"),
    ("GET", "/api/tags"): Call("models", "ollama"),
    ("POST", "/api/show"): Call("show", "ollama"),
    ("GET", "/api/version"): Call("version", "ollama"),
    ("GET", "/api/ps"): Call("running", "ollama"),
    ("GET", "/healthz"): Call("health", ""),
    ("GET", "/readyz"): Call("ready", ""),
    ("GET", "/dragoman/exchanges"): Call("exchanges", ""),
    ("GET", "/"): Call("home", ""),
    ("GET", "/dragoman"): Call("home", "", rest="page"),  # like any home without a key: it asks for one
    ("GET", "/dragoman/about"): Call("page", "", rest="about"),
    ("POST", "/dragoman/translate"): Call("page", "", rest="translate"),
}
_PLACE = (
    r"(?:/(?:v1|v1alpha|v1beta|v1beta1))?/(?:projects/[^/]+/locations/[^/]+/)?(?:publishers/(?P<publisher>[^/]+)/)?"
)
# Some SDKs leave `models/` out when there is a slash in the model's name.
_GOOGLE = re.compile(_PLACE + r"(?:(?:tunedModels|models)/)?(?P<model>.+?):(?P<verb>[A-Za-z]+)\Z")
_GOOGLE_LIST = re.compile(
    r"/(?:v1|v1alpha|v1beta|v1beta1)/(?P<publisher>publishers/[^/]+/)?models(?:/(?P<model>.+))?\Z"
)
_ASSIST = re.compile(r"/v1internal(?:/[^:]*)?:(?P<verb>[A-Za-z]+)\Z")
_AZURE = re.compile(r"/openai/deployments/(?P<model>[^/]+)/chat/completions\Z")
_STORED = re.compile(r"/v1/(?P<verb>responses|conversations)(?:/(?P<rest>.+))?\Z")
_BEFORE = re.compile(r"(?:/v1beta)?/(?:openai|anthropic|gemini|google|ollama|openrouter)(?=/)")
_BARE = ("/chat/", "/responses", "/messages", "/models", "/conversations")
_VERBS: dict[str, tuple[Verb, bool | None]] = {
    "generateContent": ("generate", False),
    "streamGenerateContent": ("generate", True),
    "countTokens": ("count", None),
}


def match(method: str, path: str, query: str, headers: Mapping[str, str]) -> Call | None:
    """The call, or None when there is no such endpoint."""
    found = _FIXED.get((method, path))
    if found is not None:
        return found
    plain = path.rstrip("/") or "/"
    return _matched(method, plain, query, headers) or _shortened(method, plain, query, headers)


def _matched(method: str, path: str, query: str, headers: Mapping[str, str]) -> Call | None:
    if (method, path) in _FIXED:
        return _FIXED[method, path]
    if path.startswith("/v1internal"):
        return _assist(method, path, query)
    if method == "POST":
        google = _GOOGLE.match(unquote(path))
        if google is not None and google["verb"] in _VERBS:
            verb, stream = _VERBS[google["verb"]]
            # Vertex's SDKs take what stands before a slash in a model's name for its publisher.
            maker = f"{google['publisher']}/" if google["publisher"] not in (None, "google") else ""
            return Call(verb, "gemini", maker + google["model"], stream, bool(stream) and not _sse(query))
        azure = _AZURE.match(path)
        if azure is not None:
            return Call("generate", "openai-chat", unquote(azure["model"]))
    stored = _STORED.match(path)
    if stored is not None:
        held: Verb = "responses" if stored["verb"] == "responses" else "conversations"
        return Call(held, "openai-responses", rest=unquote(stored["rest"] or ""))
    return _get(path, query, headers) if method == "GET" else None


def _shortened(method: str, path: str, query: str, headers: Mapping[str, str]) -> Call | None:
    """The call without what people put in front of an endpoint, or with the `/v1` that they leave out."""
    before = _BEFORE.match(path)
    shorter = path[before.end() :] if before is not None else path
    if shorter.startswith(("/v1/v1/", "/v1/v1beta/", "/v1/v1internal")):
        shorter = shorter[3:]
    if shorter.startswith(_BARE):
        shorter = f"/v1{shorter}"
    return _matched(method, shorter, query, headers) if shorter != path else None


def _get(path: str, query: str, headers: Mapping[str, str]) -> Call | None:
    if path == "/v1/models" or path.startswith("/v1/models/"):
        model = unquote(path[len("/v1/models/") :])
        dialect = _asker(query, headers)
        return Call("model", dialect, model) if model else Call("models", dialect)
    found = _GOOGLE_LIST.match(unquote(path))
    if found is not None and (found["model"] or "").rpartition(":")[2] not in _VERBS:
        rest = found["publisher"] or ""
        return Call("model" if found["model"] else "models", "gemini", found["model"] or "", rest=rest)
    if path.startswith("/dragoman/exchanges/"):
        return Call("exchanges", "", rest=path[len("/dragoman/exchanges/") :])
    return None


def _asker(query: str, headers: Mapping[str, str]) -> str:
    """Whose list of models `/v1/models` is: three dialects have theirs at that address."""
    if "anthropic-version" in headers or "x-api-key" in headers:
        return "anthropic"
    if "x-goog-api-key" in headers or "x-goog-api-client" in headers or "key" in parse_qs(query):
        return "gemini"
    return "openai-chat"


def _assist(method: str, path: str, query: str) -> Call | None:
    found = _ASSIST.match(path)
    if found is None:
        name = path.removeprefix("/v1internal/")
        return Call("assist", "code-assist", rest=name) if method == "GET" and name != path else None
    if method not in ("POST", "GET"):
        return None
    known = _VERBS.get(found["verb"])
    if known is None:
        return Call("assist", "code-assist", rest=found["verb"])
    verb, stream = known
    return Call(verb, "code-assist", "", stream, bool(stream) and not _sse(query))


def _sse(query: str) -> bool:
    return "sse" in parse_qs(query).get("alt", ())


_NEAR: tuple[tuple[str, str], ...] = (
    ("/v1internal", "code-assist"),
    ("/v1beta/openai", "openai-chat"),
    ("/v1beta", "gemini"),
    ("/v1alpha", "gemini"),
    ("/v1/projects", "gemini"),
    ("/v1/publishers", "gemini"),
    ("/api/v1", "openrouter"),
    ("/api", "ollama"),
    ("/v1/messages", "anthropic"),
    ("/v1/complete", "anthropic"),
    ("/v1/responses", "openai-responses"),
    ("/v1/conversations", "openai-responses"),
)
PLACES: dict[str, tuple[str, ...]] = {
    "anthropic": ("POST /v1/messages", "POST /v1/messages/count_tokens", "GET /v1/models"),
    "code-assist": ("POST /v1internal:generateContent", "POST /v1internal:streamGenerateContent"),
    "gemini": (
        "POST /v1beta/models/MODEL:generateContent",
        "POST /v1beta/models/MODEL:streamGenerateContent",
        "POST /v1beta/models/MODEL:countTokens",
        "GET /v1beta/models",
    ),
    "ollama": ("POST /api/chat", "GET /api/tags", "POST /api/show", "GET /api/ps", "GET /api/version"),
    "openai-chat": ("POST /v1/chat/completions", "GET /v1/models"),
    "openai-responses": (
        "POST /v1/responses",
        "GET /v1/responses/ID",
        "POST /v1/responses/input_tokens",
        "POST /v1/conversations",
        "GET /v1/models",
    ),
    "openrouter": ("POST /api/v1/chat/completions", "GET /api/v1/models"),
}
"""The endpoints of each dialect, as a client that has lost its way is told them."""


def nearest(path: str, headers: Mapping[str, str]) -> str:
    """The dialect that somebody at an unknown address most likely speaks."""
    for start, dialect in _NEAR:
        if path.startswith(start):
            return dialect
    if "anthropic-version" in headers:
        return "anthropic"
    return "gemini" if "x-goog-api-key" in headers or "x-goog-api-client" in headers else "openai-chat"


def methods(path: str, headers: Mapping[str, str]) -> tuple[str, ...]:
    """The methods that an address does take."""
    return tuple([method for method in ("GET", "POST") if match(method, path, "", headers) is not None])
