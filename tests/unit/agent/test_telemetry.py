"""Telemetry: the fields that others know, as lines of JSON and as OpenTelemetry's events."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dragoman.canon import Fault, Response, Stop, Text, Turn, Usage
from dragoman.errors import ConfigError
from dragoman.runtime import telemetry
from dragoman.runtime.events import Content, ToolCallRequest
from dragoman.runtime.open_telemetry import OpenTelemetry
from dragoman.runtime.resumable_conversation import Session
from dragoman.runtime.telemetry import Lines
from dragoman.runtime.tool_interface import DiffStat, FileDiff, Outcome, ToolError
from tests.unit.agent.helpers import InTurn, Plain, begun, call, loop, ran, says

AT = datetime(2026, 11, 15, tzinfo=UTC)


def _noted(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_run_as_lines(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    diff = FileDiff("a.txt", "/a.txt", "", "x", "y", DiffStat(1, 1))
    tools = [
        Plain("change", lambda _: Outcome("ok", diff), "edit"),
        Plain("fail", lambda _: ToolError("file_not_found", "no")),
    ]
    answer = says(call("a", "change", '{"path":"/a.txt"}'), call("b", "fail"))
    model = InTurn(Fault("overloaded", "busy", 529, retry_after=0.0), answer, says("Done."))
    ran(loop(model, tools, telemetry=Lines(file, lambda: AT)), begun())
    noted = _noted(file)
    assert [one["event.name"] for one in noted] == [
        *("api_request", "api_error", "api_request", "api_response"),
        *("tool_call", "tool_call", "api_request", "api_response", "agent_run"),
    ]
    assert {one["event.timestamp"] for one in noted} == {"2026-11-15T00:00:00+00:00"}
    assert {one["prompt_id"] for one in noted} == {"s1#turn-1"}
    error, response, change, fail = noted[1], noted[3], noted[4], noted[5]
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


def test_a_call_and_an_answer_that_are_left_are_noted_too(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"

    async def stopped_in(happening: type, *script: Any) -> None:
        async def long(arguments: Any) -> str:
            await asyncio.sleep(30)
            return "never"

        run = loop(InTurn(*script), [Plain("change", long, "edit")], telemetry=Lines(file)).run(begun())
        async for one in run:
            if isinstance(one, happening):
                task = asyncio.ensure_future(anext(run))
                await asyncio.sleep(0.01)
                task.cancel()
                await asyncio.wait({task})
                break
        await run.aclose()

    asyncio.run(stopped_in(ToolCallRequest, says(call("a", "change"))))
    last, run = _noted(file)[-2:]
    assert (run["event.name"], run["finish_reason"]) == ("agent_run", "cancelled")
    assert (last["event.name"], last["success"], last["decision"]) == ("tool_call", False, "auto_accept")
    assert (last["error_type"], last["function_name"]) == ("interrupted", "change")
    endless = says(*["Half of "] * 9)
    asyncio.run(stopped_in(Content, endless))
    last, run = _noted(file)[-2:]
    assert (run["event.name"], run["finish_reason"]) == ("agent_run", "cancelled")
    assert (last["event.name"], last["error_type"], last["status_code"]) == ("api_error", "cancelled", 499)


def test_questions_beside_the_conversation_are_noted(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    session = Session(id="s1", model="test/model")
    turns = [Turn(role, (Text("word " * 400),)) for _ in range(4) for role in ("user", "assistant")]  # type: ignore[arg-type]
    session.turns = tuple(turns)
    session.say("And now?")
    model = InTurn(Fault("overloaded", "busy", 529), says("They talked."), says("Fine."), window=4000)
    ran(loop(model, telemetry=Lines(file)), session)
    kinds = [one["event.name"] for one in _noted(file)]
    asked = ["api_request", "api_error", "api_request", "api_response"]
    assert kinds == [*asked, "agent_run"], "of the summary, then of the question"


def test_a_file_that_cannot_be_written_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"telemetry '.*': No such file or directory"):
        Lines(tmp_path / "missing" / "events.jsonl")


def test_thinking_is_counted_apart() -> None:
    response = Response((Text("Yes."),), Stop("stop"), usage=Usage(100, 30, cache_read=80, reasoning=20))
    event = telemetry.api_response(response, "up/m", 0.5, "p", words=True)
    assert (event.output_token_count, event.thoughts_token_count, event.total_token_count) == (10, 20, 130)
    assert (event.cached_content_token_count, event.duration_ms, event.response_text) == (80, 500, "Yes.")


class Span:
    """A span that keeps what it gets."""

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
    """The spans that are started. The parent of a span is the span in its context."""
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
    tools = [Plain("look", lambda _: "seen"), Plain("fail", lambda _: ToolError("file_not_found", "no"))]
    model = InTurn(says(call("a", "look"), call("b", "fail")), Fault("overloaded", "busy", 529), says("Done."))
    ran(loop(model, tools, telemetry=OpenTelemetry()), begun())
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
    sink.note(telemetry.ApiRequestEvent(prompt_id="p", model="up/m"))
    sink.note(
        telemetry.ToolCallEvent(
            prompt_id="p", function_name="look", function_args={"n": 1}, duration_ms=20, success=True
        )
    )
    assert [record.event_name for record in records] == ["dragoman.api_request", "dragoman.tool_call"]
    assert dict(records[1].attributes)["function_args"] == '{"n":1}'
    span = spans[-1]
    assert records[1].timestamp == span.ended and span.ended is not None
    assert span.ended - span.given["start_time"] == 20_000_000
