"""The README on a package index has no relative link."""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ADDRESS = "https://example.com/somebody/dragoman"


def loaded() -> Any:
    """The module of the build. Only builds need hatchling, so an empty class replaces its interface."""
    interface = ModuleType("hatchling.metadata.plugin.interface")
    interface.MetadataHookInterface = object  # type: ignore[attr-defined]
    with mock.patch.dict(sys.modules, {interface.__name__: interface}), mock.patch.object(sys, "path", [str(ROOT)]):
        return importlib.import_module("build_metadata")


build_metadata = loaded()


@pytest.mark.parametrize("address", ["", ADDRESS])
def test_no_relative_link_reaches_a_package_index(address: str) -> None:
    assert re.findall(r"\]\((?!https?:|#)", README), "the README has links"
    text = build_metadata.readme(README, address, "1.2.3")
    assert re.findall(r"\]\((?!https?:|#)[^)]*\)", text) == []
    assert bool(re.search(r"!\[", text)) is bool(address)


def test_links_point_to_the_files_of_the_version() -> None:
    text = "[how](docs/a.md#b), ![p](docs/p.webp), [out](https://x.example), [here](#c)"
    assert build_metadata.readme(text, ADDRESS, "1.2.3") == (
        f"[how]({ADDRESS}/blob/v1.2.3/docs/a.md#b), ![p]({ADDRESS}/raw/v1.2.3/docs/p.webp), "
        "[out](https://x.example), [here](#c)"
    )
    assert build_metadata.readme(text, "", "1.2.3") == "how, , [out](https://x.example), [here](#c)"


def test_every_address_of_the_project_is_made_from_one_setting() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["hatch"]["metadata"]["hooks"]["custom"].keys() == {"path", "address"}
    assert {"readme", "urls"} <= set(project["project"]["dynamic"])
    assert build_metadata.urls("") == {}
    assert all(one.startswith(ADDRESS) for one in build_metadata.urls(ADDRESS).values())
