"""A changed output or loss fails these tests. `make golden` rewrites the files; then review the diff."""

from __future__ import annotations

import json

import pytest

from dragoman.dialects import names
from tests.golden.documents import KINDS, documents
from tests.golden.golden_files import HERE, PAIRS, golden, made, place

HINT = "if this change is meant: make golden, and review the diff"


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=lambda name: name)
def test_the_translations_of_a_pair_equal_its_golden_file(source: str, target: str) -> None:
    path = place(source, target)
    assert path.exists(), HINT
    said = json.loads(path.read_bytes())
    found = json.loads(json.dumps(golden(source, target)))
    for kind in KINDS:
        assert set(found[kind]) == set(said[kind]), HINT
        for name in found[kind]:
            assert found[kind][name] == said[kind][name], f"{kind} {name}: {HINT}"


def test_there_is_a_golden_file_for_every_pair_and_no_other() -> None:
    assert {path.name for path in (HERE / "pairs").iterdir()} == {place(*pair).name for pair in PAIRS}


def test_the_matrix_and_its_page_are_made_from_the_golden_files() -> None:
    for path, content in made().items():
        assert path.read_text(encoding="utf-8") == content, f"{path.name} is not current: make golden"


@pytest.mark.parametrize("dialect", names())
def test_a_translation_within_one_dialect_changes_nothing(dialect: str) -> None:
    said = json.loads(place(dialect, dialect).read_bytes())
    for kind in KINDS:
        assert set(said[kind]) == set(documents(dialect, kind))
        for name, entry in said[kind].items():
            assert entry["losses"] == []
            # Exception: a cut stream gets the fault event that it lacks.
            assert (entry["output"] == "untouched") == ((kind, name) != ("stream", "cut"))
