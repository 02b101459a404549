"""The law of the house: nothing vanishes on the way to another dialect without a loss that names its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

import dragoman
from dragoman import Translation
from dragoman.dialects import get
from tests.wire import markers
from tests.wire.cases import CREATED, DIALECTS, PAIRS, Case, cases, crossing, settle, written_again

Json = Any

WAYS: dict[str, Callable[[Json], markers.Marked]] = {
    "texts": markers.mark_texts,
    "unknown fields": markers.add_fields,
    "unknown kinds": markers.add_variants,
}


def translated(case: Case, body: bytes, target: str) -> Translation:
    if case.kind == "request":
        model = case.model or "some-model"
        return dragoman.translate_request(body, source=case.dialect, target=target, model=model)
    return dragoman.translate_response(body, source=case.dialect, target=target, created=CREATED)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["request", "response"])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_leaf_crosses_or_is_reported(source: str, target: str, kind: str, way: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(source, kind):  # type: ignore[arg-type]
        marked = WAYS[way](msgspec.json.decode(case.body))
        try:
            out = translated(case, marked.body, target)
        except dragoman.WireError as error:
            failures[case.id] = f"refused: {error}"
            continue
        lost = markers.silent(marked, out.body, out.losses)
        if lost:
            failures[case.id] = f"gone without a word: {', '.join(lost[:6])}"
    settle(f"no silent loss of {way}, {kind} {source} to {target}", failures)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["request", "response"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_within_one_dialect_every_leaf_comes_back(dialect: str, kind: str, way: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(dialect, kind):  # type: ignore[arg-type]
        marked = WAYS[way](msgspec.json.decode(case.body))
        lost = markers.silent(marked, again(case, marked.body), ())
        if lost:
            failures[case.id] = f"gone: {', '.join(lost[:6])}"
    settle(f"{way} come back, {kind} {dialect}", failures)


def again(case: Case, body: bytes) -> bytes:
    """The document read and written in its own dialect."""
    dialect, under = get(case.dialect), crossing(case.dialect, case.dialect)
    if case.kind == "request":
        return written_again(dialect, dialect.read_request(body, under), under)
    return dialect.write_response(dialect.read_response(body, under), under)
