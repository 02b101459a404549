"""Owns the schemas from the official SDKs' own types, with corrections from real traffic.

Pydantic validates `Iterable[...]` fields lazily, so a TypedDict request with broken messages passes a plain
TypeAdapter. The JSON Schema of the same TypeAdapter has no such hole. It can be closed against unknown fields, and
loosened at one named point. So the judges use the JSON Schema.

Everything is closed: providers refuse unknown request fields, and an answer field without an SDK type was invented by
the library.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import TypeAdapter

from tests.oracles.json_schema import Judge, closed, extra, optional

Json = Any
_TEXT = {"type": "string"}
_ANY: Json = {}

# Fields that Chat-compatible servers add to assistant messages and calls. OpenAI itself has none of them.
_MARK: Json = {
    "type": "object",
    "properties": {"type": {"enum": ["ephemeral"]}, "ttl": {"enum": ["5m", "1h"]}},
    "required": ["type"],
    "additionalProperties": False,
}
_EXTENSIONS = {"reasoning": _ANY, "reasoning_content": _ANY, "reasoning_details": _ANY, "extra_content": _ANY}
_EXTENSIONS |= {"images": _ANY}  # OpenRouter, LiteLLM and Vercel: for models that make images


def stated(kind: Json) -> Json:
    """The JSON Schema of an SDK type."""
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
        # Hosts of Claude take Anthropic's cache marks.
        for part in ("Text", "Image", "InputAudio"):
            extra(names, f"ChatCompletionContentPart{part}Param", cache_control=_MARK)
        extra(names, "File", cache_control=_MARK)
    return Judge(closed(schema))


@cache
def chat_response(extensions: bool = False) -> Judge:
    from openai.types.chat import ChatCompletion

    schema = stated(ChatCompletion)
    if extensions:
        extra(schema["$defs"], "ChatCompletionMessage", **_EXTENSIONS)
        extra(schema["$defs"], "ChatCompletionMessageFunctionToolCall", extra_content=_ANY)
        extra(schema["$defs"], "AnnotationURLCitation", content=_TEXT)  # OpenRouter: the cited text
    return Judge(closed(schema))


@cache
def chat_event(extensions: bool = False) -> Judge:
    from openai.types.chat import ChatCompletionChunk

    schema = stated(ChatCompletionChunk)
    names = schema["$defs"]
    # The type of the delta has function calls only; the answer and the request also have custom calls. A streamed
    # custom call can only have their shape, in pieces.
    call = names["ChoiceDeltaToolCall"]["properties"]
    call["type"] = {"anyOf": [{"enum": ["function", "custom"]}, {"type": "null"}]}
    call["custom"] = {
        "anyOf": [{"type": "object", "properties": {"name": _TEXT, "input": _TEXT}}, {"type": "null"}],
    }
    if extensions:
        # Citations in pieces: the answer's type has them, the delta's type does not.
        extra(names, "ChoiceDelta", annotations={"type": "array"}, **_EXTENSIONS)
        extra(names, "ChoiceDeltaToolCall", extra_content=_ANY)
    return Judge(closed(schema))


@cache
def responses_request() -> Judge:
    from openai.types.responses.response_create_params import ResponseCreateParams

    schema = stated(ResponseCreateParams)
    names = schema["$defs"]
    # 16 recorded requests with status 200 leave `strict` out of function tools.
    optional(names, "FunctionToolParam", "strict")
    # 9 leave `detail` out of images.
    optional(names, "ResponseInputImageParam", "detail")
    # 4 send assistant messages back without ids of the server, 2 of these without annotations.
    optional(names, "ResponseOutputMessageParam", "id", "status", "type")
    optional(names, "ResponseOutputTextParam", "annotations")
    # Codex sends searches back without ids, because the server refuses an id that it did not give.
    optional(names, "ResponseFunctionWebSearchParam", "id")
    # Custom calls of an answer have a status, so those that come back have one too.
    extra(names, "ResponseCustomToolCallParam", status={"enum": ["in_progress", "completed", "incomplete"]})
    return Judge(closed(schema))


def _answered(schema: Json) -> Json:
    """The corrections that answers and events share."""
    names = schema["$defs"]
    # Recordings older than the field lack it: 97 of 135 answers.
    optional(names, "InputTokensDetails", "cache_write_tokens")
    # Compatible servers leave it out where nothing is cited.
    optional(names, "ResponseOutputText", "annotations")
    # Every recorded answer repeats these; the types do not have them.
    answer = names.get("Response", schema)
    extra(
        {"Response": answer},
        "Response",
        billing=_ANY,
        store={"type": ["boolean", "null"]},
        frequency_penalty={"type": ["number", "null"]},
        presence_penalty={"type": ["number", "null"]},
    )
    # A custom call has a status like every other item, in all 3 recordings.
    extra(names, "ResponseCustomToolCall", status={"enum": ["in_progress", "completed", "incomplete"]})
    # Hosted tools are repeated with options that the types do not have.
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
    # The published schema requires it; the SDK's type does not have it yet.
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
