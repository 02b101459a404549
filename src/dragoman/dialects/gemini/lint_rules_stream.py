"""Owns the rules for Gemini streams: the finish of candidates, and arguments in pieces."""

from __future__ import annotations

from collections.abc import Iterator

from ...rules.helpers import Place, frames, items, quoted, sub, word
from ...rules.rule import Breach, Subject, rule, rules_of


def _candidates(subject: Subject) -> list[tuple[int, Place]]:
    """Every candidate of every chunk, with its index."""
    out: list[tuple[int, Place]] = []
    for i, chunk in frames(subject):
        for at, candidate in items(chunk, "candidates", (i,)):
            index = candidate.get("index", 0)
            out.append((index if isinstance(index, int) else 0, (at, candidate)))
    return out


def _failed(subject: Subject) -> bool:
    return any("error" in chunk for _, chunk in frames(subject))


@rule("GEM-S01", "error", "stream")
def finish(subject: Subject) -> Iterator[Breach]:
    """Each candidate has one `finishReason`, in its last chunk.

    Why: a candidate without one was cut. Clients may end the answer at the first one. A candidate that continued after
    it and finished again was recorded once, with code execution (warning).

    Good: {text}, {text}, {text, finishReason: "STOP"}

    Bad: {text}, {text}

    Source: Seen in recorded streams (2026-11).
    """
    done: dict[int, bool] = {}
    for index, (at, candidate) in _candidates(subject):
        reason = candidate.get("finishReason")
        if done.get(index):
            what = "has a second finishReason" if reason is not None else "goes on after its finishReason"
            yield Breach(at, f"candidate {index} {what}", severity="warning")
        done[index] = done.get(index, False) or reason is not None
    open_ones = [] if _failed(subject) else [index for index, ended in done.items() if not ended]
    for index in open_ones:
        last = [at for found, (at, _) in _candidates(subject) if found == index][-1]
        yield Breach(last, f"candidate {index} has no finishReason")


@rule("GEM-S02", "error", "stream")
def partial_arguments(subject: Subject) -> Iterator[Breach]:
    """`partialArgs` come between a start that goes on and its close, and their paths begin with `$`.

    Why: pieces belong to the call that was started last; a piece without one, or a call never closed, has no arguments.

    Good: {"functionCall": {"name": "f", "willContinue": true}}, {"functionCall": {"partialArgs": [...], ...}}, ...

    Bad: {"functionCall": {"partialArgs": [{"jsonPath": "city", "stringValue": "Paris"}]}} as the first piece

    Source: Types of the google-genai SDK 3.1.0 for streaming (2026-11); error texts that several users reported
    (2026-11).
    """
    started: dict[int, tuple[str | int, ...]] = {}
    for index, (at, candidate) in _candidates(subject):
        for place, part in items(sub(candidate, "content"), "parts", (*at, "content")):
            call = part.get("functionCall")
            if not isinstance(call, dict):
                continue
            here = (*place, "functionCall")
            if word(call, "name") and index in started:
                yield Breach(here, "a call starts inside a call that is still open")
            elif not word(call, "name") and index not in started:
                yield Breach(here, "a piece belongs to a call that was not started")
            for spot, piece in items(call, "partialArgs", here):
                if not word(piece, "jsonPath").startswith("$"):
                    yield Breach((*spot, "jsonPath"), f"jsonPath {quoted(piece.get('jsonPath'))} does not begin with $")
            if call.get("willContinue") is True:
                started.setdefault(index, here)
            else:
                started.pop(index, None)
    if not _failed(subject):
        for here in started.values():
            yield Breach(here, "the call is never closed")


RULES = rules_of(globals())
