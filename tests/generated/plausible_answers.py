"""Owns the changes that make a generated answer plausible: counts that add up, an end that fits the content, and the
number of each choice. All other values stay as generated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.generated.plausible_requests import GO_ON, gemini_parts

Json = Any


def arranged(dialect: str, body: Json) -> Json:
    """Turn the generated answer into a complete one."""
    ARRANGED[dialect](body)
    return body


def _details(details: Json, most: int) -> None:
    """Make each detailed count a part of the total."""
    for name, value in (details or {}).items():
        if isinstance(value, int) and not isinstance(value, bool):
            details[name] = value % 10 if most >= 10 else 0


def _within(place: Json, text: str) -> None:
    """Move the cited range into the text."""
    if "start_index" in place:
        place |= {"start_index": 0, "end_index": min(2, len(text))}


def _chat(body: Json) -> None:
    for i, choice in enumerate(body["choices"]):
        choice["index"] = i
        message = choice["message"]
        if isinstance(message.get("content"), list):  # this type is for requests; answers have a text
            message["content"] = GO_ON
        for name in ("name", "model"):
            message.pop(name, None)
        for number, detail in enumerate(message.get("reasoning_details") or ()):
            detail["index"] = number
            if detail["type"] in ("reasoning.text", "reasoning.summary"):
                kind = detail["type"].removeprefix("reasoning.")
                detail[kind] = detail.get(kind) or GO_ON
        for image in message.get("images") or ():
            image["type"] = "image_url"
        texts = [detail.get("text") or detail.get("summary") for detail in message.get("reasoning_details") or ()]
        if any(texts):  # OpenRouter has this value twice
            message["reasoning"] = "".join([text for text in texts if text])
        if not any(message.get(name) for name in ("content", "tool_calls", "refusal", "function_call")):
            message["content"] = GO_ON
        for note in message.get("annotations") or ():
            _within(note["url_citation"], message.get("content") or "")
        if message.get("tool_calls"):
            message.pop("function_call", None)
            choice["finish_reason"] = "tool_calls"
        elif message.get("function_call"):
            choice["finish_reason"] = "function_call"
        elif choice.get("finish_reason") in ("tool_calls", "function_call", None):
            choice["finish_reason"] = "stop"
    usage = body.get("usage")
    if usage:
        usage["prompt_tokens"] += 100
        usage["completion_tokens"] += 100
        usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]
        _details(usage.get("prompt_tokens_details"), usage["prompt_tokens"])
        _details(usage.get("completion_tokens_details"), usage["completion_tokens"])


def _responses(body: Json) -> None:
    if body.get("error") is not None and body["error"]["code"] != "server_error":
        body["error"] = None  # one kind of failure is enough: all kinds have the same fields
    if body.get("error") is not None:
        body["status"] = "failed"
        body["incomplete_details"] = None
        body["output"] = [item for item in body["output"] if item["type"] == "message"]
    elif body.get("incomplete_details"):
        body["status"] = "incomplete"
        body["incomplete_details"].setdefault("reason", "max_output_tokens")
    else:
        body["status"] = "completed"
        body["incomplete_details"] = None
    for i, item in enumerate(body["output"]):
        if "call_id" in item and not item["call_id"]:
            item["call_id"] = f"call_{i}"
        if item["type"] == "message":  # a refusal is the last part
            item["content"].sort(key=lambda part: part["type"] == "refusal")
            for part in item["content"]:
                for note in part.get("annotations") or ():
                    _within(note, part["text"])
        if item["type"] in (
            "function_call",
            "custom_tool_call",
        ):  # these types are for requests; answers name their items
            item.setdefault("id", f"item_{i}")
            item.setdefault("status", "completed")
    usage = body.get("usage")
    if usage:
        usage["input_tokens"] += 100
        usage["output_tokens"] += 100
        usage["total_tokens"] = usage["input_tokens"] + usage["output_tokens"]
        _details(usage.get("input_tokens_details"), usage["input_tokens"])
        _details(usage.get("output_tokens_details"), usage["output_tokens"])


def _anthropic(body: Json) -> None:
    calls = any(block["type"] == "tool_use" for block in body["content"])
    if calls:
        body["stop_reason"] = "tool_use"
    elif body.get("stop_reason") in ("tool_use", None):
        body["stop_reason"] = "end_turn"
    if body["stop_reason"] != "stop_sequence":
        body["stop_sequence"] = None
    elif body.get("stop_sequence") is None:
        body["stop_sequence"] = "END"
    if body["stop_reason"] != "refusal":
        body["stop_details"] = None
    body["usage"]["output_tokens"] += 6000  # the count includes thoughts
    made = body["usage"].get("cache_creation")
    if made:
        _details(made, 10)
        body["usage"]["cache_creation_input_tokens"] = sum(made.values())


def _gemini(body: Json) -> None:
    if not body.get("promptFeedback"):
        body.setdefault("candidates", [{}])
    for i, candidate in enumerate(body.get("candidates") or ()):
        candidate["index"] = i
        content = candidate.setdefault("content", {})
        content["role"] = "model"
        content["parts"] = [part for part in gemini_parts(content) if "functionResponse" not in part]
        if not content["parts"] and (i == 0 or i < len(body["candidates"]) - 1):
            content["parts"] = [{"text": GO_ON}]  # answers start in the order of their numbers
        candidate["finishReason"] = candidate.get("finishReason", "STOP")
        if candidate["finishReason"] == "FINISH_REASON_UNSPECIFIED":
            candidate["finishReason"] = "STOP"
        _cited(candidate)
    usage = body.get("usageMetadata")
    if usage:
        usage["promptTokenCount"] = usage.get("promptTokenCount", 0) + 100
        usage["candidatesTokenCount"] = usage.get("candidatesTokenCount", 0) + 100
        for name in ("cachedContentTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount"):
            if name in usage:
                usage[name] %= 10
        parts = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount")
        usage["totalTokenCount"] = sum([usage.get(name, 0) for name in parts])


def _cited(candidate: Json) -> None:
    """Move the cited ranges into the text, and make their sources existing sources."""
    texts = "".join([part.get("text", "") for part in candidate["content"]["parts"] if not part.get("thought")])
    grounding, citation = candidate.get("groundingMetadata") or {}, candidate.get("citationMetadata") or {}
    places = [support.get("segment") for support in grounding.get("groundingSupports") or ()]
    for place in [*places, *(citation.get("citations") or ()), *(citation.get("citationSources") or ())]:
        if place and "endIndex" in place:
            place |= {"startIndex": 0, "endIndex": min(2, len(texts))}
        elif place:
            place.pop("startIndex", None)
    for chunk in grounding.get("groundingChunks") or ():
        for name in list(chunk)[1:]:  # one source for each citation
            del chunk[name]
    for support in grounding.get("groundingSupports") or ():
        support.pop("groundingChunkIndices", None)
        if grounding.get("groundingChunks"):
            support["groundingChunkIndices"] = [0]
        else:
            support.pop("segment", None)


def _ollama(body: Json) -> None:
    body["done"] = True
    body.setdefault("model", "some-model")
    body.setdefault("created_at", "2026-01-02T03:04:05Z")
    message = body.setdefault("message", {})
    message |= {"role": "assistant", "content": message.get("content", "")}
    for call in message.get("tool_calls") or ():
        call["function"] = {"name": "look", "arguments": {}, **call.get("function", {})}


ARRANGED: dict[str, Callable[[Json], None]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "ollama": _ollama,
    "openrouter": _chat,
}
