"""Owns the scripts of three upstreams that seal: their answers, whole and streamed, and the seals that must come back.

An answer is a list of pieces. The body and the stream of an answer have the same pieces. `sealed_of` reads a request as
the upstream does: the calls and the sealed pieces of each earlier answer, in order.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any, NamedTuple

Json = Any
Piece = tuple[str, ...]
"""thought, text: words, seal. redacted: seal. call: id, name, arguments, seal."""


class Upstream(NamedTuple):
    dialect: str
    model: str
    answers: list[list[Piece]]
    """The answers in order. After a call comes its result. After any other answer comes the user's next turn."""


def seal(name: str, size: int) -> str:
    """A different seal for each name: base64 of `size` bytes."""
    block = hashlib.sha512(name.encode()).digest()
    return base64.b64encode((block * (size // len(block) + 1))[:size]).decode()


def gemini(size: int) -> Upstream:
    def s(name: str) -> str:
        return seal("gemini" + name, size)

    return Upstream(
        "gemini",
        "gemini-3-pro-preview",
        [
            # Parallel calls: only the first call has a seal.
            [
                ("thought", "Two cities.", ""),
                ("call", "a1", "weather", '{"city":"Paris"}', s("1")),
                ("call", "a2", "weather", '{"city":"Rome"}', ""),
            ],
            # A seal on a separate thought, and another on the call.
            [("thought", "Compare them.", s("2t")), ("call", "a3", "compare", '{"a":1,"b":2}', s("2"))],
            # Words before the calls, a seal on the words, and seals on both calls.
            [
                ("text", "Once more. ", s("3x")),
                ("call", "a4", "weather", "{}", s("3")),
                ("call", "a5", "weather", '{"city":"Oslo"}', s("3b")),
            ],
            [("text", "Paris is warmer.", s("4"))],
            [("call", "a6", "weather", '{"city":"Bern"}', s("5"))],
            # Words without a seal, then an empty part with a seal.
            [("thought", "Cold.", ""), ("text", "Bern is cold.", ""), ("text", "", s("6"))],
            [("text", "Goodbye.", "")],
        ],
    )


def anthropic(size: int) -> Upstream:
    def s(name: str) -> str:
        return seal("anthropic" + name, size)

    return Upstream(
        "anthropic",
        "claude-sonnet-4-5",
        [
            [
                ("thought", "Two cities,\n\nso two calls.", s("1")),
                ("redacted", s("1r")),
                ("text", "Let me look.", ""),
                ("call", "toolu_1", "weather", '{"city":"Paris"}', ""),
                ("call", "toolu_2", "weather", '{"city":"Rome"}', ""),
            ],
            # Interleaved: thoughts between the calls.
            [
                ("thought", "", s("2")),
                ("call", "toolu_3", "compare", '{"a":1}', ""),
                ("thought", "And the other way.", s("3")),
                ("call", "toolu_4", "compare", '{"b":1}', ""),
            ],
            [("redacted", s("4r")), ("thought", "Clear.", s("4")), ("text", "Paris is warmer.", "")],
            [("thought", "Bern now.", s("5")), ("call", "toolu_5", "weather", '{"city":"Bern"}', "")],
            [("thought", "Cold.", s("6")), ("text", "Bern is cold.", "")],
            [("text", "Goodbye.", "")],
        ],
    )


def responses(size: int) -> Upstream:
    def s(name: str) -> str:
        return "gAAAA" + seal("responses" + name, size)

    return Upstream(
        "openai-responses",
        "gpt-5.1",
        [
            [
                ("thought", "Two cities.", s("1")),
                ("call", "call_1", "weather", '{"city":"Paris"}', ""),
                ("call", "call_2", "weather", '{"city":"Rome"}', ""),
            ],
            [
                ("thought", "", s("2")),
                ("text", "Comparing.", ""),
                ("thought", "One way.", s("3")),
                ("call", "call_3", "compare", '{"a":1}', ""),
            ],
            [("thought", "", s("4")), ("text", "Paris is warmer.", "")],
            [("thought", "Bern.", s("5")), ("call", "call_4", "weather", '{"city":"Bern"}', "")],
            [("thought", "Cold.", s("6")), ("text", "Bern is cold.", "")],
            [("text", "Goodbye.", "")],
        ],
    )


UPSTREAMS = {"gemini": gemini, "anthropic": anthropic, "openai-responses": responses}


# The answers as bytes.


def body(upstream: Upstream, number: int) -> bytes:
    return json.dumps(_BODIES[upstream.dialect](upstream.answers[number], upstream.model, number)).encode()


def stream(upstream: Upstream, number: int) -> bytes:
    out: bytes = _STREAMS[upstream.dialect](upstream.answers[number], upstream.model, number)
    return out


def _calls(pieces: list[Piece]) -> bool:
    return any(piece[0] == "call" for piece in pieces)


def _gemini_part(piece: Piece) -> Json:
    out: Json
    if piece[0] == "call":
        out = {"functionCall": {"id": piece[1], "name": piece[2], "args": json.loads(piece[3])}}
    else:
        out = {"text": piece[1]}
        if piece[0] == "thought":
            out["thought"] = True
    if piece[-1]:
        out["thoughtSignature"] = piece[-1]
    return out


def _gemini_body(pieces: list[Piece], model: str, number: int, parts: list[Json] | None = None) -> Json:
    found = [_gemini_part(piece) for piece in pieces] if parts is None else parts
    return {
        "candidates": [{"content": {"role": "model", "parts": found}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 5, "totalTokenCount": 10},
        "modelVersion": model,
        "responseId": f"r{number}",
    }


def _gemini_stream(pieces: list[Piece], model: str, number: int) -> bytes:
    chunks = []
    for place, piece in enumerate(pieces):
        parts = [_gemini_part(piece)]
        if piece[0] == "text" and not piece[-1] and len(piece[1]) > 4:
            parts = [{"text": piece[1][:4]}, {"text": piece[1][4:]}]  # in two chunks
        for part in parts:
            chunk = _gemini_body([], model, number, [part])
            if place + 1 < len(pieces) or part is not parts[-1]:
                del chunk["candidates"][0]["finishReason"]
            chunks.append(chunk)
    return b"".join([b"data: " + json.dumps(chunk).encode() + b"\r\n\r\n" for chunk in chunks])


def _anthropic_block(piece: Piece) -> Json:
    if piece[0] == "call":
        return {"type": "tool_use", "id": piece[1], "name": piece[2], "input": json.loads(piece[3])}
    if piece[0] == "redacted":
        return {"type": "redacted_thinking", "data": piece[1]}
    if piece[0] == "thought":
        return {"type": "thinking", "thinking": piece[1], "signature": piece[2]}
    return {"type": "text", "text": piece[1]}


def _anthropic_body(pieces: list[Piece], model: str, number: int) -> Json:
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": model + "-20250929",
        "content": [_anthropic_block(piece) for piece in pieces],
        "stop_reason": "tool_use" if _calls(pieces) else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 5, "output_tokens": 5},
    }


def _anthropic_stream(pieces: list[Piece], model: str, number: int) -> bytes:
    whole = _anthropic_body(pieces, model, number)
    events: list[Json] = [{"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}]
    for index, block in enumerate(whole["content"]):
        empty, deltas = dict(block), []
        if block["type"] == "thinking":
            empty |= {"thinking": "", "signature": ""}
            if block["thinking"]:
                deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _halves(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        elif block["type"] == "text":
            empty["text"] = ""
            deltas = [{"type": "text_delta", "text": piece} for piece in _halves(block["text"])]
        elif block["type"] == "tool_use":
            empty["input"] = {}
            text = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in _halves(text)]
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}})
    events.append({"type": "message_stop"})
    return _sse(events)


def _halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]


