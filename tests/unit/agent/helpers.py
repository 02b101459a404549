"""Owns the helpers of the tests of the loop: fake tools, models with scripted answers, and loops with both."""

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


class FakeTool(Tool):
    """A tool that runs a function and counts its runs."""

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
            outcome = self._does(arguments)
            if asyncio.iscoroutine(outcome):
                outcome = await outcome
        finally:
            self.at_once -= 1
        if isinstance(outcome, Outcome):
            return outcome
        if isinstance(outcome, ToolError):
            raise outcome
        return Outcome(str(outcome), str(outcome))


ScriptedAnswer = Response | Fault | Sequence[Event]


def answer_of(*parts: Part | str, stop: str = "", usage: Usage | None = USAGE) -> Response:
    """An answer with these parts."""
    content = tuple([Text(part) if isinstance(part, str) else part for part in parts])
    calls = any(isinstance(part, ToolCall) for part in content)
    return Response(content, Stop(stop or ("tool_calls" if calls else "stop")), "r1", "m", usage=usage)  # type: ignore[arg-type]


def call(id: str, name: str, arguments: str = "{}") -> ToolCall:
    return ToolCall(id, name, arguments)


class ScriptedModel:
    """A model with a script of answers. The number of answers in the history selects the next answer."""

    hosted: frozenset[str] = frozenset()

    def __init__(self, *script: ScriptedAnswer, name: str = "test/model", window: int = 0) -> None:
        self.name = name
        self._window = window
        self._script = script
        self.requests: list[Request] = []
        self.closed = 0

    async def ask(self, request: Request, lost: Report) -> AsyncGenerator[Event, None]:
        self.requests.append(request)
        answer = self._answer(request)
        lost(Losses().all())
        try:
            if isinstance(answer, Fault):
                yield answer
                return
            for event in unfold(answer) if isinstance(answer, Response) else answer:
                await asyncio.sleep(0)
                yield event
        finally:
            self.closed += 1

    def _answer(self, request: Request) -> ScriptedAnswer:
        answers = sum([turn.role == "assistant" for turn in request.turns])
        return self._script[min(answers, len(self._script) - 1)]

    async def known(self) -> WindowAndPrices:
        return WindowAndPrices(self._window or None, input_price=1.0, output_price=2.0)

    async def check(self) -> None:
        """The model is always available."""

    async def close(self) -> None:
        """There is nothing to close."""


class ModelByRequestNumber(ScriptedModel):
    """A scripted model in which the number of requests selects the next answer."""

    def _answer(self, request: Request) -> ScriptedAnswer:
        return self._script[min(len(self.requests), len(self._script)) - 1]


def loop(
    models: ScriptedModel | Mapping[str, ScriptedModel],
    tools: Iterable[Tool] = (),
    *,
    policy: Policy | None = None,
    **more: Any,
) -> Loop:
    """A loop with one model, or with several models by name."""
    by_name = {models.name: models} if isinstance(models, ScriptedModel) else models
    around = ToolEnvironment((Path("/nowhere"),))
    more.setdefault("limits", Limits(backoff=0.0))
    return Loop(by_name.__getitem__, Toolbox(tools), around, policy or Policy("all"), **more)


def new_session(prompt: str = "Is Paris warmer than Rome?", model: str = "test/model") -> Session:
    session = Session(id="s1", model=model)
    session.say(prompt)
    return session


def run_events(loop: Loop, session: Session, most: int | None = None) -> list[RunEvent]:
    """The events of a run. After `most` events the run is abandoned."""

    async def inner() -> list[RunEvent]:
        out: list[RunEvent] = []
        async with aclosing(loop.run(session)) as events:
            if most == 0:
                return out
            async for event in events:
                out.append(event)
                if most is not None and len(out) >= most:
                    break
        return out

    return asyncio.run(asyncio.wait_for(inner(), 30))


def roles(session: Session) -> list[str]:
    return [turn.role for turn in session.turns]
