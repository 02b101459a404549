"""Owns random changes of recorded answers and streams: fields removed, emptied or added, unknown words and types,
values of a wrong type, items repeated, exchanged or copied from another recording."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

from bench.facts.dialects import frames

from tests.recorded.recorded_bodies import Case, Kind, cases

Json = Any
Path = tuple[str | int, ...]

PLAUSIBLE = ("remove", "null", "empty", "word", "type", "add", "repeat", "exchange", "graft")
"""Changes after which an upstream could still send the document."""
WILD = ("wrong type", "number")
ODD: tuple[Json, ...] = (None, [], {}, "", 0, -1, 1.5, 10**20, True, "word", [None], ["x"], [[]], [{}], {"type": "odd"})
_TYPES = frozenset({"type", "finish_reason", "finishReason", "stop_reason", "done_reason", "status", "role", "reason"})
LONGEST = 20_000
UNKNOWN = "word_that_nobody_knows"


def places(value: Json, path: Path = ()) -> Iterator[Path]:
    """The place of every value inside a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in items:
        yield (*path, step)
        yield from places(inner, (*path, step))


def at(value: Json, path: Path) -> Json:
    for step in path:
        value = value[step]
    return value


class Recordings:
    """The recorded documents of one dialect and kind, and the items of their lists."""

    def __init__(self, dialect: str, kind: Kind) -> None:
        self.cases = [case for case in cases(dialect, kind) if len(case.body) < LONGEST]
        self.stream = kind == "stream"
        self._held: dict[str | int, list[Json]] = {}
        self.documents = [frames(case.body) if self.stream else json.loads(case.body) for case in self.cases]
        for document in self.documents:
            for path in places(document):
                found = at(document, path)
                if isinstance(found, list) and found:
                    self._held.setdefault(path[-1], []).extend(found[:2])

    def changed(self, dice: random.Random, deeds: tuple[str, ...]) -> tuple[Case, bytes, str]:
        """Return a recording, its bytes after a random change, and a description of the change."""
        number = dice.randrange(len(self.cases))
        case, document = self.cases[number], self.documents[number]
        if not self.stream:
            changed, deed = self._change(document, dice, deeds)
            return case, json.dumps(changed).encode(), deed
        spot = dice.randrange(len(document))
        changed, deed = self._change(document[spot], dice, deeds)
        return case, _framed(case, [*document[:spot], changed, *document[spot + 1 :]]), f"{deed} in frame {spot}"

    def _change(self, document: Json, dice: random.Random, deeds: tuple[str, ...]) -> tuple[Json, str]:
        document = copy.deepcopy(document)
        deed = dice.choice(deeds)
        found = list(places(document))
        fitting = [path for path in found if _fits(deed, path, at(document, path), self._held)]
        if not fitting:
            return document, "nothing"
        path = dice.choice(fitting)
        holder, step = at(document, path[:-1]), path[-1]
        if deed == "remove":
            del holder[step]
        elif deed in ("null", "empty"):
            holder[step] = None if deed == "null" else type(holder[step])()
        elif deed in ("word", "type"):
            holder[step] = UNKNOWN
        elif deed == "add":
            holder[step]["newer_field"] = dice.choice(["added value", {"inner": "added value"}, ["added value"]])
        elif deed == "repeat":
            holder.insert(dice.randrange(len(holder) + 1), copy.deepcopy(holder[step]))
        elif deed == "exchange":
            dice.shuffle(holder[step])
        elif deed == "graft":
            holder[step].append(copy.deepcopy(dice.choice(self._held[step])))
        else:
            holder[step] = copy.deepcopy(dice.choice(ODD if deed == "wrong type" else (0, -1, 1.5, 10**15, "7")))
        return document, f"{deed} at /{'/'.join(map(str, path))}"


def _fits(deed: str, path: Path, value: Json, held: dict[str | int, list[Json]]) -> bool:
    if deed == "type":
        return path[-1] in _TYPES and isinstance(value, str)
    fitting = {
        "word": isinstance(value, str) and len(value) < 30,
        "add": isinstance(value, dict),
        "repeat": isinstance(path[-1], int),
        "exchange": isinstance(value, list) and len(value) > 1,
        "graft": isinstance(value, list) and path[-1] in held,
        "number": type(value) in (int, float),
        "empty": value is not None,
    }
    return fitting.get(deed, True)


def _framed(case: Case, chunks: list[Json]) -> bytes:
    lines = [json.dumps(chunk).encode() for chunk in chunks]
    if case.dialect == "ollama":
        return b"".join([line + b"\n" for line in lines])
    end = b"data: [DONE]\n\n" if b"[DONE]" in case.body else b""
    return b"".join([b"data: " + line + b"\n\n" for line in lines]) + end
