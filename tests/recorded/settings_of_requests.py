"""Owns one small request of each dialect and its optional fields ("wishes"): each place with different legal values.

Two documents that differ in one wish must give two different translations, or a loss must name the wish.
"""

from __future__ import annotations

from typing import Any

Json = Any
Wish = tuple[str, list[Json]]

_SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
_OTHER = {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"], "additionalProperties": False}
_PNG = "iVBORw0KGgo="
_PDF = "JVBERi0="
_LOW, _HIGH = "MEDIA_RESOLUTION_LOW", "MEDIA_RESOLUTION_HIGH"


def _kept(schema: Json) -> Json:
    """Return a schema with only the keywords that Ollama's server keeps."""
    return {name: value for name, value in schema.items() if name != "additionalProperties"}


BASES: dict[str, Json] = {
    "openai-chat": {
        "model": "some-model",
        "messages": [
            {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_PNG}"}},
                    {
                        "type": "file",
                        "file": {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf"},
                    },
                ],
            },
        ],
        "tools": [
            {"type": "function", "function": {"name": "f", "parameters": _SCHEMA}},
            {"type": "function", "function": {"name": "g", "parameters": _OTHER}},
        ],
    },
    "openai-responses": {
        "model": "some-model",
        "input": [
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "What is this?"},
                    {"type": "input_image", "image_url": f"data:image/png;base64,{_PNG}", "detail": "auto"},
                ],
            },
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A thing."}]},
            {"type": "message", "role": "user", "content": "Go on."},
        ],
        "tools": [
            {"type": "function", "name": "f", "parameters": _SCHEMA, "strict": False},
            {"type": "function", "name": "g", "parameters": _OTHER, "strict": False},
        ],
    },
    "anthropic": {
        "model": "some-model",
        "max_tokens": 20000,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _PNG}},
                    {
                        "type": "document",
                        "source": {"type": "base64", "media_type": "application/pdf", "data": _PDF},
                    },
                ],
            },
            {"role": "assistant", "content": [{"type": "tool_use", "id": "call_1", "name": "f", "input": {"a": "b"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "done"}]},
        ],
        "tools": [{"name": "f", "input_schema": _SCHEMA}, {"name": "g", "input_schema": _OTHER}],
    },
    "ollama": {
        "model": "some-model",
        "stream": False,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is this?", "images": [_PNG]},
            {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"a": "b"}}}]},
            {"role": "tool", "tool_name": "f", "content": "done"},
        ],
        "tools": [
            {"type": "function", "function": {"name": "f", "parameters": _kept(_SCHEMA)}},
            {"type": "function", "function": {"name": "g", "parameters": _kept(_OTHER)}},
        ],
    },
    "gemini": {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {
                "role": "user",
                "parts": [{"text": "What is this?"}, {"inlineData": {"mimeType": "image/png", "data": _PNG}}],
            },
            {"role": "model", "parts": [{"functionCall": {"id": "call_1", "name": "f", "args": {"a": "b"}}}]},
            {
                "role": "user",
                "parts": [{"functionResponse": {"id": "call_1", "name": "f", "response": {"output": "done"}}}],
            },
        ],
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "f", "parametersJsonSchema": _SCHEMA},
                    {"name": "g", "parametersJsonSchema": _OTHER},
                ]
            }
        ],
    },
}

_SHAPES = [
    {"type": "json_object"},
    {"type": "json_schema", "json_schema": {"name": "one", "schema": _SCHEMA}},
    {"type": "json_schema", "json_schema": {"name": "one", "schema": _OTHER}},
    {"type": "json_schema", "json_schema": {"name": "two", "schema": _OTHER}},
    {"type": "json_schema", "json_schema": {"name": "two", "schema": _OTHER, "strict": True}},
    {"type": "json_schema", "json_schema": {"name": "two", "schema": _OTHER, "strict": True, "description": "D"}},
]

