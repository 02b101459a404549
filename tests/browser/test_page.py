"""The gateway's page in a real browser: it translates, shows the losses, and follows what goes through."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import urllib.request
from pathlib import Path

import pytest

from tests.browser.remote import Tab, browser
from tests.e2e.serving import served

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=5000",
)


def looked_at(url: str, folder: Path) -> str:
    """What stands on a page once its scripts have done their work."""
    command = [BROWSER, *QUIET, f"--user-data-dir={folder}", "--dump-dom", url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return html.unescape(re.sub(r"<[^>]*>", " ", done.stdout.partition("<main>")[2].partition("<script>")[0]))


@pytest.mark.skipif(not BROWSER, reason="no Chromium on this machine: install Debian's package chromium")
def test_the_page_translates_and_shows_what_went_through(tmp_path: Path) -> None:
    with served("", tmp_path) as base:
        body = b'{"model": "rehearsal/rules", "messages": [{"role": "user", "content": "Hello"}]}'
        headers = {"content-type": "application/json"}
        asked = urllib.request.Request(f"{base}/v1/chat/completions", body, headers)
        with urllib.request.urlopen(asked, timeout=30) as answer:
            assert answer.status == 200
        seen = looked_at(f"{base}/dragoman", tmp_path / "browser")
    assert f"ANTHROPIC_BASE_URL={base}" in seen
    assert '"functionCall"' in seen  # the sample, in Gemini's dialect
    assert "seal.dropped" in seen
    assert "/messages/1/content/0" in seen
    assert re.search(r"openai-chat\s+rehearsal/rules\s+rehearsal", seen)


@pytest.mark.skipif(not BROWSER, reason="no Chromium on this machine: install Debian's package chromium")
def test_the_page_asks_for_the_key_and_keeps_it_in_its_tab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOOR_KEYS", "sesame")
    with (
        served('[listen]\nkey_env = "DOOR_KEYS"\n', tmp_path) as base,
        browser(BROWSER, QUIET[:-1], tmp_path / "browser") as tab,
    ):
        tab.open(f"{base}/dragoman")
        closed = tab.seen("!document.querySelector('#door').hidden")
        assert "needs a key" in closed
        assert "Translate" not in closed
        _unlock(tab, "simsim")
        refused = tab.seen("document.querySelector('#refused').textContent.includes('not one')")
        assert "not one of this gateway's" in refused
        _unlock(tab, "sesame")
        opened = tab.seen("document.querySelector('#losses').rows.length > 1")
        assert "needs a key" not in opened
        assert "seal.dropped" in opened
        assert "$KEY" in opened
        tab.run("location.reload()")
        assert "seal.dropped" in tab.seen("document.querySelector('#losses')?.rows.length > 1")
        assert tab.run("Object.keys(localStorage).length + document.cookie.length") == 0


def _unlock(tab: Tab, key: str) -> None:
    tab.run(f"document.querySelector('#key').value = '{key}'; document.querySelector('#unlock').requestSubmit()")
