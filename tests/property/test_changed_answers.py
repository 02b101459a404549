"""Recorded answers and streams with a random change: only errors of the library are raised, and each fact of an answer
is in the translation or in the losses."""

from __future__ import annotations

import json
import random

import pytest
from bench.facts.compare import Target, judge
from bench.facts.dialects import read

import dragoman
from tests.property.random_changes import PLAUSIBLE, UNKNOWN, WILD, Recordings
from tests.recorded.normal_form import CREATED
from tests.recorded.recorded_bodies import DIALECTS, Kind

TRIES = 60
"""Changed documents for each dialect and kind; each goes to every other dialect."""
_JUDGED = ("text", "thought", "call", "argument", "citation", "hosted", "media", "refusal", "logprob", "other")
"""Kinds of facts that are judged here. Finish reason, model, counts and ids are judged on whole recordings: after a
change `bench.facts` cannot compute their values."""


def _translated(kind: str, source: str, target: str, body: bytes) -> tuple[bytes, tuple[dragoman.Loss, ...]] | None:
    """Translate a body; None if it is refused or ends with a fault."""
    try:
        if kind == "response":
            out = dragoman.translate_response(body, source=source, target=target, created=CREATED)
            return out.body, out.losses
        stream = dragoman.StreamTranslator(source=source, target=target, created=CREATED)
        told = stream.feed(body) + stream.close()
    except dragoman.DragomanError:
        return None
    return None if stream.fault is not None else (told, stream.losses)


@pytest.mark.parametrize("kind", ["response", "stream"])
@pytest.mark.parametrize("source", DIALECTS)
def test_no_change_makes_a_translation_fail(source: str, kind: Kind) -> None:
    dice = random.Random(f"{source} {kind}")
    recordings = Recordings(source, kind)
    translated = 0
    for _ in range(TRIES):
        _, body, _ = recordings.changed(dice, (*PLAUSIBLE, *WILD))
        for target in DIALECTS:
            if target != source:
                translated += _translated(kind, source, target, body) is not None
    assert translated > TRIES


@pytest.mark.parametrize("source", DIALECTS)
def test_no_fact_of_a_changed_answer_is_lost_silently(source: str) -> None:
    dice = random.Random(source)
    recordings = Recordings(source, "response")
    found: list[str] = []
    for _ in range(TRIES):
        case, body, deed = recordings.changed(dice, PLAUSIBLE)
        for target in DIALECTS:
            told = _translated("response", source, target, body) if target != source else None
            if told is None:
                continue
            facts = [fact for fact in read(source, "answer", body) if fact.kind.startswith(_JUDGED)]
            for one in judge(facts, Target(read(target, "answer", told[0]), told[0]), told[1]):
                if one.verdict == "silent" and one.fact.value.rpartition(" ")[2] != UNKNOWN:
                    found.append(f"{case.id} to {target}, {deed}: /{'/'.join(one.fact.path)} {one.fact.value[:60]!r}")
    assert found == []


@pytest.mark.parametrize("source", DIALECTS)
def test_an_unknown_field_in_a_stream_is_reported_or_kept(source: str) -> None:
    dice = random.Random(f"{source} new")
    recordings = Recordings(source, "stream")
    for _ in range(TRIES // 3):
        case, body, deed = recordings.changed(dice, ("add",))
        for target in DIALECTS:
            told = _translated("stream", source, target, body) if target != source else None
            if told is None or b"added value" not in body or "/usage" in deed:  # later counts replace earlier ones
                continue
            kept = "added value" in json.dumps(told[0].decode("utf-8", "replace"))
            reported = any(loss.code in ("field.dropped", "event.dropped", "hosted.dropped") for loss in told[1])
            assert kept or reported, f"{case.id} to {target}: {deed}"