def _sse(events: list[Json]) -> bytes:
    return b"".join(
        [b"event: %b\ndata: %b\n\n" % (event["type"].encode(), json.dumps(event).encode()) for event in events]
    )


def _responses_item(piece: Piece, name: str) -> Json:
    if piece[0] == "call":
        call = {"type": "function_call", "id": f"fc_{name}", "call_id": piece[1], "name": piece[2]}
        return {**call, "arguments": piece[3], "status": "completed"}
    if piece[0] == "thought":
        summary = [{"type": "summary_text", "text": piece[1]}] if piece[1] else []
        return {"type": "reasoning", "id": f"rs_{name}", "summary": summary, "encrypted_content": piece[2]}
    content = [{"type": "output_text", "text": piece[1], "annotations": [], "logprobs": []}]
    return {"type": "message", "id": f"msg_{name}", "role": "assistant", "status": "completed", "content": content}


def _responses_body(pieces: list[Piece], model: str, number: int) -> Json:
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": model + "-2025-11-13",
        "output": [_responses_item(piece, f"{number}_{place}") for place, piece in enumerate(pieces)],
        "usage": {"input_tokens": 5, "output_tokens": 5, "total_tokens": 10},
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def _responses_stream(pieces: list[Piece], model: str, number: int) -> bytes:
    whole = _responses_body(pieces, model, number)
    started = {**whole, "status": "in_progress", "output": []}
    events: list[Json] = [{"type": "response.created", "response": started}]
    for place, item in enumerate(whole["output"]):
        where = {"item_id": item["id"], "output_index": place}
        if item["type"] == "function_call":
            added = {**item, "arguments": "", "status": "in_progress"}
            deltas_of_item: list[tuple[str, Json, str, str]] = [
                ("response.function_call_arguments", {}, "arguments", item["arguments"])
            ]
        elif item["type"] == "reasoning":
            added = {**item, "summary": [], "encrypted_content": item["encrypted_content"][:8]}
            texts = [part["text"] for part in item["summary"]]
            deltas_of_item = [("response.reasoning_summary_text", {"summary_index": 0}, "text", text) for text in texts]
        else:
            added = {**item, "content": [], "status": "in_progress"}
            text = item["content"][0]["text"]
            deltas_of_item = [("response.output_text", {"content_index": 0, "logprobs": []}, "text", text)]
        events.append({"type": "response.output_item.added", "output_index": place, "item": added})
        for kind, more, field, text in deltas_of_item:
            if kind == "response.output_text":
                part = {**item["content"][0], "text": ""}
                events.append({"type": "response.content_part.added", **where, "content_index": 0, "part": part})
            events += [{"type": f"{kind}.delta", **where, **more, "delta": piece} for piece in _halves(text)]
            events.append({"type": f"{kind}.done", **where, **more, field: text})
        events.append({"type": "response.output_item.done", "output_index": place, "item": item})
    events.append({"type": "response.completed", "response": whole})
    return _sse([{**event, "sequence_number": number} for number, event in enumerate(events)])


