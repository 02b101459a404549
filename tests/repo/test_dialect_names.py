"""A dialect is one folder: whoever is outside of it reads what it declares, and compares no names."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import dragoman
from dragoman.dialects import names

SOURCE = Path(dragoman.__file__).parent
LIMIT = 31
"""Names outside of the dialects on 2026-11-17; there were 253."""
SERVED = ("gateway", "transport", "conform")
"""Packages that serve, ask and judge any dialect."""
ONE_DIALECT = {
    "gateway/endpoints/responses_api.py": 1,  # what Responses keeps under an id
    "gateway/exchange/response_continuation.py": 1,
}
"""Their modules for what only one dialect has, which their names say."""


def found() -> Counter[str]:
    """How often the code outside of the dialects names a dialect, by file."""
    known = set(names())
    out: Counter[str] = Counter()
    for file in SOURCE.rglob("*.py"):
        place = file.relative_to(SOURCE).as_posix()
        if not place.startswith("dialects/"):
            constants = [node.value for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Constant)]
            out[place] += sum([value in known for value in constants if isinstance(value, str)])
    return +out


def test_few_names_of_dialects_stand_outside_of_their_folders() -> None:
    assert sum(found().values()) <= LIMIT, found()


def test_who_serves_all_dialects_knows_none_by_name() -> None:
    assert {place: count for place, count in found().items() if place.startswith(SERVED)} == ONE_DIALECT


def test_every_folder_has_the_files_that_others_look_for() -> None:
    for name in names():
        folder = SOURCE / "dialects" / name.replace("-", "_")
        assert {"endpoints.py", "conformance_client.py"} <= {file.name for file in folder.iterdir()}, name
