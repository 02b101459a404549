"""Recorded streams: any cut of the bytes gives the same events, and the answer equals that of the official SDK."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

import dragoman
from dragoman.canon import Event, Fault, Part
from dragoman.canon.fold_and_unfold import fold, unfold
from dragoman.dialects import get
from tests.oracles import body_verdict, grammar, sdk_folding
from tests.recorded.normal_form import canonical, gathered
from tests.recorded.recorded_bodies import DIALECTS, cases, context, events, fed, settle
from tests.recorded.tree_comparison import differences, placeless

FOLDS: dict[str, Callable[[bytes], dict[str, Any]]] = {
    "openai-chat": sdk_folding.openai_chat,
    "openai-responses": sdk_folding.openai_responses,
    "anthropic": sdk_folding.anthropic,
    "gemini": sdk_folding.gemini,
    "ollama": sdk_folding.ollama,
    "openrouter": sdk_folding.openrouter,
    "code-assist": sdk_folding.code_assist,
}


def cuts(raw: bytes, seed: int) -> list[bytes]:
    """Cut the bytes into pieces of random length. The same seed gives the same pieces."""
    dice = random.Random(seed)
    out, start = [], 0
    while start < len(raw):
        size = dice.choice((1, 2, 3, 7, 20, 100, 1000))
        out.append(raw[start : start + size])
        start += size
    return out


@pytest.mark.parametrize("dialect", DIALECTS)
def test_any_chunking_gives_the_same_events(dialect: str) -> None:
    failures: dict[str, str] = {}
    for seed, case in enumerate(cases(dialect, "stream")):
        whole = events(dialect, case.body)
        for name, chunks in (
            ("byte by byte", [case.body[i : i + 1] for i in range(len(case.body))]),
            ("random chunks", cuts(case.body, seed)),
            ("random chunks, CRLF", cuts(crlf(case.body), seed + 1)),
        ):
            if fed(dialect, chunks) != whole:
                failures[case.id] = name
    settle(f"chunking {dialect}", failures)


def crlf(raw: bytes) -> bytes:
    """Return the stream with CRLF line ends."""
    return raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


@pytest.mark.parametrize(("source", "target"), [(a, b) for a in DIALECTS for b in DIALECTS if a != b])
def test_any_chunking_gives_the_same_bytes_and_losses(source: str, target: str) -> None:
    failures: dict[str, str] = {}
    for seed, case in enumerate(cases(source, "stream")):
        whole = dragoman.StreamTranslator(source=source, target=target)
        out = whole.feed(case.body) + whole.close()
        cut = dragoman.StreamTranslator(source=source, target=target)
        pieces = b"".join([cut.feed(chunk) for chunk in cuts(case.body, seed)]) + cut.close()
        if out != pieces:
            failures[case.id] = "other bytes"
        elif set(whole.losses) != set(cut.losses):
            failures[case.id] = "other losses"
    settle(f"chunked translation {source} to {target}", failures)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_folded_answer_equals_the_answer_of_the_sdk(dialect: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(dialect, "stream"):
        ours = fold(events(dialect, case.body))
        try:
            sdk = FOLDS[dialect](case.body)
        except sdk_folding.FoldError as error:
            # A stream that the SDK refuses must be a Fault here too.
            if not isinstance(ours, Fault):
                failures[case.id] = f"the SDK refuses it: {error}"
            continue
        theirs = get(dialect).read_response(msgspec.json.encode(sdk), context(dialect, dialect))
        wrong = differences(gathered(dialect, theirs), gathered(dialect, ours))
        if wrong:
            failures[case.id] = "; ".join(wrong[:4])
    settle(f"fold {dialect}", failures)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_rewritten_stream_is_legal_and_has_the_same_content(dialect: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(dialect, "stream"):
        steps = events(dialect, case.body)
        wrong: list[str] = []
        if not grammar.check_stream(dialect, case.body, extensions=True):
            wrong += grammar.check_stream(dialect, rewritten(dialect, without_extras(steps)), extensions=True)
        again = fold(events(dialect, rewritten(dialect, steps)))
        wrong += differences(gathered(dialect, fold(steps)), gathered(dialect, again))
        if wrong:
            failures[case.id] = "; ".join(wrong[:4])
    settle(f"stream again {dialect}", failures)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_answer_unfolds_into_a_legal_stream_with_the_same_content(dialect: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(dialect, "response"):
        answer = get(dialect).read_response(case.body, context(dialect, dialect))
        steps = unfold(answer)
        assert canonical(placeless(fold(steps))) == canonical(placeless(answer)), case.id
        wrong: list[str] = []
        if not body_verdict.check_response(dialect, case.body, extensions=True):
            wrong += grammar.check_stream(dialect, rewritten(dialect, without_extras(steps)), extensions=True)
        again = fold(events(dialect, rewritten(dialect, steps)))
        wrong += differences(gathered(dialect, answer), gathered(dialect, again))
        if wrong:
            failures[case.id] = "; ".join(wrong[:4])
    settle(f"unfolded {dialect}", failures)


def without_extras(steps: list[Event]) -> list[Event]:
    """Return the events without extra fields: the grammars refuse fields that only one host has."""
    return [msgspec.structs.replace(event, **_emptied(event)) for event in steps]


def _emptied(value: Event | Part) -> dict[str, Any]:
    changes: dict[str, Any] = {"extra": None} if "extra" in value.__struct_fields__ else {}
    for name in ("part", "usage", "stop"):
        inner = getattr(value, name, None)
        if inner is not None:
            changes[name] = msgspec.structs.replace(inner, **_emptied(inner))
    return changes


def rewritten(dialect: str, steps: list[Event]) -> bytes:
    """Write the events in their own dialect."""
    writer = get(dialect).writer(context(dialect, dialect))
    return b"".join([writer.send(event) for event in steps]) + writer.close()
