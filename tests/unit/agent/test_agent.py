"""An agent on the rehearsal, with all built-in tools, from synchronous and from asynchronous Python."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import date
from pathlib import Path

import pytest

from dragoman.canon import Media, Text
from dragoman.errors import ConfigError
from dragoman.runtime import Agent, Limits, Policy
from dragoman.runtime import __all__ as names
from dragoman.runtime.events import Content, Finished, RunEvent
from dragoman.runtime.resumable_conversation import Session
from dragoman.runtime.system_prompt_and_first_turns import opening_turns, system_prompt
from tests.unit.agent.helpers import FakeTool


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    place.mkdir()
    (place / "notes.txt").write_text("A dragoman was an interpreter.\n")
    return place


def _home(folder: Path) -> dict[str, str]:
    return {"HOME": str(folder.parent), "PATH": "/usr/bin:/bin"}


def test_an_agent_works_from_synchronous_python(folder: Path) -> None:
    agent = Agent(folder=folder, environment=_home(folder))
    assert agent.model == "rehearsal/rules"
    reply = agent.ask(f"Read the file {folder}/notes.txt")
    assert reply.text == "Rehearsal (no model): read_file answered: A dragoman was an interpreter.\n"
    assert reply.reason == "stop" and reply.usage.input
    assert "first" in agent.ask("What was the first thing I asked?").text


def test_an_agent_works_from_asynchronous_python(folder: Path) -> None:
    async def main() -> list[RunEvent]:
        async with Agent(folder=folder, environment=_home(folder), policy="all") as agent:
            first = await agent.asked("run the shell command `echo one`")
            assert "Output: one" in first.text
            out = []
            async with aclosing(agent.stream("run the shell command `echo two`")) as stream:
                async for event in stream:
                    out.append(event)
            return out

    events = asyncio.run(asyncio.wait_for(main(), 30))
    assert "Output: two" in "".join([one.value for one in events if isinstance(one, Content)])
    assert isinstance(events[-1], Finished)


def test_a_run_can_be_resumed_from_json_after_every_save(folder: Path) -> None:
    saved: list[bytes] = []

    def save(session: Session) -> None:
        saved.append(session.to_json())

    def new_agent(session: Session | None) -> Agent:
        return Agent(folder=folder, environment=_home(folder), session=session, save=save)

    prompt = f"Read the file {folder}/notes.txt"
    whole = new_agent(None)
    whole.session.id = "same"
    whole.ask(prompt)
    for text in saved[:-1]:
        session = Session.from_json(text)
        assert session.step != "idle" or session.turns == whole.session.turns

        async def go_on(session: Session = session) -> None:
            async with aclosing(new_agent(session).resume()) as stream:
                async for _ in stream:
                    pass

        asyncio.run(go_on())
        assert session.turns == whole.session.turns


def test_an_agent_may_have_its_own_tools_or_none(folder: Path) -> None:
    with_tool = Agent(folder=folder, environment=_home(folder), tools=[FakeTool("weather")])
    with_tool.ask("Hello")
    assert [tool.name for tool in with_tool.session.tools] == ["weather"]
    without_tools = Agent(folder=folder, environment=_home(folder), tools=(), system="Be brief.")
    without_tools.ask("Hello")
    assert without_tools.session.tools == () and without_tools.session.system == "Be brief."
    assert [turn.role for turn in without_tools.session.turns] == ["user", "assistant"]


def test_a_question_may_have_a_picture(folder: Path) -> None:
    agent = Agent(folder=folder, environment=_home(folder), tools=())
    picture = Media("image", "image/png", "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ")
    assert "image" in agent.ask("What is this?", picture).text


def test_saved_facts_are_in_the_system_text_of_the_next_agent(folder: Path) -> None:
    config = folder.parent / ".config" / "dragoman"
    agent = Agent(folder=folder, environment=_home(folder), policy=Policy("all"))
    agent.ask('Call save_memory with the fact "The user likes tea."')
    assert any("tea" in file.read_text() for file in config.iterdir())
    later = Agent(folder=folder, environment=_home(folder))
    later.ask("Hello")
    assert "The user likes tea." in later.session.system


def test_a_limit_of_turns_ends_the_run(folder: Path) -> None:
    agent = Agent(folder=folder, environment=_home(folder), limits=Limits(turns=1))
    assert agent.ask(f"Read the file {folder}/notes.txt").reason == "turns"


def test_an_unknown_model_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match="nobody/m"):
        Agent("nobody/m", folder=folder, environment=_home(folder)).ask("Hello")


def test_the_opening_has_the_date_and_the_folder(folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "src" / "main.py").write_text("")
    (folder / ".git").mkdir()
    user, answer = opening_turns((folder,), date(2026, 11, 15))
    assert isinstance(user.parts[0], Text) and isinstance(answer.parts[0], Text)
    words = user.parts[0].text
    assert "Sunday, November 15, 2026" in words and str(folder) in words
    assert words.endswith("notes.txt\nsrc/\nsrc/main.py") and ".git" not in words
    assert answer.parts[0].text == "Got it. Thanks for the context!"
    assert "What the user wanted remembered:\n\nTea." in system_prompt("Tea.\n")


def test_the_opening_lists_a_part_of_a_large_folder(folder: Path) -> None:
    for number in range(300):
        (folder / f"{number:03}.txt").write_text("")
    words = opening_turns((folder,), date(2026, 11, 15))[0].parts[0].text  # type: ignore[attr-defined]
    assert words.count(".txt") == 200 and words.endswith("\n...")


def test_every_public_name_has_a_docstring() -> None:
    import dragoman.runtime

    for name in names:
        assert getattr(dragoman.runtime, name).__doc__
    with pytest.raises(AttributeError, match="nonsense"):
        _ = dragoman.runtime.nonsense
