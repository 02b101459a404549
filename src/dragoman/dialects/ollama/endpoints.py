"""Endpoints of Ollama: addresses, model lists, OLLAMA_HOST, set-up of clients."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from ...codec import json_text
from ...dialect.endpoints_record import (
    CREATED_DAY,
    AgentForm,
    Claim,
    EndpointCall,
    Endpoints,
    Environment,
    ModelLists,
    OfferedModel,
    ReferenceClient,
    RehearsalForm,
    Served,
    SetupLine,
    StreamForm,
    UpstreamForm,
    WindowForm,
)
from . import NAME


def _entry(model: OfferedModel, publisher: str) -> dict[str, Any]:
    return {
        "name": model.name,
        "model": model.name,
        "modified_at": CREATED_DAY,
        "size": 0,
        # Ollama's command line shows the first twelve characters of the digest, and fails without them.
        "digest": hashlib.sha256(model.name.encode()).hexdigest(),
        "details": _family(model),
    }


def _family(model: OfferedModel) -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "",
        "family": model.upstream,
        "families": [model.upstream],
        "parameter_size": "",
        "quantization_level": "",
    }


def _named(model: OfferedModel, publisher: str) -> dict[str, Any]:
    return {"name": model.name, "model": model.name}


def _listed(entries: list[dict[str, Any]], publisher: str) -> dict[str, Any]:
    return {"models": entries}


def _details(model: OfferedModel) -> dict[str, Any]:
    """The answer to `/api/show`. Clients read the capabilities and the context length from this answer."""
    info: dict[str, Any] = {"general.architecture": model.upstream}
    if model.context is not None:
        info[f"{model.upstream}.context_length"] = model.context
    return {
        "license": "",
        "modelfile": "",
        "parameters": "",
        "template": "",
        "details": _family(model),
        "model_info": info,
        # The abilities of the upstream's model are unknown here. A client sends nothing that needs an absent
        # capability, so all capabilities are listed, and the translation reports everything that the model refuses.
        "capabilities": ["completion", "tools", "thinking", "vision"],
        "modified_at": CREATED_DAY,
    }


AGENT_WINDOW = 32_768
"""The largest window that the agent asks for on its own. A larger one needs more memory than many machines have.
Without `num_ctx` a server with less than 24 GiB of graphics memory uses 4,096 tokens, and cuts longer requests silently
(Ollama's page on the context length, 2026-11)."""


def _window(shown: dict[str, Any]) -> int | None:
    """The window in the answer to `/api/show`: `num_ctx` of the model's file, else the length that the model was
    trained for, up to our limit."""
    parameters = shown.get("parameters")
    for line in parameters.splitlines() if isinstance(parameters, str) else ():
        name, _, value = line.strip().partition(" ")
        if name == "num_ctx" and value.strip().isdigit():
            return int(value)
    info = shown.get("model_info")
    lengths = [value for name, value in info.items() if name.endswith(".context_length")] if type(info) is dict else []
    return min(lengths[0], AGENT_WINDOW) if lengths and type(lengths[0]) is int and lengths[0] > 0 else None


def host_address(host: str) -> str:
    """The base address for a value of OLLAMA_HOST, in which the scheme, the host and the port may each be missing. A
    server that listens on all addresses is reached on loopback."""
    scheme, found, rest = host.strip().partition("://")
    if not found:
        scheme, rest = "http", host.strip()
    place, slash, path = rest.partition("/")
    name, colon, port = place.rpartition(":")
    if not colon or not port.isdigit():  # An IPv6 address has colons of its own.
        name, port = place, ""
    name = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(name, name)
    if name.count(":") > 1 and not name.startswith("["):
        name = f"[{name}]"
    port = port or ("11434" if not found else "443" if scheme == "https" else "80")
    return f"{scheme}://{name}:{port}{slash}{path}".rstrip("/")


_DONE = b'"done":true'
_HAS_DURATION = b'"total_duration"'


def with_durations(data: bytes, took: int, first: int | None) -> bytes:
    """An answer or a piece of a stream, with durations in nanoseconds at the end of the answer. Some clients compute
    with durations (Strands), and upstreams of other dialects send none. An upstream's own durations stay."""
    if first is None:
        return _ended(data, {"total_duration": took})
    if _DONE not in data:
        return data
    # This is the end of the stream, or the bytes are in the arguments of a call.
    durations = {"total_duration": took, "prompt_eval_duration": first, "eval_duration": took - first}
    return b"\n".join([_ended(line, durations) if _DONE in line else line for line in data.split(b"\n")])


def _ended(answer: bytes, durations: dict[str, int]) -> bytes:
    """The answer with its durations, if it is the last one of the stream."""
    if _HAS_DURATION in answer:
        return answer
    try:
        fields = json_text.fields(answer)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return answer  # An upstream of the same dialect sent no JSON object; the client gets the bytes unchanged.
    if bytes(fields.get("done", b"")) != b"true":
        return answer
    return json_text.encode({**fields, **durations})


def _setup(base: str, key: str, model: str) -> str:
    shown = f', headers={{"authorization": "Bearer {key}"}}' if key != "any" else ""
    return f'OLLAMA_HOST={base}, or Client(host="{base}"{shown})'


def _client() -> ReferenceClient:
    from .conformance_client import CLIENT  # Only the conformance kit needs the client.

    return CLIENT


ENDPOINTS = Endpoints(
    served=Served(
        claims=(
            Claim(("POST",), "/api/chat", EndpointCall("generate", NAME)),
            Claim(("GET",), "/api/tags", EndpointCall("models", NAME)),
            Claim(("POST",), "/api/show", EndpointCall("show", NAME)),
            Claim(("GET",), "/api/version", EndpointCall("version", NAME)),
            Claim(("GET",), "/api/ps", EndpointCall("running", NAME)),
        ),
        shown=("POST /api/chat", "GET /api/tags", "POST /api/show", "GET /api/ps", "GET /api/version"),
        near=("/api",),
        before=("ollama",),
        timed=with_durations,
    ),
    models=ModelLists("/api/tags", entry=_entry, named=_named, listed=_listed, details=_details),
    # A request without `stream` gets a stream, as NDJSON without blank lines (server sources, 2026-08).
    stream=StreamForm(streams_by_default=True, marks=(b'"done"',), line_ends=1),
    upstream=UpstreamForm(
        "http://127.0.0.1:11434",
        "none",
        (Environment("ollama", addresses=("OLLAMA_HOST",), address=host_address, order=50),),
    ),
    rehearsal=RehearsalForm(passed_over=("tool_choice", "response_format")),
    agent=AgentForm(
        # A model that can think does so unless `think` is false (server sources, 2026-08).
        thinks_by_default=True,
        window=WindowForm("/api/show", lambda model: {"model": model}, _window, "options/num_ctx"),
    ),
    setup=(SetupLine("ollama", _setup, 90),),
    example_model="qwen3:8b",
    client=_client,
)
