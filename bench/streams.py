"""Owns the 200-event stream of each dialect: a list of SSE frames, byte for byte in the style of the provider.

The style is kept, because it costs the reader time: OpenAI pads deltas with `obfuscation`, Responses repeats request
and tools in three events, Anthropic names events, sends pings, and puts blanks before the last brace, Google writes ":
" and CRLF.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from bench import payloads as p
from bench.story import ANSWER_CALLS, ANSWER_TEXT, Json, compact, pieces, token

EVENTS = 200
TEXT_PIECES = 60
CALL = ANSWER_CALLS[0]
ARGUMENTS = compact(CALL.arguments)


def _padding(number: int) -> str:
    """The random-looking filler of OpenAI deltas, 1 to 16 characters."""
    return token(f"padding {number}", 1 + number * 7 % 16)


def _chat(argument_pieces: int) -> Iterator[str]:
    count = 0

    def frame(choices: list[Json], usage: Json | None = None) -> str:
        nonlocal count
        count += 1
        head: Json = {
            "id": "chatcmpl-" + token("answer", 29),
            "object": "chat.completion.chunk",
            "created": p.CREATED,
            "model": p.MODELS["openai-chat"],
            "service_tier": "default",
            "system_fingerprint": None,
        }
        tail = {"choices": choices, "usage": usage, "obfuscation": _padding(count)}
        return f"data: {compact(head | tail)}\n\n"

    def delta(value: Json, finish: str | None = None) -> str:
        return frame([{"index": 0, "delta": value, "logprobs": None, "finish_reason": finish}])

    yield delta({"role": "assistant", "content": "", "refusal": None})
    for piece in pieces(ANSWER_TEXT, TEXT_PIECES):
        yield delta({"content": piece})
    opening = {"name": CALL.name, "arguments": ""}
    yield delta({"tool_calls": [{"index": 0, "id": p.chat_id(CALL.key), "type": "function", "function": opening}]})
    for piece in pieces(ARGUMENTS, argument_pieces):
        yield delta({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    yield delta({}, "tool_calls")
    yield frame([], p.chat_usage())
    yield "data: [DONE]\n\n"


def _responses(argument_pieces: int) -> Iterator[str]:
    count = 0

    def frame(kind: str, **fields: Any) -> str:
        nonlocal count
        value = {"type": kind, "sequence_number": count, **fields}
        count += 1
        return f"event: {kind}\ndata: {compact(value)}\n\n"

    message, (call, *_) = p.responses_items()
    part = message["content"][0]
    spot = {"item_id": message["id"], "output_index": 0, "content_index": 0}
    opened = p.responses_response("in_progress", [])
    yield frame("response.created", response=opened)
    yield frame("response.in_progress", response=opened)
    blank = message | {"status": "in_progress", "content": []}
    yield frame("response.output_item.added", output_index=0, item=blank)
    yield frame("response.content_part.added", **spot, part=part | {"text": ""})
    for piece in pieces(ANSWER_TEXT, TEXT_PIECES):
        yield frame("response.output_text.delta", **spot, delta=piece, logprobs=[], obfuscation=_padding(count))
    yield frame("response.output_text.done", **spot, text=ANSWER_TEXT, logprobs=[])
    yield frame("response.content_part.done", **spot, part=part)
    yield frame("response.output_item.done", output_index=0, item=message)
    yield frame("response.output_item.added", output_index=1, item=call | {"status": "in_progress", "arguments": ""})
    spot = {"item_id": call["id"], "output_index": 1}
    for piece in pieces(ARGUMENTS, argument_pieces):
        yield frame("response.function_call_arguments.delta", **spot, delta=piece, obfuscation=_padding(count))
    yield frame("response.function_call_arguments.done", **spot, arguments=ARGUMENTS)
    yield frame("response.output_item.done", output_index=1, item=call)
    yield frame("response.completed", response=p.responses_response("completed", [message, call]))


def _messages(argument_pieces: int) -> Iterator[str]:
    count = 0

    def frame(value: Json) -> str:
        nonlocal count
        count += 1
        text = compact(value)
        return f"event: {value['type']}\ndata: {text[:-1]}{' ' * (count * 5 % 15)}}}\n\n"

    def delta(index: int, value: Json) -> str:
        return frame({"type": "content_block_delta", "index": index, "delta": value})

    start = p.messages_response() | {"content": [], "stop_reason": None, "usage": p.messages_usage(1)}
    yield frame({"type": "message_start", "message": start})
    yield frame({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    yield frame({"type": "ping"})
    for piece in pieces(ANSWER_TEXT, TEXT_PIECES):
        yield delta(0, {"type": "text_delta", "text": piece})
    yield frame({"type": "content_block_stop", "index": 0})
    use = {"type": "tool_use", "id": p.messages_id(CALL.key), "name": CALL.name, "input": {}}
    yield frame({"type": "content_block_start", "index": 1, "content_block": use})
    for piece in ["", *pieces(ARGUMENTS, argument_pieces - 1)]:
        yield delta(1, {"type": "input_json_delta", "partial_json": piece})
    yield frame({"type": "content_block_stop", "index": 1})
    end = {"stop_reason": "tool_use", "stop_sequence": None}
    usage = {k: v for k, v in p.messages_usage(p.TOKENS_OUT).items() if k.endswith("_tokens")}
    yield frame({"type": "message_delta", "delta": end, "usage": usage})
    yield frame({"type": "message_stop"})


def _gemini(chunks: int) -> Iterator[str]:
    """Google sends complete calls: thoughts and text fill the chunks, and one more chunk has the call and its seal."""
    written = 0

    def frame(part: Json, finish: str | None = None) -> str:
        candidate: Json = {"content": {"parts": [part], "role": "model"}}
        if finish:
            candidate["finishReason"] = finish
        value = {
            "candidates": [candidate | {"index": 0}],
            "usageMetadata": p.gemini_usage(written),
            "modelVersion": p.MODELS["gemini"],
            "responseId": token("answer", 22),
        }
        return f"data: {json.dumps(value, separators=(',', ': '), ensure_ascii=False)}\r\n\r\n"

    thoughts = chunks // 5
    for piece in pieces(ANSWER_TEXT * 4, thoughts):
        yield frame({"text": piece, "thought": True})
    for piece in pieces(ANSWER_TEXT * 16, chunks - thoughts):
        written += 1
        yield frame({"text": piece})
    call = {"id": p.gemini_id(CALL.key), "name": CALL.name, "args": CALL.arguments}
    yield frame({"functionCall": call, "thoughtSignature": token("seal of the call", 88)}, "STOP")


def _code_assist(chunks: int) -> Iterator[str]:
    """Gemini's chunks, each in its envelope."""
    for text in _gemini(chunks):
        value = p.code_assist_wrapped(json.loads(text.removeprefix("data: ")))
        yield f"data: {json.dumps(value, separators=(',', ': '), ensure_ascii=False)}\r\n\r\n"


