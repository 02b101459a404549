"""The register of repairs: sorted and explained. Each repair is used, and each named loss is registered."""

from __future__ import annotations

import ast
import re

from dragoman import Repair
from dragoman.canon.loss_codes import CODES
from dragoman.canon.repair_codes import REPAIRS
from tests.repo.repository_files import SOURCE, modules


def _noted() -> set[str]:
    """Every repair name in a call of `note` in the source files."""
    return {
        inner.value
        for _, tree in modules(SOURCE / "repair")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "note"
        for inner in ast.walk(node.args[0])
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and "-" in inner.value
    }


def test_the_registered_repairs_are_exactly_the_used_repairs() -> None:
    assert _noted() == set(REPAIRS)


def test_every_repair_is_explained() -> None:
    assert list(REPAIRS) == sorted(REPAIRS)
    for name, known in REPAIRS.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)+", name)
        assert known.meaning.endswith("."), name
        assert len(known.example) > 10, name


def test_a_repair_that_drops_or_invents_content_is_a_loss() -> None:
    for name, known in REPAIRS.items():
        assert known.loss == "" or known.loss in CODES, name
        if known.effect != "arranged":
            assert known.loss, name
            assert not known.tolerated, name


def test_a_repair_prints_its_name_path_and_detail() -> None:
    assert str(Repair("empty-turn", "/messages/3", "of the user")) == "empty-turn at /messages/3: of the user"
    assert str(Repair("empty-turn", "")) == "empty-turn at /"
