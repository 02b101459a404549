"""Documents of every dialect, written by hand from the documentation of the protocols: tools, requests, answers."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

DIALECTS = ("anthropic", "code-assist", "gemini", "ollama", "openai-chat", "openai-responses", "openrouter")
GEMINIS = ("gemini", "code-assist")
CHATS = ("openai-chat", "openrouter")

MODELS = {
    "anthropic": "claude-opus-5",
    "code-assist": "gemini-3-pro",
    "gemini": "gemini-3-pro",
    "ollama": "qwen3",
    "openai-chat": "gpt-5.2",
    "openai-responses": "gpt-5.2",
    "openrouter": "anthropic/claude-sonnet-4.5",
}
"""The default model of each upstream."""

WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}

Doc = dict[str, Any]


class Call(NamedTuple):
    """A tool call; `args` is JSON text."""

    id: str
    name: str
    args: str = "{}"


class Out(NamedTuple):
    """A tool's result."""

    id: str
    name: str
    text: str
    error: bool = False


class User(NamedTuple):
    text: str


class AssistantTurn(NamedTuple):
    """A turn of the assistant."""

    calls: tuple[Call, ...] = ()
    text: str = ""


class Results(NamedTuple):
    outs: tuple[Out, ...]


Turn = User | AssistantTurn | Results


def tool(dialect: str, name: str, schema: Doc = WEATHER, description: str = "Look something up.") -> Doc:
    if dialect == "anthropic":
        return {"name": name, "description": description, "input_schema": schema}
    if dialect == "openai-responses":
        values = {"type": "function", "name": name, "description": description}
        return {**values, "parameters": schema, "strict": False}
    if dialect in GEMINIS:
        return {"name": name, "description": description, "parametersJsonSchema": schema}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def toolset(dialect: str, *declared: Doc) -> list[Doc]:
    """The value of `tools` for some declarations."""
    return [{"functionDeclarations": list(declared)}] if dialect in GEMINIS else list(declared)


def request(
    dialect: str,
    turns: list[Turn] | None = None,
    tools: list[Doc] | None = None,
    *,
    model: str = "",
    stream: bool = False,
    system: str = "",
    **more: Any,
) -> Doc:
    """A request. The fields `more` are added unchanged (for Gemini: to the document inside the envelope)."""
    turns = turns or [User("What is the weather in Paris and in Rome?")]
    model = model or MODELS[dialect]
    if dialect in GEMINIS:
        inner: Doc = {"contents": [content for turn in turns for content in _contents(turn)]}
        if system:
            inner["systemInstruction"] = {"role": "user", "parts": [{"text": system}]}
        inner |= ({"tools": tools} if tools else {}) | more
        if dialect == "gemini":
            return inner
        return {"model": model, "project": "p-1", "user_prompt_id": "prompt-1", "request": inner}
    out: Doc = {"model": model}
    if dialect == "anthropic":
        out |= {"max_tokens": 1024} | ({"system": system} if system else {})
        out["messages"] = [_message(turn) for turn in turns]
    elif dialect == "openai-responses":
        out |= {"instructions": system} if system else {}
        out["input"] = [item for turn in turns for item in _items(turn)]
    else:
        first = [{"role": "system", "content": system}] if system else []
        out["messages"] = first + [message for turn in turns for message in _chat_messages(dialect, turn)]
    if tools:
        out["tools"] = tools
    if dialect == "ollama":
        out["stream"] = stream  # Ollama streams by default
    elif stream:
        out["stream"] = True
    return out | more


def _contents(turn: Turn) -> list[Doc]:
    if isinstance(turn, User):
        return [{"role": "user", "parts": [{"text": turn.text}]}]
    if isinstance(turn, Results):
        return [{"role": "user", "parts": [function_response(out) for out in turn.outs]}]
    texts: list[Doc] = [{"text": turn.text}] if turn.text else []
    return [{"role": "model", "parts": texts + [function_call(call) for call in turn.calls]}]


def function_call(call: Call) -> Doc:
    values = {"id": call.id} if call.id else {}
    return {"functionCall": {**values, "name": call.name, "args": json.loads(call.args or "{}")}}


def function_response(out: Out) -> Doc:
    values = {"id": out.id} if out.id else {}
    return {
        "functionResponse": {**values, "name": out.name, "response": {"error" if out.error else "output": out.text}}
    }


def _message(turn: Turn) -> Doc:
    if isinstance(turn, User):
        return {"role": "user", "content": turn.text}
    if isinstance(turn, Results):
        return {"role": "user", "content": [tool_result(out) for out in turn.outs]}
    texts: list[Doc] = [{"type": "text", "text": turn.text}] if turn.text else []
    return {"role": "assistant", "content": texts + [tool_use(call) for call in turn.calls]}


def tool_use(call: Call) -> Doc:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.args or "{}")}


