"""Calls of a stream whose pieces are still coming: which piece belongs to which, and when one is whole."""

from __future__ import annotations

from ...canon.parts import ToolCall
from ...codec import json_text
from ...codec.failed_answers import decoded_once
from ...context import Context
from . import wire


class Call:
    """A call whose pieces are still coming. It begins when it has a name and more than that: until then hosts send the
    name, or the rest of it, in a later piece."""

    __slots__ = ("held", "index", "key", "named", "part", "pieces")

    def __init__(self, part: ToolCall, key: int | None, named: bool) -> None:
        self.part = part
        self.key = key
        self.named = named  # the host gave it its id
        self.index = -1  # not begun yet
        self.pieces: list[str] = []
        self.held: list[str] = []

    def whole(self) -> bool:
        return not self.part.custom and json_text.is_whole("".join(self.pieces))

    def over(self, text: str) -> bool:
        """Whether `text` begins another JSON object behind the whole one that the arguments are."""
        if text.lstrip()[:1] != "{" or not self.pieces or self.pieces[-1].rstrip()[-1:] != "}":
            return False
        return self.whole()

    def repeated(self, piece: wire.Call, name: str, text: str) -> bool:
        """Whether `text` is all the arguments once more, as parsers of calls give out what they lost count of."""
        same = piece.id == self.part.id if piece.id else not name
        return same and text.strip() == "".join(self.pieces).strip()

    def once(self, context: Context) -> bool:
        """Whether the arguments are no JSON string, or a whole one with an object in it, which they then are."""
        if self.part.custom or self.pieces[0][:1] != '"':
            return True
        text = "".join(self.pieces)
        inner = decoded_once(text, self.part.at, context) if text[-1] == '"' else text
        self.pieces, self.held = [inner], [inner]
        return inner is not text

    def empty(self) -> bool:
        """Nothing came but `{}`, which some hosts send until they have the arguments."""
        return len(self.pieces) == 1 and self.pieces[0].strip() == "{}"

    def restart(self) -> None:
        self.pieces.clear()
        self.held.clear()

    def bare(self) -> bool:
        """Nothing of it has come but an id or a name."""
        return self.index < 0 and not self.pieces


def begins(piece: wire.Call, name: str, text: str, call: Call) -> bool:
    """Whether a piece that comes under the index of `call`, or under none after it, begins a call of its own.

    Hosts give parallel calls one index, no index, or no id; they repeat ids and names in later pieces; and they send a
    name later than the id, or in pieces."""
    if piece.index is not None and call.bare() and not call.part.name:
        return False
    if piece.id and piece.id != call.part.id:
        return bool(name) or piece.index is None
    if piece.id or not name or (piece.index is not None and call.bare() and call.named):
        return False
    return name != call.part.name or (call.whole() and (piece.index is None or bool(text)))
