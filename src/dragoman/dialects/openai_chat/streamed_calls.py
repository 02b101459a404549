"""Assigns the pieces of streamed calls to their call, and finds out when a call is whole."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from ...canon.parts import ToolCall
from ...codec import json_text
from ...codec.failure_sentence_in_answer import decoded_once
from ...context import Context
from . import wire
from .message_content import read_seal


class StreamedCall:
    """A call whose pieces are still arriving. It begins when it has a name and arguments: the name, or the rest of the
    name, may come in a later piece (anomalyco/opencode issue 24137, 2026-04).
    """

    __slots__ = ("index", "key", "named", "part", "pieces", "unsent")

    def __init__(self, part: ToolCall, key: int | None, named: bool) -> None:
        self.part = part
        self.key = key
        self.named = named  # the id came from the host
        self.index = -1  # -1: not begun yet
        self.pieces: list[str] = []
        self.unsent: list[str] = []

    def whole(self) -> bool:
        """Whether the arguments are a whole JSON object."""
        return not self.part.custom and json_text.is_whole("".join(self.pieces))

    def over(self, text: str) -> bool:
        """Whether `text` begins another JSON object after whole arguments."""
        if text.lstrip()[:1] != "{" or not self.pieces or self.pieces[-1].rstrip()[-1:] != "}":
            return False
        return self.whole()

    def repeated(self, piece: wire.Call, name: str, text: str) -> bool:
        """Whether `text` repeats all arguments, as some parsers of calls do."""
        same = piece.id == self.part.id if piece.id else not name
        return same and text.strip() == "".join(self.pieces).strip()

    def once(self, context: Context) -> bool:
        """Whether the arguments are not a JSON string, or a whole one that holds an object. In the second case the
        object replaces the string.
        """
        if self.part.custom or self.pieces[0][:1] != '"':
            return True
        text = "".join(self.pieces)
        inner = decoded_once(text, self.part.at, context) if text[-1] == '"' else text
        self.pieces, self.unsent = [inner], [inner]
        return inner is not text

    def empty(self) -> bool:
        """Whether only `{}` came, which may precede the real arguments."""
        return len(self.pieces) == 1 and self.pieces[0].strip() == "{}"

    def restart(self) -> None:
        """Drop the pieces so far."""
        self.pieces.clear()
        self.unsent.clear()

    def take_id(self, call_id: str, context: Context) -> bool:
        """Take an id that comes after the beginning of the call. False: the client already has the call under the first
        id, or under an id that was computed.
        """
        if self.index < 0 and not self.named:
            self.part = msgspec.structs.replace(self.part, id=call_id)
            self.named = True
            return True
        detail = f"{call_id} came after the call's beginning"
        context.lose("call.id.rewritten", (*self.part.at, "id"), detail)
        return False

    def take_seal(self, extra_content: Raw, context: Context) -> bool:
        """Take a seal that comes after the beginning of the call. A call that the client does not have yet gets the
        seal. False: the field holds no seal.
        """
        seal = read_seal(extra_content, self.part.at, context)
        if seal is not None and self.index < 0 and self.part.seal is None:
            self.part = msgspec.structs.replace(self.part, seal=seal)
        elif seal is not None and (self.part.seal is None or self.part.seal.data != seal.data):
            context.lose("seal.dropped", self.part.at, "the seal came after the beginning of the call")
        return seal is not None

    def has_no_arguments(self) -> bool:
        """Whether only an id or a name came."""
        return self.index < 0 and not self.pieces


def begins(piece: wire.Call, name: str, text: str, call: StreamedCall) -> bool:
    """Whether a piece under the index of `call`, or without an index, begins a new call.

    Reports about hosts: parallel calls with one index (ai-dynamo/dynamo pull 4723, 2025-12), calls without an index
    (openai/openai-python issue 2806, 2025-12), names that every piece repeats (NousResearch/hermes-agent pull 11984,
    2026-04), names that come late or in pieces (anomalyco/opencode issue 24137, 2026-04). An id may be missing, too.
    """
    # An index that was used before, but without a name, is the same call: its name comes in this piece.
    if piece.index is not None and call.has_no_arguments() and not call.part.name:
        return False
    if piece.id and piece.id != call.part.id:
        return bool(name) or piece.index is None
    if piece.id or not name or (piece.index is not None and call.has_no_arguments() and call.named):
        return False
    return name != call.part.name or (call.whole() and (piece.index is None or bool(text)))
