"""Translates requests that continue an earlier request: only the new parts are decoded, read and written.

The steps are the usual ones (`codec/request_read_and_write_steps.py`), with the readers and writers of the dialects.
Known results replace the earlier steps: an Envelope for everything but the messages, a Prefix for the first messages.
Any unusual request takes the full path. A conversation is remembered at its second request, because most documents of
a bulk conversion come only once. Short requests always take the full path, because it costs little more than a lookup
in the memory.

All memories depend only on the exact bytes of a request, the target, the model and its profile. Entries never change,
and tables change in single steps, so threads need no lock. At worst, an entry that another thread has just stored is
lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ..canon.losses import Noted
from ..canon.request import Request
from ..canon.turns import SYSTEM_ROLES, Turn
from ..codec import json_text
from ..codec.cache_memory_budget import Memory, largest
from ..codec.history_facts import HistoryFacts, affects_no_later_turn, facts_of, history_facts
from ..codec.request_read_and_write_steps import RequestWriter
from ..context import Context
from ..dialect import Dialect, Fast
from ..errors import WireError
from ..seals.conversation_digest import ConversationDigest
from . import enabled
from .prefix_memory import (
    MAX_TEXT,
    NOTHING,
    Prefix,
    PrefixMemory,
    WrittenPrefix,
    begins_at,
    boundary,
    cut_after_kept_messages,
)
from .request_envelope_memory import Envelope, EnvelopeMemory, Pair, WrittenEnvelope, is_settled, is_untouched

SMALLEST = 4096
"""Shorter requests are not remembered. Measured over recorded requests: under 4 KB a remembered request saves at most
15 microseconds, and learning one costs 60 to 100."""
_FINGERPRINT = 256
"""The number of first bytes by which a repeated request is recognised."""
_PLACEHOLDER = Raw(b"\x00")
"""Replaces the messages while everything else is written: a byte that never occurs in JSON."""
_REFUSED = (msgspec.DecodeError, RecursionError, UnicodeError, WireError)

_array = msgspec.json.Decoder(list[Raw]).decode


class Known(Struct, frozen=True, gc=False, eq=False):
    """The known parts of a request, before it is read. The request may still turn out to be broken."""

    pair: Pair
    envelope: Envelope | None
    head: Any
    """The request decoded without its messages, if its envelope is unknown."""
    before: bytes
    after: bytes
    text: bytes
    """The array of messages."""
    prefix: Prefix
    """The known first messages."""
    messages: list[Raw]
    """The messages after the prefix."""

    @property
    def unread(self) -> int:
        """The number of bytes of new messages."""
        return len(self.text) - len(self.prefix.text)


def _same_module(function: Callable[..., Any], steps: Callable[..., Any]) -> bool:
    """Whether a dialect reads or writes requests with these steps: both functions are in one module."""
    return bool(function.__module__ == steps.__module__)


class RequestMemory:
    """The memory of requests that were read and written."""

    smallest = SMALLEST

    def __init__(self) -> None:
        self._envelopes = EnvelopeMemory()
        self._prefixes = PrefixMemory()
        self._seen: Memory[tuple[Pair, bytes], bool] = Memory()

    def known(self, document: bytes, source: str) -> Known | None:
        """The known parts of a request that continues an earlier one, for any target."""
        if len(document) < self.smallest:
            return None
        for pair in self._envelopes.pairs(source):
            found = self._look(document, pair)
            if found is not None and found.prefix is not NOTHING:
                return found
        return None

    def begin(
        self, document: bytes, reader: Dialect, writer: Dialect, context: Context, known: Known | None = None
    ) -> ContinuedRequest | None:
        """Read the request with the help of the memory; see `translate.request.RequestMemoryInterface`."""
        fast, written = reader.fast, writer.fast
        if fast is None or written is None or not enabled():
            return None
        if not _same_module(reader.read_request, fast.reader) or not _same_module(writer.write_request, written.writer):
            return None  # a plug-in copied the record of another dialect, with a reader or writer of its own
        # These options change what is read or written, and are not part of the keys of the memories.
        if context.binary != "native" or context.resolver is not None or context.host is not None:
            return None
        pair = (reader.name, writer.name)
        if known is None or known.pair != pair:
            known = self._look(document, pair)
        if known is None:
            known = self._skimmed(document, fast, pair)
        return None if known is None else self._read(known, fast, writer, context)

    def _look(self, document: bytes, pair: Pair) -> Known | None:
        for one in self._envelopes.of(pair):
            before, after = one.before, one.after
            if document.startswith(before) and document.endswith(after) and len(document) > len(before) + len(after):
                text = document[len(before) : len(document) - len(after)]
                found = self._parted(pair, one, None, before, after, text)
                if found is not None:
                    self._envelopes.use(pair, one)
                    return found
        return None

    def _skimmed(self, document: bytes, fast: Fast, pair: Pair) -> Known | None:
        """The parts of a request whose envelope is unknown; None for its first time."""
        if not _FINGERPRINT < len(document) <= min(MAX_TEXT, largest()):
            return None
        key = (pair, document[:_FINGERPRINT])
        if self._seen.get(key) is None:
            self._seen.put(key, True, 2 * _FINGERPRINT)
            return None
        try:
            if not document.isascii():
                document.decode()  # the JSON decoder does not check the UTF-8 of Raw values
            head, messages = fast.skim(document)
        except _REFUSED:
            return None
        text = bytes(messages)
        begin = document.find(text)
        # The same bytes may be in the document twice. Then the place of the messages is not certain.
        if text[:1] != b"[" or document.find(text, begin + 1) >= 0:
            return None
        return self._parted(pair, None, head, document[:begin], document[begin + len(text) :], text)

    def _parted(
        self, pair: Pair, envelope: Envelope | None, head: Any, before: bytes, after: bytes, text: bytes
    ) -> Known | None:
        """The messages after a known prefix; None if the value is not an array."""
        prefix = self._prefixes.find(pair, text)
        rest = text[len(prefix.text) :].lstrip()
        goes_on = prefix is NOTHING or rest[:1] == b","
        if not goes_on and rest != b"]":
            return None
        try:
            if not rest.isascii():
                rest.decode()
            messages = _array(text if prefix is NOTHING else b"[" + rest[1:]) if goes_on else []
        except _REFUSED:
            return None
        if goes_on and not messages:
            return None
        return Known(pair, envelope, head, before, after, text, prefix, messages)

    def _read(self, known: Known, fast: Fast, writer: Dialect, context: Context) -> ContinuedRequest | None:
        envelope, prefix, losses = known.envelope, known.prefix, context.losses
        read, take = fast.reader(context), fast.message
        try:
            if envelope is None:
                read.begin(known.head)
                lead = tuple(read.turns)
            else:
                lead = envelope.request.turns
                context.source, context.within = envelope.source, envelope.within
                if envelope.early:
                    losses.replay(envelope.early)
            if lead or prefix.turns:
                read.restore((*lead, *prefix.turns))
            early, kept_count = len(losses), len(context.kept)
            if prefix.losses:
                losses.replay(prefix.losses)
            marks = [len(losses)]  # behind each message
            for index, raw in enumerate(known.messages, prefix.count):
                read.message(take(raw), index)
                marks.append(len(losses))
            turns, past = read.close(), len(lead) + len(prefix.turns)
            if not read.resumable or len(context.kept) != kept_count or len(turns) == len(lead):
                return None
            if prefix.turns and (len(turns) < past or turns[past - 1] is not prefix.turns[-1]):
                return None  # the last turn of the prefix has grown
            if envelope is None:
                request = read.finish(known.head, turns)
                # These tables depend on the messages, so they do not hold for other messages in this envelope.
                if request.turns is not turns or context.spelled or context.moved or context.headers:
                    return None
                envelope = _envelope(known, request, lead, context, early, marks[-1])
                self._envelopes.put(known.pair, envelope)
            else:
                mine = envelope.request
                request = Request(turns, mine.model, mine.tools, mine.choice, mine.settings, mine.stream, mine.extra)
                if envelope.kept:
                    context.kept += envelope.kept
                if envelope.late:
                    losses.replay(envelope.late)
        except _REFUSED:
            return None
        remembered = ContinuedRequest(self, known, envelope, request, writer)
        if remembered.survey(context).has_opaque:
            return None
        if remembered.turns_so_far is not prefix.turns and len(losses):
            remembered.losses = losses.noted()[early : marks[remembered.count - prefix.count]]
        return remembered

    def learn(self, remembered: ContinuedRequest, written: WrittenPrefix | None, model: str) -> None:
        """Remember the beginning of a conversation."""
        known, prefix = remembered.known, remembered.known.prefix
        if len(remembered.turns_so_far) == len(prefix.turns):
            if written is not None and prefix is not NOTHING:
                prefix.keep(model, written)
            return
        text = cut_after_kept_messages(known.text, known.messages, remembered.count - prefix.count)
        search = remembered.digest.vault_search
        if search is not None:
            search = search._replace(turns=len(remembered.turns_so_far))
        table = {} if written is None else {model: written}
        self._prefixes.put(
            known.pair,
            text,
            remembered.count,
            remembered.turns_so_far,
            remembered.facts,
            remembered.losses,
            table,
            search,
            prefix,
        )


def _envelope(
    known: Known, request: Request, lead: tuple[Turn, ...], context: Context, early: int, late: int
) -> Envelope:
    """The envelope of a request that was read. `early`, `late`: the number of losses before and after the messages were
    read.
    """
    noted = context.losses.noted()
    return Envelope(
        known.before,
        known.after,
        msgspec.structs.replace(request, turns=lead),
        context.source,
        context.within,
        tuple(context.kept),
        noted[:early],
        noted[late:],
        is_settled(request),
        affects_no_later_turn(lead),
        {},
    )


class ContinuedRequest:
    """A request that continues a known one: already read, and to be written from there on."""

    __slots__ = (
        "_end",
        "_lead",
        "_memory",
        "_writer",
        "count",
        "digest",
        "envelope",
        "facts",
        "known",
        "losses",
        "request",
        "settled",
        "turns_so_far",
    )

    def __init__(
        self, memory: RequestMemory, known: Known, envelope: Envelope, request: Request, writer: Dialect
    ) -> None:
        self._memory = memory
        self._writer = writer
        self.known = known
        self.envelope = envelope
        self.request = request
        self.settled = envelope.settled
        prefix, turns = known.prefix, request.turns
        self._lead = lead = len(envelope.request.turns)
        self._end = end = past = lead + len(prefix.turns)
        self.count, self.turns_so_far = prefix.count, prefix.turns
        """The number of messages of the longer prefix that may be remembered; `turns_so_far` holds its turns."""
        if len(turns) > past:
            self._end = end = boundary(turns, past, frozenset((writer.name, *writer.related)))
            if end > past:
                self.count = prefix.count + len(known.messages) if end == len(turns) else begins_at(turns[end])
                self.turns_so_far = turns[lead:end]
        self.facts: HistoryFacts = prefix.facts
        """The facts about these turns."""
        self.losses: tuple[Noted, ...] = prefix.losses
        """The losses of reading these turns."""
        search = prefix.vault_search
        if search is not None:
            search = search._replace(turns=search.turns + lead)
        self.digest = ConversationDigest(turns, end, search)

    def survey(self, context: Context) -> HistoryFacts:
        """The facts about all turns. Only new turns are examined, unless calls share an id: then all turns are
        examined.
        """
        prefix, turns = self.known.prefix, self.request.turns
        if self.turns_so_far is not prefix.turns:
            known = prefix.facts.calls is not None
            self.facts = (
                history_facts(self.turns_so_far, len(prefix.turns), prefix.facts)
                if known
                else history_facts(self.turns_so_far)
            )
        if self.turns_so_far and self.envelope.bare and self.facts.calls is not None:
            if self._end == len(turns):
                found = msgspec.structs.replace(self.facts, turns=turns)
            else:
                found = history_facts(turns, self._end, self.facts)
            context.facts = found
        else:
            context.facts = found = history_facts(turns)
        return found

    def write(self, request: Request, context: Context) -> bytes:
        """Write the request with the help of the memory; see `translate.request.ContinuedRequestInterface`."""
        fast = self._writer.fast
        if fast is None or request.turns is not self.request.turns or _renames(context):
            return self._writer.write_request(request, context)
        if fast.simple and self._end != len(request.turns):
            return self._writer.write_request(request, context)
        if not facts_of(request.turns, context).arranged:
            return self._writer.write_request(request, context)  # `begin` moves results to their calls
        writer = fast.writer(request, context)
        came_from, context.source = context.source, writer.source
        try:
            before, after = self._steps(writer, request, context)
            body = b"".join((before, json_text.encode(writer.messages), after))
        finally:
            context.source = came_from
        return writer.wrapped(body)

    def _steps(self, writer: RequestWriter, request: Request, context: Context) -> tuple[bytes, bytes]:
        """Write the new parts of a request, and remember them. Returns the bytes before and after the messages."""
        losses, prefix, end, model = context.losses, self.known.prefix, self._end, context.model
        known = self._known_envelope(request, context)
        begin = len(losses)
        if known is None:
            writer.begin()
            lead, messages = writer.lead, writer.messages
        else:
            if known.early:
                losses.replay(known.early)
            lead, messages = len(known.lead), [Raw(known.messages)] if known.messages else []
            writer.lead = lead
        early, count, skipped = len(losses), len(messages), lead - self._lead
        resumable = known is not None or writer.resumable
        written = prefix.written.get(model)
        if written is None or written.profile is not context.profile or written.skipped != skipped or not resumable:
            written = None
            if known is not None:
                writer.restore(messages, lead, None)
            begin_turn = lead
        else:
            begin_turn = self._lead + len(prefix.turns)
            if written.losses:
                losses.replay(written.losses)
            more = [Raw(written.messages)] if written.messages else []
            writer.restore([*messages, *more], begin_turn, written.state)
        if resumable and end > lead and (end > begin_turn or written is None):
            writer.write_turns(begin_turn, end)
            begin_turn = end
            found = None if _renames(context) else writer.snapshot()
            if found is not None:
                done, state = found
                text = json_text.encode(done[count:])[1:-1]
                noted = losses.noted()[early:] if len(losses) > early else ()
                self._memory.learn(self, WrittenPrefix(context.profile, skipped, text, state, noted), model)
                writer.restore([*done[:count], Raw(text)] if text else done[:count], end, state)
        writer.write_turns(begin_turn, len(writer.turns))
        writer.end()
        if known is not None:
            if known.late:
                losses.replay(known.late)
            writer.close()
            return known.before, known.after
        late = len(losses)
        first = b"" if not count else json_text.encode(messages[:count])[1:-1]
        before, _, after = json_text.encode(writer.document(_PLACEHOLDER)).partition(b"\x00")
        if writer.fixed and not _renames(context) and is_untouched(request, self.envelope.request):
            noted = losses.noted()
            leading = request.turns[:lead]
            made = WrittenEnvelope(before, after, context.profile, leading, first, noted[begin:early], noted[late:])
            self.envelope.keep(model, made)
        writer.close()
        return before, after

    def _known_envelope(self, request: Request, context: Context) -> WrittenEnvelope | None:
        """The known envelope of the target, if the request begins with the same system turns and a turn of another role
        follows.
        """
        found = self.envelope.written.get(context.model)
        if found is None or found.profile is not context.profile:
            return None
        if request is not self.request and not is_untouched(request, self.envelope.request):
            return None
        turns, count = request.turns, len(found.lead)
        if turns[:count] != found.lead or count == len(turns) or turns[count].role in SYSTEM_ROLES:
            return None
        return found


def _renames(context: Context) -> bool:
    """Whether the answer needs a table of names to be translated back. Such tables depend on the whole request."""
    return bool(
        context.renamed or context.custom or context.stand_ins or context.absent or context.headers or context.offered
    )


def skimmer(shape: type[Struct], field: str) -> Any:
    """A decoder for requests of this shape that leaves the messages in `field` as bytes (`Fast.skim`)."""
    made = msgspec.defstruct(f"Skimmed{shape.__name__}", [(field, Raw)], bases=(shape,), kw_only=True)
    decode = msgspec.json.Decoder(made).decode

    def skim(body: bytes) -> tuple[Any, Raw]:
        head = decode(body)
        return head, getattr(head, field)

    return skim
