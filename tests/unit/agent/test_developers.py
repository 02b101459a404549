"""The interface of an agent for programs: functions, hooks, output types, other agents, a store."""

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
from tests.unit.agent.helpers import ModelByRequestNumber, ScriptedModel, answer_of, call


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


MakeAgent = Callable[..., Agent]


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeAgent:
    """An agent on a scripted model."""

    def make(model: ScriptedModel, **more: Any) -> Agent:
        monkeypatch.setattr("dragoman.runtime.agent.Upstreams", lambda upstreams, net, *own: lambda name: model)
        home = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
        return Agent("test/model", folder=tmp_path, environment=home, **{"tools": [weather], **more})

    return make


CALL_WEATHER = answer_of(call("c1", "weather", '{"city": "Paris"}'))


def test_a_function_is_called(agent: MakeAgent) -> None:
    model = ModelByRequestNumber(CALL_WEATHER, answer_of("Yes, a coat."))
    reply = agent(model).ask("Do I need a coat in Paris?")
    assert (reply.text, reply.usage, reply.value) == ("Yes, a coat.", Usage(20, 10), None)
    result = model.requests[1].turns[-1].parts[0]
    assert isinstance(result, ToolResult) and texts(result) == ["5 degrees in Paris"]
    assert [one.name for one in model.requests[0].tools] == ["weather"]  # type: ignore[union-attr]


def test_plain_functions_need_no_decorator(agent: MakeAgent) -> None:
    def add(a: int, b: int) -> int:
        return a + b

    model = ModelByRequestNumber(answer_of(call("c1", "add", '{"a": 1, "b": 2}')), answer_of("3"))
    agent(model, tools=[add]).ask("1 + 2?")
    result = model.requests[1].turns[-1].parts[0]
    assert isinstance(result, ToolResult) and texts(result) == ["3"]


def test_ask_works_inside_a_running_event_loop(agent: MakeAgent) -> None:
    new_agent = agent(ModelByRequestNumber(answer_of("Hello.")))

    async def notebook() -> str:
        return new_agent.ask("Hi").text

    assert asyncio.run(notebook()) == "Hello."


def test_an_open_agent_refuses_ask_from_another_loop(agent: MakeAgent) -> None:
    async def main() -> None:
        async with agent(ModelByRequestNumber(answer_of("Hello."))) as new_agent:
            with pytest.raises(ConfigError, match=r"await agent\.asked"):
                new_agent.ask("Hi")
            assert (await new_agent.asked("Hi")).text == "Hello."

    asyncio.run(main())


def test_an_answer_can_have_an_output_type(agent: MakeAgent) -> None:
    model = ModelByRequestNumber(CALL_WEATHER, answer_of('{"coat": true, "why": "5 degrees"}'))
    reply = agent(model).ask("A coat?", output=Verdict)
    assert reply.value == Verdict(True, "5 degrees")
    (first_format, second_format) = [request.settings.format for request in model.requests]
    assert (
        first_format is not None
        and first_format == second_format
        and (first_format.kind, first_format.name) == ("schema", "Verdict")
    )


def test_an_answer_that_does_not_fit_the_type_is_requested_once_more(agent: MakeAgent) -> None:
    model = ModelByRequestNumber(answer_of("Yes."), answer_of('```json\n{"coat": true}\n```'))
    assert agent(model).ask("A coat?", output=Model).value == Model(coat=True)
    assert model.requests[1].turns[-1].role == "user"
    with pytest.raises(OutputError, match="Model") as raised:
        agent(ModelByRequestNumber(answer_of("Yes."))).ask("A coat?", output=Model)
    assert raised.value.text == "Yes."


def test_an_output_type_holds_for_one_question(agent: MakeAgent) -> None:
    model = ModelByRequestNumber(answer_of("[1, 2]"), answer_of('{"value": [1, 2]}'), answer_of("Hello."))
    new_agent = agent(model)
    assert new_agent.ask("Numbers?", output=list[int]).value == [1, 2]
    assert new_agent.ask("Hi").value is None
    assert model.requests[-1].settings.format is None


