"""Owns the verdict on OpenRouter bodies: the provider's own specification, and each point where traffic loosened it.

Requests, answers and chunks are judged by the schemas `ChatRequest`, `ChatResult` and `ChatStreamChunk`, shut against
unknown fields. Of the recorded requests answered with 200 it refuses those that known.py lists.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from tests.oracles import specs
from tests.oracles.schema import Judge, closed, component, extra, optional

Json = Any
_ANY: Json = {}
_TEXT: Json = {"type": "string"}


@cache
def _document() -> Json:
    document = specs.document("openrouter")
    names = document["components"]["schemas"]
    if specs.are_published():
        _loosen_requests(names)
        _loosen_answers(names)
    document["components"]["schemas"] = closed(names, mapping=True)
    return document


def _loosen_requests(names: Json) -> None:
    # Documented for years, recorded, and in no schema: the older wish for usage and thoughts, prompt compression.
    extra(
        names,
        "ChatRequest",
        usage={"type": "object", "properties": {"include": {"type": "boolean"}}},
        include_reasoning={"type": "boolean"},
        transforms={"type": "array", "items": _TEXT},
        verbosity=_TEXT,
        # 7 recorded requests answered with 200 say it.
        n={"type": ["integer", "null"]},
    )
    reasoning = names["ChatRequest"]["properties"]["reasoning"]["properties"]
    reasoning |= {"max_tokens": {"type": "integer"}, "exclude": {"type": "boolean"}, "enabled": {"type": "boolean"}}
    # Composed with allOf, which cannot be shut.
    names["ChatContentCacheControl"] = {"$ref": "#/components/schemas/AnthropicCacheControlDirective"}
    # A result's name is harmless to every upstream that was recorded.
    extra(names, "ChatToolMessage", name=_TEXT)
    # Documented per part; the schema has it on texts.
    for name in ("ChatContentFile", "ChatContentImage", "ChatContentVideo", "ChatContentAudio"):
        extra(names, name, cache_control={"$ref": "#/components/schemas/ChatContentCacheControl"})
    function = names["ChatFunctionTool"]["anyOf"][0]["properties"]
    # Documented for tools that are searched for (protocols/openrouter.md section 4).
    function["defer_loading"] = {"type": "boolean"}
    # Newer than the schema (SDK documentation of `DeferredToolsControl`, 2026).
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
    # Said by every recorded answer: who served it, and how the provider called the end.
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
    # Images come and go as parts, with their type; the schema names the address only.
    names["ChatAssistantImages"]["items"]["properties"]["type"] = {"enum": ["image_url"]}
    extra(names, "ChatToolCall", index={"type": "integer"})
    for name in ("ChatChoice", "ChatStreamChoice"):
        names[name]["properties"]["logprobs"] = {
            "anyOf": [{"$ref": "#/components/schemas/ChatTokenLogprobs"}, {"type": "null"}]
        }
    usage = names["ChatUsage"]["properties"]
    for details in ("completion_tokens_details", "prompt_tokens_details"):
        usage[details]["properties"]["image_tokens"] = {"type": ["integer", "null"]}
    # Two recorded streams leave the parts of the cost out, and one says more of it.
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
    """A chunk; one with an error in it too."""
    return _judge("ChatStreamChunk").findings(value)


@cache
def fault() -> Judge:
    """Faults as section 6 of the protocol page gives them."""
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
