"""Owns telemetry: events with fixed fields about tools and upstreams.

`JsonLinesFile` writes events as lines of JSON. `open_telemetry.py` passes events to the OpenTelemetry API of the
process. Without `JsonLinesFile` and without OpenTelemetry no event leaves the loop.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec
from msgspec import Struct

from ..canon.events import Fault
from ..canon.response import Response, Usage
from ..errors import ConfigError
from .history import text_of
from .tool_interface import DiffStat, FileDiff
from .toolbox import Decision, FinishedCall

EVENT_NAME = "event.name"
"""The field with the kind of an event."""
_LEFT = 499
"""Status 499: web servers log it when the client closes the connection."""


class _Event(
    Struct,
    frozen=True,
    kw_only=True,
    tag_field=EVENT_NAME,
    tag=lambda name: re.sub(r"(?<!^)(?=[A-Z])", "_", name.removesuffix("Event")).lower(),
):
    prompt_id: str


class ToolCallEvent(_Event, frozen=True, kw_only=True):
    """The end of a call: success, failure or refusal."""

    function_name: str
    function_args: Any
    duration_ms: int
    success: bool
    decision: Decision | None = None
    error: str | None = None
    error_type: str | None = None
    tool_type: Literal["native", "mcp"] = "native"
    metadata: DiffStat | None = None


class ApiRequestEvent(_Event, frozen=True, kw_only=True):
    """A request to an upstream."""

    model: str
    request_text: str | None = None


class ApiResponseEvent(_Event, frozen=True, kw_only=True):
    """An answer of an upstream."""

    model: str
    duration_ms: int
    status_code: int = 200
    input_token_count: int = 0
    output_token_count: int = 0
    cached_content_token_count: int = 0
    thoughts_token_count: int = 0
    tool_token_count: int = 0
    total_token_count: int = 0
    response_text: str | None = None


class ApiErrorEvent(_Event, frozen=True, kw_only=True):
    """A fault of an upstream."""

    model: str
    error: str
    error_type: str
    status_code: int
    duration_ms: int


class AgentRunEvent(_Event, frozen=True, kw_only=True):
    """The end of a run, with the totals for one prompt."""

    model: str
    duration_ms: int
    finish_reason: str
    input_token_count: int = 0
    output_token_count: int = 0
    cost: float | None = None
    """US dollars. None: a price is unknown."""


Noted = ToolCallEvent | ApiRequestEvent | ApiResponseEvent | ApiErrorEvent | AgentRunEvent


class Telemetry(Protocol):
    """Takes events."""

    def note(self, event: Noted) -> None:
        """Take one event."""


def tool_call(done: FinishedCall, prompt_id: str, *, mcp: bool) -> ToolCallEvent:
    """The event of a call."""
    failure, shown = done.outcome.failure, done.outcome.display
    try:
        arguments = done.call.input
    except (ValueError, RecursionError):
        arguments = done.call.arguments
    return ToolCallEvent(
        prompt_id=prompt_id,
        function_name=done.call.name,
        function_args=arguments,
        duration_ms=round(done.seconds * 1000),
        success=failure is None,
        decision=done.decision,
        error=failure.message if failure is not None else None,
        error_type=failure.kind if failure is not None else None,
        tool_type="mcp" if mcp else "native",
        metadata=shown.stat if isinstance(shown, FileDiff) else None,
    )


def api_response(response: Response, model: str, seconds: float, prompt_id: str, *, words: bool) -> ApiResponseEvent:
    """The event of an answer. It holds the text only if `words` is true."""
    usage = response.usage or Usage()
    # In canon the output tokens include thinking.
    thought = usage.reasoning or 0
    return ApiResponseEvent(
        prompt_id=prompt_id,
        model=model,
        duration_ms=round(seconds * 1000),
        input_token_count=usage.input or 0,
        output_token_count=max(0, (usage.output or 0) - thought),
        cached_content_token_count=usage.cache_read or 0,
        thoughts_token_count=thought,
        tool_token_count=_of_tools(usage),
        total_token_count=(usage.input or 0) + (usage.output or 0),
        response_text=text_of(response.parts) if words else None,
    )


def _of_tools(usage: Usage) -> int:
    """Tokens that hosted tools read. Only Gemini counts them separately (toolUsePromptTokenCount)."""
    found = (usage.extra or {}).get("gemini", {}).get("toolUsePromptTokenCount")
    return int(bytes(found)) if found is not None and bytes(found).isdigit() else 0


def stopped_answer(model: str, seconds: float, prompt_id: str) -> ApiErrorEvent:
    """The event of an answer that was stopped: by the end of the run, or because the model repeated itself."""
    return ApiErrorEvent(
        prompt_id=prompt_id,
        model=model,
        error="the answer was not read to its end",
        error_type="cancelled",
        status_code=_LEFT,
        duration_ms=round(seconds * 1000),
    )


def api_error(fault: Fault, model: str, seconds: float, prompt_id: str) -> ApiErrorEvent:
    """The event of a fault."""
    return ApiErrorEvent(
        prompt_id=prompt_id,
        model=model,
        error=fault.message,
        error_type=fault.kind,
        status_code=fault.status,
        duration_ms=round(seconds * 1000),
    )


class JsonLinesFile:
    """A file of JSON lines, each with the time."""

    def __init__(self, file: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._file = file
        self._now = now
        # A wrong path is found at the start, not at the first event.
        try:
            file.open("ab").close()
        except OSError as error:
            raise ConfigError("telemetry", str(file), problem=error.strerror or str(error)) from None

    def note(self, event: Noted) -> None:
        fields = {"event.timestamp": self._now().isoformat(), **fields_of(event)}
        # Opened for each event, so that the file can be moved away in between.
        with self._file.open("ab") as out:
            out.write(msgspec.json.encode(fields) + b"\n")


def fields_of(event: Noted) -> dict[str, Any]:
    """The fields with a value. Unknown fields are left out."""
    return {name: value for name, value in msgspec.to_builtins(event).items() if value is not None}
