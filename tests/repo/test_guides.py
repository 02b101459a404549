"""The pages for contributors: their links, anchors, paths and commands exist. Hooks and CI need only the repository."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.repo.repository_files import ROOT

GUIDES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / ".github").rglob("*.md")),
    *[ROOT / folder / "README.md" for folder in ("bench", "changes.d", "conformance", "tests", "tests/corpus")],
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
    *sorted((ROOT / "docs" / "explanation").glob("*.md")),
]
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)]*))?\)")
PLACE = re.compile(r"`((?:src|tests|docs|bench|conformance|changes\.d|examples)/[\w./-]*)`")
BLOCK = re.compile(r"^```.*?^```", re.M | re.S)
PLACE_IN_BLOCK = re.compile(r"(?<![\w./-])((?:src|tests|docs|bench|conformance|changes\.d|examples)/[\w./-]*)")
TARGETS = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.M))


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_anchors_have_targets(page: Path) -> None:
    missing = []
    for link, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        there = page.parent / link if link else page
        if not there.exists() or (anchor and anchor not in _anchors(there)):
            missing.append(f"{link}#{anchor}")
    assert missing == []


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md", "tests/README.md"])
def test_paths_that_a_guide_names_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    places = PLACE.findall(text) + [place for block in BLOCK.findall(text) for place in PLACE_IN_BLOCK.findall(block)]
    examples = {"tests/lint/fixtures/ANT-027.json", "tests/unit/runtime/test_NAME.py"}  # Files that the reader creates.
    assert [place for place in places if not (ROOT / place).exists() and place not in examples] == []


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: str(page.relative_to(ROOT)))
def test_make_targets_that_a_page_names_exist(page: Path) -> None:
    named = re.findall(r"`make ([a-z0-9-]+(?: [a-z0-9-]+)*)", page.read_text(encoding="utf-8"))
    assert {word for words in named for word in words.split()} - TARGETS == set()


def test_every_test_folder_is_explained() -> None:
    text = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"^\| `([a-z0-9_]+)/`", text, re.M))
    assert explained == {path.parent.name for path in (ROOT / "tests").glob("*/__init__.py")}


def test_hooks_are_local_and_use_installed_tools() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"repo: (\S+)", text)) == {"local"}
    assert set(re.findall(r"language: (\S+)", text)) == {"system"}
    assert set(re.findall(r"entry: \.venv/bin/(\S+)", text)) == {"ruff", "mypy", "lint-imports"}


def test_the_hosted_run_needs_only_a_clone() -> None:
    text = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    assert "DRAGOMAN_SHARED" not in text and "shared" not in text and "://" not in text
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    supported = [line.rsplit(" ", 1)[1] for line in project["classifiers"] if "Python :: 3." in line]
    assert set(supported) <= set(re.findall(r'"(3\.\d+)"', text))
