"""One browser and one pair of gateways for each module of tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.chromium import chromium
from tests.browser.gateway_with_traffic import PRICES, two_gateways

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with two_gateways(tmp_path_factory.mktemp("gateways"), PRICES) as found:
        yield found
