"""A client of generateContent, written from Google's documentation. The conformance kit judges our own writers by
it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialect.endpoints_record import ReferenceClient


def with_user_turn(request: dict[str, Any], text: str) -> dict[str, Any]:
    """The request with one more user turn."""
    return {**request, "contents": [*request["contents"], {"role": "user", "parts": [{"text": text}]}]}


def answered(request: dict[str, Any], answer: Any, outputs: list[Any], strict: bool) -> dict[str, Any]:
    """The next request: the answer, and the results of its calls."""
    content = answer["candidates"][0]["content"]
    if strict:
        # Gemini CLI leaves thoughts out of its history.
        content = {**content, "parts": [part for part in content["parts"] if not part.get("thought")]}
    calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
    results = []
    for call, output in zip(calls, outputs, strict=False):
        call_id = {"id": call["id"]} if "id" in call else {}
        results.append({"functionResponse": {**call_id, "name": call["name"], "response": {"output": output}}})
    turns = [content, {"role": "user", "parts": results}] if results else [content]
    return {**request, "contents": [*request["contents"], *turns]}


def ends_well(frames: list[dict[str, Any]], faults: bool, done: bool) -> bool:
    """Whether some frame has a reason for the end, or the reason why the prompt was blocked."""
    candidates = [candidate for frame in frames for candidate in frame.get("candidates") or ()]
    return any(candidate.get("finishReason") for candidate in candidates) or any(
        frame.get("promptFeedback") for frame in frames
    )


def fold(frames: list[dict[str, Any]], arguments: Callable[[str], Any]) -> Any:
    """The answer in the frames of a stream."""
    out: dict[str, Any] = {}
    candidate: dict[str, Any] = {}
    parts: list[Any] = []
    for frame in frames:
        out.update({key: value for key, value in frame.items() if key != "candidates"})
        for found in frame.get("candidates") or ():
            if found.get("index", 0) == 0:
                candidate.update(found)
                _add_parts(parts, found.get("content", {}).get("parts") or [])
    candidate["content"] = {"role": "model", "parts": parts}
    return {**out, "candidates": [candidate]}


def _add_parts(parts: list[Any], more: list[Any]) -> None:
    """Add parts. Neighbouring texts of one kind are joined; a sealed part stays apart."""
    for part in more:
        last = parts[-1] if parts else {}
        text_only = part.keys() <= {"text", "thought"} and last.keys() <= {"text", "thought"} and "text" in part
        if text_only and "text" in last and last.get("thought") == part.get("thought"):
            parts[-1] = {**last, "text": last["text"] + part["text"]}
        else:
            parts.append(part)


CLIENT = ReferenceClient("/tools", "/tools/*/functionDeclarations/*/name", with_user_turn, answered, fold, ends_well)
