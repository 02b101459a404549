"""Owns the browser of the tests: Debian's Chromium, driven by Playwright. Playwright's own browsers are not used."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PROGRAM = next((found for name in ("chromium", "chromium-browser") if (found := shutil.which(name))), "")
MISSING = (
    ""
    if PROGRAM and find_spec("playwright")
    else "no Chromium here: install Debian's package chromium, then playwright"
)
"""The reason why the tests of the page cannot run, or "" if they can run."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox", "--disable-gpu"])
        try:
            yield browser
        finally:
            browser.close()


class Watched:
    """A page, with every problem that its browser reports and every address that it requests."""

    def __init__(self, browser: Browser, **settings: Any) -> None:
        self.context = browser.new_context(
            viewport=settings.pop("viewport", {"width": 1360, "height": 860}), **settings
        )
        self.context.set_default_timeout(15_000)
        self.page: Page = self.context.new_page()
        self.problems: list[str] = []
        self.asked: list[str] = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", self._note)
        self.page.on("dialog", lambda dialog: self.problems.append(f"dialog {dialog.message}"))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def _note(self, message: Any) -> None:
        # The console also gets a line for a status of 4xx or 5xx. The page itself shows such a fault.
        if message.type == "error" and not re.search(r"status of [45]\d\d", message.text):
            self.problems.append(message.text)

    def open(self, address: str) -> Page:
        self.page.goto(address)
        return self.page

    def close(self) -> None:
        self.context.close()
