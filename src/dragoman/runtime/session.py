"""A conversation under way: its history, and where in a step it stands. It is all data, so it can be written to JSON at
any moment and taken up again by another process.

Steps: `idle` (it is the user's turn), `ask` (the model is to be asked), `calls` (the calls of the last turn are to be
run). A result is written down as soon as it is there. A call that may change something is noted before it is run: if it
has no result when the session is taken up again, it is not run a second time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ..canon.parts import (
    Citation,
    HostedCall,
    HostedResult,
    Media,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from ..canon.request import Request, Settings
from ..canon.response import Usage
from ..canon.tools import Tool
from ..canon.turns import Role, Turn
from ..errors import ConfigError
from .history import INTERRUPTED, NOT_RUN, Turns, answered, appended, open_calls
from .toolbox import Approval, Plan

Step = Literal["idle", "ask", "calls"]


class Session(Struct, kw_only=True):
    """One conversation."""

    id: str
    version: int = 1
    model: str = ""
    """Who answers now, as `upstream/model`."""
    system: str = ""
    tools: tuple[Tool, ...] = ()
    """As they were declared when the model was last asked."""
    turns: Turns = ()
    step: Step = "idle"
    plans: dict[str, Plan] = {}
    """Calls that were judged and wait, by id."""
    approvals: dict[str, Approval] = {}
    """What a person said to calls that waited, by id."""
    started: list[str] = []
    """Calls under way that may change something."""
    results: dict[str, ToolResult] = {}
    """Those of the step under way."""
    said: str = ""
    """Of an answer that was broken off, what had come."""
    prompts: int = 0
    asked: int = 0
    """How often the model was asked since the user spoke,"""
    seconds: float = 0.0
    """how long that took, tools included,"""
    spent: Usage = Usage()
    """and what it cost."""
    held: int = 0
    """Tokens that the history held when the model was last asked, as its upstream counted; 0: unknown."""
    told: list[tuple[str, str, str]] = []
    """Losses that were told: code, path, detail."""

    @property
    def prompt_id(self) -> str:
        """The user's words under way, as telemetry names them."""
        return f"{self.id}########{self.prompts}"

    def say(self, parts: str | Iterable[Part]) -> None:
        """The user speaks. What was under way is brought to an end first."""
        self.interrupt()
        words: tuple[Part, ...] = (Text(parts),) if isinstance(parts, str) else tuple(parts)
        self.turns = appended(self.turns, Turn("user", words))
        self.step, self.prompts = "ask", self.prompts + 1
        self.asked, self.seconds, self.spent = 0, 0.0, Usage()

    def interrupt(self) -> None:
        """Stop here, and leave a history that any upstream takes: every call has a result, and what was said stays."""
        if self.step == "calls":
            self.close_step(NOT_RUN)
        elif self.step == "ask" and self.said.strip():
            self.turns = appended(self.turns, Turn("assistant", (Text(self.said),)))
        self.step, self.said = "idle", ""

    def close_step(self, otherwise: str = NOT_RUN) -> None:
        """The results of the step become a turn; calls without one get one that says why."""
        started = frozenset(self.started)
        self.turns = answered(self.turns, self.results, lambda call: INTERRUPTED if call.id in started else otherwise)
        self.plans, self.approvals, self.started, self.results = {}, {}, [], {}
        self.step = "ask"

    def open(self) -> tuple[ToolCall, ...]:
        """The calls of the step that have no result yet."""
        return tuple([call for call in open_calls(self.turns) if call.id not in self.results])

    def request(self, settings: Settings | None = None) -> Request:
        """The conversation as a question to a model."""
        system = (Turn("system", (Text(self.system),)),) if self.system else ()
        return Request((*system, *self.turns), tools=self.tools, settings=settings or Settings(), stream=True)

    def to_json(self) -> bytes:
        """All of it."""
        return msgspec.json.encode(self)

    @classmethod
    def from_json(cls, text: bytes | str) -> Session:
        """What `to_json` wrote."""
        try:
            saved = _read(text)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
            raise ConfigError("session", "", problem=f"it cannot be read: {error}") from None
        if saved.version != 1:
            raise ConfigError(
                "session", saved.id, problem=f"another version wrote it ({saved.version}; this one reads 1)"
            )
        fields: dict[str, Any] = {name: getattr(saved, name) for name in cls.__struct_fields__}
        fields["turns"] = tuple([_turn(turn) for turn in saved.turns])
        fields["results"] = {call: _result(result) for call, result in saved.results.items()}
        return cls(**fields)


class _Result(Part, frozen=True, gc=False, tag="toolresult"):
    """A ToolResult whose parts say what they are: to canon they are any parts, which cannot be read."""

    call_id: str
    parts: tuple[Text | Reasoning | Media | ToolCall | Opaque, ...] = ()
    name: str = ""
    is_error: bool = False
    structured: bool = False
    custom: bool = False


class _HostedResult(Opaque, frozen=True, gc=False, tag="hostedresult"):
    """A HostedResult whose parts say what they are."""

    family: str = ""
    call_id: str = ""
    sources: tuple[Citation, ...] = ()
    parts: tuple[Text | Media, ...] = ()
    is_error: bool = False
    tools: tuple[str, ...] = ()


class _Turn(Struct, frozen=True):
    role: Role
    parts: tuple[Text | Reasoning | Media | ToolCall | _Result | Opaque | HostedCall | _HostedResult, ...]
    name: str = ""
    extra: dict[str, dict[str, msgspec.Raw]] | None = None
    at: tuple[str | int, ...] = ()


class _Saved(Session, kw_only=True):
    turns: tuple[_Turn, ...] = ()  # type: ignore[assignment]
    results: dict[str, _Result] = {}  # type: ignore[assignment]


_read = msgspec.json.Decoder(_Saved).decode


def _turn(turn: _Turn) -> Turn:
    parts: list[Part] = [_read_part(part) for part in turn.parts]
    return Turn(turn.role, tuple(parts), turn.name, turn.extra, turn.at)


def _read_part(part: Part) -> Part:
    if isinstance(part, _Result):
        return _result(part)
    if isinstance(part, _HostedResult):
        return HostedResult(**{name: getattr(part, name) for name in HostedResult.__struct_fields__})
    return part


def _result(result: _Result) -> ToolResult:
    return ToolResult(**{name: getattr(result, name) for name in ToolResult.__struct_fields__})
