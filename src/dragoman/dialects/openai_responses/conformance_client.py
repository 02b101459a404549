"""A client of Responses, written from OpenAI's documentation. The conformance kit judges our own writers by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialect.endpoints_record import ReferenceClient


def with_user_turn(request: dict[str, Any], text: str) -> dict[str, Any]:
    """The request with one more user turn."""
    return {**request, "input": [*request["input"], {"role": "user", "content": text}]}


def answered(request: dict[str, Any], answer: Any, outputs: list[Any], strict: bool) -> dict[str, Any]:
    """The next request: the answer, and the results of its calls."""
    items = answer["output"]
    calls = [item for item in items if item.get("type") in ("function_call", "custom_tool_call")]
    results = [
        {"type": f"{call['type']}_output", "call_id": call["call_id"], "output": output}
        for call, output in zip(calls, outputs, strict=False)
    ]
    before = request["input"]
    if isinstance(before, str):
        before = [{"role": "user", "content": before}]
    return {**request, "input": [*before, *items, *results]}


def ends_well(frames: list[dict[str, Any]], faults: bool, done: bool) -> bool:
    """Whether the stream has its last event."""
    return any(frame.get("type") in ("response.completed", "response.incomplete") for frame in frames)


def fold(frames: list[dict[str, Any]], arguments: Callable[[str], Any]) -> Any:
    """The response in the frames of a stream, with the output of its last event beside the output of the item
    events."""
    items = {
        frame["output_index"]: frame["item"] for frame in frames if frame.get("type") == "response.output_item.done"
    }
    last: dict[str, Any] = {}
    for frame in frames:
        if isinstance(frame.get("response"), dict):
            last = frame["response"]
    return {**last, "output": [items[at] for at in sorted(items)], "terminal_output": last.get("output", [])}


CLIENT = ReferenceClient("/tools", "/tools/*/name", with_user_turn, answered, fold, ends_well)
