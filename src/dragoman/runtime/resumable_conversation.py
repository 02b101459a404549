"""Owns the state of a conversation: its history, and the state of the current step. A session is pure data, so it can
be written to JSON at any moment and resumed by another process.

Steps: `idle` (the user's turn), `ask` (the next step is a request to the model), `calls` (the calls of the last turn
are to run). A result is kept as soon as it exists. A call that may change something is noted before its run. If such a
call has no result when the session is resumed, it is not run again.
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
from ..codec import json_text
from ..errors import ConfigError
from .history import INTERRUPTED, NOT_RUN, Turns, append_turns, open_calls, with_results
from .toolbox import Approval, PlannedCall

Step = Literal["idle", "ask", "calls"]


# Stored sessions keep the older names of two fields.
class Session(Struct, kw_only=True, rename={"partial_text": "said", "reported_losses": "told"}):
    """One conversation."""

    id: str
    version: int = 1
    model: str = ""
    """The current model, as `upstream/model`."""
    system: str = ""
    tools: tuple[Tool, ...] = ()
    """The tools of the last request to the model."""
    turns: Turns = ()
    step: Step = "idle"
    plans: dict[str, PlannedCall] = {}
    """Plans of calls that wait for an approval, by call id."""
    approvals: dict[str, Approval] = {}
    """A person's answers to waiting calls, by call id."""
    started: list[str] = []
    """Ids of running calls that may change something."""
    results: dict[str, ToolResult] = {}
    """The results of the current step, by call id."""
    partial_text: str = ""
    """The received text of an incomplete answer."""
    prompts: int = 0
    asked: int = 0
    """Requests to the model since the user's last prompt."""
    seconds: float = 0.0
    """Seconds since the user's last prompt. The time of tools is included."""
    spent: Usage = Usage()
    """Usage since the user's last prompt."""
    cost: float | None = 0.0
    """The cost since the user's last prompt, in US dollars. None: a price is unknown."""
    held: int = 0
    """Tokens of the history at the last request, as the upstream counted them. 0: unknown."""
    reported_losses: list[tuple[str, str, str]] = []
    """Losses that were reported before: code, path, detail."""

    @property
    def prompt_id(self) -> str:
        """The id of the current prompt in telemetry."""
        return f"{self.id}#turn-{self.prompts}"

    def say(self, parts: str | Iterable[Part]) -> None:
        """Add the user's words. A step in progress is closed first."""
        self.interrupt()
        words: tuple[Part, ...] = (Text(parts),) if isinstance(parts, str) else tuple(parts)
        self.turns = append_turns(self.turns, Turn("user", words))
        self.step, self.prompts = "ask", self.prompts + 1
        self.asked, self.seconds, self.spent, self.cost = 0, 0.0, Usage(), 0.0

    def interrupt(self) -> None:
        """Stop the step, and complete the history so that any upstream accepts it: every call gets a result, and
        received text stays."""
        if self.step == "calls":
            self.close_step(NOT_RUN)
        elif self.step == "ask" and self.partial_text.strip():
            self.turns = append_turns(self.turns, Turn("assistant", (Text(self.partial_text),)))
        self.step, self.partial_text = "idle", ""

    def close_step(self, otherwise: str = NOT_RUN) -> None:
        """Make a turn of the step's results. A call without a result gets an error result with the reason."""
        started = frozenset(self.started)
        # The result states that a begun call may have changed something.
        self.turns = with_results(
            self.turns, self.results, lambda call: INTERRUPTED if call.id in started else otherwise
        )
        self.plans, self.approvals, self.started, self.results = {}, {}, [], {}
        self.step = "ask"

    def open(self) -> tuple[ToolCall, ...]:
        """The calls of the step without a result."""
        return tuple([call for call in open_calls(self.turns) if call.id not in self.results])

    def request(self, settings: Settings | None = None) -> Request:
        """The conversation as a request to the model."""
        system = (Turn("system", (Text(self.system),)),) if self.system else ()
        request = Request((*system, *self.turns), tools=self.tools, settings=settings or Settings(), stream=True)
        return self.named(request)

    def named(self, request: Request) -> Request:
        """The request with the names of the conversation and of the prompt, for upstreams that take them."""
        names = {"session": json_text.raw(self.id), "prompt": json_text.raw(self.prompts)}
        return msgspec.structs.replace(request, extra={"runtime": names})

    def to_json(self) -> bytes:
        """The whole session as JSON."""
        return msgspec.json.encode(self)

    @classmethod
    def from_json(cls, text: bytes | str) -> Session:
        """Read a session from `to_json`. ConfigError: the text is not a session of this version."""
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
    """A ToolResult with tagged parts. The untagged parts of canon could not be read back from JSON."""

    call_id: str
    parts: tuple[Text | Reasoning | Media | ToolCall | Opaque, ...] = ()
    name: str = ""
    is_error: bool = False
    structured: bool = False
    custom: bool = False


class _HostedResult(Opaque, frozen=True, gc=False, tag="hostedresult"):
    """A HostedResult with tagged parts."""

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
    turns: tuple[_Turn, ...] = ()  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleVariableOverride]
    results: dict[str, _Result] = {}  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleVariableOverride]


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
