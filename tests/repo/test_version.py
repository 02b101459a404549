"""The version is in one place: `__version__` in src/dragoman/__init__.py. The build reads that line."""

from __future__ import annotations

import re
import tomllib

import dragoman
from tests.repo.repository_files import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_build_reads_the_version_from_the_package() -> None:
    assert "version" not in PROJECT["project"]
    assert "version" in PROJECT["project"]["dynamic"]
    assert PROJECT["tool"]["hatch"]["version"] == {"path": "src/dragoman/__init__.py"}


def test_the_version_is_a_semantic_version_on_a_line_that_the_build_can_read() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", dragoman.__version__)
    text = (ROOT / "src" / "dragoman" / "__init__.py").read_text(encoding="utf-8")
    assert re.findall(r'^__version__ = "(.*)"$', text, re.M) == [dragoman.__version__]
