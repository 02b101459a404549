"""The cost of a recorded exchange in US dollars. It is computed when a report or a row is made, never while an exchange
runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...canon.response import Usage
from ...transport.upstream_record_and_environment import REHEARSAL
from ...transport.window_price_and_answer_cost import window_and_prices
from ..config import Config
from .recent_exchanges import Exchange


def cost_of(exchange: Exchange, config: Config, tokens: Mapping[str, Any] | None) -> float | None:
    """The cost of an exchange: the upstream's own number, else by the prices of the configuration, else by the known
    prices. `tokens` is the usage of the exchange's report.

    None (unknown) for an exchange under way, and for tokens that are not counted or only estimated.
    """
    if exchange.seconds is None:
        return None
    upstream = config.upstreams.get(exchange.upstream)
    if exchange.status >= 400 and exchange.answer_status != 200:
        return 0.0  # refused: no model answered
    if upstream is not None and upstream.dialect == REHEARSAL:
        return 0.0
    if upstream is None or not tokens or tokens.get("estimated"):
        return None
    if "cost" in tokens:
        return float(tokens["cost"])
    counted = Usage(tokens.get("input"), tokens.get("output"), tokens.get("cache_read"), tokens.get("cache_write"))
    return window_and_prices(exchange.upstream, upstream, exchange.upstream_model, config.models).cost(counted)
