"""Windows and prices: every row has its proof, costs are exact, and an unknown price gives no cost."""

from __future__ import annotations

import re

import pytest

from dragoman.canon.response import Usage
from dragoman.dialects import installed
from dragoman.errors import ConfigError
from dragoman.facts import windows_and_prices
from dragoman.facts.windows_and_prices import UNKNOWN, WindowAndPrices, lookup


def test_every_row_has_a_source_a_date_and_known_dialects() -> None:
    for row in windows_and_prices.rows():
        assert len(row.source) > 10 and re.fullmatch(r"20\d\d-[01]\d", row.date), row
        assert set(row.dialects) <= set(installed()) and row.match and row.facts, row


def test_every_row_decides_the_facts_of_some_model() -> None:
    for row in windows_and_prices.rows():
        found = [lookup(row.dialects[0], pattern.replace("*", "")) for pattern in row.match]
        kept = [all(getattr(one, name) == value for name, value in row.facts.items()) for one in found]
        assert any(kept), row


def test_a_model_is_found_by_its_plain_name_dated_name_and_router_name() -> None:
    own = lookup("anthropic", "claude-opus-5")
    assert (own.context, own.output, own.input_price, own.output_price) == (1_000_000, 128_000, 5.0, 25.0)
    assert lookup("anthropic", "claude-sonnet-4-5-20250929").context == 200_000
    assert lookup("openrouter", "anthropic/claude-opus-4.6") == WindowAndPrices(1_000_000, 128_000)


def test_a_model_that_no_row_names_is_unknown() -> None:
    assert lookup("anthropic", "claude-opus-55") is UNKNOWN
    assert lookup("ollama", "qwen3:8b") is UNKNOWN
    assert lookup("anthropic", "claude-opus-5" + "x" * 1000) is UNKNOWN


def test_a_version_number_is_not_mistaken_for_the_date_of_another_version() -> None:
    assert lookup("anthropic", "claude-fable-5-2").input_price == 8.0
    assert lookup("anthropic", "claude-fable-5-20260609").input_price == 10.0
    assert lookup("anthropic", "claude-opus-5-2") is UNKNOWN


def test_prices_without_a_page_of_the_provider_are_unknown() -> None:
    assert lookup("gemini", "gemini-2.5-flash") == WindowAndPrices(1_048_576, 65_536)
    assert lookup("openai-responses", "gpt-5.4") == WindowAndPrices(1_050_000, 128_000)
    haiku = lookup("anthropic", "claude-haiku-5-5")
    assert haiku.cost(Usage(100_000, 1000)) == pytest.approx(0.1 * 0.1 + 0.001 * 0.5)
    assert haiku.cost(Usage(100_001, 1000)) is None


def test_cached_tokens_have_separate_prices() -> None:
    known = WindowAndPrices(input_price=10, output_price=50, cache_read_price=1, cache_write_price=12.5)
    usage = Usage(1_000_000, 10_000, cache_read=600_000, cache_write=100_000)
    assert known.cost(usage) == pytest.approx(0.3 * 10 + 0.6 * 1 + 0.1 * 12.5 + 0.01 * 50)


@pytest.mark.parametrize(
    ("known", "usage"),
    [
        (UNKNOWN, Usage(1, 1)),
        (WindowAndPrices(input_price=1), Usage(1, 1)),
        (WindowAndPrices(input_price=1, output_price=1), Usage(10, 1, cache_read=5)),
        (WindowAndPrices(input_price=1, output_price=1), Usage(10, 1, cache_write=5)),
        (WindowAndPrices(input_price=1, output_price=1), Usage(None, 1)),
        (WindowAndPrices(input_price=1, output_price=1, long_prompt=5), Usage(10, 1)),
    ],
)
def test_a_cost_that_needs_an_unknown_number_is_unknown(known: WindowAndPrices, usage: Usage) -> None:
    assert known.cost(usage) is None


def test_a_long_request_has_the_long_prices_for_all_its_tokens() -> None:
    known = lookup("openai-chat", "gpt-5.6-terra")
    assert known.cost(Usage(272_000, 1000)) == pytest.approx(0.272 * 2 + 0.001 * 12)
    assert known.cost(Usage(272_001, 1000)) == pytest.approx(0.272001 * 4 + 0.001 * 18)


def test_own_values_win_and_other_values_are_kept() -> None:
    assert WindowAndPrices(context=5).with_unknown_from(WindowAndPrices(9, 8, input_price=1)) == WindowAndPrices(
        5, 8, input_price=1
    )


def test_loaded_rows_win_until_they_are_unloaded() -> None:
    row = {
        "dialects": ["anthropic"],
        "match": ["claude-opus-5"],
        "facts": {"input_price": 1.0},
        "source": "a contract",
        "date": "2026-11",
    }
    with windows_and_prices.load([row]):
        assert lookup("anthropic", "claude-opus-5").input_price == 1.0
    assert lookup("anthropic", "claude-opus-5").input_price == 5.0
    with pytest.raises(ConfigError, match="input_cost"):
        windows_and_prices.load([{**row, "facts": {"input_cost": 1.0}}])
