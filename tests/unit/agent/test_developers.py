"""What a program gives an agent and gets from it: functions, hooks, types, other agents, a store."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from dragoman.canon import Text, ToolCall, ToolResult, Usage
from dragoman.errors import ConfigError
from dragoman.runtime import Agent, OutputError, Session, builtin, tool
from dragoman.runtime.structured_output import output_format, read_output
from dragoman.store.sqlite_entry_store import SqliteStore
from tests.unit.agent.helpers import InTurn, Scripted, call, says


@dataclasses.dataclass
class Verdict:
    coat: bool
    why: str = ""


class Model(BaseModel):
    coat: bool


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"5 degrees in {city}"


def texts(result: ToolResult) -> list[str]:
    return [part.text for part in result.parts if isinstance(part, Text)]


Made = Callable[..., Agent]


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """An agent on a scripted model."""

    def make(model: Scripted, **more: Any) -> Agent:
        monkeypatch.setattr("dragoman.runtime.agent.Upstreams", lambda upstreams, net, *own: lambda name: model)
        home = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
        return Agent("test/model", folder=tmp_path, environment=home, **{"tools": [weather], **more})

    return make


ASKS = says(call("c1", "weather", '{"city": "Paris"}'))


def test_a_function_is_called(agent: Made) -> None:
    model = InTurn(ASKS, says("Yes, a coat."))
    reply = agent(model).ask("Do I need a coat in Paris?")
    assert (reply.text, reply.usage, reply.value) == ("Yes, a coat.", Usage(20, 10), None)
    result = model.asked[1].turns[-1].parts[0]
    assert isinstance(result, ToolResult) and texts(result) == ["5 degrees in Paris"]
    assert [one.name for one in model.asked[0].tools] == ["weather"]  # type: ignore[union-attr]


def test_plain_functions_need_no_decorator(agent: Made) -> None:
    def add(a: int, b: int) -> int:
        return a + b

    model = InTurn(says(call("c1", "add", '{"a": 1, "b": 2}')), says("3"))
    agent(model, tools=[add]).ask("1 + 2?")
    result = model.asked[1].turns[-1].parts[0]
    assert isinstance(result, ToolResult) and texts(result) == ["3"]


def test_asked_from_within_a_running_loop(agent: Made) -> None:
    made = agent(InTurn(says("Hello.")))

    async def notebook() -> str:
        return made.ask("Hi").text

    assert asyncio.run(notebook()) == "Hello."


def test_an_open_agent_is_not_asked_from_another_loop(agent: Made) -> None:
    async def main() -> None:
        async with agent(InTurn(says("Hello."))) as made:
            with pytest.raises(ConfigError, match=r"await agent\.asked"):
                made.ask("Hi")
            assert (await made.asked("Hi")).text == "Hello."

    asyncio.run(main())


def test_an_answer_in_a_type(agent: Made) -> None:
    model = InTurn(ASKS, says('{"coat": true, "why": "5 degrees"}'))
    reply = agent(model).ask("A coat?", output=Verdict)
    assert reply.value == Verdict(True, "5 degrees")
    (asked, again) = [request.settings.format for request in model.asked]
    assert asked is not None and asked == again and (asked.kind, asked.name) == ("schema", "Verdict")


def test_an_answer_that_does_not_fit_is_asked_for_once_more(agent: Made) -> None:
    model = InTurn(says("Yes."), says('```json\n{"coat": true}\n```'))
    assert agent(model).ask("A coat?", output=Model).value == Model(coat=True)
    assert model.asked[1].turns[-1].role == "user"
    with pytest.raises(OutputError, match="Model") as raised:
        agent(InTurn(says("Yes."))).ask("A coat?", output=Model)
    assert raised.value.text == "Yes."


def test_the_format_is_for_one_question(agent: Made) -> None:
    model = InTurn(says("[1, 2]"), says('{"value": [1, 2]}'), says("Hello."))
    made = agent(model)
    assert made.ask("Numbers?", output=list[int]).value == [1, 2]
    assert made.ask("Hi").value is None
    assert model.asked[-1].settings.format is None


def test_types_that_are_no_objects_are_wrapped() -> None:
    assert '"required":["value"]' in (output_format(list[int]).schema or "")
    assert read_output('{"value": 3}', int) == 3


def test_hooks_see_calls_and_results(agent: Made) -> None:
    seen: list[Any] = []

    def before(one: ToolCall) -> str | None:
        seen.append(one.name)
        return "Not in winter." if "Rome" in one.arguments else None

    async def after(one: ToolCall, result: ToolResult) -> ToolResult:
        return ToolResult(result.call_id, (Text("replaced"),), result.name)

    two = says(call("c1", "weather", '{"city": "Paris"}'), call("c2", "weather", '{"city": "Rome"}'))
    model = InTurn(two, says("Done."))
    agent(model, before_call=before, after_call=after).ask("?")
    paris, rome = model.asked[1].turns[-1].parts
    assert isinstance(paris, ToolResult) and isinstance(rome, ToolResult)
    assert (texts(paris), texts(rome), rome.is_error) == (["replaced"], ["Not in winter."], True)
    assert seen == ["weather", "weather"]


def test_the_hook_sees_the_result_of_a_call_that_cannot_begin(agent: Made) -> None:
    seen: list[bool] = []

    def after(one: ToolCall, result: ToolResult) -> None:
        seen.append(result.is_error)

    model = InTurn(says(call("c1", "weather", '{"town": "Paris"}'), call("c2", "absent", "{}")), says("Done."))
    agent(model, after_call=after).ask("?")
    assert seen == [True, True]


def test_an_agent_is_a_tool_of_another(agent: Made) -> None:
    helper = agent(InTurn(says("It rains.")))
    expert = helper.as_tool("expert", "Knows the weather.")
    model = InTurn(says(call("c1", "expert", '{"prompt": "Paris?"}')), says("It rains."), says("Take a coat."))
    reply = agent(model, tools=[expert]).ask("A coat?")
    assert reply.text == "Take a coat."
    assert reply.usage == Usage(30, 15)  # the helper's tokens count
    assert helper.session.turns == ()  # each call is a conversation of its own


def test_a_conversation_is_continued_by_its_id(agent: Made, tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.sqlite3")
    first = agent(InTurn(says("Hello, Ada.")), store=store)
    first.ask("I am Ada.")
    model = InTurn(says("You are Ada."))
    later = agent(model, store=store, session=first.session.id[:6])
    assert later.ask("Who am I?").text == "You are Ada."
    assert [turn.role for turn in model.asked[0].turns][-3:] == ["user", "assistant", "user"]
    with pytest.raises(ConfigError, match="no such conversation"):
        agent(model, store=store, session="nothing")
    with pytest.raises(ConfigError, match="store=True"):
        agent(model, session="nothing")


def test_the_usual_store(agent: Made, tmp_path: Path) -> None:
    first = agent(InTurn(says("Hello, Ada.")), store=True)
    first.ask("I am Ada.")
    assert agent(InTurn(says("?")), store=True, session=first.session.id).session.turns == first.session.turns


def test_a_session_of_the_programs_own(agent: Made) -> None:
    session = Session(id="mine")
    assert agent(InTurn(says("Hello.")), session=session).session is session


def test_the_folder_is_shown_to_agents_that_work_in_it_only(agent: Made, tmp_path: Path) -> None:
    (tmp_path / "private.txt").write_text("")
    model = InTurn(says("Hello."))
    agent(model).ask("Hi")
    agent(model, tools=[weather, *builtin("glob")]).ask("Hi")
    assert ["private.txt" in str(request) for request in model.asked] == [False, True]
