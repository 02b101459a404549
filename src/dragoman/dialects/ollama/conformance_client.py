"""A client of /api/chat, as its documentation has it: for the conformance kit, which judges our own writers by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...endpoints.records import Client


def said(request: dict[str, Any], text: str) -> dict[str, Any]:
    return {**request, "messages": [*request["messages"], {"role": "user", "content": text}]}


def answered(request: dict[str, Any], answer: Any, outputs: list[Any], strict: bool) -> dict[str, Any]:
    message = answer["message"]
    results = []
    for call, output in zip(message.get("tool_calls") or [], outputs, strict=False):
        told = {"tool_call_id": call["id"]} if "id" in call and not strict else {}
        results.append({"role": "tool", "content": output, "tool_name": call["function"]["name"], **told})
    if strict:
        # The official Python client knows no call ids.
        calls = [{"function": call["function"]} for call in message.get("tool_calls") or []]
        message = {**message, "tool_calls": calls}
    return {**request, "messages": [*request["messages"], message, *results]}


def ends_well(frames: list[dict[str, Any]], faults: bool, done: bool) -> bool:
    return any(frame.get("done") is True for frame in frames)


def fold(frames: list[dict[str, Any]], arguments: Callable[[str], Any]) -> Any:
    out: dict[str, Any] = {}
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    for frame in frames:
        out.update(frame)
        said = frame.get("message") or {}
        for key in ("content", "thinking"):
            if said.get(key):
                message[key] = message.get(key, "") + said[key]
        if said.get("tool_calls"):
            message["tool_calls"] = message.get("tool_calls", []) + said["tool_calls"]
    return {**out, "message": message}


CLIENT = Client("/tools", "/tools/*/function/name", said, answered, fold, ends_well)
