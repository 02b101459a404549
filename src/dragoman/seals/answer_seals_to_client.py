"""Places the seals of an answer where the client's dialect returns them, or keeps them in the vault.

The way depends on the seals that clients of the dialect return, and on the caller's choice:

    thoughts   native, for dialects that return sealed thoughts (Messages, Responses): the seal of a call or a text
               is written into a thought directly before the call or text
    parts      native, for dialects with slots on calls and texts whose clients may strip thoughts (Gemini): the seal
               of a thought is written on the next call, or on an empty last text
    id         packed into the id of the next call
    vault      kept for the next call, else for the last call, else for the text: under a digest of the conversation
               and the call's id; for clients that lose ids, also under the call's name and arguments
    list       in a list beside the parts, which some clients return (Chat's `reasoning_details`): each record is a
               thought without text at the end of the answer. The vault keeps the records too, for all other clients
    drop       left out, and reported
    left       unchanged: the writer puts the seals into the slots that it has, and reports the others

`request_seals_to_upstream.py` undoes all of them; `stream_seals_to_client.py` does the same for streams. The module
works on canon values and does no I/O.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from ..canon.parts import Citation, Opaque, Part, Reasoning, Seal, Text, ToolCall
from ..canon.response import Alternative, Response
from ..codec import packed_seals
from ..codec.call_ids import SAFE, hashed_id
from ..codec.packed_seals import HERE, Origin, PackedSeal, Where, family
from ..context import Context
from .conversation_digest import ConversationDigest
from .sealed_citations import sealed_citations
from .vault import Vault, keep, vault_key

_NO_HISTORY = "the vault keeps seals for a conversation, and the request of this answer was not given (answers=)"

Way = Literal["thoughts", "parts", "id", "vault", "list", "drop", "left"]


class SealPlan(Struct, frozen=True):
    """The decisions that are made before an answer arrives."""

    way: Way
    origin: Origin
    """The upstream, in the form that its seals contain."""
    pair: str = ""
    """The dialects of client and upstream. Both are part of a vault key, because clients of two dialects return the
    same answer in different shapes.
    """
    call_slots: frozenset[str] = frozenset()
    """Dialects whose seals on calls have a field in the client's dialect. Some clients return the field."""
    borrowed: frozenset[str] = frozenset()
    """Other dialects in whose name this upstream makes seals (Google's, on its Chat endpoint)."""
    ordered: bool = True
    """The client's dialect keeps thoughts at their place among texts and calls."""
    counts: bool = True
    """Characters of the text are counted, so a record may be sent at another place than its own."""
    vault: Vault | None = None
    wanted: bool = False
    """The upstream accepts thoughts without a seal (`reasoning_content`)."""
    history: ConversationDigest | None = None
    """The conversation before the answer. Without it the vault keeps nothing."""

    @property
    def keeps_all(self) -> bool:
        """Whether the vault keeps all records, not only the records of calls."""
        return self.way == "vault" or (self.way == "list" and self.vault is not None)

    @property
    def strips(self) -> bool:
        """Whether the client gets thoughts without their seals."""
        return self.way not in ("thoughts", "left")


def call_key(pair: str, model: str, conversation: str, call_id: str) -> str:
    """The key of the seals of a call. `conversation`: the digest of everything before the call. An id that is illegal
    in some dialect is hashed, because the client also gets it hashed.
    """
    # A client gets the id hashed if some dialect refuses it, and returns the hash.
    own = call_id if SAFE.match(call_id) else hashed_id(call_id)
    return vault_key(pair, family(model), "call", conversation, own)


def place_key(pair: str, model: str, conversation: str) -> str:
    """The key of the id of a call, for clients that return another id or none. `conversation`: the digest up to the
    call, with its name and arguments.
    """
    return vault_key(pair, family(model), "place", conversation)


def text_key(pair: str, model: str, conversation: str) -> str:
    """The key of the seals of an answer without calls. `conversation`: the digest up to the text of the answer."""
    return vault_key(pair, family(model), "text", conversation)


class _Made(NamedTuple):
    """A call of an answer."""

    id: str
    name: str
    arguments: list[str]
    """In pieces: a stream may add more."""
    records: list[PackedSeal]
    """The records that the vault keeps for the call."""


