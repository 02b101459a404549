"""Owns the documents of the golden files: a few documents of every dialect, written by hand."""

from __future__ import annotations

from typing import Any, Literal

from conformance.source.documents import Call, Doc, reply, request, tool, toolset
from conformance.source.faults import fault
from conformance.source.streams import begin, frames

from dragoman.cli.show_sample_conversation import conversation
from tests.golden.rich_answers import ANSWERS, thinking

Kind = Literal["request", "response", "stream", "fault"]
KINDS: tuple[Kind, ...] = ("request", "response", "stream", "fault")

CALLS = (Call("call_a", "get_weather", '{"city":"Paris"}'), Call("call_b", "get_weather", '{"city":"Rome","days":2}'))
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
URL = f"data:image/png;base64,{PIXEL}"
SCHEMA: Doc = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "pattern": "^[A-Z]", "minLength": 2},
        "unit": {"const": "metric"},
        "days": {"type": ["integer", "null"], "exclusiveMinimum": 0, "default": 1},
        "at": {"$ref": "#/$defs/place"},
        "mode": {"oneOf": [{"type": "string", "enum": ["now", "later"]}, {"type": "integer"}]},
    },
    "required": ["city"],
    "additionalProperties": False,
    "$defs": {"place": {"type": "object", "properties": {"lat": {"type": "number"}, "in": {"$ref": "#/$defs/place"}}}},
}
LIMITS = {"anthropic": "max_tokens", "gemini": "MAX_TOKENS", "code-assist": "MAX_TOKENS"}


def documents(dialect: str, kind: Kind) -> dict[str, Any]:
    """The documents of one dialect and kind by their names; a stream is a list of frames."""
    if kind == "request":
        hard = tool(dialect, "get_weather", SCHEMA)
        return {
            "plain": request(dialect, system="Be brief."),
            "agent": AGENTS[dialect],
            "tools": request(dialect, tools=toolset(dialect, hard, tool(dialect, "mcp.server/very long name!"))),
        }
    if kind == "response":
        limit = LIMITS.get(dialect, "length")
        cut = reply(dialect, "It is", stop=limit)
        if dialect == "openai-responses":
            cut |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
        return {
            "text": reply(dialect, "It is fine."),
            "calls": reply(dialect, "Let me look.", CALLS),
            "rich": ANSWERS[dialect],
            "limit": cut,
        }
    if kind == "stream":
        return {
            "text": frames(dialect, "It is fine."),
            "calls": frames(dialect, "Let me look.", CALLS),
            "thinking": thinking(dialect),
            "cut": begin(dialect, "Let me look."),
        }
    return {name: fault(dialect, name) for name in ("rate", "invalid", "overloaded")}


def _chat_call(call: Call, **more: Any) -> Doc:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.args}, **more}


_GEMINI: Doc = {
    "systemInstruction": {"role": "user", "parts": [{"text": "You are a careful engineer."}]},
    "contents": [
        {
            "role": "user",
            "parts": [{"text": "What is this?"}, {"inlineData": {"mimeType": "image/png", "data": PIXEL}}],
        },
        {
            "role": "model",
            "parts": [
                {"text": "I need the weather twice.", "thought": True},
                {
                    "functionCall": {"id": "call_a", "name": "get_weather", "args": {"city": "Paris"}},
                    "thoughtSignature": "Z2VtaW5pLXNlYWw=",
                },
                {"functionCall": {"id": "call_b", "name": "get_weather", "args": {"city": "Rome", "days": 2}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "id": "call_a",
                        "name": "get_weather",
                        "response": {"output": {"celsius": 12.50}},
                    }
                },
                {
                    "functionResponse": {
                        "id": "call_b",
                        "name": "get_weather",
                        "response": {"error": "station offline"},
                        "parts": [{"inlineData": {"mimeType": "image/png", "data": PIXEL}}],
                    }
                },
            ],
        },
    ],
    "tools": [{"functionDeclarations": [tool("gemini", "get_weather")]}],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["get_weather"]}},
    "generationConfig": {
        "maxOutputTokens": 2048,
        "topK": 40,
        "stopSequences": ["END"],
        "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "HIGH"},
    },
    "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
}

_CHAT: Doc = {
    "model": "gpt-5.2",
    "messages": [
        {"role": "developer", "content": "You are a careful engineer."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image_url", "image_url": {"url": URL, "detail": "low"}},
            ],
        },
        {"role": "assistant", "content": "Let me look.", "tool_calls": [_chat_call(call) for call in CALLS]},
        {"role": "tool", "tool_call_id": "call_a", "content": '{"celsius":12.50}'},
        {"role": "tool", "tool_call_id": "call_b", "content": "Error: station offline"},
        {"role": "developer", "content": "Answer in one line."},
        {"role": "user", "content": "And now?"},
    ],
    "tools": [
        {**tool("openai-chat", "get_weather")},
        {"type": "custom", "custom": {"name": "apply_patch", "description": "Edit files.", "format": {"type": "text"}}},
    ],
    "tool_choice": "required",
    "parallel_tool_calls": False,
    "max_completion_tokens": 2048,
    "reasoning_effort": "high",
    "stop": ["END"],
    "seed": 7,
    "metadata": {"run": "1"},
}

