"""Which endpoint a client called: the address tells dialect and verb, in some dialects the model and the stream too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple
from urllib.parse import parse_qs, unquote

Verb = Literal[
    "generate",
    "count",
    "models",
    "model",
    "show",
    "version",
    "running",
    "assist",
    "health",
    "ready",
    "exchanges",
    "page",
]


class Call(NamedTuple):
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
    ("POST", "/v1/responses/input_tokens"): Call("count", "openai-responses"),
    ("POST", "/v1/messages"): Call("generate", "anthropic"),
    ("POST", "/v1/messages/count_tokens"): Call("count", "anthropic"),
    ("POST", "/api/v1/chat/completions"): Call("generate", "openrouter"),
    ("GET", "/api/v1/models"): Call("models", "openrouter"),
    ("POST", "/api/chat"): Call("generate", "ollama"),
    ("GET", "/api/tags"): Call("models", "ollama"),
    ("POST", "/api/show"): Call("show", "ollama"),
    ("GET", "/api/version"): Call("version", "ollama"),
    ("GET", "/api/ps"): Call("running", "ollama"),
    ("GET", "/healthz"): Call("health", ""),
    ("GET", "/readyz"): Call("ready", ""),
    ("GET", "/dragoman/exchanges"): Call("exchanges", ""),
}
_GOOGLE = re.compile(
    r"/(?:v1|v1alpha|v1beta|v1beta1)/(?:projects/[^/]+/locations/[^/]+/)?(?:publishers/[^/]+/)?"
    r"(?:tunedModels|models)/(?P<model>.+?):(?P<verb>[A-Za-z]+)\Z"
)
_GOOGLE_LIST = re.compile(r"/(?:v1alpha|v1beta|v1beta1)/(?:publishers/[^/]+/)?models(?:/(?P<model>.+))?\Z")
_ASSIST = re.compile(r"/v1internal(?:/[^:]*)?:(?P<verb>[A-Za-z]+)\Z")
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
    if (method, plain) in _FIXED:
        return _FIXED[method, plain]
    if plain.startswith("/v1internal"):
        return _assist(method, plain, query)
    google = _GOOGLE.match(unquote(plain)) if method == "POST" else None
    if google is not None and google["verb"] in _VERBS:
        verb, stream = _VERBS[google["verb"]]
        return Call(verb, "gemini", google["model"], stream, bool(stream) and not _sse(query))
    if method == "GET":
        return _get(plain, headers)
    return None


def _get(path: str, headers: Mapping[str, str]) -> Call | None:
    if path == "/v1/models" or path.startswith("/v1/models/"):
        dialect = "anthropic" if "anthropic-version" in headers or "x-api-key" in headers else "openai-chat"
        model = unquote(path[len("/v1/models/") :])
        return Call("model", dialect, model) if model else Call("models", dialect)
    found = _GOOGLE_LIST.match(unquote(path))
    if found is not None:
        return Call("model", "gemini", found["model"]) if found["model"] else Call("models", "gemini")
    if path.startswith("/dragoman/exchanges/"):
        return Call("exchanges", "", rest=path[len("/dragoman/exchanges/") :])
    return None


def _assist(method: str, path: str, query: str) -> Call | None:
    found = _ASSIST.match(path)
    if found is None or method not in ("POST", "GET"):
        return None
    known = _VERBS.get(found["verb"])
    if known is None:
        return Call("assist", "code-assist", rest=found["verb"])
    verb, stream = known
    return Call(verb, "code-assist", "", stream, bool(stream) and not _sse(query))


def _sse(query: str) -> bool:
    return "sse" in parse_qs(query).get("alt", ())
