"""Every data file has one row in docs/data-files.md, with its source and its licence."""

from __future__ import annotations

import re
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from tests.repo.repository_files import ROOT

PAGE = ROOT / "docs" / "data-files.md"
FOLDERS = ("src", "conformance", "tests", "bench", "docs", "examples", "changes.d")
CODE = (".py", ".pyi", ".pyc", ".md")


def _rows() -> list[list[str]]:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def _patterns() -> list[str]:
    return [pattern for row in _rows() for pattern in re.findall(r"`([^`]+)`", row[0])]


def _data_files() -> list[str]:
    """The paths of all files that are neither code nor documentation."""
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    return sorted(str(path.relative_to(ROOT)) for path in found if _is_data(path))


def _is_data(path: Path) -> bool:
    hidden = any(part.startswith(".") or part == "__pycache__" or part.endswith(".egg-info") for part in path.parts)
    return path.suffix not in CODE and not hidden


def test_every_data_file_has_one_row() -> None:
    patterns = _patterns()
    files = _data_files()
    assert len(files) > 200
    rows = {name: [pattern for pattern in patterns if fnmatchcase(name, pattern)] for name in files}
    assert {name: found for name, found in rows.items() if len(found) != 1} == {}


def test_every_row_has_a_file_and_names_content_source_licence_and_reason() -> None:
    files = _data_files()
    assert [pattern for pattern in _patterns() if not any(fnmatchcase(name, pattern) for name in files)] == []
    for row in _rows():
        assert len(row) == 5 and all(row), row


def test_the_test_looks_into_every_folder_of_the_repository() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no clone")
    folders = {name.partition("/")[0] for name in listed.stdout.splitlines() if "/" in name}
    assert {name for name in folders if not name.startswith(".")} == {*FOLDERS}


def test_a_licence_other_than_ours_has_its_text_beside_the_files() -> None:
    for row in _rows():
        if row[3] != "Apache-2.0":
            folder = ROOT / Path(re.findall(r"`([^`]+)`", row[0])[0]).parent
            assert list(folder.glob("LICENSE*")), row
