"""Telemetry: the fields that others know, as lines of JSON and as OpenTelemetry's events."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dragoman.canon import Fault, Response, Stop, Text, Usage
from dragoman.runtime import telemetry
from dragoman.runtime.telemetry import Lines, OpenTelemetry
from dragoman.runtime.tool import DiffStat, FileDiff, Outcome, ToolError
from tests.unit.agent.rig import InTurn, Plain, begun, call, loop, ran, says

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
        *("tool_call", "tool_call", "api_request", "api_response"),
    ]
    assert {one["event.timestamp"] for one in noted} == {"2026-11-15T00:00:00+00:00"}
    assert {one["prompt_id"] for one in noted} == {"s1########1"}
    error, response, change, fail = noted[1], noted[3], noted[4], noted[5]
    assert (error["error"], error["error_type"], error["status_code"]) == ("busy", "overloaded", 529)
    assert (response["input_token_count"], response["output_token_count"]) == (10, 5)
    assert "response_text" not in response
    assert change["metadata"]["ai_added_lines"] == 1
    assert {key: change[key] for key in ("function_name", "function_args", "success", "decision")} == {
        "function_name": "change",
        "function_args": {"path": "/a.txt"},
        "success": True,
        "decision": "auto_accept",
    }
    assert (fail["success"], fail["error_type"]) == (False, "file_not_found")


def test_thinking_is_counted_apart() -> None:
    response = Response((Text("Yes."),), Stop("stop"), usage=Usage(100, 30, cache_read=80, reasoning=20))
    event = telemetry.api_response(response, "up/m", 0.5, "p", words=True)
    assert (event.output_token_count, event.thoughts_token_count, event.total_token_count) == (10, 20, 130)
    assert (event.cached_content_token_count, event.duration_ms, event.response_text) == (80, 500, "Yes.")


def test_opentelemetry_gets_events_and_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    logs = pytest.importorskip("opentelemetry._logs")
    trace = pytest.importorskip("opentelemetry.trace")
    records: list[Any] = []
    spans: list[Any] = []

    class Logger:
        def emit(self, record: Any) -> None:
            records.append(record)

    class Span:
        def end(self, at: int) -> None:
            spans[-1]["end"] = at

    class Tracer:
        def start_span(self, name: str, **fields: Any) -> Span:
            spans.append({"name": name, **fields})
            return Span()

    monkeypatch.setattr(logs, "get_logger", lambda scope: Logger())
    monkeypatch.setattr(trace, "get_tracer", lambda scope: Tracer())
    sink = OpenTelemetry()
    done = telemetry.ToolCallEvent(
        prompt_id="p", function_name="look", function_args={"n": 1}, duration_ms=20, success=True
    )
    sink.note(telemetry.ApiRequestEvent(prompt_id="p", model="up/m"))
    sink.note(done)
    assert [record.event_name for record in records] == ["dragoman.api_request", "dragoman.tool_call"]
    assert dict(records[1].attributes)["function_args"] == '{"n":1}'
    (span,) = spans
    assert span["name"] == "dragoman.tool_call" and span["end"] - span["start_time"] == 20_000_000