AGENTS: dict[str, Doc] = {
    "anthropic": conversation(),
    "gemini": _GEMINI,
    "code-assist": {
        "model": "gemini-3-pro",
        "project": "p-1",
        "user_prompt_id": "prompt-1",
        "request": {**_GEMINI, "session_id": "session-1"},
    },
    "openai-chat": _CHAT,
    "openrouter": {
        "model": "anthropic/claude-sonnet-4.5",
        "models": ["openai/gpt-5.2"],
        "provider": {"order": ["anthropic"], "require_parameters": True},
        "reasoning": {"effort": "high"},
        "messages": [
            {
                "role": "system",
                "content": [
                    {"type": "text", "text": "You are a careful engineer.", "cache_control": {"type": "ephemeral"}}
                ],
            },
            {"role": "user", "content": "Weather?"},
            {
                "role": "assistant",
                "content": None,
                "reasoning": "I need the weather twice.",
                "reasoning_details": [
                    {
                        "type": "reasoning.text",
                        "text": "I need the weather twice.",
                        "signature": "Y2xhdWRlLXNlYWw=",
                        "format": "anthropic-claude-v1",
                        "index": 0,
                    }
                ],
                "tool_calls": [_chat_call(call) for call in CALLS],
            },
            {
                "role": "tool",
                "tool_call_id": "call_a",
                "content": [{"type": "text", "text": "12"}, {"type": "image_url", "image_url": {"url": URL}}],
            },
            {"role": "tool", "tool_call_id": "call_b", "content": "20"},
        ],
        "tools": [tool("openrouter", "get_weather")],
        "top_k": 40,
        "max_tokens": 2048,
    },
    "openai-responses": {
        "model": "gpt-5.2",
        "instructions": "You are a careful engineer.",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Weather, and fix a.txt."}]},
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "I need the weather twice."}],
                "encrypted_content": "Z0FBQUFvcGVuYWktc2VhbA==",
            },
            *[
                {"type": "function_call", "id": f"fc_{i}", "call_id": c.id, "name": c.name, "arguments": c.args}
                for i, c in enumerate(CALLS, 1)
            ],
            {
                "type": "custom_tool_call",
                "id": "ctc_1",
                "call_id": "call_p",
                "name": "apply_patch",
                "input": "*** Begin\n*** End",
            },
            {"type": "function_call_output", "call_id": "call_a", "output": '{"celsius":12.50}'},
            {
                "type": "function_call_output",
                "call_id": "call_b",
                "output": [
                    {"type": "input_text", "text": "see"},
                    {"type": "input_image", "image_url": URL, "detail": "auto"},
                ],
            },
            {"type": "custom_tool_call_output", "call_id": "call_p", "output": "Done."},
        ],
        "tools": [
            tool("openai-responses", "get_weather"),
            {
                "type": "custom",
                "name": "apply_patch",
                "description": "Edit files.",
                "format": {"type": "grammar", "syntax": "lark", "definition": 'start: "*** Begin" LF "*** End"'},
            },
            {"type": "web_search"},
        ],
        "tool_choice": "auto",
        "reasoning": {"effort": "high", "summary": "auto"},
        "text": {"format": {"type": "json_schema", "name": "answer", "schema": {"type": "object", "properties": {}}}},
        "max_output_tokens": 2048,
        "include": ["reasoning.encrypted_content"],
        "store": False,
    },
    "ollama": {
        "model": "qwen3",
        "messages": [
            {"role": "system", "content": "You are a careful engineer."},
            {"role": "user", "content": "What is this?", "images": [PIXEL]},
            {
                "role": "assistant",
                "content": "",
                "thinking": "I need the weather twice.",
                "tool_calls": [
                    {"function": {"name": "get_weather", "arguments": {"city": "Paris"}}},
                    {"function": {"name": "get_weather", "arguments": {"city": "Rome", "days": 2}}},
                ],
            },
            {"role": "tool", "tool_name": "get_weather", "content": "12"},
            {"role": "tool", "tool_name": "get_weather", "content": "20"},
        ],
        "tools": [tool("ollama", "get_weather")],
        "stream": False,
        "think": "high",
        "format": "json",
        "options": {"temperature": 0.2, "num_ctx": 8192, "num_predict": 2048, "min_p": 0.05, "stop": ["END"]},
        "keep_alive": "5m",
    },
}