class AnswerSeals:
    """The state of one answer: the texts and calls so far, and the records that wait for a part to carry them."""

    __slots__ = ("_context", "_listed", "_made", "_model", "_texts", "_waiting", "calls", "chars", "plan")

    def __init__(self, plan: SealPlan, context: Context, model: str) -> None:
        self.plan = plan
        self._context = context
        self._model = plan.origin.model or model
        self.calls = 0
        self.chars = 0
        self._texts: list[str] = []
        self._waiting: list[PackedSeal] = []
        self._listed: list[PackedSeal] = []  # records for the list, whose calls have been made
        self._made: list[_Made] = []  # the calls, where there is a vault

    def labelled(self, seal: Seal) -> Seal:
        """A seal with its whole origin: dialect, host and model of the upstream."""
        origin = self.plan.origin
        kind, data = self._label(seal)
        return Seal(origin.dialect, data, kind, self._model or seal.model, seal.host or origin.host)

    def _label(self, seal: Seal) -> tuple[str, str]:
        """The kind and the data of a seal with its whole origin."""
        if seal.dialect in self.plan.borrowed:
            return seal.dialect, seal.data
        if seal.dialect == self.plan.origin.dialect:
            return seal.kind, seal.data
        # The upstream is itself a gateway of this kind. It wants the exact content of its slot back, with the mark.
        return "", packed_seals.pack(seal)

    def record(self, where: Where, seal: Seal, call: str = "", length: int = 0) -> PackedSeal:
        """A seal with its position in the answer so far."""
        plan = self.plan
        origin = plan.origin
        kind, data = self._label(seal)
        model, host = self._model or seal.model, seal.host or origin.host
        offset = self.chars if plan.counts else HERE
        return PackedSeal(where, origin.dialect, data, kind, model, host, call, self.calls, offset, length)

    def call(self, call: ToolCall) -> tuple[list[PackedSeal], ToolCall]:
        """The call for the client, and the records that must be sent in a thought before the call."""
        plan, seal = self.plan, call.seal
        records = self.take_waiting()
        if seal is not None:
            records = [*records, self.record("call", seal, call.id)]
        if plan.vault is not None:
            # Some clients leave out a thought without text, and so the record in it. The vault keeps a second copy.
            # The record of the call itself is the last one.
            stored = records if plan.keeps_all else records[-1:] if seal is not None else []
            self.made(call.id, call.name, call.arguments, list(stored))
        self.calls += 1
        # Chat's `reasoning_details` is a field beside the calls of one message, not an entry between them. The list is
        # written at the end of an answer, because OpenRouter and Chat hosts keep details in one list per message.
        if plan.way == "list":
            self._listed += records
        if not records:
            return [], call
        if plan.way == "parts":
            return [], msgspec.structs.replace(call, seal=packed_seals.bundle(records))
        if plan.way == "id":
            return [], msgspec.structs.replace(call, id=packed_seals.pack_id(call.id, records), seal=None)
        if seal is None:
            return [], call
        if plan.way == "thoughts":
            return records, msgspec.structs.replace(call, seal=None)
        if plan.way == "drop":
            self._context.lose("seal.dropped", call.at)
        elif seal.dialect in plan.call_slots:
            # The field of the call holds only the call's own record. Other records wait for another carrier.
            return [], msgspec.structs.replace(call, seal=packed_seals.bundle(records[-1:]))
        elif plan.way == "left":
            return [], call
        return [], msgspec.structs.replace(call, seal=None)

    def made(self, call_id: str, name: str, arguments: str, records: list[PackedSeal]) -> None:
        """Take note of a call, and of the records that the vault keeps for it."""
        self._made.append(_Made(call_id, name, [arguments], records))

    def pieces(self) -> list[str]:
        """The arguments of the last call, to which a stream adds. Empty if there is no vault."""
        return self._made[-1].arguments if self._made else []

    def text(self, text: Text) -> tuple[list[PackedSeal], Text | None]:
        """The whole text for the client, and the records that must be sent in a thought before the text."""
        plan, seal = self.plan, text.seal
        record = None if seal is None else self.record("text", seal, length=len(text.text))
        if text.citations:
            self.cited(text.text, text.citations)
        if not text.refusal:
            self.add_text(text.text)
        if record is None or plan.way == "left":
            return [], text
        record = msgspec.structs.replace(record, text=packed_seals.digest(text.text))
        if plan.way == "parts":
            records, self._waiting = [*self._waiting, record], []
            return [], msgspec.structs.replace(text, seal=packed_seals.bundle(records))
        unsealed = msgspec.structs.replace(text, seal=None) if text.text or text.citations else None
        if plan.way == "thoughts":
            return [record], unsealed
        if plan.way == "drop":
            self._context.lose("seal.dropped", text.at)
        else:
            self._waiting.append(record)
        return [], unsealed

    def cited(self, text: str, citations: tuple[Citation, ...]) -> None:
        """The citations of a text that is about to be added (`add_text`): sealed ones get a record of their own."""
        # Without counted places a citation cannot find its text again.
        if not self.plan.counts or self.plan.way not in ("thoughts", "parts", "list", "vault"):
            return
        data = sealed_citations(citations, self.plan.origin.dialect)
        if data:
            record = self.record("cited", Seal(self.plan.origin.dialect, data), length=len(text))
            # In a stream the thought before the text has already ended, so the last thought of the answer carries the
            # record.
            late = self._listed if self.plan.way == "thoughts" else self._waiting
            late.append(msgspec.structs.replace(record, text=packed_seals.digest(text)))

    def add_text(self, text: str) -> None:
        """Take note of more text of the answer."""
        self.chars += len(text)
        if self.plan.keeps_all:
            self._texts.append(text)

    def shown(self, seal: Seal | None, calls: int, chars: int) -> Seal:
        """The seal of a thought that is written in its own slot. For a thought without a seal: an empty seal that names
        the origin.
        """
        if seal is None or not seal.data:
            return self.labelled(seal or Seal(self.plan.origin.dialect, ""))
        of = self.labelled(seal)
        # Where the dialect keeps the order, the place of the thought is its position.
        if self.plan.ordered or not (calls or chars):
            return of
        place = ("", calls, chars, -1)
        return packed_seals.bundle((PackedSeal("thought", of.dialect, of.data, of.kind, of.model, of.host, *place),))

    def wait(self, thought: Reasoning, seal: Seal | None, text: str) -> None:
        """Keep the seal of a thought, and its text, until a part can carry the record."""
        if seal is None or not seal.data:
            if self.plan.wanted and text and self.plan.way in ("parts", "id", "vault", "list"):
                # In these ways clients may strip thoughts. The text of the thought is sent with a call, because the
                # host demands the text beside the call.
                record = self.record("thought", seal or Seal(self.plan.origin.dialect, ""))
                self._waiting.append(msgspec.structs.replace(record, text=text))
            return
        if self.plan.way == "drop":
            self._context.lose("seal.dropped", thought.at)
        else:
            self._waiting.append(msgspec.structs.replace(self.record("thought", seal), text=text))

    def take_waiting(self) -> list[PackedSeal]:
        """Take the waiting records, for a part that carries them."""
        records, self._waiting = self._waiting, []
        return records

    def use(self, part: Opaque) -> tuple[list[PackedSeal], Part]:
        """The first part of a use of a hosted tool for the client, and the record that must be sent in a thought before
        the part. A record of a use is too long for an id."""
        assert part.seal is not None
        record = self.record("use", part.seal)
        if self.plan.way == "thoughts":
            return [record], msgspec.structs.replace(part, seal=None)
        if self.plan.way in ("drop", "id"):
            return [], self.without_seal(part)
        self._waiting.append(record)
        return [], msgspec.structs.replace(part, seal=None)

    def without_seal(self, part: Part) -> Part:
        """A part without its seal, of a kind (such as an image) on which no client's dialect has a slot for a seal."""
        self._context.lose("seal.dropped", part.at)
        return msgspec.structs.replace(part, seal=None)

    def finish(self) -> list[Part]:
        """End the answer: waiting records become last parts, and the vault gets its records."""
        if not (self._waiting or self._listed) and self.plan.vault is None:
            return []
        # A record without data only keeps the words of a thought, and is useful only on a call.
        plan, records = self.plan, [record for record in self._waiting if record.data]
        self._waiting = []
        if plan.way == "list":
            listed, self._listed = [*self._listed, *records], []
        if plan.keeps_all:
            # The last call is the best carrier: clients return calls whole.
            if self._made and records:
                self._made[-1].records.extend(records)
                records = []
            self.store(records)
        elif plan.vault is not None:
            self.store()
        if plan.way == "list":
            return [Reasoning(seal=packed_seals.bundle((record,))) for record in listed]
        if plan.way == "thoughts" and self._listed:
            late, self._listed = self._listed, []
            return [Reasoning(seal=packed_seals.bundle(late))]
        if not records or plan.way == "vault":
            return []
        if plan.way == "parts":
            return [Text("", seal=packed_seals.bundle(records))]
        # Without a call there is no id to pack the seal into.
        for _ in records:
            self._context.lose("seal.dropped", (), "no call follows whose id could carry it")
        return []

    def store(self, of_text: Sequence[PackedSeal] = ()) -> None:
        """Put the records into the vault. This happens only at the end, so that an answer that breaks off does not make
        a key ambiguous for the next attempt.
        """
        plan, made = self.plan, self._made
        if plan.vault is None or not (of_text or any(call.records for call in made)):
            return
        if plan.history is None:
            self._context.lose("seal.dropped", (), _NO_HISTORY)
            return
        pair, model = plan.pair, self._model
        conversation = plan.history.conversation()
        conversation.begin_answer()
        for call in made:
            before = conversation.before_call()
            conversation.add_call(call.name, "".join(call.arguments))
            if call.records:
                keep(plan.vault, call_key(pair, model, before, call.id), packed_seals.write_records(call.records))
            if plan.keeps_all:  # also without a seal: another attempt may have made the same call with a seal
                keep(plan.vault, place_key(pair, model, conversation.before_call()), call.id)
        if of_text:
            for text in self._texts:
                conversation.add_text(text)
            keep(plan.vault, text_key(pair, model, conversation.with_texts()), packed_seals.write_records(of_text))
        self._made = []


