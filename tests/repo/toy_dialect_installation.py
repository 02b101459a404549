"""Owns the installation of the toy dialect of `examples/`: as an installed package, or as a folder of the package."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dragoman import dialects
from dragoman.codec.cache_memory_budget import forget
from dragoman.gateway.exchange import upstream_headers_and_key

TOY = Path(__file__).parents[2] / "examples" / "toy_dialect"
QUESTION = {
    "model": "toy-1",
    "lines": [
        {"from": "system", "text": "Be brief."},
        {"from": "user", "text": "Weather in Oslo?"},
        {"from": "model", "text": "I look."},
        {"from": "model", "call": {"name": "weather", "id": "c1", "input": {"city": "Oslo"}}},
        {"from": "tool", "id": "c1", "text": "rain"},
    ],
    "tools": [{"name": "weather", "about": "The weather.", "input": {"type": "object", "properties": {}}}],
}


def write_package(site: Path) -> None:
    """Write the files that pip writes: the module, and the metadata with the entry point."""
    project = tomllib.loads((TOY / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]["dragoman.dialects"]
    metadata = site / "dragoman_toy-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 1.0\n")
    lines = [f"{name} = {where}" for name, where in points.items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[dragoman.dialects]", *lines, ""]))
    (site / "dragoman_toy.py").write_text((TOY / "dragoman_toy.py").read_text())


@contextmanager
def as_package(site: Path) -> Iterator[None]:
    """Install the toy as a package within this context."""
    write_package(site)
    sys.path.insert(0, str(site))
    _search_dialects_again()
    try:
        yield
    finally:
        sys.path.remove(str(site))
        sys.modules.pop("dragoman_toy", None)
        _search_dialects_again()


@contextmanager
def as_folder(site: Path) -> Iterator[None]:
    """Add the toy as a folder of `dragoman/dialects` within this context."""
    (site / "toy").mkdir()
    (site / "toy" / "__init__.py").write_text((TOY / "dragoman_toy.py").read_text())
    dialects.__path__.append(str(site))
    _search_dialects_again()
    try:
        yield
    finally:
        dialects.__path__.remove(str(site))
        sys.modules.pop("dragoman.dialects.toy", None)
        _search_dialects_again()


WAYS: dict[str, Callable[[Path], object]] = {"package": as_package, "folder": as_folder}


def _search_dialects_again() -> None:
    """Search the dialects again. A process normally searches them once."""
    for known in (
        dialects.names,
        dialects.installed,
        dialects.get,
        dialects.endpoints,
        upstream_headers_and_key.key_headers,
    ):
        known.cache_clear()
    forget()
