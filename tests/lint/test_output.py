"""The output of the library is lint-clean: no error in any translation of a recorded request, answer or stream."""

from __future__ import annotations

from functools import cache

import msgspec
import pytest

import dragoman
from tests.recorded.recorded_bodies import CREATED, PAIRS, Case, cases
from tests.recorded.test_matrix import models_for

KNOWN: dict[tuple[str, str], str] = {}
"""(record, target) whose translation has an error, with the reason. The table only becomes shorter."""


@cache
def _wrong_itself(case: Case) -> bool:
    """Whether the recorded request breaks a rule of its own dialect: then its translation may break rules too."""
    found = dragoman.lint(case.body, dialect=case.dialect, model=case.model)
    return any(one.severity == "error" for one in found)


def _errors(body: bytes, target: str, kind: str, model: str | None = None) -> list[str]:
    found = dragoman.lint(body, dialect=target, kind=kind, model=model)  # type: ignore[arg-type]
    return [f"{one.rule} {one.path}: {one.message}" for one in found if one.severity == "error"]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_translated_request_is_clean(source: str, target: str) -> None:
    failures: dict[str, list[str]] = {}
    for case in cases(source, "request"):
        wrong: list[str] = []
        for model in models_for(case, target):
            model = model or case.model or "some-model"
            out = dragoman.translate_request(case.body, source=source, target=target, model=model)
            wrong += [f"{model}: {text}" for text in _errors(out.body, target, "request", model)]
        if wrong and not _wrong_itself(case):
            failures[case.id] = wrong[:3]
    known = {record for record, known_target in KNOWN if known_target == target and record.startswith(f"{source}-")}
    assert {record: texts for record, texts in failures.items() if record not in known} == {}
    assert known - set(failures) == set(), "clean now: take it out of the table"


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_translated_answer_is_clean(source: str, target: str) -> None:
    failures: dict[str, list[str]] = {}
    for case in cases(source, "response"):
        out = dragoman.translate_response(case.body, source=source, target=target, created=CREATED)
        wrong = _errors(out.body, target, "response")
        if wrong:
            failures[case.id] = wrong[:3]
    for case in cases(source, "stream"):
        stream = dragoman.StreamTranslator(source=source, target=target, created=CREATED)
        wrong = _errors(stream.feed(case.body) + stream.close(), target, "stream")
        if wrong:
            failures[case.id] = wrong[:3]
    assert failures == {}


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_all_translated_tools_are_clean(source: str, target: str) -> None:
    failures: dict[str, list[str]] = {}
    for case in cases(source, "request"):
        tools = msgspec.json.decode(case.body).get("tools")
        if not isinstance(tools, list) or not tools or _wrong_itself(case):
            continue
        out = dragoman.translate_tools(tools, source=source, target=target)
        wrong = _errors(out.body, target, "tools")
        if wrong:
            failures[case.id] = wrong[:3]
    assert failures == {}
