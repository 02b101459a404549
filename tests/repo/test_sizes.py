"""Files and functions of the package stay small enough to read in one go.

The limits are the largest sizes of November 2026. Lower a limit when the largest file or function shrinks.
Never raise a limit for one file: find out which second purpose the file has got.
"""

from __future__ import annotations

import ast

from tests.repo.repository_files import SOURCE, modules

FILE_LINES = 643
FUNCTION_LINES = 76


def test_no_file_is_longer_than_the_limit() -> None:
    sizes = {str(path.relative_to(SOURCE)): len(path.read_text().splitlines()) for path in SOURCE.rglob("*.py")}
    assert len(sizes) > 300
    assert {name: size for name, size in sizes.items() if size > FILE_LINES} == {}


def test_no_function_is_longer_than_the_limit() -> None:
    sizes: dict[str, int] = {}
    for path, tree in modules(SOURCE):
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
                sizes[f"{path.relative_to(SOURCE)}:{node.lineno} {node.name}"] = node.end_lineno - node.lineno + 1
    assert len(sizes) > 3000
    assert {name: size for name, size in sizes.items() if size > FUNCTION_LINES} == {}
