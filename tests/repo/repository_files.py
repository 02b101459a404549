"""Owns the list of the repository's files, for the checks that read them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "dragoman"


def modules(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    """Every Python file below a folder, parsed. Treat the trees as read-only."""
    for path in sorted(folder.rglob("*.py")):
        yield path, _parsed(path)


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def texts() -> Iterator[tuple[Path, str]]:
    """Every text file that belongs to the repository."""
    for name in ("src", "tests", "bench", "conformance", "docs", "changes.d", "examples", ".github"):
        for path in sorted((ROOT / name).rglob("*")):
            if path.suffix in (".py", ".json", ".md", ".txt", ".toml", ".yml") and "__pycache__" not in path.parts:
                yield path, path.read_text(encoding="utf-8")
    for path in sorted(ROOT.iterdir()):
        if (path.is_file() and path.suffix in (".md", ".toml", ".py", ".yaml")) or path.name in (
            "Makefile",
            ".importlinter",
        ):
            yield path, path.read_text(encoding="utf-8")
