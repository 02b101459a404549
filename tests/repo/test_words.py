"""The project has few special words, and its texts name only modules that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.repo.repository_files import ROOT, SOURCE, texts

MOST = 30
"""The largest number of special words. A newcomer can learn this many."""
_REFERENCE = re.compile(r"`(?:dragoman\.)?([a-z_]+)\.([a-z_]+)(?:\.([A-Za-z_]+))?`")
_PACKAGES = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
_OLD_NAMES = ("CHANGELOG.md", "changes.d/")
"""Texts that name modules of earlier versions."""


def _words() -> list[str]:
    rows = (ROOT / "docs" / "glossary.md").read_text().splitlines()
    return [row.split("|")[1].strip() for row in rows if row.startswith("| ") and not row.startswith("| Word")]


def test_the_glossary_is_short_and_has_each_word_once() -> None:
    words = _words()
    assert 20 < len(words) <= MOST
    assert len(set(words)) == len(words)
    assert not [word for word in words if "," in word]


def test_the_source_uses_every_word_of_the_glossary() -> None:
    source = "\n".join([path.read_text() for path in SOURCE.rglob("*.py")])
    assert [word for word in _words() if not re.search(rf"(?i)\b{re.escape(word)}s?\b", source)] == []


def _references() -> Iterator[tuple[str, str]]:
    """The modules of the package that texts name in backquotes, and the file of each text."""
    for path, text in texts():
        place = path.relative_to(ROOT).as_posix()
        if path.suffix in (".py", ".md") and not place.startswith(_OLD_NAMES):
            for package, name, _ in _REFERENCE.findall(text):
                if package in _PACKAGES and name not in ("py", "md"):
                    yield f"{package}/{name}", place


def test_texts_name_modules_that_exist() -> None:
    missing = []
    found = list(_references())
    assert len(found) > 10
    for reference, place in found:
        package, _, name = reference.partition("/")
        module = SOURCE / package / name
        known = (SOURCE / package / "__init__.py").read_text()
        if not module.with_suffix(".py").exists() and not module.is_dir() and not re.search(rf"\b{name}\b", known):
            missing.append(f"{place}: {package}.{name}")
    assert missing == []
