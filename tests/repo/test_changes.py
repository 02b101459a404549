"""Every change fragment is well formed, and the release script collects the fragments completely."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.repo.repository_files import ROOT

FOLDER = ROOT / "changes.d"


def _script() -> Any:
    spec = importlib.util.spec_from_file_location("release_script", FOLDER / "release.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["release_script"] = module  # A dataclass needs its module in `sys.modules`.
    spec.loader.exec_module(module)
    return module


script = _script()


def test_every_fragment_is_well_formed() -> None:
    wrong = {path.name: script.mistakes(path.name, path.read_text()) for path in script.fragment_files(FOLDER)}
    assert {name: found for name, found in wrong.items() if found} == {}


@pytest.mark.parametrize(
    ("name", "text", "mistake"),
    [
        ("a-b.fixed.md", "`x` is kept.\n", None),
        ("a.added.md", "One line (two\nlines.)\n", None),
        ("a.md", "Text.\n", "the name"),
        ("a.repaired.md", "Text.\n", "the name"),
        ("A.fixed.md", "Text.\n", "the name"),
        ("a.fixed.md", "", "end with one line break"),
        ("a.fixed.md", "\n", "empty"),
        ("a.fixed.md", "Text.", "end with one line break"),
        ("a.fixed.md", "Text.\n\nText.\n", "one paragraph"),
        ("a.fixed.md", "- Text.\n", "list mark"),
        ("a.fixed.md", "text.\n", "capital"),
        ("a.fixed.md", "Text\n", "full stop"),
        ("a.fixed.md", "T" * 121 + ".\n", "120"),
    ],
)
def test_a_mistake_in_a_fragment_is_named(name: str, text: str, mistake: str | None) -> None:
    found = script.mistakes(name, text)
    assert found == [] if mistake is None else any(mistake in one for one in found)


def _repository(place: Path, changelog: str, version: str, fragments: dict[str, str]) -> Path:
    (place / "src" / "dragoman").mkdir(parents=True)
    (place / "src" / "dragoman" / "__init__.py").write_text(f'"""x"""\n\n__version__ = "{version}"\n')
    (place / "CHANGELOG.md").write_text(changelog)
    (place / "changes.d").mkdir()
    (place / "changes.d" / "README.md").write_text("Kept.\n")
    for name, text in fragments.items():
        (place / "changes.d" / name).write_text(text)
    return place


FRAGMENTS = {
    "b.fixed.md": "B is right.\n",
    "a.fixed.md": "A is right\nnow.\n",
    "c.added.md": "C is new.\n",
}


def test_the_first_release_keeps_the_unreleased_block(tmp_path: Path) -> None:
    root = _repository(tmp_path, "# Changelog\n\n## Unreleased\n\nWords.\n\n- One.\n", "0.1.0", FRAGMENTS)
    script.release(root, "0.1.0", "2026-12-01")
    assert (root / "CHANGELOG.md").read_text() == (
        "# Changelog\n\n## 0.1.0 (2026-12-01)\n\nWords.\n\n- One.\n\n"
        "### Added\n\n- C is new.\n\n### Fixed\n\n- A is right\n  now.\n- B is right.\n"
    )
    assert [path.name for path in (root / "changes.d").iterdir()] == ["README.md"]


def test_a_later_release_is_added_at_the_top_and_sets_the_version(tmp_path: Path) -> None:
    old = "# Changelog\n\n## 0.1.0 (2026-12-01)\n\nWords.\n"
    root = _repository(tmp_path, old, "0.1.0", {"c.added.md": "C is new.\n"})
    script.release(root, "0.2.0", "2027-01-02")
    new = "# Changelog\n\n## 0.2.0 (2027-01-02)\n\n### Added\n\n- C is new.\n"
    assert (root / "CHANGELOG.md").read_text() == new + "\n## 0.1.0 (2026-12-01)\n\nWords.\n"
    assert (root / "src" / "dragoman" / "__init__.py").read_text() == '"""x"""\n\n__version__ = "0.2.0"\n'


@pytest.mark.parametrize(
    ("version", "fragments", "reason"),
    [
        ("0.1.0", FRAGMENTS, "section for 0.1.0 already"),
        ("0.0.9", FRAGMENTS, "older"),
        ("0.1.0rc1", FRAGMENTS, "older"),
        ("v0.2", FRAGMENTS, "not a version"),
        ("0.2.0", {}, "nothing to release"),
        ("0.2.0", {"bad.md": "Text.\n"}, "bad.md"),
    ],
)
def test_an_invalid_release_changes_nothing(
    tmp_path: Path, version: str, fragments: dict[str, str], reason: str
) -> None:
    old = "# Changelog\n\n## 0.1.0 (2026-12-01)\n\nWords.\n"
    root = _repository(tmp_path, old, "0.1.0", fragments)
    before = {path: path.read_text() for path in root.rglob("*") if path.is_file()}
    with pytest.raises(script.ReleaseError, match=reason):
        script.release(root, version, "2027-01-02")
    assert {path: path.read_text() for path in root.rglob("*") if path.is_file()} == before


def test_the_present_changelog_can_be_released() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    body = script.section_body(script.read_fragments(FOLDER))
    released = script.with_section(text, "99.0.0", "2099-01-01", body)
    assert "## 99.0.0 (2099-01-01)" in released and body.strip() in released
    assert set(text.splitlines()) - set(released.splitlines()) <= {script.UNRELEASED}
