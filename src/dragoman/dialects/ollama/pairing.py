"""Call ids where calls may have none: given, or made from the place; results paired by id, else by name and order."""

from __future__ import annotations

from msgspec import Raw

from ...canon.parts import Path, ToolCall
from ...codec import jsontext
from ...codec.ids import hashed
from ...crossing import Crossing
from . import wire
from .marks import ID, NULL, own


class Ids:
    """The ids of calls and results in one document."""

    __slots__ = ("_made", "_seed", "crossing", "waiting")

    def __init__(self, crossing: Crossing, seed: str = "") -> None:
        """`seed` tells one answer from another: a place alone would give the calls of two answers the same id."""
        self.crossing = crossing
        self._seed = seed
        self.waiting: list[ToolCall] = []
        """The calls of the last step that no result was found for yet."""
        self._made = 0

    def of_result(self, given: str, name: str, at: Path) -> tuple[str, Raw | None]:
        """The id of the call that a result answers, and the id's mark where the wire had another or none."""
        waiting = self.waiting
        if given:
            for place, call in enumerate(waiting):
                if call.id == given:
                    del waiting[place]
                    return given, None
        for place, call in enumerate(waiting):
            if (not name or call.name == name) and not (given and own(call.extra, ID) is None):
                del waiting[place]
                return call.id, jsontext.raw(given) if given else NULL
        return (given, None) if given else (self.mint(at), NULL)

    def mint(self, at: Path) -> str:
        """An id for a call that came without one. Of an answer the calls are counted: a stream has other places."""
        if self.crossing.target != wire.NAME:
            self.crossing.lose("call.id.invented", at)
        if not self._seed:
            return hashed("\x1f".join([str(step) for step in at]))
        self._made += 1
        return hashed(f"{self._seed}{self._made}")


def seed(created_at: str | None, crossing: Crossing) -> str:
    """What tells the calls of this answer from those of any other answer in the same conversation."""
    turns = len(crossing.answers.turns) if crossing.answers is not None else 0
    return f"{created_at or ''}\x1f{turns}\x1f{crossing.created}\x1f"
