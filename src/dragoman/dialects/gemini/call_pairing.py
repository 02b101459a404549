"""Owns call ids for wires that may omit them: a given id, or one computed from the path; results are paired by id, else
by name and order.

Gemini 2.5 and older send no ids; Gemini 3 always does (google-genai 3.1.0, 2026-11).
"""

from __future__ import annotations

from msgspec import Raw

from ...canon.parts import Path, ToolCall
from ...codec import json_text
from ...codec.call_ids import hashed_id
from ...codec.open_call_lookup import UnansweredCalls
from ...context import Context
from . import wire
from .original_values import ID, NULL, own


def _came_without_id(call: ToolCall) -> bool:
    return own(call.extra, ID) is not None


class Ids:
    """The ids of calls and results in one document."""

    __slots__ = ("_made", "_seed", "context", "keeps_originals", "waiting")

    def __init__(self, context: Context, seed: str = "", *, keeps_originals: bool = True) -> None:
        """`seed` distinguishes answers: a path alone would give the calls of two answers the same id."""
        self.context = context
        self.keeps_originals = keeps_originals
        """The document may return to this dialect, so that its original values are kept (`original_values.py`)."""
        self._seed = seed
        self.waiting = UnansweredCalls(_came_without_id)
        """The calls of the last step without a result."""
        self._made: dict[str | int, int] = {}

    def of_result(self, result: wire.Result, at: Path) -> tuple[str, Raw | None]:
        """The id of the call that a result answers, and the original id if the wire had another one or none."""
        # The id of a result must be the id of its call; on Gemini 3 a wrong
        # one can give an empty answer with STOP (one user's report, 2026-11).
        given = result.id
        if given and self.waiting.take(given) is not None:
            return given, None
        # Results of Gemini 2.5 and older have no id: the name and the order pair them.
        call = self.waiting.take_named(result.name or "", without_id=bool(given))
        if call is not None:
            if given and self.context.target not in wire.KIN:
                self.context.lose("call.id.rewritten", (*at, "functionResponse", "id"), "its call has no id")
            return call.id, json_text.raw(given) if given else NULL
        return (given, None) if given else (self.mint(at), NULL)

    def of_search(self, answer: int) -> str:
        """The prefix of the ids of searches that only the metadata of an answer mentions."""
        # The metadata of a search has no id (google-genai 3.1.0, 2026-11). Other dialects pair a hosted call with its
        # result by an id.
        return hashed_id(f"{self._seed}{answer}\x1fsearch", "") + "_"

    def mint(self, at: Path) -> str:
        """A new id for a call at this path."""
        if self.context.target not in wire.KIN:
            self.context.lose("call.id.invented", at)
        # Without a seed the document is a history: there every path is different.
        if not self._seed:
            return hashed_id("\x1f".join([str(step) for step in at]))
        # The calls of an answer are counted, because a stream cuts the parts between them at any point.
        answer = at[1]
        self._made[answer] = self._made.get(answer, 0) + 1
        return made_id(self._seed, answer, self._made[answer])


def made_id(seed: str, answer: str | int, number: int) -> str:
    """The id of the call with that number among the calls of an answer that have none."""
    return hashed_id(f"{seed}{answer}\x1f{number}")
