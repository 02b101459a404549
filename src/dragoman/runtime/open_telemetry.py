"""Owns telemetry by the OpenTelemetry API of the process (extra `otel`): one trace for each run of the agent.

The span of a run has a span for each request to a model and for each call of a tool. Names and attributes follow the
semantic conventions for GenAI (opentelemetry-semantic-conventions 0.66b2, 2026-11), so that trace viewers understand
them. The fields of our own events are added.
"""

from __future__ import annotations

import time
from typing import Any

import msgspec

from ..errors import ConfigError
from .telemetry_events import (
    EVENT_NAME,
    AgentRunEvent,
    ApiRequestEvent,
    ApiResponseEvent,
    Noted,
    ToolCallEvent,
    fields_of,
)

_OPERATION, _CONVERSATION = "gen_ai.operation.name", "gen_ai.conversation.id"
_AGENT = "dragoman"


class OpenTelemetry:
    """Events and spans of the OpenTelemetry API, with the fields as attributes. The set-up of the process (`OTEL_...`)
    decides where they go."""

    def __init__(self, scope: str = "dragoman") -> None:
        try:
            from opentelemetry import _logs as logs
            from opentelemetry import trace
        except ModuleNotFoundError:
            raise ConfigError(
                "telemetry", "otel", problem="it needs opentelemetry: pip install 'dragoman[otel]'"
            ) from None
        self._record, self._trace = logs.LogRecord, trace
        self._logger = logs.get_logger(scope)
        self._tracer = trace.get_tracer(scope)
        self._runs: dict[str, Any] = {}
        """The open span of each run, by the id of its prompt."""

    def note(self, event: Noted) -> None:
        """Write an event as a record. The end of a request or a call is also written as a span."""
        fields = fields_of(event)
        name, end = fields.pop(EVENT_NAME), time.time_ns()
        plain = {key: _attribute(value) for key, value in fields.items()}
        self._logger.emit(self._record(timestamp=end, event_name=f"dragoman.{name}", body=name, attributes=plain))
        if isinstance(event, AgentRunEvent):
            run = self._runs.pop(event.prompt_id, None)
            if run is not None:
                run.set_attributes({**plain, **_usage_attributes(event.input_token_count, event.output_token_count)})
                run.end(end)
            return
        run = self._run(event)
        if isinstance(event, ApiRequestEvent):  # the span of a request is created when the request is over
            return
        span = self._tracer.start_span(
            _name(event),
            context=self._trace.set_span_in_context(run),
            # By the conventions a tool runs inside this process, and a model outside.
            kind=self._trace.SpanKind.INTERNAL if isinstance(event, ToolCallEvent) else self._trace.SpanKind.CLIENT,
            attributes={**plain, **_span_attributes(event)},
            # The span is made at its end, so its beginning is computed.
            start_time=end - event.duration_ms * 10**6,
        )
        if not isinstance(event, ApiResponseEvent) and event.error is not None:
            span.set_status(self._trace.Status(self._trace.StatusCode.ERROR, event.error))
        span.end(end)

    def _run(self, event: Noted) -> Any:
        """The span of the run that an event belongs to. The first event begins the span."""
        found = self._runs.get(event.prompt_id)
        if found is None:
            attributes = {_OPERATION: "invoke_agent", "gen_ai.agent.name": _AGENT, **_conversation_attributes(event)}
            found = self._tracer.start_span(f"invoke_agent {_AGENT}", attributes=attributes)
            self._runs[event.prompt_id] = found
        return found


def _name(event: Noted) -> str:
    if isinstance(event, ToolCallEvent):
        return f"execute_tool {event.function_name}"
    return f"chat {event.model.partition('/')[2] or event.model}"


def _span_attributes(event: Noted) -> dict[str, str | int]:
    """The attributes of a span by the conventions."""
    if isinstance(event, ToolCallEvent):
        failed = {"error.type": event.error_type} if event.error_type is not None else {}
        return {
            _OPERATION: "execute_tool",
            "gen_ai.tool.name": event.function_name,
            **failed,
            **_conversation_attributes(event),
        }
    provider, _, model = event.model.partition("/")
    found: dict[str, str | int] = {_OPERATION: "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": model}
    if isinstance(event, ApiResponseEvent):
        # In the conventions the output tokens include thinking; in our event they do not.
        found |= _usage_attributes(event.input_token_count, event.output_token_count + event.thoughts_token_count)
        found["gen_ai.usage.cache_read.input_tokens"] = event.cached_content_token_count
    elif not isinstance(event, ApiRequestEvent | AgentRunEvent):
        found["error.type"] = event.error_type
    return {**found, **_conversation_attributes(event)}


def _conversation_attributes(event: Noted) -> dict[str, str]:
    # The id of a prompt begins with the id of its session.
    return {_CONVERSATION: event.prompt_id.partition("#")[0]}


def _usage_attributes(read: int, written: int) -> dict[str, int]:
    return {"gen_ai.usage.input_tokens": read, "gen_ai.usage.output_tokens": written}


def _attribute(value: Any) -> str | bool | int | float:
    """A value that OpenTelemetry takes as an attribute. Other values become JSON text."""
    return value if isinstance(value, str | bool | int | float) else msgspec.json.encode(value).decode()