def place_seals(response: Response, plan: SealPlan, context: Context) -> Response:
    """The answer for the client: every seal is at a place that the client returns."""
    # The loop avoids all work for answers without seals, which are most of them.
    if not response.alternatives:
        for part in response.parts:
            if part.seal is not None or type(part) is Reasoning or _is_cited(part):
                break
        else:
            return response
    parts = _carried(response.parts, AnswerSeals(plan, context, response.model))
    others: list[Alternative] = []
    for other in response.alternatives:
        carried = _carried(other.parts, AnswerSeals(plan, context, response.model))
        others.append(other if carried is other.parts else msgspec.structs.replace(other, parts=carried))
    return msgspec.structs.replace(response, parts=parts, alternatives=tuple(others))


def _is_cited(part: Part) -> bool:
    return type(part) is Text and bool(part.citations)


def _carried(parts: tuple[Part, ...], seals: AnswerSeals) -> tuple[Part, ...]:
    if all(part.seal is None and type(part) is not Reasoning and not _is_cited(part) for part in parts):
        return parts
    out: list[Part] = []
    for part in parts:
        records: list[PackedSeal] = []
        shown: Part | None = part
        if type(part) is ToolCall:
            records, shown = seals.call(part)
        elif type(part) is Text:
            records, shown = seals.text(part)
        elif type(part) is Reasoning:
            shown = _thought(part, seals)
        elif part.seal is not None and isinstance(part, Opaque) and seals.plan.way != "left":
            carried, shown = seals.use(part)
            if carried:  # separate from thoughts with words
                out.append(Reasoning(seal=packed_seals.bundle(carried), at=part.at))
        elif part.seal is not None and seals.plan.way != "left":
            shown = seals.without_seal(part)
        if records:
            _before(records, out, part)
        if shown is not None:
            out.append(shown)
    out += seals.finish()
    return tuple(out)


def _thought(thought: Reasoning, seals: AnswerSeals) -> Reasoning | None:
    plan = seals.plan
    if plan.way == "left":
        return thought
    if not plan.strips:
        if thought.seal is None and not thought.text:
            return thought
        return msgspec.structs.replace(thought, seal=seals.shown(thought.seal, seals.calls, seals.chars))
    seals.wait(thought, thought.seal, thought.text)
    return msgspec.structs.replace(thought, seal=None) if thought.text else None


def _before(records: list[PackedSeal], out: list[Part], part: Part) -> None:
    """Put records into the thought before the part if that thought has no seal, else into a new thought without
    text.
    """
    last = out[-1] if out else None
    # An empty slot of a shown thought is free, so no second thought is needed.
    if type(last) is Reasoning and (last.seal is None or not last.seal.data):
        out[-1] = msgspec.structs.replace(last, seal=packed_seals.bundle(records))
    else:
        out.append(Reasoning(seal=packed_seals.bundle(records), at=part.at))
