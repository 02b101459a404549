"""Takes pictures of the page for the documentation.

    python -m tests.browser.screenshots [FOLDER]      # docs/pictures by default; needs Chromium and Playwright

The page runs on two gateways and the rehearsal, without a model, a key or a network.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.chromium import MISSING, Watched, chromium
from tests.browser.gateway_with_traffic import ask, some_traffic, two_gateways

if TYPE_CHECKING:
    from playwright.sync_api import Page

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
SIZE = {"width": 1280, "height": 760}
AS_WEBP = """async png => {
  const bytes = Uint8Array.from(atob(png), one => one.charCodeAt(0));
  const picture = await createImageBitmap(new Blob([bytes]));
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  canvas.getContext("2d").drawImage(picture, 0, 0);
  const blob = await canvas.convertToBlob({type: "image/webp", quality: 0.9});
  const found = new Uint8Array(await blob.arrayBuffer());
  return btoa(Array.from(found, one => String.fromCharCode(one)).join(""));
}"""
"""A script for the browser that converts a picture to WebP."""


def take(page: Page, folder: Path, name: str, pointed: str = "") -> None:
    """Save a picture of the page as a small WebP file. The browser converts it from PNG. `pointed`: the element under
    the pointer."""
    page.mouse.move(0, 0)
    if pointed:
        page.locator(pointed).first.hover()
    page.wait_for_timeout(300)  # The colours of buttons change slowly.
    path = folder / f"page-{name}.webp"
    path.write_bytes(base64.b64decode(page.evaluate(AS_WEBP, base64.b64encode(page.screenshot()).decode())))
    sys.stdout.write(f"{path}: {path.stat().st_size // 1024} KB\n")


def pictures(page: Page, base: str, folder: Path) -> None:
    """Take all pictures."""
    page.goto(f"{base}/")
    page.wait_for_selector(".pill.on")
    sent = [ask(base, *one)[1] for one in some_traffic()]
    page.locator(f'[data-id="{sent[-1]}"] button:not(.running)').wait_for()
    take(page, folder, "live")
    page.goto(f"{base}/#live/{sent[9]}")
    page.locator(".beside article").wait_for()
    take(page, folder, "conversation")
    page.get_by_role("tab", name="Wire").click()
    take(page, folder, "wire")
    page.goto(f"{base}/#live/{sent[2]}")
    page.locator(".beside article h2", has_text="google").wait_for()
    page.get_by_role("tab", name="Wire").click()
    page.locator(".frames details").nth(6).scroll_into_view_if_needed()
    page.locator(".beside:visible").evaluate("panel => panel.scrollTo(0, panel.scrollHeight)")
    take(page, folder, "stream", pointed=".frames details:nth-of-type(7)")
    page.goto(f"{base}/#translate")
    page.locator(".target").first.wait_for()
    take(page, folder, "translate")
    page.goto(f"{base}/#matrix")
    page.locator(".matrix").wait_for()
    page.get_by_label("openai-chat to ollama").click()
    take(page, folder, "matrix")
    page.goto(f"{base}/#numbers")
    page.locator(".plot").first.wait_for()
    take(page, folder, "numbers")
    page.goto(f"{base}/#ask")
    page.get_by_role("combobox", name="model").fill("google/rehearsal/rules")
    page.get_by_label("get_weather").check()
    page.get_by_label("question").fill("What is the weather in Paris?")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Send results").click()
    page.locator(".turn.assistant").nth(1).get_by_role("button", name="wire").click()
    page.locator(".beside:visible article").wait_for()
    take(page, folder, "ask")


def main(folder: Path) -> None:
    """Take all pictures in light colours, and the list of exchanges in dark colours too."""
    if MISSING:
        sys.exit(MISSING)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, two_gateways(Path(place)) as base, chromium() as browser:
        light = Watched(browser, viewport=SIZE)
        pictures(light.page, base, folder)
        dark = Watched(browser, viewport=SIZE, color_scheme="dark")
        page = dark.open(f"{base}/#live")
        page.locator(".row").nth(3).click()
        page.locator(".beside article").wait_for()
        page.get_by_role("tab", name="Wire").click()
        take(page, folder, "dark")
        phone = Watched(browser, viewport={"width": 390, "height": 760}, is_mobile=True)
        page = phone.open(f"{base}/#live")
        page.locator(".row").first.wait_for()
        take(page, folder, "phone")
        problems = [*light.problems, *dark.problems, *phone.problems]
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
