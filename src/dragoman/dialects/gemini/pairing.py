"""Call ids in documents whose calls may have none: given, or made from the place; results paired by id, name and order."""

from __future__ import annotations

from msgspec import Raw

from ...canon.parts import Path
from ...codec import jsontext
from ...codec.ids import hashed
from ...crossing import Crossing
from . import wire
from .marks import NULL


class Ids:
    """The ids of calls and results in one document."""

    __slots__ = ("_seed", "_waiting", "crossing", "only")

    def __init__(self, crossing: Crossing, seed: str = "") -> None:
        """`seed` tells one answer from another: a place alone would give the calls of two answers the same id."""
        self.crossing = crossing
        self.only = wire.Part()
        """Scratch: a part with one field set, to ask whether another part has no field but that."""
        self._seed = seed
        self._waiting: list[tuple[str, str, bool]] = []

    def step(self) -> None:
        """The model speaks again: what it asked before is answered or never will be."""
        self._waiting.clear()

    def of_call(self, call: wire.Call, at: Path) -> str:
        call_id = call.id or self.mint(at)
        self._waiting.append((call_id, call.name or "", bool(call.id)))
        return call_id

    def of_result(self, result: wire.Result, at: Path) -> tuple[str, Raw | None]:
        """The id of the call that a result answers, and the id's mark where the wire had another or none."""
        given = result.id
        if given:
            for place, waiting in enumerate(self._waiting):
                if waiting[0] == given:
                    del self._waiting[place]
                    return given, None
        name = result.name or ""
        for place, (call_id, called, had_id) in enumerate(self._waiting):
            if called == name and not (given and had_id):
                del self._waiting[place]
                return call_id, jsontext.raw(given) if given else NULL
        if given:
            return given, None
        return self.mint(at), NULL

    def mint(self, at: Path) -> str:
        if self.crossing.target != wire.NAME:
            self.crossing.lose("call.id.invented", at)
        return hashed(self._seed + "\x1f".join([str(step) for step in at]))
