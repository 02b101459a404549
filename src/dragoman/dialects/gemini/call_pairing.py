"""Call ids where calls may have none: given, or made from the place; results paired by id, else by name and order."""

from __future__ import annotations

from msgspec import Raw

from ...canon.parts import Path
from ...codec import json_text
from ...codec.call_ids import hashed
from ...codec.open_calls import UnansweredCalls
from ...context import Context
from . import wire
from .original_values import ID, NULL, own


class Ids:
    """The ids of calls and results in one document."""

    __slots__ = ("_made", "_seed", "context", "waiting")

    def __init__(self, context: Context, seed: str = "") -> None:
        """`seed` tells one answer from another: a place alone would give the calls of two answers the same id."""
        self.context = context
        self._seed = seed
        self.waiting = UnansweredCalls(lambda call: own(call.extra, ID) is not None)
        """The calls of the last step that no result was found for yet."""
        self._made: dict[str | int, int] = {}

    def of_result(self, result: wire.Result, at: Path) -> tuple[str, Raw | None]:
        """The id of the call that a result answers, and the id's mark where the wire had another or none."""
        given = result.id
        if given and self.waiting.take(given) is not None:
            return given, None
        call = self.waiting.take_named(result.name or "", without_id=bool(given))
        if call is not None:
            return call.id, json_text.raw(given) if given else NULL
        return (given, None) if given else (self.mint(at), NULL)

    def of_search(self, answer: int) -> str:
        """How the ids of searches begin that only the metadata of an answer tells of."""
        return hashed(f"{self._seed}{answer}\x1fsearch", "") + "_"

    def mint(self, at: Path) -> str:
        if self.context.target not in wire.KIN:
            self.context.lose("call.id.invented", at)
        if not self._seed:
            return hashed("\x1f".join([str(step) for step in at]))
        # Of an answer the calls are counted, for a stream cuts the parts between them as it likes.
        answer = at[1]
        self._made[answer] = self._made.get(answer, 0) + 1
        return made_id(self._seed, answer, self._made[answer])


def made_id(seed: str, answer: str | int, number: int) -> str:
    """The id of the call with that number among the calls of an answer that have none."""
    return hashed(f"{seed}{answer}\x1f{number}")
