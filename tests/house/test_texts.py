"""What must not stand in the repository: recorded traffic, and paths of one machine."""

from __future__ import annotations

import ast
import re

import pytest

from tests.house.sources import ROOT, texts
from tests.judges import corpus

LONG = 60


def _literals(path: str, text: str) -> set[str]:
    """The long texts a file holds as data."""
    if not path.endswith(".py"):
        return {found for found in re.findall(r'"((?:[^"\\]|\\.)*)"', text) if len(found) >= LONG}
    return {
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) >= LONG
    }


def test_no_recorded_traffic_is_copied_into_the_repository() -> None:
    folder = corpus.require_shared("wire")
    recorded = "\n".join([path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.jsonl"))])
    copied = [
        f"{path.relative_to(ROOT)}: {literal[:LONG]!r}"
        for path, text in texts()
        for literal in _literals(path.name, text)
        if literal.strip() in recorded
    ]
    assert copied == []


@pytest.mark.parametrize("word", ["work", "tmp", "root", "home"])
def test_no_path_of_one_machine_is_in_the_repository(word: str) -> None:
    place = re.compile(rf"(?<![\w.~/])/{word}/\w")
    found = [str(path.relative_to(ROOT)) for path, text in texts() if place.search(text)]
    assert found == []
