"""Owns the verdict on OpenRouter bodies: the provider's own specification, with corrections from recorded traffic.

Requests, answers and chunks are judged by the schemas `ChatRequest`, `ChatResult` and `ChatStreamChunk`, closed against
unknown fields. rejected_recordings.py lists the recorded requests with status 200 that these schemas refuse.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from tests.oracles import schema_sources
from tests.oracles.json_schema import Judge, closed, component, extra, optional

Json = Any
_ANY: Json = {}
_TEXT: Json = {"type": "string"}


@cache
def _document() -> Json:
    document = schema_sources.document("openrouter")
    names = document["components"]["schemas"]
    if schema_sources.are_published():
        _loosen_requests(names)
        _loosen_answers(names)
    document["components"]["schemas"] = closed(names, mapping=True)
    return document


def _loosen_requests(names: Json) -> None:
    # Documented for years, recorded, and in no schema: the older settings for usage and thoughts, and prompt
    # compression.
    extra(
        names,
        "ChatRequest",
        usage={"type": "object", "properties": {"include": {"type": "boolean"}}},
        include_reasoning={"type": "boolean"},
        transforms={"type": "array", "items": _TEXT},
        verbosity=_TEXT,
        # 7 recorded requests with status 200 have this value.
        n={"type": ["integer", "null"]},
    )
    reasoning = names["ChatRequest"]["properties"]["reasoning"]["properties"]
    reasoning |= {"max_tokens": {"type": "integer"}, "exclude": {"type": "boolean"}, "enabled": {"type": "boolean"}}
    # The schema uses allOf, which cannot be closed.
    names["ChatContentCacheControl"] = {"$ref": "#/components/schemas/AnthropicCacheControlDirective"}
    # Every recorded upstream accepts the name of a result.
    extra(names, "ChatToolMessage", name=_TEXT)
    # Documented for every part; the schema has it on texts only.
    for name in ("ChatContentFile", "ChatContentImage", "ChatContentVideo", "ChatContentAudio"):
        extra(names, name, cache_control={"$ref": "#/components/schemas/ChatContentCacheControl"})
    function = names["ChatFunctionTool"]["anyOf"][0]["properties"]
    # OpenRouter documents this field for deferred tools.
    function["defer_loading"] = {"type": "boolean"}
    # Newer than the schema (SDK 1.3.84, `DeferredToolsControl`).
    extra(
        names,
        "ChatRequest",
        deferred_tools={
            "type": "object",
            "properties": {
                "protocol": {"enum": ["v1"]},
                "profile": {"enum": ["portable"]},
                "search": {
                    "type": "object",
                    "properties": {"type": {"enum": ["bm25", "regex", "custom"]}, "max_results": {"type": "integer"}},
                    "required": ["type"],
                },
                "validation": {"enum": ["runtime"]},
            },
            "required": ["protocol", "profile", "search", "validation"],
        },
    )


def _loosen_answers(names: Json) -> None:
    # Every recorded answer has these: the provider, and the provider's own finish reason.
    extra(names, "ChatResult", provider=_TEXT)
    optional(names, "ChatResult", "system_fingerprint")
    extra(names, "ChatStreamChunk", provider=_TEXT)
    names["ChatStreamChunk"]["properties"]["system_fingerprint"] = {"type": ["string", "null"]}
    names["ChatStreamChunk"]["properties"]["usage"] = {
        "anyOf": [{"$ref": "#/components/schemas/ChatUsage"}, {"type": "null"}]
    }
    native = {"type": ["string", "null"]}
    extra(names, "ChatChoice", native_finish_reason=native, error=_ANY)
    extra(names, "ChatStreamChoice", native_finish_reason=native, error=_ANY)
    for name in ("ChatAssistantMessage", "ChatStreamDelta"):
        extra(names, name, annotations={"type": "array"})
    extra(names, "ChatStreamDelta", images=_ANY)
    # Images are parts with a type in both directions; the schema has only the address.
    names["ChatAssistantImages"]["items"]["properties"]["type"] = {"enum": ["image_url"]}
    extra(names, "ChatToolCall", index={"type": "integer"})
    for name in ("ChatChoice", "ChatStreamChoice"):
        names[name]["properties"]["logprobs"] = {
            "anyOf": [{"$ref": "#/components/schemas/ChatTokenLogprobs"}, {"type": "null"}]
        }
    usage = names["ChatUsage"]["properties"]
    for details in ("completion_tokens_details", "prompt_tokens_details"):
        usage[details]["properties"]["image_tokens"] = {"type": ["integer", "null"]}
    # Two recorded streams leave out the parts of the cost, and one has more of them.
    optional(names, "CostDetails", "upstream_inference_completions_cost", "upstream_inference_prompt_cost")
    extra(names, "CostDetails", input_audio_cache_read_tokens=_ANY)
    metadata = names["ChatStreamChunk"]["properties"]["error"]["properties"]["metadata"]
    del metadata["required"]


@cache
def _judge(name: str) -> Judge:
    return Judge(component(_document(), name))


def check_request(value: Json) -> list[str]:
    return _judge("ChatRequest").findings(value)


def check_answer(value: Json) -> list[str]:
    return _judge("ChatResult").findings(value)


def check_event(value: Json) -> list[str]:
    """A chunk, which may hold an error."""
    return _judge("ChatStreamChunk").findings(value)


@cache
def fault() -> Judge:
    """The form of a fault: `error` with an integer code, a message and metadata; `user_id` beside it (OpenRouter's page
    on errors)."""
    inner = {
        "type": "object",
        "properties": {"code": {"type": "integer"}, "message": _TEXT, "metadata": {"type": ["object", "null"]}},
        "required": ["code", "message"],
        "additionalProperties": False,
    }
    return Judge(
        {
            "type": "object",
            "properties": {"error": inner, "user_id": {"type": ["string", "null"]}},
            "required": ["error"],
            "additionalProperties": False,
        }
    )
