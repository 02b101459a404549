"""Owns the requests, responses and long histories of the benchmark, as bytes, in each dialect that has a builder.

    python -m bench.payloads         # sizes of all of them; nothing is written

Request bytes have the form of the official SDKs, response bytes have the form of the providers (OpenAI and Google
indent).
Standard library only: the peers' environment imports this file too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from bench.story import (
    ANSWER_CALLS,
    ANSWER_TEXT,
    STAMP,
    STEPS,
    SYSTEM,
    TOOLS,
    Json,
    Step,
    ToolSpec,
    compact,
    long_history,
    next_steps,
    token,
)

# Models that accept every setting of the request, so that no model gate is measured by accident.
MODELS = {
    "openai-chat": "gpt-4.1",
    "openai-responses": "gpt-4.1",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-flash",
    "ollama": "qwen3:8b",
    "openrouter": "openai/gpt-4.1",
    "code-assist": "gemini-2.5-flash",
}
CREATED = 1_790_925_900
LIMIT = 4096
TEMPERATURE = 0.2
TOKENS_IN, TOKENS_CACHED, TOKENS_OUT = 1873, 1024, 241


def chat_id(key: str) -> str:
    return "call_" + token(key, 24)


def messages_id(key: str) -> str:
    return "toolu_01" + token(key, 22)


def gemini_id(key: str) -> str:
    return token(key, 8, "abcdefghijklmnopqrstuvwxyz0123456789")


def ollama_id(key: str) -> str:
    return "call_" + token(key, 8, "abcdefghijklmnopqrstuvwxyz0123456789")


# --- requests ---------------------------------------------------------------------------------------------------


def chat_request(steps: Iterable[Step], stream: bool, tools: Sequence[ToolSpec] = TOOLS) -> Json:
    messages: list[Json] = [{"role": "system", "content": SYSTEM}]
    for step in steps:
        if step.who == "user":
            messages.append({"role": "user", "content": step.text})
        elif step.who == "model":
            calls = [
                {
                    "id": chat_id(c.key),
                    "type": "function",
                    "function": {"name": c.name, "arguments": compact(c.arguments)},
                }
                for c in step.calls
            ]
            messages.append({"role": "assistant", "content": step.text or None, "tool_calls": calls})
        else:
            messages += [{"role": "tool", "tool_call_id": chat_id(r.key), "content": r.text} for r in step.results]
    body: Json = {
        "model": MODELS["openai-chat"],
        "messages": messages,
        "tools": [
            {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.schema()}}
            for t in tools
        ],
        "tool_choice": "auto",
        "temperature": TEMPERATURE,
        "max_completion_tokens": LIMIT,
    }
    return body | {"stream": True, "stream_options": {"include_usage": True}} if stream else body


def _responses_tools(tools: Sequence[ToolSpec]) -> list[Json]:
    return [
        {
            "type": "function",
            "name": t.name,
            "description": t.description,
            "parameters": t.schema(),
            "strict": False,
        }
        for t in tools
    ]


def responses_request(steps: Iterable[Step], stream: bool, tools: Sequence[ToolSpec] = TOOLS) -> Json:
    items: list[Json] = []
    for step in steps:
        if step.who == "user":
            items.append({"role": "user", "content": [{"type": "input_text", "text": step.text}]})
        elif step.who == "model":
            if step.text:
                part = {"type": "output_text", "text": step.text}
                items.append({"type": "message", "role": "assistant", "content": [part]})
            items += [
                {
                    "type": "function_call",
                    "call_id": chat_id(c.key),
                    "name": c.name,
                    "arguments": compact(c.arguments),
                }
                for c in step.calls
            ]
        else:
            items += [
                {"type": "function_call_output", "call_id": chat_id(r.key), "output": r.text} for r in step.results
            ]
    body: Json = {
        "model": MODELS["openai-responses"],
        "instructions": SYSTEM,
        "input": items,
        "tools": _responses_tools(tools),
        "tool_choice": "auto",
        "temperature": TEMPERATURE,
        "max_output_tokens": LIMIT,
        "store": False,
    }
    return body | {"stream": True} if stream else body


def messages_request(steps: Iterable[Step], stream: bool, tools: Sequence[ToolSpec] = TOOLS) -> Json:
    messages: list[Json] = []

    def put(role: str, blocks: list[Json]) -> None:
        # Messages clients alternate the roles: the user's text after results is in the turn of the results.
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        else:
            messages.append({"role": role, "content": blocks})

    for step in steps:
        text = [{"type": "text", "text": step.text}] if step.text else []
        if step.who == "user":
            put("user", text)
        elif step.who == "model":
            uses = [
                {"type": "tool_use", "id": messages_id(c.key), "name": c.name, "input": c.arguments} for c in step.calls
            ]
            put("assistant", text + uses)
        else:
            put("user", [_messages_result(r.key, r.text, r.is_error) for r in step.results])
    body: Json = {
        "model": MODELS["anthropic"],
        "max_tokens": LIMIT,
        "system": [{"type": "text", "text": SYSTEM}],
        "messages": messages,
        "tools": [{"name": t.name, "description": t.description, "input_schema": t.schema()} for t in tools],
        "tool_choice": {"type": "auto"},
        "temperature": TEMPERATURE,
    }
    return body | {"stream": True} if stream else body


def _messages_result(key: str, text: str, is_error: bool) -> Json:
    block: Json = {"type": "tool_result", "tool_use_id": messages_id(key), "content": text}
    return block | {"is_error": True} if is_error else block


def gemini_request(steps: Iterable[Step], stream: bool, tools: Sequence[ToolSpec] = TOOLS) -> Json:
    """`stream` changes nothing: the URL of a Gemini request selects the stream."""
    contents: list[Json] = []

    def put(role: str, parts: list[Json]) -> None:
        if contents and contents[-1]["role"] == role:
            contents[-1]["parts"] += parts
        else:
            contents.append({"role": role, "parts": parts})

    for step in steps:
        text = [{"text": step.text}] if step.text else []
        if step.who == "user":
            put("user", text)
        elif step.who == "model":
            calls = [
                {"functionCall": {"id": gemini_id(c.key), "name": c.name, "args": c.arguments}} for c in step.calls
            ]
            put("model", text + calls)
        else:
            put(
                "user",
                [
                    {
                        "functionResponse": {
                            "id": gemini_id(r.key),
                            "name": r.name,
                            "response": {"error" if r.is_error else "output": r.text},
                        }
                    }
                    for r in step.results
                ],
            )
    return {
        "systemInstruction": {"parts": [{"text": SYSTEM}]},
        "contents": contents,
        "tools": [
            {
                "functionDeclarations": [
                    {"name": t.name, "description": t.description, "parametersJsonSchema": t.schema()} for t in tools
                ]
            }
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
        "generationConfig": {"temperature": TEMPERATURE, "maxOutputTokens": LIMIT},
    }


def ollama_request(steps: Iterable[Step], stream: bool, tools: Sequence[ToolSpec] = TOOLS) -> Json:
    messages: list[Json] = [{"role": "system", "content": SYSTEM}]
    names: dict[str, str] = {}
    for step in steps:
        if step.who == "user":
            messages.append({"role": "user", "content": step.text})
        elif step.who == "model":
            names |= {c.key: c.name for c in step.calls}
            calls = [
                {
                    "id": ollama_id(c.key),
                    "type": "function",
                    "function": {"index": i, "name": c.name, "arguments": c.arguments},
                }
                for i, c in enumerate(step.calls)
            ]
            messages.append({"role": "assistant", "content": step.text or "", "tool_calls": calls})
        else:
            messages += [
                {"role": "tool", "content": r.text, "tool_name": names[r.key], "tool_call_id": ollama_id(r.key)}
                for r in step.results
            ]
    return {
        "model": MODELS["ollama"],
        "messages": messages,
        "tools": [
            {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.schema()}}
            for t in tools
        ],
        "stream": stream,
        "options": {"num_predict": LIMIT, "temperature": TEMPERATURE},
    }


# --- responses --------------------------------------------------------------------------------------------------


def chat_usage() -> Json:
    return {
        "prompt_tokens": TOKENS_IN,
        "completion_tokens": TOKENS_OUT,
        "total_tokens": TOKENS_IN + TOKENS_OUT,
        "prompt_tokens_details": {"cached_tokens": TOKENS_CACHED, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def chat_response() -> Json:
    calls = [
        {"id": chat_id(c.key), "type": "function", "function": {"name": c.name, "arguments": compact(c.arguments)}}
        for c in ANSWER_CALLS
    ]
    message = {
        "role": "assistant",
        "content": ANSWER_TEXT,
        "tool_calls": calls,
        "refusal": None,
        "annotations": [],
    }
    return {
        "id": "chatcmpl-" + token("answer", 29),
        "object": "chat.completion",
        "created": CREATED,
        "model": MODELS["openai-chat"],
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}],
        "usage": chat_usage(),
        "service_tier": "default",
        "system_fingerprint": None,
    }


def responses_items(status: str = "completed") -> tuple[Json, list[Json]]:
    """The message item and the call items of the answer."""
    message = {
        "id": "msg_" + token("answer", 50, "0123456789abcdef"),
        "type": "message",
        "status": status,
        "content": [{"type": "output_text", "annotations": [], "logprobs": [], "text": ANSWER_TEXT}],
        "role": "assistant",
    }
    calls = [
        {
            "id": "fc_" + token("item " + c.key, 50, "0123456789abcdef"),
            "type": "function_call",
            "status": status,
            "arguments": compact(c.arguments),
            "call_id": chat_id(c.key),
            "name": c.name,
        }
        for c in ANSWER_CALLS
    ]
    return message, calls


def responses_response(status: str = "completed", output: list[Json] | None = None) -> Json:
    """The response object; the provider repeats the request's tools and settings in it."""
    if output is None:
        message, calls = responses_items()
        output = [message, *calls]
    usage = {
        "input_tokens": TOKENS_IN,
        "input_tokens_details": {"cached_tokens": TOKENS_CACHED, "cache_write_tokens": 0},
        "output_tokens": TOKENS_OUT,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": TOKENS_IN + TOKENS_OUT,
    }
    return {
        "id": "resp_" + token("answer", 50, "0123456789abcdef"),
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": SYSTEM,
        "max_output_tokens": LIMIT,
        "max_tool_calls": None,
        "model": MODELS["openai-responses"],
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "prompt_cache_key": None,
        "reasoning": {"effort": None, "summary": None},
        "safety_identifier": None,
        "service_tier": "default" if status == "completed" else "auto",
        "store": False,
        "temperature": TEMPERATURE,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": _responses_tools(TOOLS),
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage if status == "completed" else None,
        "user": None,
        "metadata": {},
    }


