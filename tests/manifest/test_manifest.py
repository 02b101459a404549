"""Translations have the outcomes of which the repository holds the digests, with the memory and without it.

A digest that differs means that some document is translated in another way. If that is intended, renew the digests
with `python -m tests.manifest`; `make same BASE=commit` names the documents.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dragoman import fast
from tests.judges.corpus import require_shared
from tests.manifest.digests import digests, known, pair
from tests.manifest.documents import PAIRS


@pytest.fixture(params=["with the memory", "without the memory"])
def remembering(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "without the memory":
        fast.off()
    yield
    fast.on()
    fast.forget()


@pytest.mark.usefixtures("remembering")
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_translations_have_the_outcomes_that_they_had(source: str, target: str) -> None:
    require_shared()
    found = digests(source, target)
    assert found == known()[pair(source, target)], "see the first lines of this module"


def test_there_are_digests_of_all_pairs_and_of_no_other() -> None:
    assert set(known()) == {pair(source, target) for source, target in PAIRS}
