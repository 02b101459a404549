"""The types that a caller of the public modules beside `dragoman` sees: agents, tools, files, facts, memory, rehearsal.

As in `test_public_types.py`, two type checkers read this file (`make types`), and pytest runs it.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, assert_type

import pytest

import dragoman
from dragoman import Loss, Text, ToolCall, ToolResult, Translation, fast, rehearsal
from dragoman.canon import Fault, Request, Response, Turn
from dragoman.convert import Converted, LineConverter
from dragoman.facts import hosts, profiles, windows_and_prices
from dragoman.facts.host import Host
from dragoman.facts.profile import Profile
from dragoman.runtime import (
    Agent,
    Approval,
    Confirmation,
    Content,
    DiffUpdate,
    DiffViewer,
    Finished,
    FunctionTool,
    Limits,
    Outcome,
    OutputError,
    Policy,
    Reply,
    RunEvent,
    Session,
    Tool,
    Toolbox,
    ToolCallRequest,
    ToolCallResponse,
    ToolEnvironment,
    ToolError,
    WindowAndPrices,
    builtin,
    tool,
)
from dragoman.runtime.tool_interface import FileDiff, Kind


@dataclasses.dataclass
class Forecast:
    city: str
    degrees: int


@tool
def weather(city: str, unit: Literal["C", "F"] = "C") -> str:
    """The weather in a city."""
    return f"5 degrees {unit} in {city}"


@tool(confirm=True, kind="read")
async def forecast(city: str, days: int = 1) -> list[int]:
    """The degrees of the next days."""
    return [5] * days


def only_paris(call: ToolCall) -> str | None:
    return None if "Paris" in call.arguments else "Only Paris is known."


async def in_capitals(call: ToolCall, result: ToolResult) -> ToolResult | None:
    return ToolResult(
        result.call_id, tuple([Text(part.text.upper()) for part in result.parts if isinstance(part, Text)])
    )


async def yes(confirmation: Confirmation) -> Approval:
    assert_type(confirmation.title, str)
    return Approval("once")


class Editor:
    """An editor that accepts every edit."""

    async def open(self, diff: FileDiff, /) -> DiffUpdate:
        return DiffUpdate("accepted", diff.new)


class Clock(Tool):
    """A tool that is a class."""

    name = "clock"
    description = "The time."
    schema: Mapping[str, Any] = {"type": "object"}
    kind: Kind = "read"

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        assert_type(around.workspace, tuple[Path, ...])
        return Outcome("noon", "noon")


def test_a_decorated_function_keeps_its_parameters_and_its_result() -> None:
    assert_type(weather("Paris"), str)
    assert_type(weather("Paris", unit="F"), str)
    assert_type(weather.name, str)
    assert_type(weather.description, str)
    assert_type(weather.schema, Mapping[str, Any])
    made: FunctionTool[..., Any] = forecast
    as_tool: Tool = weather
    assert made.name == "forecast" and as_tool.name == "weather"
    assert_type(builtin("glob"), tuple[Tool, ...])


def test_an_agent_answers_in_text_or_in_a_type() -> None:
    agent = Agent("rehearsal/rules", tools=[weather, forecast, *builtin("glob")], limits=Limits(turns=5), approve=yes)
    reply = agent.ask('Call weather with city "Paris"')
    assert_type(reply, Reply[None])
    assert_type(reply.text, str)
    assert_type(reply.losses, tuple[Loss, ...])
    assert_type(reply.cost, float | None)
    assert_type(reply.usage.input, int | None)
    assert reply.text.endswith("5 degrees C in Paris")
    typed = Agent("rehearsal/rules", tools=[]).ask("The forecast for Paris?", output=Forecast)
    assert_type(typed, Reply[Forecast])
    assert_type(typed.value, Forecast | None)
    assert isinstance(typed.value, Forecast)


def test_hooks_may_be_plain_or_asynchronous() -> None:
    agent = Agent("rehearsal/rules", tools=[weather], before_call=only_paris, after_call=in_capitals)
    assert_type(agent.model, str)
    assert_type(agent.session, Session)
    assert "PARIS" in agent.ask('Call weather with city "Paris"').text
    assert "Only Paris" in agent.ask('Call weather with city "Rome"').text


def test_a_run_is_a_stream_of_events() -> None:
    viewer: DiffViewer = Editor()

    async def run() -> list[RunEvent]:
        found: list[RunEvent] = []
        async with Agent("rehearsal/rules", tools=[weather], diffs=viewer) as agent:
            async for event in agent.stream('Call weather with city "Paris"'):
                found.append(event)
                if isinstance(event, ToolCallRequest):
                    assert_type(event.name, str)
                elif isinstance(event, ToolCallResponse):
                    assert_type(event.error, str | None)
                elif isinstance(event, Content):
                    assert_type(event.value, str)
                elif isinstance(event, Finished):
                    assert_type(event.cost, float | None)
        return found

    assert isinstance(asyncio.run(run())[-1], Finished)


def test_a_conversation_is_kept_and_continued_as_json() -> None:
    agent = Agent("rehearsal/rules", tools=[weather])
    agent.ask("Hello")
    kept = agent.session.to_json()
    assert_type(kept, bytes)
    again = Session.from_json(kept)
    assert_type(again, Session)
    assert Agent(session=again, tools=[weather]).model == "rehearsal/rules"


def test_a_toolbox_runs_calls_without_a_model() -> None:
    async def run() -> ToolResult:
        toolbox = Toolbox([weather, Clock()])
        done = await toolbox.run(
            ToolCall("c", "weather", '{"city": "Oslo"}'), ToolEnvironment((Path.cwd(),)), Policy("ask"), yes
        )
        assert_type(done.outcome, Outcome)
        assert_type(done.seconds, float)
        return done.result

    assert asyncio.run(run()).parts == (Text("5 degrees C in Oslo"),)


def test_errors_of_tools_and_answers_belong_to_the_family() -> None:
    def kind_of(error: ToolError) -> str:
        return error.kind

    assert kind_of(ToolError("denied", "no")) == "denied"
    base: type[dragoman.DragomanError] = OutputError
    assert issubclass(OutputError, base)


def test_lines_of_files_are_converted() -> None:
    convert = LineConverter(source="openai-finetune", target="gemini-finetune", tolerance="warning")
    assert_type(convert.tolerance, Literal["info", "warning", "error"] | None)
    line = b'{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}'
    done = convert(line)
    assert_type(done, Converted)
    assert_type(done.line, bytes)
    assert_type(done.losses, tuple[Loss, ...])
    row = convert.row(line.decode())
    assert_type(row, dict[str, str])
    assert row["line"].encode() == done.line


def test_rows_of_facts_are_loaded_and_looked_up() -> None:
    row = {
        "dialects": ["anthropic"],
        "match": ["claude-next-*"],
        "facts": {"forced_choice": "refused"},
        "source": "our own trial",
        "date": "2026-11",
    }
    with profiles.load([row]) as loaded:
        assert_type(loaded, profiles.Loaded)
        found = profiles.lookup("anthropic", "claude-next-1")
    assert_type(found, Profile)
    assert_type(profiles.rows(), tuple[profiles.ProfileRow, ...])
    assert found.forced_choice == "refused"
    assert_type(hosts.lookup("mistral", "openai-chat"), Host | None)
    assert_type(hosts.rows(), tuple[hosts.HostRow, ...])
    known = windows_and_prices.lookup("anthropic", "claude-opus-5")
    assert_type(known, WindowAndPrices)
    assert_type(known.context, int | None)


def test_the_memory_is_switched_and_measured() -> None:
    assert_type(fast.enabled(), bool)
    assert_type(fast.held(), int)
    fast.budget(fast.DEFAULT)
    fast.forget()


def test_one_request_is_sent_without_a_gateway() -> None:
    request = {"model": "any", "messages": [{"role": "user", "content": "Hi"}]}
    done = dragoman.complete(request, dialect="openai-chat", upstream="rehearsal/rules", environment={}, timeout=5.0)
    assert_type(done, Translation)
    later = asyncio.run(dragoman.acomplete(request, dialect="openai-chat", upstream="rehearsal/rules"))
    assert_type(later, Translation)
    assert later.json()["model"] == done.json()["model"]
    with pytest.raises(dragoman.ConfigError):
        dragoman.complete(request, dialect="openai-chat", upstream="nobody/model", environment={})


def test_the_rehearsal_answers_in_canon() -> None:
    rehearsed = rehearsal.answer(Request((Turn("user", (Text("Hi"),)),), "rehearsal/rules"))
    assert_type(rehearsed, rehearsal.Rehearsed)
    assert_type(rehearsed.response(), Response | Fault)
    assert_type(rehearsed.model, str)
    assert_type(rehearsed.delay, float)
    assert_type(rehearsal.count("a text"), int)
    assert isinstance(rehearsed.response(), Response)
