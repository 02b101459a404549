"""Owns the schemas made from the official SDKs' own types, and each point where real traffic forced us to loosen them.

Pydantic validates `Iterable[...]` fields lazily, so a TypedDict request with broken messages passes a plain
TypeAdapter; the JSON Schema that the same TypeAdapter states has no such hole, can be shut against unknown fields and
can be loosened at one named point. That is why the judges run on it. Everything is shut: providers refuse request
fields they do not know, and a field in an answer that the SDK does not know is one we invented.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import TypeAdapter

from tests.oracles.schema import Judge, closed, extra, optional

Json = Any
_TEXT = {"type": "string"}
_ANY: Json = {}

# What servers compatible with Chat add to assistant messages and calls; OpenAI itself knows none of it.
_EXTENSIONS = {"reasoning": _ANY, "reasoning_content": _ANY, "reasoning_details": _ANY, "extra_content": _ANY}
_EXTENSIONS |= {"images": _ANY}  # of OpenRouter, LiteLLM and Vercel, for models that make images


def stated(kind: Json) -> Json:
    """The JSON Schema an SDK type states about the wire."""
    return TypeAdapter(kind).json_schema(by_alias=True)


@cache
def chat_request(extensions: bool = False) -> Judge:
    from openai.types.chat.completion_create_params import CompletionCreateParams

    schema = stated(CompletionCreateParams)
    names = schema["$defs"]
    # 7 recorded requests answered with 200 name the tool in its result, 2 replay the annotations of an answer.
    extra(names, "ChatCompletionToolMessageParam", name=_TEXT)
    extra(names, "ChatCompletionAssistantMessageParam", annotations={"type": "array"})
    if extensions:
        extra(names, "ChatCompletionAssistantMessageParam", **_EXTENSIONS)
        extra(names, "ChatCompletionMessageFunctionToolCallParam", extra_content=_ANY)
    return Judge(closed(schema))


@cache
def chat_response(extensions: bool = False) -> Judge:
    from openai.types.chat import ChatCompletion

    schema = stated(ChatCompletion)
    if extensions:
        extra(schema["$defs"], "ChatCompletionMessage", **_EXTENSIONS)
        extra(schema["$defs"], "ChatCompletionMessageFunctionToolCall", extra_content=_ANY)
        extra(schema["$defs"], "AnnotationURLCitation", content=_TEXT)  # the cited words, of OpenRouter
    return Judge(closed(schema))


@cache
def chat_event(extensions: bool = False) -> Judge:
    from openai.types.chat import ChatCompletionChunk

    schema = stated(ChatCompletionChunk)
    names = schema["$defs"]
    # The typed delta knows function calls only, the answer and the request know custom ones: a streamed custom call
    # can have no other shape than theirs in pieces (protocols/openai-chat.md section 5).
    call = names["ChoiceDeltaToolCall"]["properties"]
    call["type"] = {"anyOf": [{"enum": ["function", "custom"]}, {"type": "null"}]}
    call["custom"] = {
        "anyOf": [{"type": "object", "properties": {"name": _TEXT, "input": _TEXT}}, {"type": "null"}],
    }
    if extensions:
        # Citations of an answer in pieces: the answer's type has them, the delta's has not.
        extra(names, "ChoiceDelta", annotations={"type": "array"}, **_EXTENSIONS)
        extra(names, "ChoiceDeltaToolCall", extra_content=_ANY)
    return Judge(closed(schema))


@cache
def responses_request() -> Judge:
    from openai.types.responses.response_create_params import ResponseCreateParams

    schema = stated(ResponseCreateParams)
    names = schema["$defs"]
    # 16 recorded requests answered with 200 leave `strict` out of function tools.
    optional(names, "FunctionToolParam", "strict")
    # 9 leave `detail` out of images.
    optional(names, "ResponseInputImageParam", "detail")
    # 4 replay assistant messages without ids of the server, 2 of these without annotations.
    optional(names, "ResponseOutputMessageParam", "id", "status", "type")
    optional(names, "ResponseOutputTextParam", "annotations")
    # Codex replays searches without ids: the server refuses an id that it did not give.
    optional(names, "ResponseFunctionWebSearchParam", "id")
    # The answer's custom calls carry a status, so replayed ones do.
    extra(names, "ResponseCustomToolCallParam", status={"enum": ["in_progress", "completed", "incomplete"]})
    return Judge(closed(schema))


def _answered(schema: Json) -> Json:
    """The loosening that answers and events share."""
    names = schema["$defs"]
    # Recordings older than the field lack it: 97 of 135 answers.
    optional(names, "InputTokensDetails", "cache_write_tokens")
    # Left out by compatible servers, and nothing to say where nothing is cited.
    optional(names, "ResponseOutputText", "annotations")
    # Every recorded answer echoes these, the types do not know them.
    answer = names.get("Response", schema)
    extra(
        {"Response": answer},
        "Response",
        billing=_ANY,
        store={"type": ["boolean", "null"]},
        frequency_penalty={"type": ["number", "null"]},
        presence_penalty={"type": ["number", "null"]},
    )
    # A custom call comes with its status like every other item, in all 3 recordings.
    extra(names, "ResponseCustomToolCall", status={"enum": ["in_progress", "completed", "incomplete"]})
    # Hosted tools are echoed with options the types do not know.
    extra(names, "WebSearchTool", return_token_budget=_ANY, search_content_types=_ANY)
    extra(names, "ImageGeneration", n=_ANY)
    return closed(schema)


@cache
def responses_response() -> Judge:
    from openai.types.responses import Response

    return Judge(_answered(stated(Response)))


@cache
def responses_event() -> Judge:
    from openai.types.responses import ResponseStreamEvent

    schema = stated(ResponseStreamEvent)
    for name, event in schema["$defs"].items():
        # Padding against traffic analysis, on most deltas unless switched off.
        if name.endswith("DeltaEvent") and "obfuscation" not in event["properties"]:
            event["properties"]["obfuscation"] = _TEXT
    # The published schema requires it, the SDK's type does not know it yet.
    extra(schema["$defs"], "ResponseFunctionCallArgumentsDoneEvent", name=_TEXT)
    return Judge(_answered(schema))


def _counted(schema: Json, name: str) -> Json:
    # Recordings older than the web fetch tool count searches only.
    optional(schema["$defs"], name, "web_fetch_requests")
    return closed(schema)


@cache
def anthropic_responses() -> tuple[Judge, Judge]:
    """Plain and beta."""
    from anthropic.types import Message
    from anthropic.types.beta import BetaMessage

    return (
        Judge(_counted(stated(Message), "ServerToolUsage")),
        Judge(_counted(stated(BetaMessage), "BetaServerToolUsage")),
    )


@cache
def anthropic_events() -> tuple[Judge, Judge]:
    """Plain and beta, without ping and error, which the SDK handles before its types."""
    from anthropic.types import RawMessageStreamEvent
    from anthropic.types.beta import BetaRawMessageStreamEvent

    return (
        Judge(_counted(stated(RawMessageStreamEvent), "ServerToolUsage")),
        Judge(_counted(stated(BetaRawMessageStreamEvent), "BetaServerToolUsage")),
    )
