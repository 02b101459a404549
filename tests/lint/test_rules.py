"""Every rule of every dialect has a page, and fixtures with documents that must pass and documents that must fail."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dragoman import Finding, lint, lint_conversation
from dragoman.lint.runner import RULE_SETS, all_rules

FIXTURES = Path(__file__).parent / "fixtures"
RULES = all_rules()
PARAGRAPHS = ("Why:", "Good:", "Bad:", "Source:")


class Case(msgspec.Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """One document of a fixture. `before`: the response before a request. `path`, `severity`: the expected ones."""

    kind: str
    document: Any
    dialect: str | None = None
    model: str | None = None
    headers: dict[str, str] | None = None
    request: Any = None
    before: Any = None
    path: str | None = None
    severity: str | None = None


class Fixture(
    msgspec.Struct, frozen=True, eq=False, rename={"good": "pass", "bad": "fail"}, forbid_unknown_fields=True
):
    """Documents without a finding of the rule, and documents with one."""

    good: list[Case]
    bad: list[Case]


def fixture(rule: str) -> Fixture:
    return msgspec.json.decode((FIXTURES / f"{rule}.json").read_bytes(), type=Fixture)


def found(rule: str, case: Case, dialect: str) -> list[Finding]:
    """Return the findings of one rule in one document."""
    if case.before is not None:
        ask: tuple[Any, Any] = ("request", {"model": "any"})
        documents = [ask, ("response", case.before), ("request", case.document)]
        everything = lint_conversation(
            documents, dialect=dialect, model=case.model, headers=case.headers, rule_sets=RULE_SETS
        )
        own = [msgspec.structs.replace(one, path=one.path[2:]) for one in everything if one.path.startswith("/2")]
    else:
        kind: Any = case.kind
        own = lint(
            case.document,
            dialect=dialect,
            kind=kind,
            model=case.model,
            headers=case.headers,
            request=case.request,
            rule_sets=RULE_SETS,
        )
    return [one for one in own if one.rule == rule]


def dialects_of(rule: str, case: Case) -> tuple[str, ...]:
    """Return every dialect that has the rule under this id, or the dialect of the case."""
    return (case.dialect,) if case.dialect else RULES[rule][1][:1]


@pytest.mark.parametrize("rule", list(RULES))
def test_every_rule_passes_and_fails_as_in_its_fixture(rule: str) -> None:
    cases = fixture(rule)
    assert cases.good and cases.bad
    for case in cases.good:
        for dialect in dialects_of(rule, case):
            assert found(rule, case, dialect) == [], case.document
    for case in cases.bad:
        for dialect in dialects_of(rule, case):
            wanted = [
                one
                for one in found(rule, case, dialect)
                if case.path in (None, one.path) and case.severity in (None, one.severity)
            ]
            assert wanted, (case.path, case.severity, found(rule, case, dialect), case.document)


@pytest.mark.parametrize("rule", list(RULES))
def test_every_rule_has_a_page(rule: str) -> None:
    paragraphs = [part.strip() for part in RULES[rule][0].text.strip().split("\n\n")]
    assert len(paragraphs) >= 1 + len(PARAGRAPHS)
    assert not paragraphs[0].startswith(PARAGRAPHS) and paragraphs[0].endswith(".")
    begins = [part for part in paragraphs if part.startswith(PARAGRAPHS)]
    assert [re.match(r"\w+:", part)[0] for part in begins] == list(PARAGRAPHS)  # type: ignore[index]
    assert all(len(part) > 10 for part in begins)


def test_every_fixture_belongs_to_a_rule() -> None:
    assert {path.stem for path in FIXTURES.glob("*.json")} == set(RULES)


def test_ids_are_well_formed_and_messages_are_sentences() -> None:
    for rule in RULES:
        assert re.fullmatch(r"[A-Z]{3,4}-S?\d{2,3}", rule), rule
    for rule in RULES:
        for case in fixture(rule).bad:
            for one in found(rule, case, dialects_of(rule, case)[0]):
                assert one.message and "\n" not in one.message
                assert one.severity in ("error", "warning")