def messages_usage(output: int) -> Json:
    return {
        "input_tokens": TOKENS_IN - TOKENS_CACHED,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": TOKENS_CACHED,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "output_tokens": output,
        "service_tier": "standard",
    }


def messages_response() -> Json:
    uses = [{"type": "tool_use", "id": messages_id(c.key), "name": c.name, "input": c.arguments} for c in ANSWER_CALLS]
    return {
        "model": MODELS["anthropic"],
        "id": "msg_01" + token("answer", 22),
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": ANSWER_TEXT}, *uses],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": messages_usage(TOKENS_OUT),
    }


def gemini_usage(output: int) -> Json:
    return {
        "promptTokenCount": TOKENS_IN,
        "cachedContentTokenCount": TOKENS_CACHED,
        "candidatesTokenCount": output,
        "totalTokenCount": TOKENS_IN + output,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": TOKENS_IN}],
    }


def gemini_response() -> Json:
    calls: list[Json] = [
        {"functionCall": {"id": gemini_id(c.key), "name": c.name, "args": c.arguments}} for c in ANSWER_CALLS
    ]
    calls[0]["thoughtSignature"] = token("seal of the answer", 88)
    candidate = {
        "content": {"parts": [{"text": ANSWER_TEXT}, *calls], "role": "model"},
        "finishReason": "STOP",
        "index": 0,
    }
    return {
        "candidates": [candidate],
        "usageMetadata": gemini_usage(TOKENS_OUT),
        "modelVersion": MODELS["gemini"],
        "responseId": token("answer", 22),
    }


