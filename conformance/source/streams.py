"""Streams of every dialect as lists of frames: text, then calls, then the end that the dialect requires."""

from __future__ import annotations

import json
from typing import Any

from .documents import (
    GEMINIS,
    MODELS,
    RESPONSE,
    Call,
    Doc,
    call_item,
    chat_call,
    chunk,
    enveloped,
    function_call,
    usage,
)

Frame = Doc | str


def frames(dialect: str, text: str = "", calls: tuple[Call, ...] = (), *, stop: str = "") -> list[Frame]:
    """A whole stream."""
    return begin(dialect, text, calls) + end(dialect, text, calls, stop=stop)


def begin(dialect: str, text: str = "", calls: tuple[Call, ...] = ()) -> list[Frame]:
    """The stream without the frames that end it."""
    if dialect == "anthropic":
        return [_message_start(), *_blocks(text, calls)]
    if dialect == "openai-responses":
        return _items(text, calls)
    if dialect in GEMINIS:
        chunks = [chunk([{"text": piece}]) for piece in halves(text)] if text else []
        chunks += [chunk([function_call(call) for call in calls])] if calls else []
        return [enveloped(dialect, one) for one in chunks]
    if dialect == "ollama":
        lines: list[Frame] = [ollama_line({"content": piece}) for piece in halves(text)] if text else []
        return lines + [ollama_line({"content": "", "tool_calls": [chat_call(dialect, call)]}) for call in calls]
    return _chat(text, calls)


def end(dialect: str, text: str = "", calls: tuple[Call, ...] = (), *, stop: str = "") -> list[Frame]:
    """The frames that complete the answer."""
    if dialect == "anthropic":
        reason = stop or ("tool_use" if calls else "end_turn")
        delta = {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}}
        return [delta | {"usage": {"output_tokens": 12}}, {"type": "message_stop"}]
    if dialect == "openai-responses":
        items = [item for frame in _items(text, calls) if isinstance(frame, dict) and (item := _done(frame))]
        response = RESPONSE | {"status": "completed", "output": items, "usage": usage(dialect)}
        return numbered([{"type": "response.completed", "response": response}], len(_items(text, calls)))
    if dialect in GEMINIS:
        return [enveloped(dialect, chunk([{"text": ""}], stop or "STOP"))]
    if dialect == "ollama":
        line = ollama_line({"content": ""}) | {"done": True, "done_reason": stop or "stop"}
        return [line | usage(dialect)]
    reason = stop or ("tool_calls" if calls else "stop")
    return [chat_chunk({}, reason), chat_chunk(None) | {"usage": usage(dialect)}, "[DONE]"]


def halves(text: str) -> list[str]:
    return [text[: len(text) // 2], text[len(text) // 2 :]]


def _message_start() -> Doc:
    message: Doc = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODELS["anthropic"]}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None}
    return {"type": "message_start", "message": message | {"usage": {"input_tokens": 30, "output_tokens": 1}}}


def _blocks(text: str, calls: tuple[Call, ...]) -> list[Frame]:
    blocks: list[tuple[Doc, list[Doc]]] = []
    if text:
        pieces = [{"type": "text_delta", "text": piece} for piece in halves(text)]
        blocks.append(({"type": "text", "text": ""}, pieces))
    for call in calls:
        pieces = [{"type": "input_json_delta", "partial_json": piece} for piece in halves(call.args)]
        blocks.append(({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}, pieces))
    return [frame for i, (block, pieces) in enumerate(blocks) for frame in block_frames(i, block, pieces)]


def block_frames(index: int, block: Doc, deltas: list[Doc]) -> list[Frame]:
    """One content block of a Messages stream."""
    out: list[Frame] = [{"type": "content_block_start", "index": index, "content_block": block}]
    out += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    return [*out, {"type": "content_block_stop", "index": index}]


def numbered(events: list[Doc], first: int = 0) -> list[Frame]:
    return [{"type": event["type"], "sequence_number": i} | event for i, event in enumerate(events, first)]


