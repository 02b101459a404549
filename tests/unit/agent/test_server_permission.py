"""Permission for requests of MCP servers to the model."""

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
from tests.unit.agent.helpers import FakeTool, ModelByRequestNumber, answer_of, call, loop, new_session, run_events

CONFIRMATION = Confirmation("a request", "other", server="library", tool="sampling")


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
def test_only_the_person_or_an_exact_entry_permits_a_request(
    tmp_path: Path, policy: Policy, answer: Approval | None, permitted: bool, questions: int
) -> None:
    confirmations: list[Confirmation] = []

    async def approve(one: Confirmation) -> Approval:
        confirmations.append(one)
        assert answer is not None
        return answer

    agent = Agent(folder=tmp_path, tools=(), policy=policy, approve=approve if answer else None, environment={})
    assert asyncio.run(agent._permits_sampling("sampling", CONFIRMATION)) is permitted
    assert confirmations == [CONFIRMATION] * questions


def test_always_remembers_the_entry(tmp_path: Path) -> None:
    async def approve(one: Confirmation) -> Approval:
        return Approval("always")

    agent = Agent(folder=tmp_path, tools=(), approve=approve, environment={})
    assert asyncio.run(agent._permits_sampling("sampling", CONFIRMATION))
    assert agent.policy.allow == ["library/sampling"]


class _ToolWithRequest(FakeTool):
    """A tool that sends a request to the session's model, as a tool of an MCP server can do."""

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        assert around.answer is not None
        response = await around.answer(Request((Turn("user", (Text("Sum up."),)),), stream=True))
        around.spend(Usage(100, 1))
        (part,) = response.parts
        assert isinstance(part, Text)
        return Outcome(part.text)


def test_a_request_of_a_tool_is_outside_the_conversation_and_its_tokens_count() -> None:
    model = ModelByRequestNumber(answer_of(call("a", "ask")), answer_of("A summary."), answer_of("Done."))
    session = new_session()
    run_events(loop(model, [_ToolWithRequest("ask")]), session)
    assert [turn.parts for turn in model.requests[1].turns] == [(Text("Sum up."),)]
    (result,) = [part for turn in session.turns for part in turn.parts if isinstance(part, ToolResult)]
    assert [part.text for part in result.parts if isinstance(part, Text)] == ["A summary."]
    assert (session.spent.input or 0) >= 100
