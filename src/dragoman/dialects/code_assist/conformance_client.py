"""A client of Code Assist, written from the sources of Gemini CLI. The conformance kit judges our own writers by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialect.endpoints_record import ReferenceClient
from ..gemini import conformance_client as gemini


def with_user_turn(request: dict[str, Any], text: str) -> dict[str, Any]:
    """The request with one more user turn."""
    return {**request, "request": gemini.with_user_turn(request["request"], text)}


def answered(request: dict[str, Any], answer: Any, outputs: list[Any], strict: bool) -> dict[str, Any]:
    """The next request: the answer, and the results of its calls."""
    return {**request, "request": gemini.answered(request["request"], answer["response"], outputs, strict)}


def ends_well(frames: list[dict[str, Any]], faults: bool, done: bool) -> bool:
    """Whether some frame has the end of the answer."""
    return gemini.ends_well([frame.get("response", frame) for frame in frames], faults, done)


def fold(frames: list[dict[str, Any]], arguments: Callable[[str], Any]) -> Any:
    """The answer in the frames of a stream."""
    inner = [frame["response"] for frame in frames if "response" in frame]
    return {"response": gemini.fold(inner, arguments)}


CLIENT = ReferenceClient(
    "/request/tools", "/request/tools/*/functionDeclarations/*/name", with_user_turn, answered, fold, ends_well
)
