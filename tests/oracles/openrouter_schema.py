"""Owns handwritten schemas of OpenRouter, for clones without the published document. No official SDK is installed here.

It has only the parts that the judges need: the fields of requests, answers and chunks, their types, and the closed
lists of kinds, roles, formats and reasons. Options of plugins and of server tools are open.
"""

from __future__ import annotations

from typing import Any

Json = Any
_PLACE = "#/components/schemas/"
_TEXT: Json = {"type": "string"}
_TEXT_OR_NULL: Json = {"type": ["string", "null"]}
_WHOLE: Json = {"type": "integer"}
_NUMBER: Json = {"type": "number"}
_NUMBER_OR_NULL: Json = {"type": ["number", "null"]}
_FLAG: Json = {"type": "boolean"}
_OPEN: Json = {"type": "object", "additionalProperties": {}}
_OPEN_OR_NULL: Json = {"type": ["object", "null"]}
_FORMATS = (
    "unknown",
    "openai-responses-v1",
    "azure-openai-responses-v1",
    "xai-responses-v1",
    "anthropic-claude-v1",
    "google-gemini-v1",
)
_EFFORTS = ("max", "xhigh", "high", "medium", "low", "minimal", "none")
_SERVER_TOOLS = (
    "web_search web_fetch datetime image_generation advisor bash files fusion subagent experimental__search_models"
)


def _of(name: str) -> Json:
    return {"$ref": _PLACE + name}


def _list(items: Json) -> Json:
    return {"type": "array", "items": items}


def _one_of(*values: str | None) -> Json:
    return {"enum": list(values)}


def _any(*kinds: Json) -> Json:
    return {"anyOf": list(kinds)}


def _object(needed: dict[str, Json], **more: Json) -> Json:
    return {"type": "object", "properties": {**needed, **more}, "required": list(needed)}


def _parts() -> dict[str, Json]:
    mark = _object({"type": _one_of("ephemeral")}, ttl=_one_of("5m", "1h"))
    image = _object({"url": _TEXT}, detail=_one_of("auto", "low", "high", "original"))
    file = _object({}, file_data=_TEXT, file_id=_TEXT, filename=_TEXT)
    marked: dict[str, Json] = {"cache_control": mark}
    return {
        "CacheControl": mark,
        "ChatContentText": _object({"type": _one_of("text"), "text": _TEXT}, prompt_cache_breakpoint=_OPEN, **marked),
        "ChatContentImage": _object({"type": _one_of("image_url"), "image_url": image}, **marked),
        "ChatContentFile": _object({"type": _one_of("file"), "file": file}, **marked),
        "ChatContentAudio": _object(
            {"type": _one_of("input_audio"), "input_audio": _object({"data": _TEXT, "format": _TEXT})}, **marked
        ),
        "ChatContentVideo": _object({"type": _one_of("video_url"), "video_url": _object({"url": _TEXT})}, **marked),
        "Words": _any(_TEXT, _list(_of("ChatContentText"))),
        "Parts": _any(
            _TEXT, _list(_any(*[_of("ChatContent" + kind) for kind in ("Text", "Image", "File", "Audio", "Video")]))
        ),
    }


def _details() -> dict[str, Json]:
    head: dict[str, Json] = {"id": _TEXT_OR_NULL, "format": _one_of(*_FORMATS, None), "index": _WHOLE}
    return {
        "Detail": _any(
            _object({"type": _one_of("reasoning.summary"), "summary": _TEXT}, **head),
            _object({"type": _one_of("reasoning.encrypted"), "data": _TEXT}, **head),
            _object(
                {"type": _one_of("reasoning.server_tool_call")},
                tool_name=_TEXT,
                tool_call_id=_TEXT_OR_NULL,
                arguments={},
                result={},
                **head,
            ),
            _object({"type": _one_of("reasoning.text")}, text=_TEXT_OR_NULL, signature=_TEXT_OR_NULL, **head),
        )
    }


def _messages() -> dict[str, Json]:
    function = _object({"name": _TEXT, "arguments": _TEXT})
    thought: dict[str, Json] = {
        "reasoning": _TEXT_OR_NULL,
        "reasoning_details": _list(_of("Detail")),
        "refusal": _TEXT_OR_NULL,
        "images": _list(_object({"image_url": _object({"url": _TEXT})}, type=_one_of("image_url"), index=_WHOLE)),
        "annotations": {"type": "array"},
        "audio": _OPEN,
    }
    call = _object({"id": _TEXT, "type": _one_of("function"), "function": function}, index=_WHOLE)
    piece = _object(
        {"index": _WHOLE}, id=_TEXT, type=_one_of("function"), function=_object({}, name=_TEXT, arguments=_TEXT)
    )
    say: Json = {"role": _one_of("system"), "content": _of("Words")}
    nothing: Json = {"type": "null"}
    return {
        "ChatToolCall": call,
        "ChatSystemMessage": _object(say, name=_TEXT),
        "ChatDeveloperMessage": _object({**say, "role": _one_of("developer")}, name=_TEXT),
        "ChatUserMessage": _object({"role": _one_of("user"), "content": _of("Parts")}, name=_TEXT),
        "ChatToolMessage": _object(
            {"role": _one_of("tool"), "content": _of("Parts"), "tool_call_id": _TEXT}, name=_TEXT
        ),
        "ChatAssistantMessage": _object(
            {"role": _one_of("assistant")},
            content=_any(_of("Parts"), nothing),
            name=_TEXT,
            model=_TEXT,
            tool_calls=_list(_of("ChatToolCall")),
            **thought,
        ),
        "ChatStreamDelta": _object(
            {}, role=_one_of("assistant"), content=_TEXT_OR_NULL, tool_calls=_list(piece), **thought
        ),
        "ChatMessages": _any(
            *[_of(f"Chat{role}Message") for role in ("System", "Developer", "User", "Tool", "Assistant")]
        ),
    }