def code_assist_request(steps: Iterable[Step], stream: bool, tools: Sequence[ToolSpec] = TOOLS) -> Json:
    """Gemini's request in the envelope."""
    return {
        "model": MODELS["code-assist"],
        "project": "some-project",
        "user_prompt_id": token("prompt", 22),
        "request": gemini_request(steps, stream, tools) | {"session_id": token("session", 22)},
    }


def code_assist_wrapped(answer: Json) -> Json:
    """Gemini's answer, or one chunk, in the envelope."""
    return {"response": answer, "traceId": token("trace", 16, "0123456789abcdef")}


def code_assist_response() -> Json:
    return code_assist_wrapped(gemini_response())


def ollama_line(message: Json) -> Json:
    return {
        "model": MODELS["ollama"],
        "created_at": "2026-10-02T07:25:00.123456Z",
        "message": {"role": "assistant", **message},
        "done": False,
    }


def ollama_call(number: int) -> Json:
    call = ANSWER_CALLS[number]
    function = {"index": number, "name": call.name, "arguments": call.arguments}
    return {"id": ollama_id(call.key), "function": function}


OLLAMA_END: Json = {
    "done": True,
    "done_reason": "stop",
    "total_duration": 4_757_308_666,
    "load_duration": 122_391_708,
    "prompt_eval_count": TOKENS_IN,
    "prompt_eval_duration": 1_707_657_500,
    "eval_count": TOKENS_OUT,
    "eval_duration": 2_563_793_880,
}


