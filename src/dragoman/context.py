"""Context: what is known and written down while one document crosses from one dialect to another.

Readers and writers get it as their last argument. It holds the loss log, the facts about the target's model, and the
tables by which an answer finds its way back (renamed tools, wrapped custom tools).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Raw, Struct, field

from .canon.history_requirements import AnswerPlaces
from .canon.loss_severity import field_severity
from .canon.losses import Losses, Severity
from .canon.parts import Extra, Path
from .canon.request import Request
from .canon.response import Stop
from .canon.tools import HostedTool, Tool
from .canon.turns import Turn
from .facts.host import Host
from .facts.profile import DEFAULT_PROFILE, Profile


class HalfCharacters(Protocol):
    """Knows the halves of characters in the frames of a stream."""

    def marked(self, data: bytes) -> bytes:
        """A frame that the decoder refused, as a decoder takes it."""
        ...


class Resolver(Protocol):
    """Knows the conversations that a server holds. The store itself is the caller's."""

    def __call__(self, name: str, /) -> Request | Sequence[Turn | Mapping[str, Any]] | None:
        """The conversation that an id stands for (such as a `previous_response_id`), its answer included: in canon, or
        as items of the source's dialect. None: it is not known."""
        ...


ANSWER = ""
"""Stands for the answer itself where tools are named: no tool has an empty name."""


class Context(Struct, eq=False):
    """One translation under way."""

    source: str
    target: str
    model: str = ""
    """The model name to write; "" means the one the source names."""
    profile: Profile = DEFAULT_PROFILE
    binary: Literal["native", "summarise"] = "native"
    answers: Request | None = None
    """On the way back: the request this answers, in canon."""
    created: int = 0
    """Unix time to write where the target wants one and the source has none. Passed in: there is no clock here."""
    losses: Losses = field(default_factory=Losses)
    kept: list[tuple[Path, dict[str, Raw]]] = []
    headers: dict[str, str] = {}
    """Headers without which the upstream refuses what was written."""
    renamed: dict[str, tuple[str, str]] = {}
    """Tool names as sent -> (namespace, name) as the client wrote them."""
    custom: set[str] = set()
    """Tool names as sent whose calls wrap free text."""
    absent: dict[str, Any] = {}
    """Shapes of arguments, by the tool's name as sent, and of the answer (""), in which null stands for an absent
    property (`codec/schema/strict_subset.py`)."""
    stand_ins: dict[str, str] = {}
    """Functions that stand for hosted tools, which the client does not know: name -> family."""
    spelled: dict[Path, str | int] = {}
    """Places whose last step is spelled otherwise in the source (such as snake_case keys)."""
    moved: dict[Path, Path] = {}
    """Places in what was read that stand elsewhere in the source (the address of a toolset's MCP server)."""
    marks: dict[Path, Path] = {}
    """Where cache marks stand in the source that are not members of the part which they are on."""
    ends: AnswerPlaces = AnswerPlaces()
    """On the way back: where the source says how its answers ended."""
    scored: bool = False
    """On the way back: both sides have a place for the log probabilities of tokens."""
    resolver: Resolver | None = None
    """Who knows what the source's server holds."""
    stands: bool = False
    """Functions may stand for hosted tools that the target does not have: the caller runs them."""
    facts: Any = None
    """What is known of its turns: a HistoryFacts (`codec/history_facts.py`)."""
    called: tuple[frozenset[str], ...] | None = None
    """The ids of all calls in the history, each once; None: some have none, or the same."""
    offered: tuple[Tool | HostedTool, ...] = ()
    """The tools that the request offers to the upstream, where its history holds searches for tools."""
    host: Host | None = None
    """Where the upstream differs from its dialect; None: nothing is known of it."""
    gated: bool = False
    """The request was written for another model of the same dialect: the facts about the model apply all the same."""
    unsealed: bool = False
    """The upstream has refused a seal of this history: the history is sent without seals."""
    suited: bool = False
    """Something was changed for the host's sake."""
    half_characters: HalfCharacters | None = None
    """In streams: who joins halves of characters (`codec/surrogates/streams.py`)."""
    within: Path = ()
    """Where the document that is being read stands in the source's envelope, if it has one."""

    def gates(self, dialect: str) -> bool:
        """Whether a writer of `dialect` holds a request to the facts about the model. What comes from that dialect for
        the model that it names is the client's own affair."""
        return self.gated or self.source != dialect

    def lose(self, code: str, at: Path = (), detail: str = "", severity: Severity | None = None) -> None:
        """Write down a loss. `at` is where it stands in the source."""
        if self.marks or self.spelled or self.moved or self.within:
            at = self._place_in_source(code, at)
        self.losses.add(code, at, detail, severity)

    def _place_in_source(self, code: str, at: Path) -> Path:
        if self.marks and code.startswith("cache."):
            at = self.marks.get(at, at)
        there = tuple([self.spelled.get(at[: i + 1], step) for i, step in enumerate(at)]) if self.spelled else at
        if self.moved:
            # The steps below a moved place are spelled as they are where the source was read.
            found = next((i for i in range(len(at), 0, -1) if at[:i] in self.moved), 0)
            there = self.moved[at[:found]] + there[found:] if found else there
        return self.within + there if self.within else there

    def stopped(self, stop: Stop, number: int = 0) -> Path:
        """Where the source says why its answer of that number ended: the answer itself, where it does not say."""
        return stop.at or self.ends.answer(number) + (self.ends.stop if stop.reason != "unknown" else ())

    def keep(self, at: Path, fields: dict[str, Raw]) -> Extra:
        """Keep fields only the source dialect knows. Unless the target is its kin they become losses at the end."""
        self.kept.append((at, fields))
        return {self.source: fields}

    def settle(self, noise: frozenset[str]) -> None:
        """The target does not understand the source's extras: each kept field that means something is a loss."""
        for at, fields in self.kept:
            for name, value in fields.items():
                self.lose_field(at, name, value, noise)
        self.kept.clear()

    def lose_field(self, at: Path, name: str, value: Raw, noise: frozenset[str]) -> None:
        """Write down that a field which only the source dialect knows is left out, unless it means nothing."""
        severity = field_severity(at, name, bytes(value), quiet=name in noise, answer=bool(self.ends.stop))
        if severity is not None:
            self.lose("field.dropped", (*at, name), severity=severity)