def test_types_that_are_not_objects_are_wrapped() -> None:
    assert '"required":["value"]' in (output_format(list[int]).schema or "")
    assert read_output('{"value": 3}', int) == 3


def test_hooks_see_calls_and_results(agent: MakeAgent) -> None:
    seen: list[Any] = []

    def before(one: ToolCall) -> str | None:
        seen.append(one.name)
        return "Not in winter." if "Rome" in one.arguments else None

    async def after(one: ToolCall, result: ToolResult) -> ToolResult:
        return ToolResult(result.call_id, (Text("replaced"),), result.name)

    two = answer_of(call("c1", "weather", '{"city": "Paris"}'), call("c2", "weather", '{"city": "Rome"}'))
    model = ModelByRequestNumber(two, answer_of("Done."))
    agent(model, before_call=before, after_call=after).ask("?")
    paris, rome = model.requests[1].turns[-1].parts
    assert isinstance(paris, ToolResult) and isinstance(rome, ToolResult)
    assert (texts(paris), texts(rome), rome.is_error) == (["replaced"], ["Not in winter."], True)
    assert seen == ["weather", "weather"]


def test_the_hook_sees_the_result_of_a_call_that_cannot_begin(agent: MakeAgent) -> None:
    seen: list[bool] = []

    def after(one: ToolCall, result: ToolResult) -> None:
        seen.append(result.is_error)

    model = ModelByRequestNumber(
        answer_of(call("c1", "weather", '{"town": "Paris"}'), call("c2", "absent", "{}")), answer_of("Done.")
    )
    agent(model, after_call=after).ask("?")
    assert seen == [True, True]


def test_an_agent_can_be_a_tool_of_another_agent(agent: MakeAgent) -> None:
    helper = agent(ModelByRequestNumber(answer_of("It rains.")))
    expert = helper.as_tool("expert", "Knows the weather.")
    model = ModelByRequestNumber(
        answer_of(call("c1", "expert", '{"prompt": "Paris?"}')), answer_of("It rains."), answer_of("Take a coat.")
    )
    reply = agent(model, tools=[expert]).ask("A coat?")
    assert reply.text == "Take a coat."
    assert reply.usage == Usage(30, 15)  # The tokens of the helper are counted.
    assert helper.session.turns == ()  # Each call is a separate conversation.


def test_a_conversation_is_continued_by_its_id(agent: MakeAgent, tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.sqlite3")
    first = agent(ModelByRequestNumber(answer_of("Hello, Ada.")), store=store)
    first.ask("I am Ada.")
    model = ModelByRequestNumber(answer_of("You are Ada."))
    later = agent(model, store=store, session=first.session.id[:6])
    assert later.ask("Who am I?").text == "You are Ada."
    assert [turn.role for turn in model.requests[0].turns][-3:] == ["user", "assistant", "user"]
    with pytest.raises(ConfigError, match="no such conversation"):
        agent(model, store=store, session="nothing")
    with pytest.raises(ConfigError, match="store=True"):
        agent(model, session="nothing")


def test_the_default_store_keeps_conversations(agent: MakeAgent, tmp_path: Path) -> None:
    first = agent(ModelByRequestNumber(answer_of("Hello, Ada.")), store=True)
    first.ask("I am Ada.")
    assert (
        agent(ModelByRequestNumber(answer_of("?")), store=True, session=first.session.id).session.turns
        == first.session.turns
    )


def test_a_program_can_pass_its_own_session(agent: MakeAgent) -> None:
    session = Session(id="mine")
    assert agent(ModelByRequestNumber(answer_of("Hello.")), session=session).session is session


def test_only_agents_with_file_tools_see_the_folder(agent: MakeAgent, tmp_path: Path) -> None:
    (tmp_path / "private.txt").write_text("")
    model = ModelByRequestNumber(answer_of("Hello."))
    agent(model).ask("Hi")
    agent(model, tools=[weather, *builtin("glob")]).ask("Hi")
    assert ["private.txt" in str(request) for request in model.requests] == [False, True]
