"""Bytes that grow in a loop are collected in a list and joined once.

`out += more` copies all bytes each time, so the time grows with the square of the length.
"""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "dragoman"


def found(source: str) -> list[int]:
    """The lines at which bytes are added to bytes, in a loop whose length is not fixed in the source."""
    lines: list[int] = []
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        grown = _begun_with_bytes(function)
        for loop in ast.walk(function):
            if isinstance(loop, ast.While) or (isinstance(loop, ast.For) and not _is_fixed(loop.iter)):
                lines += [
                    node.lineno
                    for node in ast.walk(loop)
                    if isinstance(node, ast.AugAssign) and ast.unparse(node.target) in grown
                ]
    return lines


def _begun_with_bytes(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {
        ast.unparse(node.targets[0])
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, bytes)
    }


def _is_fixed(looped: ast.expr) -> bool:
    return isinstance(looped, ast.Tuple | ast.List) or (isinstance(looped, ast.Name) and looped.id.isupper())


def test_the_check_finds_bytes_that_grow_in_a_loop() -> None:
    assert found("def f(x):\n out = b''\n for one in x:\n  out += one\n return out") == [4]
    assert found("def f(x):\n out = b''\n for one in (1, 2):\n  out += x\n return out") == []
    assert found("def f(x):\n out = []\n for one in x:\n  out += one\n return out") == []


def test_no_loop_adds_bytes_to_bytes() -> None:
    known = {
        "transport/request_head_and_decompression.py": 1
    }  # At most MAX_INFLATED bytes from at most MAX_MEMBERS members.
    places = {
        str(file.relative_to(SOURCE)): len(lines)
        for file in sorted(SOURCE.rglob("*.py"))
        if (lines := found(file.read_text(encoding="utf-8")))
    }
    assert places == known
