"""A client of Messages, written from Anthropic's documentation. The conformance kit judges our own writers by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialect.endpoints_record import ReferenceClient


def with_user_turn(request: dict[str, Any], text: str) -> dict[str, Any]:
    """The request with one more user turn."""
    return {**request, "messages": [*request["messages"], {"role": "user", "content": text}]}


def answered(request: dict[str, Any], answer: Any, outputs: list[Any], strict: bool) -> dict[str, Any]:
    """The next request: the answer, and the results of its calls."""
    calls = [block for block in answer["content"] if block.get("type") == "tool_use"]
    results = [
        {"type": "tool_result", "tool_use_id": call["id"], "content": output}
        for call, output in zip(calls, outputs, strict=False)
    ]
    turns = [{"role": "assistant", "content": answer["content"]}]
    turns += [{"role": "user", "content": results}] if results else []
    return {**request, "messages": [*request["messages"], *turns]}


def ends_well(frames: list[dict[str, Any]], faults: bool, done: bool) -> bool:
    """Whether the stream has its last event."""
    return any(frame.get("type") == "message_stop" for frame in frames)


def fold(frames: list[dict[str, Any]], arguments: Callable[[str], Any]) -> Any:
    """The message in the frames of a stream."""
    message: dict[str, Any] = {"content": []}
    blocks: dict[int, dict[str, Any]] = {}
    pieces: dict[int, str] = {}
    for frame in frames:
        kind, at = frame.get("type"), frame.get("index", -1)
        if kind == "message_start":
            message = {**frame["message"], "content": []}
        elif kind == "content_block_start":
            blocks[at] = dict(frame["content_block"])
        elif kind == "content_block_delta" and at in blocks:
            delta = frame["delta"]
            if "partial_json" in delta:
                pieces[at] = pieces.get(at, "") + delta["partial_json"]
            for key in ("text", "thinking", "signature"):
                if key in delta:
                    blocks[at][key] = blocks[at].get(key, "") + delta[key]
        elif kind == "message_delta":
            usage = {**message.get("usage", {}), **frame.get("usage", {})}
            message = {**message, **frame["delta"], "usage": usage}
    for at, text in pieces.items():
        blocks[at]["input"] = arguments(text)
    message["content"] = [blocks[at] for at in sorted(blocks)]
    return message


CLIENT = ReferenceClient("/tools", "/tools/*/name", with_user_turn, answered, fold, ends_well)
