"""What stands around a conversation: an agent sends the same tools, settings and system text with every turn.

An Envelope is all of a request but its messages, by the exact bytes before and behind them: what was read there, and
how targets wrote it. That is sound because JSON is: whatever array stands between the same bytes, the rest reads the
same.
"""

from __future__ import annotations

from msgspec import Raw, Struct

from ..canon.losses import Noted
from ..canon.parts import Path
from ..canon.request import Request
from ..canon.tools import Tool
from ..canon.turns import Turn
from ..codec.cache_budget import grew, largest, register
from ..codec.tool_names import safe
from ..facts.profile import Profile

Pair = tuple[str, str]
"""The dialects of a client and of an upstream. What is read may depend on who it is for."""

ENTRIES = 32
"""Envelopes of one pair of dialects."""
MAX_BYTES = 1024 * 1024
"""Longer ones are not kept."""
_MAX_WRITTEN = 8
_OBJECTS = 4000
"""About how many bytes the objects of an envelope take besides the texts."""


class WrittenEnvelope(Struct, frozen=True, gc=False, eq=False):
    """How one target wrote all but the turns."""

    before: bytes
    after: bytes
    profile: Profile
    lead: tuple[Turn, ...]
    """The turns of the system's that the request began with."""
    messages: bytes
    """Those that the turns of the system's became, with commas between."""
    early: tuple[Noted, ...]
    """What was lost before the turns were written, and"""
    late: tuple[Noted, ...]
    """behind them."""


class Envelope(Struct, frozen=True, gc=False, eq=False):
    """All of a request but its messages."""

    before: bytes
    after: bytes
    request: Request
    """With those turns only that are not among the messages."""
    source: str
    """In whose name the request is written on."""
    within: Path
    kept: tuple[tuple[Path, dict[str, Raw]], ...]
    early: tuple[Noted, ...]
    """What was lost before the messages were read, and"""
    late: tuple[Noted, ...]
    """behind them."""
    settled: bool
    """Every dialect takes its tools and its choice as they are, and tells the tools apart."""
    bare: bool
    """Nothing in its turns matters to those behind them."""
    written: dict[str, WrittenEnvelope]
    """By the name of the model."""

    def keep(self, model: str, written: WrittenEnvelope) -> None:
        """Remember how a target wrote it."""
        if len(self.written) >= _MAX_WRITTEN:
            self.written.clear()
        self.written[model] = written
        grew(len(written.before) + len(written.after) + len(written.messages) + _OBJECTS)


class EnvelopeMemory:
    """The envelopes of all pairs of dialects, the latest first."""

    def __init__(self) -> None:
        self._known: dict[Pair, list[Envelope]] = {}
        self._used: set[int] = set()  # those that were put or used since the memories aged
        register(self)

    def of(self, pair: Pair) -> list[Envelope]:
        """Those that are known for a pair."""
        return self._known.get(pair) or []

    def pairs(self, source: str) -> list[Pair]:
        """The pairs for which something is known of a dialect's requests."""
        return [pair for pair in tuple(self._known) if pair[0] == source]  # another thread may put meanwhile

    def use(self, pair: Pair, envelope: Envelope) -> None:
        """An envelope was found again."""
        if id(envelope) not in self._used:
            self._used.add(id(envelope))
            grew(_size(envelope))
        known = self.of(pair)
        if known and known[0] is not envelope:
            self._known[pair] = [envelope, *[other for other in known if other is not envelope]]

    def put(self, pair: Pair, envelope: Envelope) -> None:
        """Remember an envelope, if it is not too large."""
        if len(envelope.before) + len(envelope.after) > min(MAX_BYTES, largest() // 4):
            return
        self._known[pair] = [envelope, *self.of(pair)][:ENTRIES]
        self._used.add(id(envelope))
        grew(_size(envelope))

    def age(self) -> None:
        for pair, known in tuple(self._known.items()):
            self._known[pair] = [one for one in known if id(one) in self._used]
        self._used = set()

    def forget(self) -> None:
        self._known, self._used = {}, set()


def _size(envelope: Envelope) -> int:
    """About how many bytes it holds: the text, the same in canon, and how targets wrote it."""
    written = sum([len(one.before) + len(one.after) for one in envelope.written.values()])
    return 3 * (len(envelope.before) + len(envelope.after)) + _OBJECTS + written


def is_settled(request: Request) -> bool:
    """Whether every dialect takes the tools and the choice among them as they are, and tells them apart."""
    choice = request.choice
    if choice is not None and (choice.hosted or choice.extra is not None):
        return False
    tools = request.tools
    names = [tool.name for tool in tools if type(tool) is Tool and not tool.deferred and not tool.namespace]
    if choice is not None and choice.names and not set(names).issuperset(choice.names):
        return False
    return len(set(names)) == len(tools) and all(map(safe, names))


def is_untouched(request: Request, read: Request) -> bool:
    """Whether a request is still the one that was read, but for its turns."""
    return (
        request.tools is read.tools
        and request.settings is read.settings
        and request.choice is read.choice
        and request.extra is read.extra
        and request.stream is read.stream
        and request.model == read.model
    )
