"""The register of repairs: sorted, explained, each one used, each loss a real one."""

from __future__ import annotations

import ast
import re

from dragoman import Repair
from dragoman.canon.loss_codes import CODES
from dragoman.canon.repair_codes import REPAIRS
from tests.repo.repository_files import SOURCE, modules


def _noted() -> set[str]:
    """Every name that stands in a call of `note` in the sources."""
    return {
        inner.value
        for _, tree in modules(SOURCE / "repair")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "note"
        for inner in ast.walk(node.args[0])
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and "-" in inner.value
    }


def test_every_repair_is_registered_and_every_registered_one_is_made() -> None:
    assert _noted() == set(REPAIRS)


def test_every_repair_is_explained() -> None:
    assert list(REPAIRS) == sorted(REPAIRS)
    for name, known in REPAIRS.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)+", name)
        assert known.meaning.endswith("."), name
        assert len(known.example) > 10, name


def test_what_leaves_something_out_or_adds_something_is_a_loss_too() -> None:
    for name, known in REPAIRS.items():
        assert known.loss == "" or known.loss in CODES, name
        if known.effect != "arranged":
            assert known.loss, name
            assert not known.tolerated, name


def test_a_repair_says_where_and_what() -> None:
    assert str(Repair("empty-turn", "/messages/3", "of the user")) == "empty-turn at /messages/3: of the user"
    assert str(Repair("empty-turn", "")) == "empty-turn at /"
