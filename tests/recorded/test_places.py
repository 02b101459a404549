"""The place of a loss exists in the source document: recorded answers, whole and streamed, to every target."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import dragoman
from dragoman import FaultError, Loss, WireError
from tests.oracles.event_stream_reader import Findings, frames
from tests.recorded.recorded_bodies import DIALECTS, cases, settle

TRACED = {"code-assist": "id.dropped"}
"""The id of a Code Assist answer is in its envelope, but its loss names the place of the id inside."""


def _exists(value: Any, path: str) -> bool:
    for step in path.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        elif isinstance(value, dict) and name in value:
            value = value[name]
        else:
            return False
    return True


def _placed_losses(losses: tuple[Loss, ...], dialect: str) -> list[Loss]:
    return [loss for loss in losses if loss.effect != "invented" and loss.code != TRACED.get(dialect)]


@pytest.mark.parametrize(("source", "target"), [(a, b) for a in DIALECTS for b in DIALECTS if a != b])
def test_a_loss_of_an_answer_names_a_place_in_it(source: str, target: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(source, "response"):
        try:
            done = dragoman.translate_response(case.body, source=source, target=target)
        except (FaultError, WireError):
            continue
        document = msgspec.json.decode(case.body)
        for loss in _placed_losses(done.losses, source):
            if not loss.path or not _exists(document, loss.path):
                failures[case.id] = str(loss)
    settle(f"places {source} to {target}", failures)


ENDS = ("stop.approximated", "usage.dropped", "answer.dropped")


@pytest.mark.parametrize(("source", "target"), [(a, b) for a in DIALECTS for b in DIALECTS if a != b])
def test_a_loss_at_the_end_of_a_stream_names_an_existing_place(source: str, target: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(source, "stream"):
        stream = dragoman.StreamTranslator(source=source, target=target)
        stream.feed(case.body)
        stream.close()
        found = [loss for loss in stream.losses if loss.code in ENDS]
        if not found:
            continue
        documents = [_document(frame.data) for frame in frames(case.body, Findings())]
        for loss in found:
            if not loss.path or not any(_exists(value, loss.path) for value in documents):
                failures[case.id] = str(loss)
    settle(f"places in streams {source} to {target}", failures)


def _document(data: str) -> Any:
    """Return the JSON of a frame, with the fields of nested objects one level up, where the complete answer has
    them."""
    value = msgspec.json.decode(data) if data.startswith("{") else {}
    for name in ("message", "delta", "response"):
        if isinstance(value.get(name), dict):
            value = {**value[name], **value}
    answers = {choice.get("index", 0): choice for choice in value.get("choices") or ()}
    if answers:
        value["choices"] = [answers.get(number, {}) for number in range(max(answers) + 1)]
    return value
