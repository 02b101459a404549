"""ARCHITECTURE.md names every package in the order of the layers that .importlinter checks."""

from __future__ import annotations

import configparser
import re

from tests.repo.repository_files import ROOT, SOURCE

LINE = re.compile(r"^([a-z_]+) +(\d+)  \S", re.M)


def _layers() -> list[list[str]]:
    """The layers from top to bottom. Packages side by side share a layer."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / ".importlinter")
    lines = parser["importlinter:contract:layers"]["layers"].split("\n")
    return [[name.strip().removeprefix("dragoman.") for name in line.split("|")] for line in lines if line.strip()]


def _drawn() -> list[tuple[str, int]]:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    return [(name, int(number)) for name, number in LINE.findall(text)]


def test_the_drawing_has_the_checked_layers() -> None:
    layers = _layers()
    expected = [(name, len(layers) - place) for place, names in enumerate(layers) for name in names]
    assert _drawn() == expected


def test_every_package_and_module_has_a_layer() -> None:
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    modules = {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}
    assert {name for names in _layers() for name in names} == packages | modules
