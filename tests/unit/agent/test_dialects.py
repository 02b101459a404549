"""The loop on upstreams of all seven dialects on loopback: calls, results and seals, and a change of the upstream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman import lint
from dragoman.canon import Media, Text, ToolCall, ToolResult
from dragoman.dialects import names
from dragoman.runtime import Agent
from dragoman.runtime.loop import Limits
from dragoman.runtime.resumable_conversation import Session
from dragoman.runtime.tool_interface import Outcome
from dragoman.transport.upstream_record_and_environment import Upstream
from tests.e2e.scripted_upstream import MODELS, ROUTER_SEAL, ScriptedUpstream, story
from tests.e2e.sdk_clients import CITY, PAIR, PICTURE, RESULT
from tests.seals import sealing_upstreams as sealing
from tests.unit.agent.helpers import FakeTool

Json = Any


@pytest.fixture(scope="module")
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as server:
        yield server


def _tools() -> list[FakeTool]:
    parts = (Text(RESULT), Media("image", "image/png", PICTURE))
    weather = FakeTool("weather", lambda _: Outcome(parts), schema=CITY)
    return [weather, FakeTool("compare", lambda _: RESULT, schema=PAIR)]


def _agent(
    upstream: ScriptedUpstream, folder: Path, dialect: str, end: str = "", session: Session | None = None
) -> Agent:
    base = f"http://127.0.0.1:{upstream.port}"
    upstreams = {name: Upstream(name, base, auth="none") for name in names()}
    return Agent(
        f"{dialect}/{MODELS[dialect]}{end}",
        folder=folder,
        tools=_tools(),
        session=session,
        upstreams=upstreams,
        environment={"HOME": str(folder)},
        limits=Limits(retries=0),
    )


def _sealed(dialect: str, request: Json) -> list[list[sealing.Piece]]:
    """The turns of a request that have calls or seals, as the pieces of their upstream."""
    if dialect == "code-assist":
        return _sealed("gemini", request["request"])
    return [turn for turn in sealing.sealed_of(request, dialect) if turn]


def _expected(dialect: str, number: int) -> list[sealing.Piece]:
    pieces = sealing.expected(story("gemini" if dialect == "code-assist" else dialect), number)
    if dialect == "code-assist":  # The history has no thoughts. A sealed thought becomes a text.
        pieces = [("text" if kind == "thought" else kind, *rest) for kind, *rest in pieces]  # type: ignore[misc]
    return pieces


@pytest.mark.parametrize("dialect", names())
def test_the_agent_completes_a_conversation_in_every_dialect(
    upstream: ScriptedUpstream, tmp_path: Path, dialect: str
) -> None:
    requests = upstream.requests[dialect]
    requests.clear()
    agent = _agent(upstream, tmp_path, dialect)
    reply = agent.ask("Is Paris warmer than Rome?")
    assert (reply.text, reply.reason) == ("Paris is warmer.", "stop")
    assert len(requests) == 3
    kinds = [turn.role for turn in agent.session.turns]
    assert kinds == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    first = [part for part in agent.session.turns[2].parts if isinstance(part, ToolResult)]
    assert [part.name for part in first] == ["weather", "weather"]
    assert not any(part.is_error for turn in agent.session.turns for part in turn.parts if isinstance(part, ToolResult))
    if dialect in (*sealing.UPSTREAMS, "code-assist"):
        own_seals = [_expected(dialect, 0), _expected(dialect, 1)]
        assert [_sealed(dialect, request) for request in requests[1:]] == [own_seals[:1], own_seals]
    last = json.dumps(requests[-1])
    assert last.count(RESULT) == sum([turn.role == "tool" for turn in agent.session.turns for _ in turn.parts])
    assert PICTURE in last
    if dialect == "openrouter":
        assert last.count(ROUTER_SEAL) == 2


@pytest.mark.parametrize("second", names())
def test_another_upstream_can_continue_the_conversation(
    upstream: ScriptedUpstream, tmp_path: Path, second: str
) -> None:
    """The second upstream gets the conversation without the seals of the first. The dropped seals are reported."""
    first = "anthropic" if second != "anthropic" else "gemini"
    for name in (first, second):
        upstream.requests[name].clear()
    agent = _agent(upstream, tmp_path, first)
    agent.ask("Is Paris warmer than Rome?")
    saved = Session.from_json(agent.session.to_json())
    other = _agent(upstream, tmp_path, second, session=saved)
    reply = other.ask("And now?")
    assert reply.text == "Paris is warmer."
    first_request = upstream.requests[second][0]
    sent = json.dumps(first_request)
    assert "Is Paris warmer than Rome?" in sent and RESULT in sent and "Paris is warmer." in sent
    own_seals = {seal for number in (0, 1) for _, _, seal in sealing.expected(story(first), number) if seal}
    if second == "openrouter":  # OpenRouter has the same Claude model and accepts its signatures.
        assert own_seals and all(seal in sent for seal in own_seals)
        return
    assert own_seals and not any(seal in sent for seal in own_seals)
    loss_codes = {loss.code for loss in reply.losses}
    assert "seal.dropped" in loss_codes
    places = [loss.path for loss in reply.losses if loss.code == "seal.dropped"]
    assert all(path.startswith("/turns/") for path in places)


@pytest.mark.parametrize("dialect", names())
def test_a_run_can_be_repeated_after_a_fault(upstream: ScriptedUpstream, tmp_path: Path, dialect: str) -> None:
    agent = _agent(upstream, tmp_path, dialect, "-fault")
    reply = agent.ask("Is Paris warmer than Rome?")
    assert reply.reason == "fault"
    assert agent.session.step == "ask"
    agent.model = f"{dialect}/{MODELS[dialect]}"
    upstream.requests[dialect].clear()
    assert agent.ask("Again, please.").text == "Paris is warmer."


def test_an_unreachable_upstream_is_a_fault(tmp_path: Path) -> None:
    upstreams = {"up": Upstream("openai-chat", "http://127.0.0.1:9", auth="none")}
    environment = {"HOME": str(tmp_path)}
    limits = Limits(retries=1, backoff=0.0)
    agent = Agent("up/m", folder=tmp_path, tools=(), upstreams=upstreams, environment=environment, limits=limits)
    reply = agent.ask("Anybody?")
    assert reply.reason == "fault" and "127.0.0.1" in reply.detail


def test_a_missing_key_is_a_fault_that_names_the_variable(tmp_path: Path) -> None:
    upstreams = {"up": Upstream("openai-chat", "http://127.0.0.1:9", "SOME_KEY")}
    agent = Agent("up/m", folder=tmp_path, tools=(), upstreams=upstreams, environment={"HOME": str(tmp_path)})
    reply = agent.ask("Anybody?")
    assert reply.reason == "fault" and "SOME_KEY" in reply.detail


@pytest.mark.parametrize("order", [names(), names()[::-1]], ids=["forwards", "backwards"])
def test_one_session_moves_through_all_dialects_and_back(
    upstream: ScriptedUpstream, tmp_path: Path, order: list[str]
) -> None:
    """Each upstream gets the whole conversation in its own dialect, without a mistake.

    At the end the first upstream gets its own seals back.
    """
    session = None
    for number, dialect in enumerate([*order, order[0]]):
        requests = upstream.requests[dialect]
        requests.clear()
        agent = _agent(upstream, tmp_path, dialect, session=session)
        reply = agent.ask(f"Question {number}: is Paris warmer than Rome?")
        assert (reply.text, reply.reason) == ("Paris is warmer.", "stop"), dialect
        assert len(requests) == 3
        for request in requests:
            body = json.dumps(request)
            assert all(f"Question {earlier}:" in body for earlier in range(number + 1)), dialect
            assert body.count("Paris is warmer.") == number
            errors = [one for one in lint(body.encode(), dialect=dialect, kind="request") if one.severity == "error"]
            assert errors == [], f"{dialect} after {number} others: {errors}"
        session = Session.from_json(agent.session.to_json())
    assert session is not None
    parts = [part for turn in session.turns for part in turn.parts]
    calls = [part.id for part in parts if isinstance(part, ToolCall)]
    assert calls == [part.call_id for part in parts if isinstance(part, ToolResult)]
    assert [turn.role for turn in session.turns].count("user") == len(order) + 1
    first = upstream.requests[order[0]][0]
    if order[0] in sealing.UPSTREAMS:
        own_seals = {seal for step in (0, 1) for _, _, seal in sealing.expected(story(order[0]), step) if seal}
        assert own_seals and all(seal in json.dumps(first) for seal in own_seals)
