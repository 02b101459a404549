"""Owns short functions that make messages of clients and upstreams: chunks, events, lines, messages, declarations."""

from __future__ import annotations

from typing import Any

Json = Any
DONE = "data: [DONE]\n\n"


def chunk(delta: Json = None, finish: str | None = None, **more: Json) -> Json:
    """A Chat Completions chunk."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5", "choices": [choice]}
    return {**base, **more}


def piece(index: int | None, arguments: str | None = None, *, id: str | None = None, name: str | None = None) -> Json:
    """A piece of a call in a Chat chunk."""
    function: Json = {}
    if name is not None:
        function["name"] = name
    if arguments is not None:
        function["arguments"] = arguments
    call: Json = {"function": function}
    if index is not None:
        call["index"] = index
    if id is not None:
        call |= {"id": id, "type": "function"}
    return call


def calling(*pieces: Json) -> Json:
    return chunk({"tool_calls": list(pieces)})


def completion(message: Json, finish: str = "stop", **more: Json) -> Json:
    """A whole Chat answer."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    base = {"id": "c1", "object": "chat.completion", "created": 1, "model": "gpt-5", "choices": [choice]}
    return {**base, **more}


def call(id: str, name: str, arguments: Json = "{}") -> Json:
    """A call in a whole Chat message."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def candidate(*parts: Json, finish: str | None = None, **more: Json) -> Json:
    """A Gemini answer, or a chunk of one."""
    found: Json = {"index": 0, "content": {"role": "model", "parts": list(parts)}}
    if finish:
        found["finishReason"] = finish
    base = {"candidates": [found], "modelVersion": "gemini-3-flash", "responseId": "r1"}
    return {**base, **more}


def function(name: str, args: Json = None, *, seal: str | None = None, id: str | None = None) -> Json:
    """A call in Gemini."""
    found: Json = {"name": name, "args": args if args is not None else {}}
    if id:
        found["id"] = id
    return {"functionCall": found, "thoughtSignature": seal} if seal else {"functionCall": found}


def message_start(**usage: int) -> Json:
    counted = {"input_tokens": 10, "output_tokens": 1, **usage}
    found = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5", "content": []}
    return {"type": "message_start", "message": {**found, "stop_reason": None, "stop_sequence": None, "usage": counted}}


def block(index: int, start: Json, *deltas: Json) -> list[Json]:
    """A content block of Messages: its start, its deltas, its end."""
    begin = {"type": "content_block_start", "index": index, "content_block": start}
    between = [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    return [begin, *between, {"type": "content_block_stop", "index": index}]


def message_end(reason: str, **usage: int) -> list[Json]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5, **usage}},
        {"type": "message_stop"},
    ]


def use(id: str, name: str, input: Json = None) -> Json:
    return {"type": "tool_use", "id": id, "name": name, "input": input if input is not None else {}}


def given(id: str, content: Json = "done", **more: Json) -> Json:
    """A result in Messages."""
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def message(*content: Json, stop: str = "tool_use", **usage: int) -> Json:
    """A whole Messages answer."""
    counted = {"input_tokens": 10, "output_tokens": 5, **usage}
    found = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5"}
    return {**found, "content": list(content), "stop_reason": stop, "stop_sequence": None, "usage": counted}


def response(*output: Json, status: str = "completed", **more: Json) -> Json:
    """A whole Responses answer."""
    base = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5.4", "status": status}
    rest = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None}
    return {**base, **rest, "output": list(output), **more}


def item_call(id: str, name: str, arguments: str = "{}", **more: Json) -> Json:
    base = {"type": "function_call", "id": f"fc_{id}", "call_id": id, "name": name, "status": "completed"}
    return {**base, "arguments": arguments, **more}


def events(*found: Json) -> list[Json]:
    """Responses events, numbered."""
    return [{**event, "sequence_number": n} for n, event in enumerate(found)]


def line(content: str = "", *, done: bool = False, calls: Json = None, **more: Json) -> Json:
    """A line of Ollama's stream, or its whole answer."""
    said: Json = {"role": "assistant", "content": content}
    if calls:
        said["tool_calls"] = [{"function": {"name": name, "arguments": args}} for name, args in calls]
    base = {"model": "qwen3", "created_at": "2026-01-01T00:00:00Z", "message": said, "done": done}
    return {**base, **({"done_reason": "stop"} if done else {}), **more}


def anthropic(*messages: Json, **more: Json) -> Json:
    return {"model": "m", "max_tokens": 1024, "messages": list(messages), **more}


def user(content: Json = "Go.") -> Json:
    return {"role": "user", "content": content}


def assistant(content: Json, **more: Json) -> Json:
    return {"role": "assistant", "content": content, **more}


def tool(id: str, content: Json = "done") -> Json:
    """A tool message of Chat."""
    return {"role": "tool", "tool_call_id": id, "content": content}


def chat(*messages: Json, **more: Json) -> Json:
    return {"model": "m", "messages": list(messages), **more}


def chat_tool(name: str = "read", parameters: Json = None, **more: Json) -> Json:
    return {"type": "function", "function": {"name": name, "parameters": parameters or {"type": "object"}, **more}}


def use_tool(name: str = "read", schema: Json = None, **more: Json) -> Json:
    """A declaration in Messages."""
    return {"name": name, "description": "It.", "input_schema": schema or {"type": "object"}, **more}
