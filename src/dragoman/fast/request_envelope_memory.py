"""Owns the memory of request envelopes: an agent sends the same tools, settings and system text with every turn.

An Envelope is all of a request except its messages. It is found by the exact bytes before and after the messages, and
holds the values that were read and the bytes that targets wrote. This is safe because of JSON's grammar: whichever
array is between the same bytes, the rest has the same meaning.
"""

from __future__ import annotations

from msgspec import Raw, Struct

from ..canon.losses import Noted
from ..canon.parts import Path
from ..canon.request import Request
from ..canon.tools import Tool
from ..canon.turns import Turn
from ..codec.cache_memory_budget import grew, largest, register
from ..codec.tool_names import is_legal_everywhere
from ..facts.profile import Profile

Pair = tuple[str, str]
"""The dialects of a client and of an upstream. A reader may depend on the target."""

ENTRIES = 32
"""The largest number of envelopes for one pair of dialects."""
MAX_BYTES = 1024 * 1024
"""A longer envelope is not kept."""
_MAX_WRITTEN = 8
"""The largest number of models whose written bytes an envelope keeps. All conversations of an agent share it."""
_OBJECTS = 4000
"""The approximate size of the objects of an envelope besides its texts."""


class WrittenEnvelope(Struct, frozen=True, gc=False, eq=False):
    """The bytes that one target wrote for everything but the turns."""

    before: bytes
    after: bytes
    profile: Profile
    lead: tuple[Turn, ...]
    """The system turns at the start of the request."""
    messages: bytes
    """The messages of these system turns, with commas between."""
    early: tuple[Noted, ...]
    """The losses before the turns were written."""
    late: tuple[Noted, ...]
    """The losses after the turns were written."""


class Envelope(Struct, frozen=True, gc=False, eq=False):
    """All of a request except its messages."""

    before: bytes
    after: bytes
    request: Request
    """The request with only the turns that are not among the messages."""
    source: str
    """The dialect in whose name the request is written."""
    within: Path
    kept: tuple[tuple[Path, dict[str, Raw]], ...]
    early: tuple[Noted, ...]
    """The losses before the messages were read."""
    late: tuple[Noted, ...]
    """The losses after the messages were read."""
    settled: bool
    """Every dialect accepts the tools and the tool choice unchanged, and all tool names differ."""
    bare: bool
    """Its turns do not affect later turns."""
    written: dict[str, WrittenEnvelope]
    """By model name."""

    def keep(self, model: str, written: WrittenEnvelope) -> None:
        """Remember the bytes that a target wrote."""
        if len(self.written) >= _MAX_WRITTEN:
            self.written.clear()
        self.written[model] = written
        grew(len(written.before) + len(written.after) + len(written.messages) + _OBJECTS)


class EnvelopeMemory:
    """The envelopes of all pairs of dialects, the most recently used first."""

    def __init__(self) -> None:
        self._known: dict[Pair, list[Envelope]] = {}
        self._used: set[int] = set()  # ids of envelopes that were stored or used since the last `age`
        register(self)

    def of(self, pair: Pair) -> list[Envelope]:
        """The known envelopes of a pair."""
        return self._known.get(pair) or []

    def pairs(self, source: str) -> list[Pair]:
        """The pairs with a known envelope for requests of this dialect."""
        return [pair for pair in tuple(self._known) if pair[0] == source]  # a copy: another thread may add a pair

    def use(self, pair: Pair, envelope: Envelope) -> None:
        """Take note that an envelope was used."""
        if id(envelope) not in self._used:
            self._used.add(id(envelope))
            grew(_size(envelope))
        known = self.of(pair)
        if known and known[0] is not envelope:
            self._known[pair] = [envelope, *[other for other in known if other is not envelope]]

    def put(self, pair: Pair, envelope: Envelope) -> None:
        """Store an envelope, unless it is too large."""
        if len(envelope.before) + len(envelope.after) > min(MAX_BYTES, largest() // 4):
            return
        self._known[pair] = [envelope, *self.of(pair)][:ENTRIES]
        self._used.add(id(envelope))
        grew(_size(envelope))

    def age(self) -> None:
        """Drop the envelopes that were not used since the last call."""
        for pair, known in tuple(self._known.items()):
            self._known[pair] = [one for one in known if id(one) in self._used]
        self._used = set()

    def forget(self) -> None:
        """Drop all envelopes."""
        self._known, self._used = {}, set()


def _size(envelope: Envelope) -> int:
    """The approximate size: the text, the canon values, and the bytes that targets wrote."""
    written = sum([len(one.before) + len(one.after) for one in envelope.written.values()])
    return 3 * (len(envelope.before) + len(envelope.after)) + _OBJECTS + written


def is_settled(request: Request) -> bool:
    """Whether every dialect accepts the tools and the tool choice unchanged, and all tool names differ."""
    choice = request.choice
    if choice is not None and (choice.hosted or choice.extra is not None):
        return False
    tools = request.tools
    names = [tool.name for tool in tools if type(tool) is Tool and not tool.deferred and not tool.namespace]
    if choice is not None and choice.names and not set(names).issuperset(choice.names):
        return False
    return len(set(names)) == len(tools) and all(map(is_legal_everywhere, names))


def is_untouched(request: Request, read: Request) -> bool:
    """Whether the request, apart from its turns, is unchanged since it was read."""
    return (
        request.tools is read.tools
        and request.settings is read.settings
        and request.choice is read.choice
        and request.extra is read.extra
        and request.stream is read.stream
        and request.model == read.model
    )
