"""The cost of an exchange, in its row and in its report: stated by the upstream, or computed from known prices."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.facts.windows_and_prices import WindowAndPrices
from dragoman.gateway.config import Config
from dragoman.gateway.exchange.exchange_cost import cost_of
from dragoman.gateway.exchange.recent_exchanges import Exchange
from dragoman.gateway.http.server import IncomingRequest
from dragoman.transport.upstream_config import REHEARSAL, Upstream

from ..helpers import Behind, Handler, between, failing, run, whole

CONFIG = Config(
    upstreams={
        "claude": Upstream("anthropic"),
        "elsewhere": Upstream("anthropic", "https://example.com"),
        "played": Upstream(REHEARSAL),
    },
    models={"elsewhere/priced-*": WindowAndPrices(input_price=1.0, output_price=2.0)},
)
TOKENS = {"input": 1_000_000, "output": 1_000_000}


def ended(upstream: str, model: str = "claude-opus-5", status: int = 200, answer_status: int = 200) -> Exchange:
    found = Exchange("e", 0.0, "anthropic", IncomingRequest("POST", "/v1/messages", "", {}, b""))
    found.upstream, found.upstream_model = upstream, model
    found.status, found.answer_status, found.seconds = status, answer_status, 1.0
    return found


@pytest.mark.parametrize(
    ("exchange", "tokens", "cost"),
    [
        (ended("claude"), TOKENS, 30.0),
        (ended("claude"), {**TOKENS, "cost": 0.5}, 0.5),
        (ended("claude"), {**TOKENS, "estimated": True}, None),
        (ended("claude"), {"input": 5}, None),
        (ended("claude"), None, None),
        (ended("claude", "claude-unheard-of"), TOKENS, None),
        (ended("elsewhere"), TOKENS, None),
        (ended("elsewhere", "priced-1"), TOKENS, 3.0),
        (ended("played"), None, 0.0),
        (ended("gone"), TOKENS, None),
        (ended("claude", status=529, answer_status=529), None, 0.0),
        (ended("", status=404, answer_status=0), None, 0.0),
        (ended("claude", status=502), None, None),
    ],
)
def test_a_cost_is_known_or_it_is_none(exchange: Exchange, tokens: dict[str, Any] | None, cost: float | None) -> None:
    assert cost_of(exchange, CONFIG, tokens) == cost


def test_an_exchange_under_way_has_no_cost_yet() -> None:
    exchange = ended("claude")
    exchange.seconds = None
    assert cost_of(exchange, CONFIG, TOKENS) is None


def shown(*steps: Handler, dialect: str = "openai-chat", **settings: Any) -> tuple[Any, Any]:
    """The row and the report of one exchange."""

    async def doing() -> tuple[Any, Any]:
        async with between(Behind(*steps, dialect=dialect), **settings) as front:
            told = await front.generate("anthropic")
            return (await front.ask("/dragoman/exchanges")).json()["exchanges"][0], await front.exchange(told)

    found: tuple[Any, Any] = run(doing())
    return found


def test_row_and_report_use_the_prices_of_the_configuration() -> None:
    row, report = shown(
        whole("openai-chat"), models={"a/*": WindowAndPrices(input_price=1.0, output_price=1.0, cache_read_price=1.0)}
    )
    tokens = report["usage"]["input"] + report["usage"]["output"]
    assert tokens > 0
    assert row["cost"] == report["cost"] == pytest.approx(tokens / 1_000_000)


def test_no_price_is_no_cost_and_a_refusal_costs_nothing() -> None:
    assert [one["cost"] for one in shown(whole("openai-chat"))] == [None, None]
    assert [one["cost"] for one in shown(failing(429))] == [0.0, 0.0]


def test_the_cost_that_an_upstream_states_is_shown() -> None:
    row, report = shown(whole("openrouter"), dialect="openrouter")
    assert row["cost"] == report["cost"] == json.loads(report["answer"])["usage"]["cost"]


def test_a_loss_has_its_meaning_and_advice() -> None:
    async def doing() -> Any:
        async with between(Behind(whole("openai-chat"))) as front:
            body = {"model": "m", "max_tokens": 9, "top_k": 3, "messages": [{"role": "user", "content": "hi"}]}
            return await front.exchange(await front.ask("/v1/messages", json.dumps(body).encode()))

    (loss,) = [one for one in run(doing())["losses"] if one["path"] == "/top_k"]
    assert loss["meaning"].endswith(".")
    assert loss["advice"] == "Leave the setting out, or choose a model that takes it."
