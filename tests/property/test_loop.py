"""A loop that is interrupted at any step continues from JSON with the same result. A stopped loop is complete."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dragoman.canon import Reasoning, Response, Seal, ToolCall, ToolResult
from dragoman.runtime.resumable_conversation import Session
from tests.unit.agent.helpers import FakeTool, answer_of, call, loop
from tests.unit.agent.helpers import ScriptedModel as Scripted
from tests.unit.agent.helpers import new_session as begun
from tests.unit.agent.helpers import run_events as ran

_STEP = st.lists(st.sampled_from(["look", "change", "unknown", "text", "thought"]), min_size=1, max_size=5)
_STORY = st.lists(_STEP, min_size=1, max_size=4)


def _script(story: list[list[str]]) -> list[Response]:
    out = []
    for number, step in enumerate(story):
        parts = []
        for place, word in enumerate(step):
            if word == "thought":
                parts.append(Reasoning("Hm.", seal=Seal("anthropic", f"s{number}.{place}", model="m")))
            else:
                name = f"c{number}_{place}"
                parts.append(f"{name}. " if word == "text" else call(name, word, f'{{"n":{place}}}'))
        out.append(answer_of(*parts))
    return [*out, answer_of("Done.")]


def _tools() -> list[FakeTool]:
    return [FakeTool("look"), FakeTool("change", kind="edit")]


@given(_STORY, st.lists(st.integers(0, 12), max_size=6))
def test_an_interrupted_loop_continues_with_the_same_result(story: list[list[str]], leaves: list[int]) -> None:
    model = Scripted(*_script(story))
    whole = begun()
    ran(loop(model, _tools()), whole)
    session, tools = begun(), _tools()
    for at in leaves:
        ran(loop(model, tools), session, at)
        session = Session.from_json(session.to_json())
    ran(loop(model, tools), session)
    assert session.turns == whole.turns
    calls = [part for turn in whole.turns for part in turn.parts if isinstance(part, ToolCall)]
    assert len(tools[1].runs) == sum([one.name == "change" for one in calls])


@given(_STORY, st.integers(0, 30))
def test_stopped_anywhere_every_call_has_its_one_result(story: list[list[str]], at: int) -> None:
    session = begun()
    ran(loop(Scripted(*_script(story)), _tools()), session, at)
    session.interrupt()
    waiting: list[str] = []
    for turn in session.turns:
        if turn.role == "tool":
            assert [part.call_id for part in turn.parts if isinstance(part, ToolResult)] == waiting
            waiting = []
        else:
            assert waiting == []
            waiting = [part.id for part in turn.parts if isinstance(part, ToolCall)]
    assert waiting == [] and session.step == "idle"