def _ollama(lines: int) -> Iterator[str]:
    """Ollama sends complete calls: thoughts and text fill the lines, then comes the call, then the last line."""
    thoughts = lines // 5
    for piece in pieces(ANSWER_TEXT * 4, thoughts):
        yield compact(p.ollama_line({"content": "", "thinking": piece})) + "\n"
    for piece in pieces(ANSWER_TEXT * 16, lines - thoughts):
        yield compact(p.ollama_line({"content": piece})) + "\n"
    yield compact(p.ollama_line({"content": "", "tool_calls": [p.ollama_call(0)]})) + "\n"
    yield compact(p.ollama_line({"content": ""}) | p.OLLAMA_END) + "\n"


def _openrouter(argument_pieces: int) -> Iterator[str]:
    """Chat's chunks with OpenRouter's fields; the last one has the usage."""

    def frame(delta: Json, finish: str | None = None, **more: Json) -> str:
        native = "completed" if finish else None
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "native_finish_reason": native, "logprobs": None}
        head: Json = {
            "id": "gen-1790925900-" + token("answer", 20),
            "provider": "OpenAI",
            "model": p.MODELS["openrouter"],
            "object": "chat.completion.chunk",
            "created": p.CREATED,
        }
        return f"data: {compact(head | {'choices': [choice]} | more)}\n\n"

    yield frame({"role": "assistant", "content": ""})
    for piece in pieces(ANSWER_TEXT, TEXT_PIECES):
        yield frame({"role": "assistant", "content": piece})
    opening = {"name": CALL.name, "arguments": ""}
    call = {"index": 0, "id": p.chat_id(CALL.key), "type": "function", "function": opening}
    yield frame({"role": "assistant", "content": None, "tool_calls": [call]})
    for piece in pieces(ARGUMENTS, argument_pieces):
        more = {"index": 0, "type": "function", "function": {"arguments": piece}}
        yield frame({"role": "assistant", "content": None, "tool_calls": [more]})
    yield frame({"role": "assistant", "content": ""}, "tool_calls")
    yield frame({"role": "assistant", "content": ""}, "tool_calls", usage=p.openrouter_usage())
    yield "data: [DONE]\n\n"


_STREAMS: dict[str, Callable[[int], Iterator[str]]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _messages,
    "gemini": _gemini,
    "ollama": _ollama,
    "openrouter": _openrouter,
    "code-assist": _code_assist,
}


def frames(dialect: str) -> list[bytes]:
    """The stream, one frame for each event; joined they equal the bytes of the provider."""
    build = _STREAMS[dialect]
    # The frames around the deltas reduce the number of argument pieces, so that all streams have EVENTS events.
    around = sum(1 for _ in build(EVENTS)) - EVENTS
    count = EVENTS if dialect in ("gemini", "code-assist") else EVENTS - around
    return [text.encode() for text in build(count)]


def names() -> tuple[str, ...]:
    return tuple(_STREAMS)


def datas(stream: list[bytes]) -> list[bytes]:
    """The JSON of each frame, without framing, for the floors."""
    lines = [line for frame in stream for line in frame.splitlines() if line.startswith((b"data: ", b"{"))]
    return [line.removeprefix(b"data: ") for line in lines if line != b"data: [DONE]"]