def _tools() -> dict[str, Json]:
    function = _object(
        {"name": {"type": "string", "maxLength": 64}},
        description=_TEXT,
        parameters=_OPEN,
        strict={"type": ["boolean", "null"]},
    )
    hosted = [f"openrouter:{name}" for name in _SERVER_TOOLS.split()]
    named = _object({"type": _one_of("function"), "function": _object({"name": _TEXT})})
    return {
        "ChatTool": _any(
            _object(
                {"type": _one_of("function"), "function": function},
                cache_control=_of("CacheControl"),
                defer_loading=_FLAG,
            ),
            {**_OPEN, "properties": {"type": _one_of(*hosted)}, "required": ["type"]},
            {**_OPEN, "properties": {"type": {"type": "string", "pattern": "^web_search"}}, "required": ["type"]},
        ),
        "ChatToolChoice": _any(
            _one_of("none", "auto", "required"),
            named,
            _object({"type": _one_of(*hosted)}),
        ),
    }


def _request() -> Json:
    reasoning = _object(
        {},
        effort=_one_of(*_EFFORTS, None),
        summary=_one_of("auto", "concise", "detailed", None),
        max_tokens={"type": ["integer", "null"]},
        exclude=_FLAG,
        enabled=_FLAG,
        context=_TEXT,
        mode=_TEXT,
    )
    numbers = "frequency_penalty presence_penalty temperature top_p top_k top_a min_p repetition_penalty seed n"
    counts = "max_tokens max_completion_tokens top_logprobs"
    texts = "model service_tier session_id user prompt_cache_key route verbosity"
    opened = "debug image_config prediction prompt_cache_options provider trace stream_options usage deferred_tools"
    lists = "plugins stop_server_tools_when transforms modalities models"
    fields: dict[str, Json] = dict.fromkeys(numbers.split(), _NUMBER_OR_NULL)
    fields |= {name: {"type": ["integer", "null"]} for name in counts.split()}
    fields |= dict.fromkeys(texts.split(), _TEXT_OR_NULL)
    fields |= dict.fromkeys(opened.split(), _OPEN_OR_NULL)
    fields |= {name: {"type": ["array", "null"]} for name in lists.split()}
    return _object(
        {"messages": {**_list(_of("ChatMessages")), "minItems": 1}},
        **fields,
        cache_control=_of("CacheControl"),
        include_reasoning=_FLAG,
        logit_bias=_OPEN_OR_NULL,
        logprobs={"type": ["boolean", "null"]},
        metadata={"type": "object", "additionalProperties": _TEXT},
        parallel_tool_calls={"type": ["boolean", "null"]},
        reasoning=reasoning,
        reasoning_effort=_one_of(*_EFFORTS, None),
        response_format={**_OPEN, "required": ["type"]},
        stop=_any(_TEXT, _list(_TEXT), {"type": "null"}),
        stream=_FLAG,
        tool_choice=_of("ChatToolChoice"),
        tools=_list(_of("ChatTool")),
    )


def _answers() -> dict[str, Json]:
    reason = _one_of("tool_calls", "stop", "length", "content_filter", "error", None)
    ends: dict[str, Json] = {"native_finish_reason": _TEXT_OR_NULL, "error": {}, "logprobs": _OPEN_OR_NULL}
    counts: Json = {"completion_tokens": _WHOLE, "prompt_tokens": _WHOLE, "total_tokens": _WHOLE}
    usage = _object(
        counts,
        completion_tokens_details=_OPEN_OR_NULL,
        prompt_tokens_details=_OPEN_OR_NULL,
        cost=_NUMBER_OR_NULL,
        cost_details=_OPEN_OR_NULL,
        is_byok=_FLAG,
        server_tool_use_details=_OPEN_OR_NULL,
    )
    head: Json = {"id": _TEXT, "created": _WHOLE, "model": _TEXT}
    more: dict[str, Json] = {
        "openrouter_metadata": {},
        "service_tier": _TEXT_OR_NULL,
        "system_fingerprint": _TEXT_OR_NULL,
        "provider": _TEXT,
    }
    whole = _object({"finish_reason": reason, "index": _WHOLE, "message": _of("ChatAssistantMessage")}, **ends)
    piece = _object({"finish_reason": reason, "index": _WHOLE, "delta": _of("ChatStreamDelta")}, **ends)
    error = _object({"code": _NUMBER, "message": _TEXT}, metadata=_OPEN)
    return {
        "ChatUsage": usage,
        "ChatResult": _object(
            {**head, "object": _one_of("chat.completion"), "choices": _list(whole)}, usage=_of("ChatUsage"), **more
        ),
        "ChatStreamChunk": _object(
            {**head, "object": _one_of("chat.completion.chunk"), "choices": _list(piece)},
            usage=_any(_of("ChatUsage"), {"type": "null"}),
            error=error,
            **more,
        ),
    }


def schemas() -> dict[str, Json]:
    """Every schema by its name."""
    model = _object({"id": _TEXT, "name": _TEXT, "created": _WHOLE, "context_length": {"type": ["integer", "null"]}})
    return {
        **_parts(),
        **_details(),
        **_messages(),
        **_tools(),
        **_answers(),
        "ChatRequest": _request(),
        "ModelsListResponse": _object({"data": _list({**model, "additionalProperties": {}})}),
    }
