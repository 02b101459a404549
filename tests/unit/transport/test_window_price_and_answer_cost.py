"""The window and the prices of a model at an upstream: facts of the provider, and settings of the user."""

from __future__ import annotations

import pytest

from dragoman.facts.windows_and_prices import WindowAndPrices
from dragoman.transport.upstream_record_and_environment import REHEARSAL, Upstream
from dragoman.transport.window_price_and_answer_cost import FREE, shown_cost, window_and_prices

PROVIDER_HOST = Upstream("anthropic")
WINDOW = WindowAndPrices(1_000_000, 128_000)


def test_the_providers_own_host_has_the_providers_prices() -> None:
    assert window_and_prices("a", PROVIDER_HOST, "claude-opus-5").input_price == 5.0


@pytest.mark.parametrize(
    "other", [Upstream("anthropic", "https://claude.example"), Upstream("anthropic", project="p", location="eu")]
)
def test_another_host_may_have_other_prices(other: Upstream) -> None:
    assert window_and_prices("a", other, "claude-opus-5") == WINDOW


def test_values_of_the_user_win_and_later_rows_win() -> None:
    own = {"a/*": WindowAndPrices(context=7, input_price=1.0), "a/claude-*": WindowAndPrices(context=8)}
    found = window_and_prices("a", PROVIDER_HOST, "claude-opus-5", own)
    assert (found.context, found.output, found.input_price, found.output_price) == (8, 128_000, 1.0, 25.0)
    assert window_and_prices("b", PROVIDER_HOST, "claude-opus-5", own).context == 1_000_000


def test_the_rehearsal_is_free() -> None:
    assert window_and_prices("r", Upstream(REHEARSAL), "rules") == FREE


def test_costs_are_shown_in_dollars_or_as_unknown() -> None:
    assert [shown_cost(cost) for cost in (None, 0.0, 0.01234, 12.3456)] == [
        "cost unknown",
        "$0.00",
        "$0.0123",
        "$12.35",
    ]
