"""Every row of facts names its source, with the marks that the guide explains."""

from __future__ import annotations

import re

from dragoman.facts import hosts, profiles, windows_and_prices
from tests.repo.repository_files import ROOT

GUIDE = ROOT / "docs" / "how-to" / "model-gates.md"
MARK = re.compile(r"\[([A-Z][^\]]*)\]")
SOURCES = [row.source for table in (profiles, hosts, windows_and_prices) for row in table.rows()]
PRICED = [row for row in windows_and_prices.rows() if any("price" in fact for fact in row.facts)]


def test_a_source_has_a_mark_or_is_recorded_traffic() -> None:
    assert [source for source in SOURCES if not MARK.search(source) and "recorded traffic" not in source] == []


def test_the_guide_explains_every_mark() -> None:
    explained = set(re.findall(r"`\[([^\]]+)\]`", GUIDE.read_text(encoding="utf-8")))
    used = {re.sub(r"^R, \d+$", "R, many", mark) for source in SOURCES for mark in MARK.findall(source)}
    assert {"D", "R", "M"} <= used
    assert {part for mark in used for part in re.split(r", (?=[A-Z])", mark)} <= explained


def test_every_price_has_a_page_of_the_provider_as_source() -> None:
    assert len(PRICED) > 10
    assert [row.match for row in PRICED if "[D]" not in row.source] == []
