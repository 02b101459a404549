"""Owns the list of schemas and the documents that are generated ("drawn") from them, for each dialect.

The schema is that of the provider, or the types of the SDK where they are more complete."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import msgspec
import pytest

from tests.generated import plausible_answers, plausible_requests, plausible_values
from tests.generated.values_from_schema import MARK, Drawer
from tests.laws.marked_documents import Marked
from tests.oracles import code_assist, gemini, schema_sources
from tests.oracles.json_schema import from_openapi
from tests.oracles.sdk_types import stated

Json = Any
Kind = str
_PLACE = "#/components/schemas/"
_MOST = 400  # maximum number of documents of one schema: far more than any schema needs


class Source(NamedTuple):
    """One schema: its specification, and its name in the specification."""

    document: str
    name: str


SOURCES: dict[tuple[str, Kind], tuple[Source, ...]] = {
    ("openai-chat", "request"): (
        Source("openai", "CreateChatCompletionRequest"),
        Source("sdk", "openai.types.chat.completion_create_params.CompletionCreateParamsNonStreaming"),
    ),
    ("openai-chat", "response"): (
        Source("openai", "CreateChatCompletionResponse"),
        Source("sdk", "openai.types.chat.ChatCompletion"),
    ),
    ("openai-responses", "request"): (
        Source("openai", "CreateResponse"),
        Source("sdk", "openai.types.responses.response_create_params.ResponseCreateParamsNonStreaming"),
    ),
    ("openai-responses", "response"): (Source("openai", "Response"), Source("sdk", "openai.types.responses.Response")),
    ("anthropic", "request"): (
        Source("anthropic", "CreateMessageParams"),
        Source("anthropic", "BetaCreateMessageParams"),
    ),
    ("anthropic", "response"): (
        Source("anthropic", "Message"),
        Source("anthropic", "BetaMessage"),
        Source("sdk", "anthropic.types.beta.BetaMessage"),
    ),
    ("gemini", "request"): (Source("gemini", "GenerateContentRequest"),),
    ("gemini", "response"): (Source("gemini", "GenerateContentResponse"),),
    ("ollama", "request"): (Source("ollama", "ChatRequest"),),
    ("ollama", "response"): (Source("ollama", "ChatResponse"),),
    ("openrouter", "request"): (Source("openrouter", "ChatRequest"),),
    ("openrouter", "response"): (Source("openrouter", "ChatResult"),),
}


@cache
def _types(name: str) -> Json:
    """Return the schema of a type of an SDK."""
    module, _, kind = name.rpartition(".")
    schema = from_openapi(stated(getattr(import_module(module), kind)))
    return {"$defs": schema.pop("$defs", {}), "root": schema}


@cache
def _document(name: str) -> Json:
    if name == "gemini":  # with the additions of Vertex
        return gemini._document()
    return schema_sources.document(name)


def drawer(dialect: str, source: Source, seed: int) -> Drawer:
    if source.document == "sdk":
        return Drawer(_types(source.name), "#/root", seed, plausible_values.text, plausible_values.OWNED[dialect])
    return Drawer(
        _document(source.document), _PLACE + source.name, seed, plausible_values.text, plausible_values.OWNED[dialect]
    )


class Drawn(NamedTuple):
    """One generated document."""

    id: str
    dialect: str
    kind: Kind
    value: Json

    @property
    def body(self) -> bytes:
        return msgspec.json.encode(self.value)


@cache
def drawn(dialect: str, kind: Kind) -> tuple[Drawn, ...]:
    """Return documents of one dialect and kind. Together they have every choice of its schemas."""
    if dialect == code_assist.NAME:
        return tuple([_wrapped(one, number) for number, one in enumerate(drawn("gemini", kind))])
    out: list[Drawn] = []
    arranged = plausible_requests.arranged if kind == "request" else plausible_answers.arranged
    for source in _sources(dialect, kind):
        draw = drawer(dialect, source, 1)
        for number in range(_MOST):
            if not draw.missing:
                break
            value = arranged(dialect, draw.next())
            out.append(Drawn(f"{source.document} {source.name.rpartition('.')[2]} {number}", dialect, kind, value))
    return tuple(out)


DRAWN_FROM_TYPES = {Source("gemini", "GenerateContentResponse"), Source("ollama", "ChatResponse")}
"""Schemas that are used even without the published documents: the types of the SDK are equivalent."""


def _sources(dialect: str, kind: Kind) -> list[Source]:
    """Return the schemas to use. Without the published documents these are only types of an SDK that are listed."""
    listed = SOURCES[dialect, kind]
    found = [
        one for one in listed if schema_sources.are_published() or one.document == "sdk" or one in DRAWN_FROM_TYPES
    ]
    if not found:
        pytest.skip(f"{kind} of {dialect} is drawn from the published schema, and the shared folder has none")
    return found


def _wrapped(one: Drawn, number: int) -> Drawn:
    if one.kind == "request":
        value = code_assist.wrap_request(one.value, "some-model", number)
    else:
        value = code_assist.wrap_answer(one.value, number)
    return Drawn(one.id, code_assist.NAME, one.kind, value)


def marked(one: Drawn) -> Marked:
    """Return the document with the places of its marks."""
    places: dict[str, list[tuple[str | int, ...]]] = {}
    _scan(one.value, (), places)
    return Marked(one.body, places)


def _scan(value: Json, at: tuple[str | int, ...], places: dict[str, list[tuple[str | int, ...]]]) -> None:
    if isinstance(value, dict):
        for name, item in value.items():
            for mark in MARK.findall(name):
                places.setdefault(mark, []).append((*at, name))
            _scan(item, (*at, name), places)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            _scan(item, (*at, i), places)
    elif isinstance(value, str):
        for mark in MARK.findall(value):
            places.setdefault(mark, []).append(at)
