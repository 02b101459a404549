"""Requests of MCP servers to the model: who permits them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dragoman.canon import Request, Text, ToolResult, Turn, Usage
from dragoman.runtime.agent import Agent
from dragoman.runtime.policy import Policy
from dragoman.runtime.tool_interface import Confirmation, Outcome, ToolEnvironment
from dragoman.runtime.toolbox import Approval
from tests.unit.agent.helpers import InTurn, Plain, begun, call, loop, ran, says

ASKED = Confirmation("a request", "other", server="library", tool="sampling")


@pytest.mark.parametrize(
    ("policy", "answer", "permitted", "questions"),
    [
        (Policy(), None, False, 0),
        (Policy(), Approval("once"), True, 1),
        (Policy(), Approval("no"), False, 1),
        (Policy(allow=["library/*"]), Approval("no"), False, 1),
        (Policy(allow=["library/sampling"]), Approval("no"), True, 0),
        (Policy("all"), None, True, 0),
        (Policy("all", deny=["library/sampling"]), Approval("once"), False, 0),
    ],
)
def test_only_the_person_or_an_entry_for_exactly_this_permits_a_request(
    tmp_path: Path, policy: Policy, answer: Approval | None, permitted: bool, questions: int
) -> None:
    asked: list[Confirmation] = []

    async def approve(one: Confirmation) -> Approval:
        asked.append(one)
        assert answer is not None
        return answer

    agent = Agent(folder=tmp_path, tools=(), policy=policy, approve=approve if answer else None, environment={})
    assert asyncio.run(agent._permits("sampling", ASKED)) is permitted
    assert asked == [ASKED] * questions


def test_always_remembers_the_entry(tmp_path: Path) -> None:
    async def approve(one: Confirmation) -> Approval:
        return Approval("always")

    agent = Agent(folder=tmp_path, tools=(), approve=approve, environment={})
    assert asyncio.run(agent._permits("sampling", ASKED))
    assert agent.policy.allow == ["library/sampling"]


class _Asking(Plain):
    """A tool that sends a request to the session's model, as a server does by its tool."""

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        assert around.answer is not None
        response = await around.answer(Request((Turn("user", (Text("Sum up."),)),), stream=True))
        around.spend(Usage(100, 1))
        (part,) = response.parts
        assert isinstance(part, Text)
        return Outcome(part.text)


def test_a_tool_asks_the_model_outside_the_conversation_and_its_tokens_count() -> None:
    model = InTurn(says(call("a", "ask")), says("A summary."), says("Done."))
    session = begun()
    ran(loop(model, [_Asking("ask")]), session)
    assert [turn.parts for turn in model.asked[1].turns] == [(Text("Sum up."),)]
    (result,) = [part for turn in session.turns for part in turn.parts if isinstance(part, ToolResult)]
    assert [part.text for part in result.parts if isinstance(part, Text)] == ["A summary."]
    assert (session.spent.input or 0) >= 100
