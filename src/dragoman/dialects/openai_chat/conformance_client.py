"""A client of Chat Completions, written from OpenAI's documentation. The conformance kit judges our own writers by
it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialect.endpoints_record import ReferenceClient

_MESSAGE = ("role", "content", "refusal", "tool_calls")
_CALL = ("id", "type", "function")


def with_user_turn(request: dict[str, Any], text: str) -> dict[str, Any]:
    """The request with one more user turn."""
    return {**request, "messages": [*request["messages"], {"role": "user", "content": text}]}


def answered(request: dict[str, Any], answer: Any, outputs: list[Any], strict: bool) -> dict[str, Any]:
    """The next request: the answer, and the results of its calls."""
    return with_answer(request, answer, outputs, _MESSAGE if strict else None)


def with_answer(
    request: dict[str, Any], answer: Any, outputs: list[Any], known: tuple[str, ...] | None
) -> dict[str, Any]:
    """The next request of a client that keeps the `known` fields of a message, or all fields."""
    message = answer["choices"][0]["message"]
    calls = message.get("tool_calls") or []
    if known is not None:
        message = {key: value for key, value in message.items() if key in known}
        if calls:
            message["tool_calls"] = [{key: call[key] for key in _CALL if key in call} for call in calls]
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": output}
        for call, output in zip(calls, outputs, strict=False)
    ]
    return {**request, "messages": [*request["messages"], message, *results]}


def ends_well(frames: list[dict[str, Any]], faults: bool, done: bool) -> bool:
    """Whether the stream has a reason for its end and, without a fault, [DONE]."""
    reasons = [choice.get("finish_reason") for frame in frames for choice in frame.get("choices") or ()]
    # A fault may end the stream before [DONE]. Without a fault both are needed.
    return any(reason not in (None, "error") for reason in reasons) and (faults or done)


def fold(frames: list[dict[str, Any]], arguments: Callable[[str], Any]) -> Any:
    """The answer in the frames of a stream."""
    out: dict[str, Any] = {}
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[int, dict[str, Any]] = {}
    details: dict[Any, dict[str, Any]] = {}
    reason: Any = None
    for frame in frames:
        out.update({key: value for key, value in frame.items() if key != "choices" and value is not None})
        for choice in frame.get("choices") or ():
            if choice.get("index", 0) != 0:
                continue
            reason = choice.get("finish_reason") or reason
            delta = choice.get("delta") or {}
            for key in ("content", "refusal", "reasoning", "reasoning_content"):
                if delta.get(key):
                    message[key] = (message.get(key) or "") + delta[key]
            for piece in delta.get("tool_calls") or ():
                _add_call(calls.setdefault(piece.get("index", 0), {"function": {"name": "", "arguments": ""}}), piece)
            for piece in delta.get("reasoning_details") or ():
                _add_detail(details.setdefault((piece.get("index"), piece.get("type")), {}), piece)
    if calls:
        message["tool_calls"] = [calls[at] for at in sorted(calls)]
    if details:
        message["reasoning_details"] = list(details.values())
    return {**out, "choices": [{"index": 0, "message": message, "finish_reason": reason}]}


def _add_call(call: dict[str, Any], piece: dict[str, Any]) -> None:
    # Repeated values are joined, as the SDK does (openai 3.51.0, 2026-11). So a name that is repeated in every piece
    # gives a broken call.
    function = piece.get("function") or {}
    call.update({key: value for key, value in piece.items() if key not in ("index", "function")})
    call["function"]["name"] += function.get("name") or ""
    call["function"]["arguments"] += function.get("arguments") or ""


def _add_detail(detail: dict[str, Any], piece: dict[str, Any]) -> None:
    for key, value in piece.items():
        joined = key in ("text", "summary") and isinstance(detail.get(key), str) and isinstance(value, str)
        detail[key] = detail[key] + value if joined else value


CLIENT = ReferenceClient("/tools", "/tools/*/function/name", with_user_turn, answered, fold, ends_well)
