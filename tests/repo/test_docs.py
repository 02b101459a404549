"""The documentation: generated pages are current, links have targets, and the examples print the shown output."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from docs import generate

from dragoman.codec import cache_memory_budget

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
WRITTEN = [page for page in PAGES if not page.read_text().startswith("<!-- Generated")]


@pytest.fixture(autouse=True)
def _memories_as_before() -> Iterator[None]:
    """Restore the memories. An example turns them off for all later tests in the process."""
    yield
    cache_memory_budget.budget(cache_memory_budget.DEFAULT)


def test_generated_pages_are_current() -> None:
    stale = [path for path, text in generate.pages() if (DOCS / path).read_text() != text]
    assert not stale, f"run: make docs (out of date: {stale})"


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(DOCS)))
def test_links_have_targets(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(DOCS)))
def test_examples_print_the_shown_output(page: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.S)
    names: dict[str, Any] = {}
    for block in blocks:
        shown = [line.removeprefix("# ") for line in block.splitlines() if line.startswith("# ")]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, str(page), "exec"), names)
        assert printed.getvalue().splitlines() == shown
