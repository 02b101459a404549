"""Owns streams of generated answers: each answer in pieces, in the legal grammar of its dialect.

Some of these streams a writer of the library would never send. Chunks of Chat, Gemini and Ollama are cut out of the
generated answer here, so that every field is in some chunk. Between the events of Responses there are events that only
report the progress of a hosted tool.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import msgspec

from dragoman import FaultError
from dragoman.canon.fold_and_unfold import unfold
from dragoman.dialects import get
from tests.generated.generated_documents import Drawn, Source, drawer, drawn
from tests.oracles import code_assist
from tests.recorded.recorded_bodies import context

Json = Any


@cache
def streams(dialect: str) -> tuple[Drawn, ...]:
    """Return the generated answers of a dialect as streams; `value` is the raw stream."""
    out: list[Drawn] = []
    for number, one in enumerate(drawn(dialect, "response")):
        try:
            out.append(Drawn(one.id, dialect, "stream", _raw_stream(dialect, one, number)))
        except FaultError:
            continue  # an answer with the status "failed"
    return tuple(out)


def _raw_stream(dialect: str, one: Drawn, number: int) -> bytes:
    if dialect == code_assist.NAME:
        inner = "".join([_frame(chunk) for chunk in _gemini(one.value["response"])])
        return code_assist.wrap_stream(inner.encode(), number)
    if dialect in CUT:
        return "".join([_frame(chunk) for chunk in CUT[dialect](one.value)]).encode() + ENDS.get(dialect, b"")
    if dialect == "ollama":
        return b"".join([msgspec.json.encode(line) + b"\n" for line in _ollama(one.value)])
    return written(dialect, one)


def written(dialect: str, one: Drawn) -> bytes:
    """Return the stream of the answer that the writer of the library makes."""
    under = context(dialect, dialect)
    answer = get(dialect).read_response(one.body, under)
    writer = get(dialect).writer(under)
    return b"".join([writer.send(event) for event in unfold(answer)]) + writer.close()


def _frame(chunk: Json) -> str:
    return f"data: {msgspec.json.encode(chunk).decode()}\n\n"


_IN_PIECES = ("content", "annotations", "refusal", "images", "function_call", "tool_calls")


def _chat(body: Json) -> Iterator[Json]:
    """Cut texts and arguments into two pieces, with one chunk for each call, one for the end and one for the usage."""
    frame = {name: value for name, value in body.items() if name not in ("choices", "usage")}
    frame["object"] = "chat.completion.chunk"
    for choice in body["choices"]:
        message, index = choice["message"], choice["index"]
        fixed = {name: value for name, value in message.items() if name not in _IN_PIECES}
        first: dict[str, Json] = {"delta": {**fixed, "content": ""}, "finish_reason": None, "index": index}
        if "logprobs" in choice:
            first["logprobs"] = choice["logprobs"]
        yield {**frame, "choices": [first]}
        for name in ("content", "annotations", "refusal", "images", "function_call"):
            value = message.get(name)
            for piece in _halves(value) if isinstance(value, str) else (value,) if value else ():
                yield {**frame, "choices": [{"delta": {name: piece}, "finish_reason": None, "index": index}]}
        for number, call in enumerate(message.get("tool_calls") or ()):
            for delta in _call(call, number):
                yield {**frame, "choices": [{"delta": {"tool_calls": [delta]}, "finish_reason": None, "index": index}]}
        rest = {key: value for key, value in choice.items() if key not in ("message", "index", "logprobs")}
        yield {**frame, "choices": [{**rest, "delta": {}, "index": index}]}
    if body.get("usage"):
        yield {**frame, "choices": [], "usage": body["usage"]}


def _call(call: Json, number: int) -> Iterator[Json]:
    kind, field = ("custom", "input") if call.get("type") == "custom" else ("function", "arguments")
    head, *tail = _halves(call[kind][field]) or ("",)
    yield {**call, "index": number, kind: {**call[kind], field: head}}
    for piece in tail:
        yield {"index": number, kind: {field: piece}}


def _halves(text: str) -> tuple[str, ...]:
    """Cut a text into two pieces, with a whole mark in one of them."""
    place = text.find("mk")
    return (text[:place], text[place:]) if place > 0 else (text,) if text else ()


def _gemini(body: Json) -> Iterator[Json]:
    """Write one part in each chunk. Fields of the candidate are in its last chunk, the usage in the last chunk."""
    frame = {name: value for name, value in body.items() if name in ("modelVersion", "responseId", "createTime")}
    rest = {name: value for name, value in body.items() if name != "candidates"}
    chunks: list[Json] = []
    for candidate in body.get("candidates") or ():
        parts = candidate["content"]["parts"]
        for part in parts[:-1]:
            content = {"role": "model", "parts": [part]}
            chunks.append({**frame, "candidates": [{"content": content, "index": candidate["index"]}]})
        chunks.append({**frame, "candidates": [{**candidate, "content": {"role": "model", "parts": parts[-1:]}}]})
    if chunks:
        chunks[-1] = {**rest, **chunks[-1]}
    yield from chunks or [rest]


def _ollama(body: Json) -> Iterator[Json]:
    """Write thoughts, text and calls in separate lines, and the counts in the last line."""
    message = body["message"]
    frame = {"model": body["model"], "created_at": body["created_at"], "done": False}
    for name in ("thinking", "content"):
        for piece in _halves(message.get(name) or ""):
            yield {**frame, "message": {"role": "assistant", "content": "", name: piece}}
    for name in ("images", "tool_calls"):
        if message.get(name):
            yield {**frame, "message": {"role": "assistant", "content": "", name: message[name]}}
    yield {**body, "message": {"role": "assistant", "content": ""}}


CUT: dict[str, Callable[[Json], Iterator[Json]]] = {"openai-chat": _chat, "openrouter": _chat, "gemini": _gemini}
ENDS = {"openai-chat": b"data: [DONE]\n\n", "openrouter": b"data: [DONE]\n\n"}


def progress_events() -> Iterator[tuple[str, bytes]]:
    """Return generated events of Responses that only report the progress of a hosted tool, each as a frame."""
    draw = drawer("openai-responses", Source("openai", "ResponseStreamEvent"), 1)
    for _ in range(_MOST):
        if not draw.missing:
            break
        event = draw.next()
        name = event["type"]
        if _PROGRESS.search(name):
            event |= {"output_index": 90, "item_id": "item_of_nobody"}
            yield name, f"event: {name}\ndata: {msgspec.json.encode(event).decode()}\n\n".encode()


_MOST = 400
_PROGRESS = re.compile(
    r"_call\.(in_progress|searching|generating|interpreting|partial_image)|mcp_|code_interpreter_call_"
)