def tool_result(out: Out) -> Doc:
    found: Doc = {"type": "tool_result", "tool_use_id": out.id, "content": out.text}
    return found | ({"is_error": True} if out.error else {})


def _items(turn: Turn) -> list[Doc]:
    if isinstance(turn, User):
        return [{"type": "message", "role": "user", "content": turn.text}]
    if isinstance(turn, Results):
        return [{"type": "function_call_output", "call_id": out.id, "output": out.text} for out in turn.outs]
    texts: list[Doc] = []
    if turn.text:
        part = {"type": "output_text", "text": turn.text, "annotations": []}
        texts = [{"type": "message", "role": "assistant", "content": [part]}]
    return texts + [call_item(call) for call in turn.calls]


def call_item(call: Call) -> Doc:
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.args}


def _chat_messages(dialect: str, turn: Turn) -> list[Doc]:
    if isinstance(turn, User):
        return [{"role": "user", "content": turn.text}]
    if isinstance(turn, AssistantTurn):
        calls = [chat_call(dialect, call) for call in turn.calls]
        none = "" if dialect == "ollama" else None
        return [{"role": "assistant", "content": turn.text or none} | ({"tool_calls": calls} if calls else {})]
    out: list[Doc] = []
    for result in turn.outs:
        values: Doc = {"role": "tool", "tool_call_id": result.id, "content": result.text}
        out.append(values | ({"tool_name": result.name} if dialect == "ollama" else {}))
    return out


def chat_call(dialect: str, call: Call) -> Doc:
    if dialect == "ollama":
        return {"id": call.id, "function": {"name": call.name, "arguments": json.loads(call.args or "{}")}}
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.args}}


# answers

RESPONSE: Doc = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "output": []}
RESPONSE |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}


def usage(dialect: str, given: int = 30, made: int = 12) -> Doc:
    if dialect == "anthropic":
        return {"input_tokens": given, "output_tokens": made}
    if dialect == "openai-responses":
        return {"input_tokens": given, "output_tokens": made, "total_tokens": given + made}
    if dialect in GEMINIS:
        counts = {"promptTokenCount": given, "candidatesTokenCount": made}
        return counts | {"totalTokenCount": given + made}
    if dialect == "ollama":
        return {"prompt_eval_count": given, "eval_count": made}
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}


def reply(dialect: str, text: str = "", calls: tuple[Call, ...] = (), *, model: str = "", stop: str = "") -> Doc:
    """A whole answer with a normal end; `stop` is a finish reason of the dialect that replaces the usual one."""
    model = model or MODELS[dialect]
    if dialect == "anthropic":
        content = [{"type": "text", "text": text}] if text else []
        fields: Doc = {"id": "msg_1", "type": "message", "role": "assistant", "model": model}
        fields["content"] = content + [tool_use(call) for call in calls]
        reason = stop or ("tool_use" if calls else "end_turn")
        return fields | {"stop_reason": reason, "stop_sequence": None, "usage": usage(dialect)}
    if dialect == "openai-responses":
        items = [message_item(text)] if text else []
        items += [{**call_item(call), "id": f"fc_{i}", "status": "completed"} for i, call in enumerate(calls, 1)]
        return RESPONSE | {"model": model, "output": items, "status": "completed", "usage": usage(dialect)}
    if dialect in GEMINIS:
        texts: list[Doc] = [{"text": text}] if text else []
        return enveloped(dialect, chunk(texts + [function_call(call) for call in calls], stop or "STOP", model=model))
    if dialect == "ollama":
        message: Doc = {"role": "assistant", "content": text}
        message |= {"tool_calls": [chat_call(dialect, call) for call in calls]} if calls else {}
        values: Doc = {"model": model, "created_at": "2026-11-15T00:00:00Z", "message": message, "done": True}
        return values | {"done_reason": stop or "stop"} | usage(dialect)
    message = {"role": "assistant", "content": text or None}
    message |= {"tool_calls": [chat_call(dialect, call) for call in calls]} if calls else {}
    choice = {"index": 0, "message": message, "finish_reason": stop or ("tool_calls" if calls else "stop")}
    head: Doc = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model}
    return head | {"choices": [choice], "usage": usage(dialect)}


def message_item(text: str) -> Doc:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}


def chunk(parts: list[Doc], finish: str = "", *, model: str = "gemini-3-pro", counts: Doc | None = None) -> Doc:
    """A Gemini answer, or one chunk of a stream."""
    candidate: Doc = {"index": 0, "content": {"role": "model", "parts": parts}}
    out: Doc = {"candidates": [candidate | ({"finishReason": finish} if finish else {})]}
    if finish:
        out["usageMetadata"] = counts or usage("gemini")
    return out | {"modelVersion": model, "responseId": "r-1"}


def enveloped(dialect: str, document: Doc) -> Doc:
    return {"response": document, "traceId": "t-1"} if dialect == "code-assist" else document
