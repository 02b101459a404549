"""The laws for documents that are generated from the schemas of the providers."""

from __future__ import annotations

import pytest

from dragoman import FaultError
from tests.generated import laws
from tests.generated.generated_documents import SOURCES, Drawn, drawn
from tests.generated.known_failures import settled
from tests.laws import legal_output
from tests.recorded.recorded_bodies import DIALECTS, PAIRS

KINDS = ("request", "response")
SHOWN = 8


def check(law: str, where: str, failures: dict[str, list[str]]) -> None:
    """Fail for each finding that is not known."""
    lines = [f"{name}: {text}" for name, found in failures.items() for text in settled(law, where, found)]
    assert not lines, f"{law}, {where}: {len(lines)} findings\n" + "\n".join(lines[:SHOWN])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_generated_documents_are_legal(dialect: str, kind: str) -> None:
    check(
        "legal source",
        f"{dialect} {kind}",
        {one.id: legal_output.judged(dialect, kind, one.body) for one in drawn(dialect, kind)},
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_same_dialect_gives_the_same_value(dialect: str, kind: str) -> None:
    failures = {one.id: laws.identity(one) for one in drawn(dialect, kind) if not failed(one)}
    check("identity", f"{dialect} {kind}", failures)


def failed(one: Drawn) -> bool:
    """Whether the document is an answer with the status "failed"."""
    return one.dialect == "openai-responses" and one.kind == "response" and one.value.get("status") == "failed"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_translation_is_legal_and_drops_nothing_without_a_loss(source: str, target: str, kind: str) -> None:
    lost: dict[str, list[str]] = {}
    wrong: dict[str, list[str]] = {}
    for one in drawn(source, kind):
        try:
            out = laws.translated(one, target)
        except FaultError:
            assert failed(one), one.id
            continue
        lost[one.id] = laws.silent(one, out)
        wrong[one.id] = laws.legal(one, out, target)
    check("silent", f"{source} to {target} {kind}", lost)
    check("legal", f"{source} to {target} {kind}", wrong)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_leaf_affects_the_translation(source: str, target: str, kind: str) -> None:
    seen: set[tuple[str, ...]] = set()
    found = {one.id: list(laws.without_effect(one, target, seen)) for one in drawn(source, kind)}
    check("no effect", f"{source} to {target} {kind}", found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_document_comes_back_except_for_the_losses(source: str, target: str, kind: str) -> None:
    failures = {one.id: laws.came_back(one, target) for one in drawn(source, kind) if not failed(one)}
    check("round trip", f"{source} to {target} {kind}", failures)


def test_every_dialect_has_generated_documents() -> None:
    assert {dialect for dialect, _ in SOURCES} == set(DIALECTS) - {"code-assist"}