_BODIES: dict[str, Any] = {"gemini": _gemini_body, "anthropic": _anthropic_body, "openai-responses": _responses_body}
_STREAMS: dict[str, Any] = {
    "gemini": _gemini_stream,
    "anthropic": _anthropic_stream,
    "openai-responses": _responses_stream,
}


# The calls and sealed pieces of each answer, in order. They must come back.


def expected(upstream: Upstream, number: int) -> list[Piece]:
    """The calls and the sealed pieces of an answer: kind, content and seal."""
    return [
        (piece[0], piece[1], piece[-1]) if piece[0] != "redacted" else ("redacted", "", piece[1])
        for piece in upstream.answers[number]
        if piece[0] in ("call", "redacted") or piece[-1]
    ]


def sealed_of(request: Json, dialect: str) -> list[list[Piece]]:
    """The calls and the sealed pieces of every assistant turn in a request."""
    if dialect == "gemini":
        turns = [content["parts"] for content in request["contents"] if content["role"] == "model"]
        return [[piece for part in turn if (piece := _of_part(part)) is not None] for turn in turns]
    if dialect == "anthropic":
        blocks = [message["content"] for message in request["messages"] if message["role"] == "assistant"]
        turns_with_blocks = [turn for turn in blocks if isinstance(turn, list)]
        return [[piece for block in turn if (piece := _of_block(block)) is not None] for turn in turns_with_blocks]
    return _of_items(request["input"])


def _of_part(part: Json) -> Piece | None:
    slot = part.get("thoughtSignature", "")
    if "functionCall" in part:
        return ("call", part["functionCall"]["id"], slot)
    return ("thought" if part.get("thought") else "text", part["text"], slot) if slot else None


def _of_block(block: Json) -> Piece | None:
    if block["type"] == "tool_use":
        return ("call", block["id"], "")
    if block["type"] == "thinking":
        return ("thought", block["thinking"], block["signature"])
    return ("redacted", "", block["data"]) if block["type"] == "redacted_thinking" else None


def _of_items(items: list[Json]) -> list[list[Piece]]:
    turns: list[list[Piece]] = []
    in_answer = False
    for item in items:
        kind = item.get("type", "message")
        from_model = kind in ("reasoning", "function_call") or item.get("role") == "assistant"
        if from_model and not in_answer:
            turns.append([])
        in_answer = from_model
        if kind == "function_call":
            turns[-1].append(("call", item["call_id"], ""))
        elif kind == "reasoning" and "encrypted_content" in item:
            text = "".join([part["text"] for part in item["summary"]])
            turns[-1].append(("thought", text, item["encrypted_content"]))
    return turns