WISHES: dict[str, list[Wish]] = {
    "openai-chat": [
        ("/max_completion_tokens", [500, 600]),
        ("/max_tokens", [500, 600]),
        ("/temperature", [0.25, 0.75, 1.5]),
        ("/top_p", [0.25, 0.75]),
        ("/stop", [["END"], ["FIN"], ["a", "b", "c", "d"]]),
        ("/seed", [1, 2]),
        ("/n", [2, 3]),
        ("/presence_penalty", [0.5, 1.5]),
        ("/frequency_penalty", [0.5, 1.5]),
        ("/reasoning_effort", ["none", "minimal", "low", "medium", "high", "xhigh"]),
        ("/verbosity", ["low", "high"]),
        ("/response_format", _SHAPES),
        ("/logprobs", [True, False]),
        ("/parallel_tool_calls", [True, False]),
        (
            "/tool_choice",
            [
                "auto",
                "none",
                "required",
                {"type": "function", "function": {"name": "f"}},
                {"type": "function", "function": {"name": "g"}},
                {
                    "type": "allowed_tools",
                    "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]},
                },
                {
                    "type": "allowed_tools",
                    "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "f"}}]},
                },
            ],
        ),
        ("/user", ["ada", "bob"]),
        ("/safety_identifier", ["ada", "bob"]),
        ("/metadata", [{"a": "b"}, {"a": "c"}]),
        ("/service_tier", ["flex", "priority"]),
        ("/prompt_cache_key", ["one", "two"]),
        ("/prompt_cache_options", [{"mode": "implicit"}, {"mode": "explicit"}]),
        ("/prompt_cache_retention", ["in_memory", "24h"]),
        ("/modalities", [["text"], ["text", "audio"]]),
        ("/audio", [{"format": "wav", "voice": "alloy"}, {"format": "mp3", "voice": "alloy"}]),
        ("/prediction", [{"type": "content", "content": "a"}, {"type": "content", "content": "b"}]),
        ("/logit_bias", [{"1": 5}, {"1": 6}]),
        ("/store", [True, False]),
        ("/web_search_options", [{}, {"search_context_size": "low"}]),
        ("/messages/0/content/0/prompt_cache_breakpoint", [{"mode": "explicit"}, {"mode": "explicit", "ttl": "12h"}]),
        ("/messages/1/name", ["ada", "bob"]),
        ("/messages/1/content/1/image_url/detail", ["low", "high"]),
        ("/messages/1/content/2/file/filename", ["b.pdf", "c.pdf"]),
        ("/tools/0/function/strict", [True, False]),
        ("/tools/0/function/description", ["One.", "Two."]),
    ],
    "openai-responses": [
        ("/instructions", ["Be brief.", "Be long."]),
        ("/max_output_tokens", [500, 600]),
        ("/temperature", [0.25, 0.75]),
        ("/top_p", [0.25, 0.75]),
        ("/reasoning/effort", ["none", "minimal", "low", "medium", "high", "xhigh"]),
        ("/reasoning/summary", ["auto", "concise", "detailed"]),
        ("/reasoning/context", ["current_turn", "all_turns"]),
        ("/text/verbosity", ["low", "high"]),
        (
            "/text/format",
            [
                {"type": "json_object"},
                {"type": "json_schema", "name": "one", "schema": _SCHEMA},
                {"type": "json_schema", "name": "one", "schema": _OTHER},
                {"type": "json_schema", "name": "two", "schema": _OTHER},
                {"type": "json_schema", "name": "two", "schema": _OTHER, "strict": True},
            ],
        ),
        ("/include", [["reasoning.encrypted_content"], ["message.output_text.logprobs"]]),
        ("/top_logprobs", [2, 3]),
        ("/max_tool_calls", [2, 3]),
        ("/metadata", [{"a": "b"}, {"a": "c"}]),
        ("/prompt_cache_key", ["one", "two"]),
        ("/safety_identifier", ["ada", "bob"]),
        ("/user", ["ada", "bob"]),
        ("/service_tier", ["flex", "priority"]),
        ("/truncation", ["auto", "disabled"]),
        ("/previous_response_id", ["resp_1", "resp_2"]),
        ("/conversation", ["conv_1", "conv_2"]),
        ("/prompt", [{"id": "a"}, {"id": "b"}]),
        ("/background", [True, False]),
        ("/parallel_tool_calls", [True, False]),
        (
            "/tool_choice",
            [
                "auto",
                "none",
                "required",
                {"type": "function", "name": "f"},
                {"type": "function", "name": "g"},
                {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
                {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "f"}]},
                {"type": "web_search_preview"},
            ],
        ),
        ("/input/0/content/1/detail", ["low", "high"]),
        ("/input/1/phase", ["commentary", "final_answer"]),
        ("/tools/0/strict", [True, False]),
        ("/tools/0/async", [True, False]),
        ("/tools/0/defer_loading", [True, False]),
        ("/tools/0/allowed_callers", [["direct"], ["programmatic"]]),
        ("/tools/0/output_schema", [_SCHEMA, _OTHER]),
        ("/tools/0/description", ["One.", "Two."]),
    ],
    "anthropic": [
        ("/max_tokens", [5000, 6000]),
        ("/temperature", [0.25, 0.75]),
        ("/top_p", [0.25, 0.75]),
        ("/top_k", [5, 6]),
        ("/stop_sequences", [["END"], ["FIN"]]),
        (
            "/thinking",
            [
                {"type": "disabled"},
                {"type": "adaptive"},
                {"type": "enabled", "budget_tokens": 2000},
                {"type": "enabled", "budget_tokens": 9000},
                {"type": "enabled", "budget_tokens": 9100},
                {"type": "adaptive", "display": "omitted"},
                {"type": "adaptive", "display": "summarized"},
            ],
        ),
        ("/output_config/effort", ["low", "medium", "high", "xhigh", "max"]),
        (
            "/output_config/format",
            [{"type": "json_schema", "schema": _SCHEMA}, {"type": "json_schema", "schema": _OTHER}],
        ),
        ("/metadata/user_id", ["ada", "bob"]),
        ("/cache_control", [{"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}]),
        ("/service_tier", ["auto", "standard_only"]),
        ("/speed", ["standard", "fast"]),
        ("/inference_geo", ["eu", "us"]),
        ("/container", ["a", "b"]),
        ("/context_management", [{"edits": []}, {"edits": [{"type": "clear_tool_uses_20250919"}]}]),
        (
            "/tool_choice",
            [
                {"type": "auto"},
                {"type": "none"},
                {"type": "any"},
                {"type": "tool", "name": "f"},
                {"type": "tool", "name": "g"},
                {"type": "auto", "disable_parallel_tool_use": True},
                {"type": "any", "disable_parallel_tool_use": True},
            ],
        ),
        ("/system/0/cache_control", [{"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}]),
        ("/messages/0/content/0/cache_control", [{"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}]),
        ("/messages/0/content/2/title", ["One", "Two"]),
        ("/messages/0/content/2/context", ["One", "Two"]),
        ("/messages/0/content/2/citations", [{"enabled": True}, {"enabled": False}]),
        ("/messages/2/content/0/is_error", [True, False]),
        ("/messages/2/content/0/cache_control", [{"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}]),
        ("/tools/0/strict", [True, False]),
        ("/tools/0/defer_loading", [True, False]),
        ("/tools/0/allowed_callers", [["direct"], ["code_execution_20260120"]]),
        ("/tools/0/input_examples", [[{"a": "x"}], [{"a": "y"}]]),
        ("/tools/0/cache_control", [{"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}]),
        ("/tools/0/description", ["One.", "Two."]),
    ],
    "ollama": [
        ("/options/num_predict", [500, 600]),
        ("/options/temperature", [0.25, 0.75, 1.5]),
        ("/options/top_p", [0.25, 0.75]),
        ("/options/top_k", [5, 6]),
        ("/options/min_p", [0.25, 0.5]),
        ("/options/typical_p", [0.25, 0.5]),
        ("/options/seed", [1, 2]),
        ("/options/stop", [["END"], ["FIN"]]),
        ("/options/presence_penalty", [0.5, 1.5]),
        ("/options/frequency_penalty", [0.5, 1.5]),
        ("/options/repeat_penalty", [1.1, 1.2]),
        ("/options/repeat_last_n", [32, 64]),
        ("/options/num_ctx", [4096, 8192]),
        ("/options/num_thread", [2, 4]),
        ("/think", [True, False, "low", "medium", "high", "max"]),
        ("/format", ["json", _SCHEMA, _OTHER]),
        ("/logprobs", [True, False]),
        ("/top_logprobs", [2, 3]),
        ("/keep_alive", ["5m", 60, -1]),
        ("/truncate", [True, False]),
        ("/shift", [True, False]),
        ("/messages/2/thinking", ["I look.", "I see."]),
        ("/tools/0/function/description", ["One.", "Two."]),
    ],
    "gemini": [
        ("/generationConfig/temperature", [0.25, 0.75, 1.5]),
        ("/generationConfig/topP", [0.25, 0.75]),
        ("/generationConfig/topK", [5, 6]),
        ("/generationConfig/maxOutputTokens", [5000, 6000]),
        ("/generationConfig/stopSequences", [["END"], ["FIN"]]),
        ("/generationConfig/candidateCount", [2, 3]),
        ("/generationConfig/seed", [1, 2]),
        ("/generationConfig/presencePenalty", [0.5, 1.5]),
        ("/generationConfig/frequencyPenalty", [0.5, 1.5]),
        ("/generationConfig/responseLogprobs", [True, False]),
        ("/generationConfig/logprobs", [2, 3]),
        ("/generationConfig/responseModalities", [["TEXT"], ["TEXT", "IMAGE"]]),
        ("/generationConfig/mediaResolution", [_LOW, _HIGH]),
        ("/generationConfig/speechConfig", [{"languageCode": "de-DE"}, {"languageCode": "en-US"}]),
        ("/generationConfig/responseMimeType", ["application/json", "text/x.enum"]),
        ("/generationConfig/thinkingConfig/includeThoughts", [True, False]),
        ("/generationConfig/thinkingConfig/thinkingBudget", [0, -1, 2000, 9000, 20000]),
        ("/generationConfig/thinkingConfig/thinkingLevel", ["MINIMAL", "LOW", "MEDIUM", "HIGH"]),
        ("/safetySettings", [[{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}], []]),
        ("/cachedContent", ["cachedContents/a", "cachedContents/b"]),
        ("/labels", [{"a": "b"}, {"a": "c"}]),
        ("/serviceTier", ["flex", "priority"]),
        (
            "/toolConfig/functionCallingConfig",
            [
                {"mode": "AUTO"},
                {"mode": "NONE"},
                {"mode": "ANY"},
                {"mode": "ANY", "allowedFunctionNames": ["f"]},
                {"mode": "ANY", "allowedFunctionNames": ["f", "g"]},
                {"mode": "VALIDATED"},
                {"mode": "VALIDATED", "allowedFunctionNames": ["f"]},
            ],
        ),
        (
            "/contents/0/parts/1/mediaResolution",
            [{"level": _LOW}, {"level": _HIGH}],
        ),
        ("/contents/0/parts/1/inlineData/displayName", ["a.png", "b.png"]),
        ("/contents/1/parts/0/thoughtSignature", ["c2ln", "c2ln2"]),
        ("/contents/2/parts/0/functionResponse/response", [{"output": "x"}, {"error": "x"}, {"x": "y"}, {"x": "z"}]),
        ("/contents/2/parts/0/functionResponse/scheduling", ["SILENT", "INTERRUPT"]),
        ("/tools/0/functionDeclarations/0/behavior", ["BLOCKING", "NON_BLOCKING"]),
        ("/tools/0/functionDeclarations/0/responseJsonSchema", [_SCHEMA, _OTHER]),
        ("/tools/0/functionDeclarations/0/description", ["One.", "Two."]),
    ],
}

BASES["openrouter"] = BASES["openai-chat"]

# The wishes of openai-chat without the fields that OpenRouter does not have, plus the fields of OpenRouter only.
_NOT_ROUTED = (
    "/n",
    "/tool_choice",
    "/safety_identifier",
    "/prompt_cache_retention",
    "/audio",
    "/store",
    "/web_search_options",
    "/modalities",
    "/messages/0/content/0/prompt_cache_breakpoint",
)
WISHES["openrouter"] = [
    *[wish for wish in WISHES["openai-chat"] if wish[0] not in _NOT_ROUTED],
    ("/tool_choice", ["auto", "none", "required", {"type": "function", "function": {"name": "f"}}]),
    ("/reasoning/effort", ["none", "minimal", "low", "medium", "high", "xhigh"]),
    ("/reasoning/max_tokens", [2000, 9000]),
    ("/reasoning/exclude", [True, False]),
    ("/reasoning/enabled", [True, False]),
    ("/include_reasoning", [True, False]),
    ("/models", [["openai/gpt-5.2"], ["x-ai/grok-4"]]),
    ("/provider", [{"order": ["openai"]}, {"require_parameters": True}]),
    ("/plugins", [[{"id": "response-healing"}], [{"id": "moderation"}]]),
    ("/route", ["fallback", "sort"]),
    ("/transforms", [["middle-out"], []]),
    ("/usage", [{"include": True}, {"include": False}]),
    ("/top_k", [10, 20]),
    ("/top_a", [0.1, 0.2]),
    ("/min_p", [0.1, 0.2]),
    ("/repetition_penalty", [1.1, 1.2]),
    ("/session_id", ["one", "two"]),
    ("/trace", [{"trace_id": "a"}, {"trace_id": "b"}]),
    ("/modalities", [["text"], ["text", "image"]]),
    ("/image_config", [{"aspect_ratio": "1:1"}, {"aspect_ratio": "16:9"}]),
    ("/cache_control", [{"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}]),
    ("/messages/0/content/0/cache_control", [{"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}]),
    ("/messages/0/content/0/prompt_cache_breakpoint", [{"mode": "explicit"}, None]),
    ("/tools/0/cache_control", [{"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}]),
    ("/tools/0/defer_loading", [True, False]),
]


def with_wish(dialect: str, pointer: str, value: Json) -> Json:
    """Return the dialect's base request with one value at one place. Missing objects on the path are created."""
    steps = pointer.split("/")[1:]
    return _put(BASES[dialect], steps, value)


def _put(holder: Json, steps: list[str], value: Json) -> Json:
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(holder, list):
        return [_put(item, rest, value) if i == int(step) else item for i, item in enumerate(holder)]
    return {**holder, step: _put(holder.get(step, {}), rest, value)}
