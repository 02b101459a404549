"""Measures the speed of the page with many exchanges. Asserts nothing.

    python -m tests.browser.many_exchanges [COUNT]    # 1000 by default; needs Chromium and Playwright

Prints the time that the page needs to list and search the exchanges and to open one exchange, and the number of rows
from the live stream.
"""

from __future__ import annotations

import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.browser.chromium import MISSING, Watched, chromium
from tests.browser.gateway_with_traffic import ask, some_traffic, two_gateways


def main(count: int) -> None:
    """Send the exchanges while the page is open, and measure."""
    if MISSING:
        sys.exit(MISSING)
    bounds = f"[bounds]\nexchanges = {count}\nexchange_bytes = 268435456\n"
    with tempfile.TemporaryDirectory() as place, two_gateways(Path(place), bounds) as base, chromium() as browser:
        watched = Watched(browser)
        watched.context.set_default_timeout(120_000)
        page = watched.open(f"{base}/")
        page.wait_for_selector(".pill.on")
        kinds = [one for one in some_traffic() if "overloaded" not in one[1]["model"]]
        began = time.perf_counter()
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda number: ask(base, *kinds[number % len(kinds)]), range(count)))
        sent = time.perf_counter() - began
        page.wait_for_timeout(2000)
        words = page.locator(".list > p").first.inner_text()
        sys.stdout.write(f"{count} exchanges sent in {sent:.1f} s; the live page then shows: {words}\n")
        began = time.perf_counter()
        page.reload()
        page.locator(".row").nth(100).wait_for()
        sys.stdout.write(f"listed after a reload in {time.perf_counter() - began:.2f} s\n")
        began = time.perf_counter()
        page.get_by_label("search").fill("bridges")
        page.locator(".list > p", has_text=" of ").wait_for()
        sys.stdout.write(f"searched in {time.perf_counter() - began:.2f} s\n")
        began = time.perf_counter()
        page.locator(".row").first.click()
        page.locator(".beside article").wait_for()
        sys.stdout.write(f"opened in {time.perf_counter() - began:.2f} s\n")
        if watched.problems:
            sys.exit("\n".join(watched.problems))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
