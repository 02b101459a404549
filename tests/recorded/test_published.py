"""Every written answer, stream event and fault has the fields that the published schema of the provider requires.

The sources are every recorded exchange and documents generated from the schemas; the targets are all other dialects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import pytest

import dragoman
from dragoman import FaultError
from tests.generated import laws
from tests.generated.generated_documents import drawn
from tests.generated.generated_streams import streams
from tests.laws.legal_output import is_similar
from tests.oracles import body_verdict, grammar, published_schemas
from tests.oracles.body_verdict import is_fault
from tests.oracles.json_schema import load
from tests.recorded.recorded_bodies import CREATED, PAIRS, cases

# Accepted findings. Each entry: target dialect, pattern of a finding, reason.
EXCUSED = (
    (
        "gemini",
        r"finishReason: .CONTINUATION. is not one of",
        "the stored schema is older (2026-08); google-genai 3.1.0 has the reason",
    ),
    (
        "gemini",
        r"is not one of .*(UNSPECIFIED|SAFETY|NEGLIGIBLE)",
        "enum values of Vertex, or invented values, passed unchanged",
    ),
    ("openai-chat", r"tool_calls/\d+/type: .custom.", "custom calls have no published shape in a chunk"),
    ("openai-chat", r"/message/audio: ", "half an audio object that OpenRouter's schema accepts is passed unchanged"),
    (
        "openrouter",
        r"/message/audio: null|/logprobs",
        "audio and token fields of the similar dialect are passed unchanged",
    ),
)
SHOWN = 8


def kept(dialect: str, findings: Iterable[str]) -> list[str]:
    """The findings that are not excused."""
    known = [pattern for target, pattern, _ in EXCUSED if target == dialect]
    return [text for text in findings if not any(re.search(pattern, text) for pattern in known)]


def payloads(dialect: str, raw: bytes) -> Iterator[bytes]:
    """The JSON of each event of a stream."""
    for line in raw.split(b"\n"):
        data = line if dialect == "ollama" else line[5:] if line.startswith(b"data:") else b""
        if data.strip() and data.strip() != b"[DONE]":
            yield data


def in_stream(dialect: str, raw: bytes) -> list[str]:
    found: list[str] = []
    for data in payloads(dialect, raw):
        value = load(data)
        apart = is_fault(dialect, value) and dialect not in ("openrouter", "openai-responses")
        found += published_schemas.findings(dialect, "fault" if apart else "event", value)
    return kept(dialect, found)


def streamed(raw: bytes, source: str, target: str) -> bytes:
    stream = dragoman.StreamTranslator(source=source, target=target, created=CREATED)
    return stream.feed(raw) + stream.close()


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_translated_recordings_have_all_required_fields(source: str, target: str) -> None:
    wrong: dict[str, list[str]] = {}
    similar = is_similar(source, target)
    for case in cases(source, "response"):
        if similar and body_verdict.check_response(source, case.body, extensions=True):
            continue  # a document that is illegal in its own dialect is passed unchanged to a similar dialect
        out = dragoman.translate_response(case.body, source=source, target=target, created=CREATED)
        wrong[case.id] = kept(target, published_schemas.findings(target, "answer", out.body))
    for case in cases(source, "stream"):
        if similar and grammar.check_stream(source, case.body, extensions=True):
            continue
        wrong[case.id] = in_stream(target, streamed(case.body, source, target))
    for case in cases(source, "fault"):
        fault = dragoman.translate_fault(case.body, status=case.status, source=source, target=target)
        wrong[case.id] = kept(target, published_schemas.findings(target, "fault", fault.body))
    lines = [f"{name}: {text}" for name, found in wrong.items() for text in found]
    assert not lines, "\n".join(lines[:SHOWN])


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_translated_generated_documents_have_all_required_fields(source: str, target: str) -> None:
    wrong: dict[str, list[str]] = {}
    for one in drawn(source, "response"):
        try:
            out = laws.translated(one, target)
        except FaultError:
            continue  # a response that failed is no answer
        wrong[one.id] = kept(target, published_schemas.findings(target, "answer", out.body))
    for one in streams(source):
        wrong[f"{one.id}, streamed"] = in_stream(target, streamed(one.value, source, target))
    lines = [f"{name}: {text}" for name, found in wrong.items() for text in found]
    assert not lines, "\n".join(lines[:SHOWN])


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_an_answer_that_repeats_its_request_has_all_required_fields(source: str, target: str) -> None:
    answer = cases(target, "response")[0].body
    lines = []
    for one in (*cases(source, "request")[:40], *drawn(source, "request")[:40]):
        asked = dragoman.translate_request(one.body, source=source, target=target, model="m")
        out = dragoman.translate_response(answer, source=target, target=source, answers=asked, created=CREATED)
        lines += [f"{one.id}: {text}" for text in kept(source, published_schemas.findings(source, "answer", out.body))]
    assert not lines, "\n".join(lines[:SHOWN])


def test_every_excuse_is_still_needed() -> None:
    """An excuse without a finding must be removed. The same sources are searched in which the findings occurred."""
    found: dict[str, set[str]] = {target: set() for target, _, _ in EXCUSED}
    for source, target in PAIRS:
        if target in found:
            for one in drawn(source, "response"):
                try:
                    found[target].update(
                        published_schemas.findings(target, "answer", laws.translated(one, target).body)
                    )
                except FaultError:
                    continue
            for one in streams(source):
                for data in payloads(target, streamed(one.value, source, target)):
                    found[target].update(published_schemas.findings(target, "event", data))
    unneeded = [
        pattern for target, pattern, _ in EXCUSED if not any(re.search(pattern, text) for text in found[target])
    ]
    assert unneeded == []