def _items(text: str, calls: tuple[Call, ...]) -> list[Frame]:
    response = RESPONSE | {"status": "in_progress"}
    events: list[Doc] = [{"type": "response.created", "response": response}]
    at = 0
    if text:
        events += _text_item(text)
        at = 1
    for i, call in enumerate(calls, 1):
        item = {**call_item(call), "id": f"fc_{i}", "status": "in_progress", "arguments": ""}
        where: Doc = {"item_id": f"fc_{i}", "output_index": at}
        events.append({"type": "response.output_item.added", "output_index": at, "item": item})
        for piece in halves(call.args):
            events.append({"type": "response.function_call_arguments.delta", **where, "delta": piece})
        events.append({"type": "response.function_call_arguments.done", **where, "arguments": call.args})
        item = {**item, "status": "completed", "arguments": call.args}
        events.append({"type": "response.output_item.done", "output_index": at, "item": item})
        at += 1
    return numbered(events)


def _text_item(text: str) -> list[Doc]:
    where: Doc = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    empty: Doc = {"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []}
    part: Doc = {"type": "output_text", "text": text, "annotations": []}
    full = {**empty, "status": "completed", "content": [part]}
    return [
        {"type": "response.output_item.added", "output_index": 0, "item": empty},
        {"type": "response.content_part.added", **where, "part": {**part, "text": ""}},
        *[{"type": "response.output_text.delta", **where, "delta": piece, "logprobs": []} for piece in halves(text)],
        {"type": "response.output_text.done", **where, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **where, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": full},
    ]


def _done(frame: Doc) -> Any:
    return frame["item"] if frame["type"] == "response.output_item.done" else None


def ollama_line(message: Doc) -> Doc:
    fields: Doc = {"model": MODELS["ollama"], "created_at": "2026-11-15T00:00:00Z"}
    return fields | {"message": {"role": "assistant", **message}, "done": False}


def chat_chunk(delta: Doc | None, finish: str | None = None) -> Doc:
    """One frame of a Chat stream; without a delta it has no choices."""
    head: Doc = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return head | {"choices": choices}


def chat_piece(index: int, call: Call | None = None, arguments: str = "") -> Doc:
    """A piece of a call; the first one names it."""
    fields = {"id": call.id, "type": "function"} if call else {}
    named = {"name": call.name} if call else {}
    return chat_chunk({"tool_calls": [{"index": index, **fields, "function": {**named, "arguments": arguments}}]})


def _chat(text: str, calls: tuple[Call, ...]) -> list[Frame]:
    out: list[Frame] = [chat_chunk({"role": "assistant", "content": ""})]
    out += [chat_chunk({"content": piece}) for piece in halves(text)] if text else []
    out += [chat_piece(i, call) for i, call in enumerate(calls)]
    # The arguments of several calls are interleaved: a reader must use the index.
    pieces = [halves(call.args) for call in calls]
    return out + [chat_piece(i, None, piece[half]) for half in (0, 1) for i, piece in enumerate(pieces) if piece[half]]


def fault_frame(dialect: str) -> Frame:
    """The frame of an overloaded upstream in the middle of a stream."""
    words = "The upstream is overloaded."
    if dialect == "anthropic":
        return {"type": "error", "error": {"type": "overloaded_error", "message": words}}
    if dialect == "openai-responses":
        return {"type": "error", "code": "server_error", "message": words, "param": None, "sequence_number": 99}
    if dialect in GEMINIS:
        return {"error": {"code": 503, "message": words, "status": "UNAVAILABLE"}}
    if dialect == "ollama":
        return {"error": words}
    if dialect == "openrouter":
        choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
        fields: Doc = {"error": {"code": 503, "message": words, "metadata": {"error_type": "provider_overloaded"}}}
        return chat_chunk(None) | {"choices": [choice]} | fields
    return {"error": {"message": words, "type": "server_error", "param": None, "code": None}}


def text_of(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
