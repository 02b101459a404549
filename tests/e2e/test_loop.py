"""The agent loop through a real gateway: every dialect of the agent with every dialect of the upstream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.canon import ToolResult
from dragoman.dialects import names
from dragoman.runtime import Agent
from dragoman.runtime.loop import Limits
from dragoman.transport.upstream_record_and_environment import Upstream
from tests.e2e.gateway_process import served, upstreams
from tests.e2e.scripted_upstream import MODELS, ScriptedUpstream, story
from tests.e2e.sdk_clients import CITY, PAIR, RESULT
from tests.seals import sealing_upstreams as sealing
from tests.unit.agent.helpers import FakeTool


class GatewayAndUpstream:
    """A gateway in front of a scripted upstream."""

    def __init__(self, base: str, upstream: ScriptedUpstream) -> None:
        self.base, self.upstream = base, upstream


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayAndUpstream]:
    with ScriptedUpstream() as upstream:
        config = "[bounds]\nretry_wait = 0\n" + upstreams(upstream.port, **{name: name for name in names()})
        with served(config, tmp_path_factory.mktemp("gateway")) as base:
            yield GatewayAndUpstream(base, upstream)


@pytest.mark.parametrize("upstream", names())
@pytest.mark.parametrize("dialect", names())
def test_the_agent_completes_a_conversation_through_the_gateway(
    gateway: GatewayAndUpstream, tmp_path: Path, dialect: str, upstream: str
) -> None:
    requests = gateway.upstream.requests[upstream]
    requests.clear()
    base = f"{gateway.base}/api/v1" if dialect == "openrouter" else gateway.base
    agent = Agent(
        f"gateway/{upstream}/{MODELS[upstream]}",
        folder=tmp_path,
        tools=[FakeTool("weather", lambda _: RESULT, schema=CITY), FakeTool("compare", lambda _: RESULT, schema=PAIR)],
        upstreams={"gateway": Upstream(dialect, base, auth="none")},
        environment={"HOME": str(tmp_path)},
        limits=Limits(retries=0),
    )
    reply = agent.ask("Is Paris warmer than Rome?")
    assert (reply.text, reply.reason) == ("Paris is warmer.", "stop"), reply
    results = [part for turn in agent.session.turns for part in turn.parts if isinstance(part, ToolResult)]
    assert [result.name for result in results[:2]] == ["weather", "weather"]
    assert not any(result.is_error for result in results)
    assert len(requests) == 3
    last = json.dumps(requests[-1])
    assert last.count(RESULT) == len(results)
    if upstream in sealing.UPSTREAMS:
        wanted = {seal for number in (0, 1) for _, _, seal in sealing.expected(story(upstream), number) if seal}
        assert all(seal in last for seal in wanted), "a seal did not return to its upstream"