def ollama_response() -> Json:
    calls = [ollama_call(number) for number in range(len(ANSWER_CALLS))]
    return ollama_line({"content": ANSWER_TEXT, "tool_calls": calls}) | OLLAMA_END


def openrouter_request(steps: Iterable[Step], stream: bool, tools: Sequence[ToolSpec] = TOOLS) -> Json:
    """Chat's request, with the fields that most clients of OpenRouter add."""
    own = {"model": MODELS["openrouter"], "provider": {"require_parameters": True}, "usage": {"include": True}}
    return chat_request(steps, stream, tools) | own


def openrouter_usage() -> Json:
    costs = {
        "upstream_inference_cost": 0.003674,
        "upstream_inference_prompt_cost": 0.001746,
        "upstream_inference_completions_cost": 0.001928,
    }
    return chat_usage() | {"cost": 0.003674, "is_byok": False, "cost_details": costs}


def openrouter_response() -> Json:
    answer = chat_response() | {"model": MODELS["openrouter"], "provider": "OpenAI", "usage": openrouter_usage()}
    answer["id"] = "gen-1790925900-" + token("answer", 20)
    answer["choices"][0]["native_finish_reason"] = "completed"
    answer["choices"][0]["message"]["reasoning"] = None
    return answer


# --- bytes ------------------------------------------------------------------------------------------------------

_REQUESTS: dict[str, Callable[[Iterable[Step], bool, Sequence[ToolSpec]], Json]] = {
    "openai-chat": chat_request,
    "openai-responses": responses_request,
    "anthropic": messages_request,
    "gemini": gemini_request,
    "ollama": ollama_request,
    "openrouter": openrouter_request,
    "code-assist": code_assist_request,
}
_RESPONSES: dict[str, tuple[Callable[[], Json], bool]] = {
    "openai-chat": (chat_response, True),
    "openai-responses": (responses_response, True),
    "anthropic": (messages_response, False),
    "gemini": (gemini_response, True),
    "ollama": (ollama_response, False),
    "openrouter": (openrouter_response, False),
    "code-assist": (code_assist_response, True),
}


def names() -> tuple[str, ...]:
    """Dialects with payloads. A new dialect joins the benchmark with an entry in the tables of this file."""
    return tuple(_REQUESTS)


def request(dialect: str, *, stream: bool = False) -> bytes:
    """The agent request of about 6 KB: system text, twelve steps, ten tools."""
    return compact(_REQUESTS[dialect](STEPS, stream, TOOLS)).encode()


def next_request(dialect: str, number: int) -> bytes:
    """The same conversation with one more step: a call and its result, unique for each number."""
    return compact(_REQUESTS[dialect]([*STEPS, *next_steps(number)], False, TOOLS)).encode()


def response(dialect: str) -> bytes:
    """An answer with text and two parallel calls."""
    build, indented = _RESPONSES[dialect]
    value: Any = build()
    return (json.dumps(value, indent=2, ensure_ascii=False) if indented else compact(value)).encode()


def restamp(body: bytes, numbers: Sequence[int]) -> list[bytes]:
    """Copies of a request whose ten schemas differ for each number, at the same length."""
    old = STAMP.encode()
    return [body.replace(old, b"r%07d" % number) for number in numbers]


def history(dialect: str, size: int) -> bytes:
    """A request of about `size` bytes: a long conversation with one tool, with the same content at every size."""
    build = _REQUESTS[dialect]

    def body(rounds: int) -> bytes:
        return compact(build(long_history(rounds), False, TOOLS[:1])).encode()

    few, more = len(body(8)), len(body(16))
    return body(max(1, round((size - few) * 8 / (more - few)) + 8))


def main() -> None:
    from bench.streams import frames

    for name in names():
        chunks = frames(name)
        print(
            f"{name:18} request {len(request(name)):6} B   response {len(response(name)):6} B   "
            f"stream {sum(map(len, chunks)):7} B in {len(chunks)} frames"
        )


if __name__ == "__main__":
    main()
