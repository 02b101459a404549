"""Owns what the tests of the loop need: small tools, models that answer by a script, and a loop around both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from dragoman.canon import Event, Fault, Losses, Part, Request, Response, Stop, Text, ToolCall, Usage
from dragoman.canon.fold_and_unfold import unfold
from dragoman.facts.windows_and_prices import WindowAndPrices
from dragoman.runtime.events import RunEvent
from dragoman.runtime.loop import Limits, Loop
from dragoman.runtime.model_interface import Report
from dragoman.runtime.policy import Policy
from dragoman.runtime.resumable_conversation import Session
from dragoman.runtime.tool_interface import Confirmation, Kind, Outcome, Tool, ToolEnvironment, ToolError
from dragoman.runtime.toolbox import Toolbox

USAGE = Usage(10, 5)


class Plain(Tool):
    """A tool that does what a function says."""

    description = "A tool of the tests."

    def __init__(
        self,
        name: str,
        does: Callable[[Mapping[str, Any]], Any] = lambda arguments: "18 degrees",
        kind: Kind = "read",
        schema: Mapping[str, Any] | None = None,
        asks: bool = False,
    ) -> None:
        self.name, self.kind = name, kind
        self.schema = schema or {"type": "object"}
        self._does, self._asks = does, asks
        self.runs: list[Mapping[str, Any]] = []
        self.at_once = self.most_at_once = 0

    async def confirm(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Confirmation | None:
        return Confirmation(f"run {self.name}", self.kind) if self._asks else None

    async def run(self, arguments: Mapping[str, Any], around: ToolEnvironment) -> Outcome:
        self.runs.append(arguments)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(0)
            found = self._does(arguments)
            if asyncio.iscoroutine(found):
                found = await found
        finally:
            self.at_once -= 1
        if isinstance(found, Outcome):
            return found
        if isinstance(found, ToolError):
            raise found
        return Outcome(str(found), str(found))


Said = Response | Fault | Sequence[Event]


def says(*parts: Part | str, stop: str = "", usage: Usage | None = USAGE) -> Response:
    """An answer of these parts."""
    found = tuple([Text(part) if isinstance(part, str) else part for part in parts])
    calls = any(isinstance(part, ToolCall) for part in found)
    return Response(found, Stop(stop or ("tool_calls" if calls else "stop")), "r1", "m", usage=usage)  # type: ignore[arg-type]


def call(id: str, name: str, arguments: str = "{}") -> ToolCall:
    return ToolCall(id, name, arguments)


class Scripted:
    """A model that says one thing after the other: which, it tells by how many answers the history holds."""

    hosted: frozenset[str] = frozenset()

    def __init__(self, *script: Said, name: str = "test/model", window: int = 0) -> None:
        self.name = name
        self._window = window
        self._script = script
        self.asked: list[Request] = []
        self.closed = 0

    async def ask(self, request: Request, lost: Report) -> AsyncGenerator[Event, None]:
        self.asked.append(request)
        said = self._answer(request)
        lost(Losses().all())
        try:
            if isinstance(said, Fault):
                yield said
                return
            for event in unfold(said) if isinstance(said, Response) else said:
                await asyncio.sleep(0)
                yield event
        finally:
            self.closed += 1

    def _answer(self, request: Request) -> Said:
        answers = sum([turn.role == "assistant" for turn in request.turns])
        return self._script[min(answers, len(self._script) - 1)]

    async def known(self) -> WindowAndPrices:
        return WindowAndPrices(self._window or None, input_price=1.0, output_price=2.0)

    async def check(self) -> None:
        """It can be asked."""

    async def close(self) -> None:
        """Nothing is open."""


class InTurn(Scripted):
    """One that goes by how often it was asked."""

    def _answer(self, request: Request) -> Said:
        return self._script[min(len(self.asked), len(self._script)) - 1]


def loop(
    models: Scripted | Mapping[str, Scripted], tools: Iterable[Tool] = (), *, policy: Policy | None = None, **more: Any
) -> Loop:
    """A loop around a model, or several by their names."""
    found = {models.name: models} if isinstance(models, Scripted) else models
    around = ToolEnvironment((Path("/nowhere"),))
    more.setdefault("limits", Limits(backoff=0.0))
    return Loop(found.__getitem__, Toolbox(tools), around, policy or Policy("all"), **more)


def begun(prompt: str = "Is Paris warmer than Rome?", model: str = "test/model") -> Session:
    session = Session(id="s1", model=model)
    session.say(prompt)
    return session


def ran(loop: Loop, session: Session, most: int | None = None) -> list[RunEvent]:
    """What happens, up to that many; then the run is left."""

    async def inner() -> list[RunEvent]:
        out: list[RunEvent] = []
        async with aclosing(loop.run(session)) as happenings:
            if most == 0:
                return out
            async for happening in happenings:
                out.append(happening)
                if most is not None and len(out) >= most:
                    break
        return out

    return asyncio.run(asyncio.wait_for(inner(), 30))


def roles(session: Session) -> list[str]:
    return [turn.role for turn in session.turns]
