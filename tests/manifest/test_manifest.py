"""The outcomes of all translations have the digests that are stored in the repository.

A different digest means that a translation has changed. If the change is intended, renew the digests
with `python -m tests.manifest`; `make same BASE=commit` lists the documents. `make unit-without-memory` runs these
tests with the memory off: the digests are the same.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest

from dragoman import fast
from tests.manifest import compare, library_names
from tests.manifest.digests import KINDS, ORIGINS, digests, known, pair
from tests.manifest.documents import MODELS, PAIRS, Origin, documents
from tests.oracles.exchanges import require_shared
from tests.repo.repository_files import ROOT


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_the_outcomes_of_translations_have_the_stored_digests(source: str, target: str, origin: Origin) -> None:
    if origin == "recorded":
        require_shared()
    found = digests(origin, source, target)
    assert found == known(origin)[pair(source, target)], "see the first lines of this module"
    if library_names.switched_off():
        assert not fast.enabled(), "the environment turns the memory off, but the memory is on"


@pytest.mark.parametrize("origin", ORIGINS)
def test_the_stored_digests_are_those_of_all_pairs(origin: Origin) -> None:
    assert set(known(origin)) == {pair(source, target) for source, target in PAIRS}


def test_short_requests_use_the_memory_in_every_command_of_the_manifest() -> None:
    """The tests set the size in `tests/conftest.py`; this process has not read that file."""
    script = (
        "from dragoman.fast.continued_requests import RequestMemory; from tests.manifest import __main__\n"
        "print(RequestMemory.smallest)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


def test_there_are_synthetic_documents_of_every_dialect_and_kind() -> None:
    assert [(dialect, kind) for dialect in MODELS for kind in KINDS if not documents("synthetic", dialect, kind)] == []


def test_different_outcomes_are_shown_once_for_each_document() -> None:
    before = {
        "a b request first x": "1",
        "a b request again x": "1",
        "a b request first y": "1",
        "a c fault fault z": "1",
    }
    after = {**before, "a b request first x": "2", "a b request again x": "2", "a d fault fault z": "3"}
    found = compare.differing(before, after)
    assert found == ["a b request first x", "a b request again x", "a d fault fault z"]
    assert compare.examples(found, 9) == ["a b request first x", "a d fault fault z"]
    assert compare.examples(found, 1) == ["a b request first x"]
    assert compare.by_kind(found) == Counter({"a b request": 2, "a d fault": 1})


def test_for_two_long_bodies_the_place_of_the_difference_is_shown() -> None:
    before, after = compare.cut(["{", ' "body": "' + "a" * 5000 + 'b"', "}"], ["{", ' "body": "' + "a" * 5000 + 'c"'])
    assert before == ["{", ' "body": ...' + "a" * compare.BEFORE + 'b"', "}"]
    assert after == ["{", ' "body": ...' + "a" * compare.BEFORE + 'c"']
    assert compare.cut([' "body": "b"'], ["{}"]) == ([' "body": "b"'], ["{}"])
