"""Owns Context: the state of one translation.

Readers and writers get the Context as their last argument. It holds the log of losses, the facts about the target's
model and host, and the tables that map an answer back to the client's names (renamed tools, wrapped custom tools). It
does no I/O and has no clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Raw, Struct, field

from .canon.loss_codes import CODES
from .canon.losses import Losses, Noted, Severity
from .canon.parts import Extra, Path
from .canon.request import Request
from .canon.response import Stop
from .canon.stop_usage_and_logprobs_paths import AnswerPaths
from .canon.tools import HostedTool, Tool
from .canon.turns import Turn
from .facts.host import Host
from .facts.loss_severity_by_place_and_value import TranslationLosses, field_severity
from .facts.profile import DEFAULT_PROFILE, Profile


class HalfCharactersInterface(Protocol):
    """Joins the halves of characters that a stream splits between frames."""

    def marked(self, data: bytes) -> bytes:
        """The bytes of a frame that the JSON decoder refused, changed so that the decoder accepts them."""
        ...


class Resolver(Protocol):
    """Finds conversations that a server holds. The caller owns the store."""

    def __call__(self, name: str, /) -> Request | Sequence[Turn | Mapping[str, Any]] | None:
        """The conversation with this id (such as a `previous_response_id`), with its answer: in canon, or as items of
        the source's dialect. None: the id is unknown.
        """
        ...


ANSWER = ""
"""The key of the answer itself in tables keyed by tool name. No tool has an empty name."""


class Context(Struct, eq=False):
    """The state of one translation, from the first byte read to the last byte written."""

    source: str
    target: str
    model: str = ""
    """The model name to write. "": the name in the source document."""
    profile: Profile = DEFAULT_PROFILE
    binary: Literal["native", "summarise"] = "native"
    answers: Request | None = None
    """For an answer: the request that it answers, in canon."""
    created: int = 0
    """Unix time to write if the target requires a time and the source has none. The caller passes the time in; this
    layer has no clock.
    """
    losses: Losses = field(default_factory=TranslationLosses)
    kept: list[tuple[Path, dict[str, Raw]]] = []
    headers: dict[str, str] = {}
    """Headers that the upstream requires for the written request."""
    renamed: dict[str, tuple[str, str]] = {}
    """Tool name as sent -> (namespace, name) as the client wrote them."""
    custom: set[str] = set()
    """Tool names (as sent) whose calls wrap free text."""
    absent: dict[str, Any] = {}
    """Schemas in which null means an absent property (`schema/lossless_strict_form.py`): of arguments, by the tool's
    name as sent; of the answer, under "".
    """
    stand_ins: dict[str, str] = {}
    """Functions that replace hosted tools: name -> family. The client does not know these functions."""
    spelled: dict[Path, str | int] = {}
    """Paths whose last step is spelled differently in the source (such as snake_case keys)."""
    moved: dict[Path, Path] = {}
    """Paths of values that are at another path in the source (such as the address of a toolset's MCP server)."""
    marks: dict[Path, Path] = {}
    """Paths of cache marks that the source holds outside the part that they belong to."""
    answer_paths: AnswerPaths = AnswerPaths()
    """For an answer: where the source holds the stop reason and the usage."""
    scored: bool = False
    """For an answer: both dialects have fields for the log probabilities of tokens."""
    resolver: Resolver | None = None
    """Finds the conversations that the source's server holds."""
    stands: bool = False
    """Functions may replace hosted tools that the target lacks. The caller runs these functions."""
    facts: Any = None
    """The facts about the history: a HistoryFacts (`codec/history_facts.py`)."""
    called: tuple[frozenset[str], ...] | None = None
    """The ids of all calls in the history. None: some calls have no id, or two calls share one."""
    offered: tuple[Tool | HostedTool, ...] = ()
    """The tools that the request offers to the upstream. Set only if the history holds tool searches."""
    host: Host | None = None
    """Where the upstream differs from its dialect. None: no known difference."""
    gated: bool = False
    """The client wrote the request for another model of the same dialect, so the facts about the model apply."""
    unsealed: bool = False
    """The upstream has refused a seal of this history: the history is sent without seals."""
    adapted_to_host: bool = False
    """The writer changed the request because of the host."""
    half_characters: HalfCharactersInterface | None = None
    """For a stream: joins the halves of characters (`codec/surrogates/streams.py`)."""
    within: Path = ()
    """The path of the document inside the source's envelope, if the source has an envelope."""

    def gates(self, dialect: str) -> bool:
        """Whether a writer of `dialect` applies the facts about the model to the request. A request in that dialect for
        the model that the client itself named stays as the client wrote it.
        """
        return self.gated or self.source != dialect

    def lose(self, code: str, at: Path = (), detail: str = "", severity: Severity | None = None) -> None:
        """Record a loss. `at` is its path in the source."""
        if self.marks or self.spelled or self.moved or self.within:
            at = self._place_in_source(code, at)
        losses = self.losses
        # Like `Losses.add`, whose call would take a fifth of the time of a loss.
        if (code, at) not in losses:
            if code not in CODES:
                raise KeyError(code)
            losses[code, at] = Noted(code, at, detail, severity)

    def _place_in_source(self, code: str, at: Path) -> Path:
        # Only a loss about caching is about the mark; any other loss is about the part.
        if self.marks and code.startswith("cache."):
            at = self.marks.get(at, at)
        there = tuple([self.spelled.get(at[: i + 1], step) for i, step in enumerate(at)]) if self.spelled else at
        if self.moved:
            # Below a moved path, the steps are spelled as at the path where the value was read.
            # The longest path counts, because one moved value may lie inside another.
            found = next((i for i in range(len(at), 0, -1) if at[:i] in self.moved), 0)
            there = self.moved[at[:found]] + there[found:] if found else there
        return self.within + there if self.within else there

    def stopped(self, stop: Stop, number: int = 0) -> Path:
        """The path of the stop reason of the answer with this number; the path of the answer if the source gives no
        reason.
        """
        return stop.at or self.answer_paths.answer(number) + (
            self.answer_paths.stop if stop.reason != "unknown" else ()
        )

    def keep(self, at: Path, fields: dict[str, Raw]) -> Extra:
        """Keep fields that only the source dialect knows. `settle` turns them into losses unless the target understands
        them.
        """
        self.kept.append((at, fields))
        return {self.source: fields}

    def settle(self, minor_fields: frozenset[str]) -> None:
        """Turn the kept fields into losses, because the target does not understand the source's extras."""
        for at, fields in self.kept:
            for name, value in fields.items():
                self.lose_field(at, name, value, minor_fields)
        self.kept.clear()

    def lose_field(self, at: Path, name: str, value: Raw, minor_fields: frozenset[str]) -> None:
        """Record the loss of a field that only the source dialect knows, unless the field has no meaning."""
        # Only the Context of an answer has the place of a stop reason.
        severity = field_severity(
            at, name, bytes(value), quiet=name in minor_fields, answer=bool(self.answer_paths.stop)
        )
        if severity is not None:
            self.lose("field.dropped", (*at, name), severity=severity)
