"""Owns the verdict of the providers' published schemas, unchanged: nothing is loosened and nothing is closed.

External conformance tools use only these documents. `body_verdict.py` checks whether a body is legal, and closes the
schemas against unknown fields. This module checks whether a body has every field that a provider requires.

Every function returns findings, each `JSON pointer: problem`. An empty list means that the schema accepts the body.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from tests.oracles import schema_sources
from tests.oracles.json_schema import Judge, component, load

Json = Any
Kind = Literal["answer", "event", "fault", "models", "count"]

# Dialect and kind -> document and schema. Counts and compactions of Responses have their own schemas.
SCHEMAS: dict[tuple[str, Kind], tuple[str, str]] = {
    ("openai-chat", "answer"): ("openai", "CreateChatCompletionResponse"),
    ("openai-chat", "event"): ("openai", "CreateChatCompletionStreamResponse"),
    ("openai-chat", "fault"): ("openai", "ErrorResponse"),
    ("openai-chat", "models"): ("openai", "ListModelsResponse"),
    ("openai-responses", "answer"): ("openai", "Response"),
    ("openai-responses", "event"): ("openai", "ResponseStreamEvent"),
    ("openai-responses", "fault"): ("openai", "ErrorResponse"),
    ("openai-responses", "models"): ("openai", "ListModelsResponse"),
    ("openai-responses", "count"): ("openai", "TokenCountsResource"),
    ("anthropic", "answer"): ("anthropic", "Message"),
    ("anthropic", "event"): ("anthropic", "MessageStreamEvent"),
    ("anthropic", "fault"): ("anthropic", "ErrorResponse"),
    ("anthropic", "models"): ("anthropic", "ListResponse_ModelInfo_"),
    ("anthropic", "count"): ("anthropic", "CountMessageTokensResponse"),
    ("gemini", "answer"): ("gemini", "GenerateContentResponse"),
    ("gemini", "event"): ("gemini", "GenerateContentResponse"),
    ("gemini", "count"): ("gemini", "CountTokensResponse"),
    ("ollama", "answer"): ("ollama", "ChatResponse"),
    ("ollama", "event"): ("ollama", "ChatStreamEvent"),
    ("ollama", "models"): ("ollama", "ListResponse"),
    ("openrouter", "answer"): ("openrouter", "ChatResult"),
    ("openrouter", "event"): ("openrouter", "ChatStreamChunk"),
    ("openrouter", "models"): ("openrouter", "ModelsListResponse"),
}
_BETA = {"Message": "BetaMessage", "MessageStreamEvent": "BetaMessageStreamEvent"}
"""Schemas with a wider beta version: blocks of beta tools are legal in the wider version only."""


@cache
def _document(name: str) -> Json:
    return schema_sources.document(name)


@cache
def _judge(document: str, name: str) -> Judge:
    return Judge(component(_document(document), name))


def findings(dialect: str, kind: Kind, body: bytes | Json) -> list[str]:
    """The findings of the dialect's published schema; none where no schema is published."""
    known = SCHEMAS.get((dialect, kind))
    if known is None:
        return []
    value = load(body) if isinstance(body, bytes) else body
    document, name = known
    found = _judge(document, name).findings(value)
    if name in _BETA and found and all("no variant known here accepts" in one for one in found):
        return _judge(document, _BETA[name]).findings(value)
    return found
