"""Requests of MCP servers to the model: who permits them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from dragoman.runtime.agent import Agent
from dragoman.runtime.policy import Policy
from dragoman.runtime.tool_interface import Confirmation
from dragoman.runtime.toolbox import Approval

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
