"""Owns the measurement: translates the recorded exchanges between every pair of dialects, and counts the verdicts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

from tests.recorded.recorded_bodies import CREATED, Case, cases

import dragoman
from dragoman import Loss

from .compare import Judged, Target, judge
from .dialects import DIALECTS, read
from .fields import Fact
from .places import no_place

KINDS = ("request", "answer", "stream")
PAIRS = tuple(permutations(DIALECTS, 2))


class Class(NamedTuple):
    """A class of facts with the same verdict."""

    verdict: str
    code: str
    kind: str
    source: str
    path: str
    no_place: str
    """The reason why the target has no place for the fact; "" if it has one."""


class Tally:
    """Counts of one pair and kind of document."""

    def __init__(self) -> None:
        self.verdicts: Counter[str] = Counter()
        self.kinds: Counter[tuple[str, str]] = Counter()
        self.others: Counter[str] = Counter()
        self.classes: Counter[Class] = Counter()
        self.no_place: Counter[str] = Counter()
        self.examples: dict[Class, str] = {}
        self.crashes: list[str] = []

    def count(self, judged: Sequence[Judged], case: Case, target: str) -> None:
        for one in judged:
            fact = one.fact
            (self.others if fact.kind == "other" else self.verdicts)[one.verdict] += 1
            self.kinds[fact.kind.partition(".")[0], one.verdict] += 1
            if one.verdict == "kept":
                continue
            why = no_place(one, target) if fact.kind != "other" and one.verdict != "silent" else ""
            if why:
                self.no_place[why] += 1
            pattern = re.sub(r"/\d+(?=/|$)", "/*", "/" + "/".join(fact.path))
            found = Class(one.verdict, one.loss.code if one.loss else "", fact.kind, case.dialect, pattern, why)
            self.classes[found] += 1
            self.examples.setdefault(found, f"{case.id} to {target}: {fact.value[:100]!r}")


SERVED = {
    "openai-chat": "gpt-5.6-sol",
    "openai-responses": "gpt-5.6-sol",
    "anthropic": "claude-sonnet-4-6",
    "gemini": "gemini-3.5-flash",
    "code-assist": "gemini-3.5-flash",
    "ollama": "qwen3:4b",
}
"""A model that the upstreams of a dialect serve. OpenRouter serves them all."""


def measure(kind: str, source: str, target: str, *, served: bool = False) -> Tally:
    """The tally of all recorded documents of one kind, from one dialect to another. Requests go to the model that they
    were recorded with, or with `served` to one that the target's upstreams serve."""
    tally = Tally()
    model = SERVED.get(target, "") if served else ""
    for case in documents(kind, source):
        try:
            body, losses = translated(kind, case, target, model)
        except dragoman.FaultError:
            continue  # the answer reports its own failure, and is no answer
        except Exception as error:  # noqa: BLE001 -- every exception is counted
            tally.crashes.append(f"{case.id} to {target}: {type(error).__name__}: {error}")
            continue
        facts = [fact for fact in read(source, kind, case.body) if not elsewhere(fact, kind, target)]
        if model and kind == "request":
            facts = [fact for fact in facts if fact.kind != "model"]
        if kind == "stream" and any(fact.kind == "error" for fact in facts):
            # A stream that fails ends with the fault: no finish reason, no usage, and no incomplete call.
            facts = [fact for fact in facts if fact.kind in ("text", "thought", "model", "id")]
        judged = judge(facts, Target(read(target, kind, body), body), losses, kind=kind)
        tally.count(judged, case, target)
    return tally


def elsewhere(fact: Fact, kind: str, target: str) -> bool:
    """Whether the target has the fact outside the body. Gemini has the model in the URL; OpenRouter sends thoughts
    by default."""
    if kind != "request":
        return False
    return (fact.kind, target) == ("model", "gemini") or (*fact[:2], target) == (
        "setting.thoughts",
        "shown",
        "openrouter",
    )


def documents(kind: str, source: str) -> Iterator[Case]:
    """The recorded documents of one kind."""
    yield from cases(source, "response" if kind == "answer" else kind)


def translated(kind: str, case: Case, target: str, model: str = "") -> tuple[bytes, tuple[Loss, ...]]:
    """A recorded document in another dialect, for the model that it was recorded with unless another one is given."""
    if kind == "request":
        model = model or case.model or "some-model"
        out = dragoman.translate_request(case.body, source=case.dialect, target=target, model=model)
        return out.body, out.losses
    if kind == "answer":
        out = dragoman.translate_response(case.body, source=case.dialect, target=target, created=CREATED)
        return out.body, out.losses
    stream = dragoman.StreamTranslator(source=case.dialect, target=target, created=CREATED)
    body = stream.feed(case.body) + stream.close()
    return body, stream.losses
