"""The first rule of the project: a translation drops nothing without a loss that names its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

import dragoman
from dragoman import Translation
from dragoman.dialects import get
from tests.laws import marked_documents
from tests.recorded.recorded_bodies import CREATED, DIALECTS, PAIRS, Case, cases, context, settle, written_again

Json = Any

WAYS: dict[str, Callable[[Json], marked_documents.Marked]] = {
    "texts": marked_documents.mark_texts,
    "unknown fields": marked_documents.add_fields,
    "unknown kinds": marked_documents.add_variants,
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
        except dragoman.FaultError:
            continue  # an answer with the status "failed" must not become a normal answer
        except dragoman.WireError as error:
            failures[case.id] = f"refused: {error}"
            continue
        lost = marked_documents.silent(marked, out.body, out.losses)
        if lost:
            failures[case.id] = f"dropped without a loss: {', '.join(lost[:6])}"
    settle(f"no silent loss of {way}, {kind} {source} to {target}", failures)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["request", "response"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_within_one_dialect_every_leaf_comes_back(dialect: str, kind: str, way: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(dialect, kind):  # type: ignore[arg-type]
        marked = WAYS[way](msgspec.json.decode(case.body))
        lost = marked_documents.silent(marked, rewritten(case, marked.body), ())
        if lost:
            failures[case.id] = f"gone: {', '.join(lost[:6])}"
    settle(f"{way} come back, {kind} {dialect}", failures)


def rewritten(case: Case, body: bytes) -> bytes:
    """Read the document and write it in the same dialect."""
    dialect, under = get(case.dialect), context(case.dialect, case.dialect)
    if case.kind == "request":
        return written_again(dialect, dialect.read_request(body, under), under)
    return dialect.write_response(dialect.read_response(body, under), under)


# Dialects whose events have a type.
NAMED_EVENTS = ("anthropic", "openai-responses")


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_streams_report_unknown_fields_and_events(source: str, target: str) -> None:
    """A stream repeats its fields in every event, so one loss is enough. An event of an unknown kind is reported
    too."""
    failures: dict[str, str] = {}
    for case in cases(source, "stream"):
        stream = dragoman.StreamTranslator(source=source, target=target, created=CREATED)
        stream.feed(with_unknown_fields(case.body, named=source in NAMED_EVENTS))
        stream.close()
        missing = [] if any(loss.path.endswith("/x_field") for loss in stream.losses) else ["the field"]
        kinds = [loss.detail for loss in stream.losses if loss.code == "event.dropped"]
        if source in NAMED_EVENTS and not any("x_unknown_kind" in kind for kind in kinds):
            missing.append("the event")
        if missing:
            failures[case.id] = f"no loss for {missing}"
    settle(f"stream with unknown fields {source} to {target}", failures)


def with_unknown_fields(raw: bytes, *, named: bool) -> bytes:
    """Add one field to every top-level object of a stream, and one event of an unknown kind after the first event."""
    lines = raw.replace(b"\r\n", b"\n").split(b"\n")
    changed = [line[:-1] + b',"x_field":"x"}' if line.startswith((b"data: {", b"{")) else line for line in lines]
    if named:
        event = b'event: x_unknown_kind\ndata: {"type":"x_unknown_kind","sequence_number":1}\n'
        changed.insert(changed.index(b"") + 1, event)
    return b"\n".join(changed)
