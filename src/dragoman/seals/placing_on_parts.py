"""Puts seals that were sent separately from their parts back on the parts of a turn."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import msgspec

from ..canon.parts import HostedCall, HostedResult, Part, Path, Reasoning, Seal, Text, ToolCall
from ..codec import packed_seals
from ..codec.call_ids import hashed_id
from ..codec.hosted_calls import unsealed_use
from ..codec.packed_seals import PackedSeal
from ..context import Context
from .sealed_citations import read_citations

AT_COPY = -1
"""The length in the record of a use that was sent beside the client's own form of the use. The use goes back to the
place of that form."""

_CHANGED = "the part of the seal is missing or was changed"


class Placing:
    """Puts records on the parts of one turn: on calls by their id, elsewhere by the number of calls and characters
    before them.
    """

    def __init__(self, wanted: dict[PackedSeal, Path], at: Path, context: Context) -> None:
        self._at = at
        self._context = context
        self._wanted = wanted
        self._calls: dict[str, PackedSeal] = {}
        self._texts: dict[int, PackedSeal] = {}
        self._cited: dict[int, PackedSeal] = {}
        self._put_in: list[PackedSeal] = []
        for record in wanted:
            if record.where == "call":
                # The client may return the id as it is, or in its hashed form.
                self._calls[record.call] = self._calls[hashed_id(record.call)] = record
            elif record.where == "text" and record.length:
                self._texts[record.offset] = record
            elif record.where == "cited":
                self._cited[record.offset] = record
            else:
                self._put_in.append(record)
        uses = [record for record in self._put_in if record.where == "use"]
        self._uses = {record: unsealed_use(record.data, record.dialect, wanted[record]) for record in uses}
        self._at_copies: dict[str, PackedSeal] = {}
        self._shown = {name for name, _ in self._uses.values()}  # uses of which the client sends its own form
        # Records are put in by position, so they are sorted once.
        self._put_in.sort(key=lambda record: (record.calls, record.offset))
        # Clients return thoughts as text with changed line ends and spaces.
        self._copies = _squeezed([record.text for record in self._put_in if record.where == "thought"])
        self._put_in.reverse()  # the next record is the last element
        cuts = {record.offset for record in wanted if record.where != "call"}
        lengths = (*self._texts.values(), *self._cited.values())
        self._cuts = sorted(cuts | {record.offset + record.length for record in lengths})
        self._seen = 0  # calls
        self._chars = 0
        self._out: list[Part] = []

    def placed(self, parts: list[Part]) -> list[Part]:
        """The parts of the turn with their seals. A record that fits no part is reported as a loss."""
        if self._uses:
            self._leave_to_copies(parts)
        for part in parts:
            if type(part) is Reasoning and self._is_copy(part):
                continue
            if not (type(part) is Reasoning and self._put_in and self._put_in[-1].where == "use"):
                self._fill()  # the record of a use is inserted after a thought at the beginning
            if self._shown and self._is_shown(part):
                self._put_use(part)
                continue
            if type(part) is ToolCall:
                record = self._calls.get(part.id)
                if record is not None:
                    part = msgspec.structs.replace(part, seal=self._take(record))
                self._seen += 1
            elif type(part) is Text and not part.refusal:
                self._text(part)
                continue
            self._out.append(part)
        self._fill(rest=True)
        # The remaining records have no part, because the client cut or changed its history.
        for record, at in self._wanted.items():
            if record.data:
                self._context.lose("seal.dropped", at, _CHANGED)
        return self._out

    def _is_copy(self, thought: Reasoning) -> bool:
        """Whether a thought is the client's copy of the sealed thoughts."""
        if not self._copies or (thought.seal is not None and thought.seal.data):
            return False
        return _squeezed([thought.text]) in self._copies

    def _is_shown(self, part: Part) -> bool:
        """Whether the part is the client's own form of a use whose original is restored."""
        if type(part) is HostedCall:
            return part.id in self._shown
        return type(part) is HostedResult and part.call_id in self._shown

    def _leave_to_copies(self, parts: list[Part]) -> None:
        """Find the uses that are restored at the place of the client's own form."""
        there = {part.id for part in parts if type(part) is HostedCall}
        for record, (name, _) in self._uses.items():
            if record.length == AT_COPY and name in there:
                self._at_copies[name] = record
        self._put_in = [record for record in self._put_in if record not in self._at_copies.values()]

    def _put_use(self, part: Part) -> None:
        record = self._at_copies.pop(part.id, None) if type(part) is HostedCall else None
        if record is not None:
            self._take(record)
            self._out += self._uses[record][1]

    def _take(self, record: PackedSeal) -> Seal:
        self._wanted.pop(record, None)
        return record.seal()

    def _fill(self, *, rest: bool = False) -> None:
        """Insert the records that belong here and have no part in the client's history."""
        waiting = self._put_in
        while waiting and (rest or (waiting[-1].calls <= self._seen and waiting[-1].offset <= self._chars)):
            record = waiting.pop()
            at = self._wanted.get(record, self._at)
            seal = self._take(record)
            if record.where == "use":
                self._out += self._uses[record][1]
                continue
            self._out.append(
                Reasoning(record.text, seal=seal, at=at) if record.where == "thought" else Text("", seal=seal, at=at)
            )

    def _text(self, text: Text) -> None:
        """Split a text into its original parts: some dialects join texts."""
        start = self._chars
        first, last = bisect_right(self._cuts, start), bisect_left(self._cuts, start + len(text.text))
        cuts = [cut - start for cut in self._cuts[first:last]]
        pieces = [text]
        # The records hold the citations with their encrypted index, so the client's copy is not needed.
        if cuts and text.citations and self._cited:  # the client's copies of citations in the records
            text = msgspec.structs.replace(text, citations=())
        # A text with citations is not split, because their positions count in the whole text.
        if cuts and not text.citations:
            ends = [*cuts, len(text.text)]
            spans = [text.text[begin:end] for begin, end in zip([0, *cuts], ends, strict=True)]
            pieces = [msgspec.structs.replace(text, text=spans[0], cache=None)]
            pieces += [Text(span, at=text.at) for span in spans[1:]]
            pieces[-1] = msgspec.structs.replace(pieces[-1], cache=text.cache)
        for piece in pieces:
            self._fill()
            record = self._texts.get(self._chars)
            # The digest proves that the text is the signed text. A seal on another text would be refused.
            if (
                record is not None
                and len(piece.text) == record.length
                and packed_seals.digest(piece.text) == record.text
            ):
                piece = msgspec.structs.replace(piece, seal=self._take(record))
            record = self._cited.get(self._chars) if self._cited else None
            if record is not None and packed_seals.digest(piece.text) == record.text:
                self._take(record)
                piece = msgspec.structs.replace(piece, citations=read_citations(record.data))
            self._out.append(piece)
            self._chars += len(piece.text)


def _squeezed(texts: list[str]) -> str:
    return "".join("".join(texts).split())
