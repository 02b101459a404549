"""Labels and contrast of every view in light and dark colours, checked with axe (the rules of WCAG 2.2 AA)."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from tests.browser.chromium import MISSING, Watched
from tests.browser.gateway_with_traffic import ask, some_traffic

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

TAGS = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]
RULES = {"light": {"type": "tag", "values": TAGS}, "dark": {"type": "rule", "values": ["color-contrast"]}}
"""In dark mode only the colours differ."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_is_accessible(scheme: str, browser: Browser, base: str) -> None:
    exchanges = [ask(base, *one)[1] for one in some_traffic()]
    # axe creates elements from text. The policy of the page forbids that.
    watched = Watched(browser, color_scheme=scheme, bypass_csp=True)
    page = watched.open(f"{base}/")
    page.wait_for_selector(".row")
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = {"live": breaches(page, scheme)}
    for exchange, tabs in (
        (exchanges[3], ("Conversation", "Wire", "Stream", "Facts")),
        (exchanges[2], ("Tool cycle",)),
    ):
        page.goto(f"{base}/#live/{exchange}")
        page.locator(".beside article").wait_for()
        for name in tabs:
            page.get_by_role("tab", name=name).click()
            found[name] = breaches(page, scheme, ".beside")
    for view, ready in (("translate", ".target"), ("matrix", ".matrix"), ("numbers", ".plot"), ("ask", "form")):
        page.goto(f"{base}/#{view}")
        page.locator(f"{ready}:visible").first.wait_for()
        if view == "matrix":
            page.locator(".matrix .cell.error").first.click()
        found[view] = breaches(page, scheme, "#views > :not([hidden])")
    page.get_by_role("button", name="Connect a client").click()
    found["connect"] = breaches(page, scheme, "#dialog")
    watched.close()
    assert {name: some for name, some in found.items() if some} == {}


def breaches(page: Page, scheme: str, part: str = "html") -> list[str]:
    """The rules that a part of the page breaks. Each part is checked once, because axe is slow on long lists."""
    result = page.evaluate("([part, only]) => axe.run(part, {runOnly: only})", [part, RULES[scheme]])
    assert result["passes"]
    return [
        f"{one['id']}: {node['html'][:120]} {node['failureSummary']}"
        for one in result["violations"]
        for node in one["nodes"]
    ]
