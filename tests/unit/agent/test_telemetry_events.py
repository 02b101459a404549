"""Telemetry with the field names of Gemini CLI, as lines of JSON and as OpenTelemetry's events."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dragoman.canon import Fault, Response, Stop, Text, Turn, Usage
from dragoman.errors import ConfigError
from dragoman.runtime import telemetry_events
from dragoman.runtime.events import Content, ToolCallRequest
from dragoman.runtime.open_telemetry import OpenTelemetry
from dragoman.runtime.resumable_conversation import Session
from dragoman.runtime.telemetry_events import JsonLinesFile
from dragoman.runtime.tool_interface import DiffStat, FileDiff, Outcome, ToolError
from tests.unit.agent.helpers import FakeTool, ModelByRequestNumber, answer_of, call, loop, new_session, run_events

AT = datetime(2026, 11, 15, tzinfo=UTC)


def events_in(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_run_is_written_as_lines_of_json(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    diff = FileDiff("a.txt", "/a.txt", "", "x", "y", DiffStat(1, 1))
    tools = [
        FakeTool("change", lambda _: Outcome("ok", diff), "edit"),
        FakeTool("fail", lambda _: ToolError("file_not_found", "no")),
    ]
    answer = answer_of(call("a", "change", '{"path":"/a.txt"}'), call("b", "fail"))
    model = ModelByRequestNumber(Fault("overloaded", "busy", 529, retry_after=0.0), answer, answer_of("Done."))
    run_events(loop(model, tools, telemetry=JsonLinesFile(file, lambda: AT)), new_session())
    events = events_in(file)
    assert [one["event.name"] for one in events] == [
        *("api_request", "api_error", "api_request", "api_response"),
        *("tool_call", "tool_call", "api_request", "api_response", "agent_run"),
    ]
    assert {one["event.timestamp"] for one in events} == {"2026-11-15T00:00:00+00:00"}
    assert {one["prompt_id"] for one in events} == {"s1#turn-1"}
    error, response, change, fail = events[1], events[3], events[4], events[5]
    assert (error["error"], error["error_type"], error["status_code"]) == ("busy", "overloaded", 529)
    assert (response["input_token_count"], response["output_token_count"]) == (10, 5)
    assert "response_text" not in response
    del change["duration_ms"], fail["duration_ms"]
    common = {"event.name": "tool_call", "event.timestamp": AT.isoformat(), "prompt_id": "s1#turn-1"}
    assert change == {
        **common,
        "function_name": "change",
        "function_args": {"path": "/a.txt"},
        "success": True,
        "decision": "auto_accept",
        "tool_type": "native",
        "metadata": {"ai_added_lines": 1, "ai_removed_lines": 1, "user_added_lines": 0, "user_removed_lines": 0},
    }
    assert fail == {
        **common,
        "function_name": "fail",
        "function_args": {},
        "success": False,
        "decision": "auto_accept",
        "error": "no",
        "error_type": "file_not_found",
        "tool_type": "native",
    }
    assert {key for key in response if key.endswith("_count") or key == "status_code"} == {
        *("status_code", "input_token_count", "output_token_count", "cached_content_token_count"),
        *("thoughts_token_count", "tool_token_count", "total_token_count"),
    }


def test_a_cancelled_call_and_a_cancelled_answer_are_recorded(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"

    async def cancel_at(event_type: type, *script: Any) -> None:
        async def long(arguments: Any) -> str:
            await asyncio.sleep(30)
            return "never"

        run = loop(
            ModelByRequestNumber(*script), [FakeTool("change", long, "edit")], telemetry=JsonLinesFile(file)
        ).run(new_session())
        async for one in run:
            if isinstance(one, event_type):
                task = asyncio.ensure_future(anext(run))
                await asyncio.sleep(0.01)
                task.cancel()
                await asyncio.wait({task})
                break
        await run.aclose()

    asyncio.run(cancel_at(ToolCallRequest, answer_of(call("a", "change"))))
    last, run = events_in(file)[-2:]
    assert (run["event.name"], run["finish_reason"]) == ("agent_run", "cancelled")
    assert (last["event.name"], last["success"], last["decision"]) == ("tool_call", False, "auto_accept")
    assert (last["error_type"], last["function_name"]) == ("interrupted", "change")
    endless = answer_of(*["Half of "] * 9)
    asyncio.run(cancel_at(Content, endless))
    last, run = events_in(file)[-2:]
    assert (run["event.name"], run["finish_reason"]) == ("agent_run", "cancelled")
    assert (last["event.name"], last["error_type"], last["status_code"]) == ("api_error", "cancelled", 499)


def test_requests_for_summaries_are_recorded(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    session = Session(id="s1", model="test/model")
    turns = [Turn(role, (Text("word " * 400),)) for _ in range(4) for role in ("user", "assistant")]  # type: ignore[arg-type]
    session.turns = tuple(turns)
    session.say("And now?")
    model = ModelByRequestNumber(
        Fault("overloaded", "busy", 529), answer_of("They talked."), answer_of("Fine."), window=4000
    )
    run_events(loop(model, telemetry=JsonLinesFile(file)), session)
    kinds = [one["event.name"] for one in events_in(file)]
    pair = ["api_request", "api_error", "api_request", "api_response"]
    assert kinds == [*pair, "agent_run"], "first the summary, then the question"


def test_an_unwritable_file_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"telemetry '.*': No such file or directory"):
        JsonLinesFile(tmp_path / "missing" / "events.jsonl")


def test_thinking_tokens_are_counted_separately() -> None:
    response = Response((Text("Yes."),), Stop("stop"), usage=Usage(100, 30, cache_read=80, reasoning=20))
    event = telemetry_events.api_response(response, "up/m", 0.5, "p", words=True)
    assert (event.output_token_count, event.thoughts_token_count, event.total_token_count) == (10, 20, 130)
    assert (event.cached_content_token_count, event.duration_ms, event.response_text) == (80, 500, "Yes.")


class Span:
    """A span that keeps its attributes."""

    def __init__(self, name: str, **given: Any) -> None:
        self.name, self.given = name, given
        self.attributes = dict(given["attributes"])
        self.status: Any = None
        self.ended: int | None = None

    def set_attributes(self, attributes: dict[str, Any]) -> None:
        self.attributes |= attributes

    def set_status(self, status: Any) -> None:
        self.status = status

    def end(self, at: int) -> None:
        self.ended = at


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> list[Span]:
    """The started spans. The parent of a span is the span in its context."""
    trace = pytest.importorskip("opentelemetry.trace")
    found: list[Span] = []

    class Tracer:
        def start_span(self, name: str, **given: Any) -> Span:
            found.append(Span(name, **given))
            return found[-1]

    monkeypatch.setattr(trace, "get_tracer", lambda scope: Tracer())
    monkeypatch.setattr(trace, "set_span_in_context", lambda span: span)
    return found


def test_opentelemetry_gets_one_trace_of_a_run(spans: list[Span]) -> None:
    tools = [FakeTool("look", lambda _: "seen"), FakeTool("fail", lambda _: ToolError("file_not_found", "no"))]
    model = ModelByRequestNumber(
        answer_of(call("a", "look"), call("b", "fail")), Fault("overloaded", "busy", 529), answer_of("Done.")
    )
    run_events(loop(model, tools, telemetry=OpenTelemetry()), new_session())
    run, *inside = spans
    assert run.name == "invoke_agent dragoman" and run.attributes["finish_reason"] == "stop"
    assert all(span.given["context"] is run and span.ended is not None for span in inside)
    assert [span.name for span in inside] == [
        *("chat model", "execute_tool look", "execute_tool fail", "chat model", "chat model")
    ]
    first, look, fail, busy, _ = inside
    assert {name: first.attributes[name] for name in first.attributes if name.startswith("gen_ai")} == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "test",
        "gen_ai.request.model": "model",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 0,
        "gen_ai.conversation.id": "s1",
    }
    assert look.attributes["gen_ai.tool.name"] == "look" and look.status is None
    assert (fail.attributes["error.type"], fail.status.description) == ("file_not_found", "no")
    assert (busy.attributes["error.type"], busy.status.description) == ("overloaded", "busy")
    assert run.attributes["gen_ai.usage.input_tokens"] == 20


def test_opentelemetry_gets_events(spans: list[Span], monkeypatch: pytest.MonkeyPatch) -> None:
    logs = pytest.importorskip("opentelemetry._logs")
    records: list[Any] = []

    class Logger:
        def emit(self, record: Any) -> None:
            records.append(record)

    monkeypatch.setattr(logs, "get_logger", lambda scope: Logger())
    sink = OpenTelemetry()
    sink.note(telemetry_events.ApiRequestEvent(prompt_id="p", model="up/m"))
    sink.note(
        telemetry_events.ToolCallEvent(
            prompt_id="p", function_name="look", function_args={"n": 1}, duration_ms=20, success=True
        )
    )
    assert [record.event_name for record in records] == ["dragoman.api_request", "dragoman.tool_call"]
    assert dict(records[1].attributes)["function_args"] == '{"n":1}'
    span = spans[-1]
    assert records[1].timestamp == span.ended and span.ended is not None
    assert span.ended - span.given["start_time"] == 20_000_000
