"""The documentation builds as a site. Every link and anchor has a target, and no page loads a file of another host."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs import build_site

pytest.importorskip("zensical", reason="the site is built with the extra `docs`")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("site")
    build_site.write_source(source)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "-f", "mkdocs.yml"]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return source / "site"


def test_every_page_is_built(site: Path) -> None:
    pages = [path.relative_to(build_site.DOCS).with_suffix(".html") for path in build_site.DOCS.rglob("*.md")]
    guides = [Path(place).with_suffix(".html") for place in build_site.GUIDES.values()]
    assert [page for page in [*pages, *guides] if not (site / page).is_file()] == []


def test_pages_load_no_file_of_another_host(site: Path) -> None:
    loads = re.compile(r"<(?:script|img|link|iframe)\b[^>]*?(?:src|href)=\"?(https?://[^\" >]+)")
    found = {address for page in site.rglob("*.html") for address in loads.findall(page.read_text(encoding="utf-8"))}
    assert found == set()


def test_every_page_is_in_the_navigation(site: Path) -> None:
    navigation = (site.parent / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [path.relative_to(site.parent / "pages").as_posix() for path in (site.parent / "pages").rglob("*.md")]
    assert [page for page in pages if f"- {page}" not in navigation] == []
