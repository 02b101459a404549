"""A client of /api/chat, written from Ollama's documentation. The conformance kit judges our own writers by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialect.endpoints_record import ReferenceClient


def with_user_turn(request: dict[str, Any], text: str) -> dict[str, Any]:
    """The request with one more user turn."""
    return {**request, "messages": [*request["messages"], {"role": "user", "content": text}]}


def answered(request: dict[str, Any], answer: Any, outputs: list[Any], strict: bool) -> dict[str, Any]:
    """The next request: the answer, and the results of its calls."""
    message = answer["message"]
    results = []
    for call, output in zip(message.get("tool_calls") or [], outputs, strict=False):
        call_id = {"tool_call_id": call["id"]} if "id" in call and not strict else {}
        results.append({"role": "tool", "content": output, "tool_name": call["function"]["name"], **call_id})
    if strict:
        # The official Python client has no call ids (ollama 0.6.3).
        calls = [{"function": call["function"]} for call in message.get("tool_calls") or []]
        message = {**message, "tool_calls": calls}
    return {**request, "messages": [*request["messages"], message, *results]}


def ends_well(frames: list[dict[str, Any]], faults: bool, done: bool) -> bool:
    """Whether some frame is the last one."""
    return any(frame.get("done") is True for frame in frames)


def fold(frames: list[dict[str, Any]], arguments: Callable[[str], Any]) -> Any:
    """The answer in the frames of a stream."""
    out: dict[str, Any] = {}
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    for frame in frames:
        out.update(frame)
        piece = frame.get("message") or {}
        for key in ("content", "thinking"):
            if piece.get(key):
                message[key] = message.get(key, "") + piece[key]
        if piece.get("tool_calls"):
            message["tool_calls"] = message.get("tool_calls", []) + piece["tool_calls"]
    return {**out, "message": message}


CLIENT = ReferenceClient("/tools", "/tools/*/function/name", with_user_turn, answered, fold, ends_well)
