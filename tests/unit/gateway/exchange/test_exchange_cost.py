"""The cost of an exchange in its row and its report. The upstream states the cost, or known prices give it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.facts.windows_and_prices import WindowAndPrices
from dragoman.gateway.config import Config
from dragoman.gateway.exchange.exchange_cost import cost_of
from dragoman.gateway.exchange.recent_exchanges import Exchange
from dragoman.gateway.http.server import IncomingRequest
from dragoman.transport.upstream_record_and_environment import REHEARSAL, Upstream

from ..helpers import Handler, ScriptedUpstream, failing, gateway_to, run, whole

CONFIG = Config(
    upstreams={
        "claude": Upstream("anthropic"),
        "elsewhere": Upstream("anthropic", "https://example.com"),
        "played": Upstream(REHEARSAL),
    },
    models={"elsewhere/priced-*": WindowAndPrices(input_price=1.0, output_price=2.0)},
)
TOKENS = {"input": 1_000_000, "output": 1_000_000}


def ended_exchange(
    upstream: str, model: str = "claude-opus-5", status: int = 200, answer_status: int = 200
) -> Exchange:
    found = Exchange("e", 0.0, "anthropic", IncomingRequest("POST", "/v1/messages", "", {}, b""))
    found.upstream, found.upstream_model = upstream, model
    found.status, found.answer_status, found.seconds = status, answer_status, 1.0
    return found


@pytest.mark.parametrize(
    ("exchange", "tokens", "cost"),
    [
        (ended_exchange("claude"), TOKENS, 30.0),
        (ended_exchange("claude"), {**TOKENS, "cost": 0.5}, 0.5),
        (ended_exchange("claude"), {**TOKENS, "estimated": True}, None),
        (ended_exchange("claude"), {"input": 5}, None),
        (ended_exchange("claude"), None, None),
        (ended_exchange("claude", "claude-unheard-of"), TOKENS, None),
        (ended_exchange("elsewhere"), TOKENS, None),
        (ended_exchange("elsewhere", "priced-1"), TOKENS, 3.0),
        (ended_exchange("played"), None, 0.0),
        (ended_exchange("gone"), TOKENS, None),
        (ended_exchange("claude", status=529, answer_status=529), None, 0.0),
        (ended_exchange("", status=404, answer_status=0), None, 0.0),
        (ended_exchange("claude", status=502), None, None),
    ],
)
def test_a_cost_needs_known_prices_and_counted_tokens(
    exchange: Exchange, tokens: dict[str, Any] | None, cost: float | None
) -> None:
    assert cost_of(exchange, CONFIG, tokens) == cost


def test_an_exchange_under_way_has_no_cost_yet() -> None:
    exchange = ended_exchange("claude")
    exchange.seconds = None
    assert cost_of(exchange, CONFIG, TOKENS) is None


def row_and_report(*steps: Handler, dialect: str = "openai-chat", **settings: Any) -> tuple[Any, Any]:
    """The row and the report of one exchange."""

    async def scenario() -> tuple[Any, Any]:
        async with gateway_to(ScriptedUpstream(*steps, dialect=dialect), **settings) as front:
            received = await front.generate("anthropic")
            return (await front.ask("/dragoman/exchanges")).json()["exchanges"][0], await front.exchange(received)

    found: tuple[Any, Any] = run(scenario())
    return found


def test_row_and_report_use_the_prices_of_the_configuration() -> None:
    row, report = row_and_report(
        whole("openai-chat"), models={"a/*": WindowAndPrices(input_price=1.0, output_price=1.0, cache_read_price=1.0)}
    )
    tokens = report["usage"]["input"] + report["usage"]["output"]
    assert tokens > 0
    assert row["cost"] == report["cost"] == pytest.approx(tokens / 1_000_000)


def test_without_a_price_there_is_no_cost_and_a_refusal_costs_nothing() -> None:
    assert [one["cost"] for one in row_and_report(whole("openai-chat"))] == [None, None]
    assert [one["cost"] for one in row_and_report(failing(429))] == [0.0, 0.0]


def test_the_cost_that_an_upstream_states_is_shown() -> None:
    row, report = row_and_report(whole("openrouter"), dialect="openrouter")
    assert row["cost"] == report["cost"] == json.loads(report["answer"])["usage"]["cost"]


def test_a_loss_has_its_meaning_and_advice() -> None:
    async def scenario() -> Any:
        async with gateway_to(ScriptedUpstream(whole("openai-chat"))) as front:
            body = {"model": "m", "max_tokens": 9, "top_k": 3, "messages": [{"role": "user", "content": "hi"}]}
            return await front.exchange(await front.ask("/v1/messages", json.dumps(body).encode()))

    (loss,) = [one for one in run(scenario())["losses"] if one["path"] == "/top_k"]
    assert loss["meaning"].endswith(".")
    assert loss["advice"] == "Leave the setting out, or choose a model that takes it."
