"""The repository contains no recorded traffic and no paths of one machine."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from tests.oracles import exchanges
from tests.repo.repository_files import ROOT, texts

LONG = 60


def _literals(path: str, text: str) -> set[str]:
    """The long texts in a file."""
    if not path.endswith(".py"):
        return {found for found in re.findall(r'"((?:[^"\\]|\\.)*)"', text) if len(found) >= LONG}
    return {
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) >= LONG
    }


def _recorded(value: Any) -> Iterator[str]:
    """Every long text of a recorded exchange. A stream is read by lines."""
    if isinstance(value, str):
        yield from [line for line in value.splitlines() if len(line) >= LONG] if value.startswith("data:") else [value]
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _recorded(inner)


def test_no_recorded_traffic_is_copied_into_the_repository() -> None:
    folder = exchanges.require_shared("wire")
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in path.read_bytes().splitlines()]
    recorded = {text.strip() for line in lines for text in _recorded(msgspec.json.decode(line)) if len(text) >= LONG}
    assert len(recorded) > 5_000
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
