"""Owns the agent loop: ask the model, run its calls, send the results, until the model stops or a limit is reached.

The loop is a state machine over a Session. Each step changes the session, gives it to `save`, and continues from its
state. So a run can end at any point, even with its process, and another run can resume the session.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import aclosing, contextmanager

import msgspec
from msgspec import Struct

from ..canon.events import Fault
from ..canon.losses import Loss
from ..canon.parts import ToolCall
from ..canon.request import Request, Settings
from ..canon.response import Response, Usage
from ..canon.tools import Choice, Tool
from ..canon.turns import Turn
from ..errors import FaultError
from ..facts.windows_and_prices import WindowAndPrices
from ..transport.retry_decision import RETRIED, seconds_before_retry
from ..transport.window_price_and_answer_cost import answer_cost
from . import history_compression, loop_detection, telemetry_events
from .call_runner import AfterCall, BeforeCall, CallRunner, CallServices
from .cyclic_schema_fault import explain_deep_schema
from .diff_viewer_interface import DiffViewer
from .events import Compressed, Failed, Finished, Lost, Reason, Retrying, RunEvent
from .history import append_turns, has_words, is_sealed, kept_parts, text_of, with_paths
from .model_answer_to_run_events import (
    AnswerInProgress,
    OutOfTime,
    SideQuestion,
    cut_call_losses,
    hosted_tools,
    wait_until,
    whole_answer,
)
from .model_interface import Model, Models
from .policy import Policy
from .resumable_conversation import Session
from .tool_interface import NeedsHosted, ToolEnvironment
from .toolbox import Approve, Toolbox
from .usage_and_cost_sums import add_cost, add_usage, token_count


class Limits(Struct, frozen=True):
    """The limits of a run. 0: no limit."""

    # A prompt that needs more requests is more likely a loop than work.
    turns: int = 100
    """Requests to the model for one prompt of the user."""
    seconds: float = 0.0
    tokens: int = 0
    """Input and output tokens together."""
    window: int = 0
    """The model's window in tokens, where the model's own is unknown. At a share of the window the history is
    compressed. 0: it is compressed when the upstream refuses its length."""
    retries: int = 3
    backoff: float = 1.0
    # A person who waits longer would rather see the fault.
    patience: float = 60.0
    """The longest pause in seconds before a request is sent again."""
    same_calls: int = loop_detection.CALLS
    """Steps in a row with the same calls that count as a loop."""


def save_nothing(session: Session) -> None:
    """The default `save`: it does nothing."""


class Loop:
    """Runs sessions, one at a time."""

    def __init__(
        self,
        models: Models,
        toolbox: Toolbox,
        around: ToolEnvironment,
        policy: Policy,
        *,
        approve: Approve | None = None,
        defer: bool = False,
        settings: Settings | None = None,
        limits: Limits | None = None,
        save: Callable[[Session], None] = save_nothing,
        telemetry: telemetry_events.Telemetry | None = None,
        words: bool = False,
        before_call: BeforeCall | None = None,
        after_call: AfterCall | None = None,
        hosted: tuple[str, ...] = (),
        diffs: DiffViewer | None = None,
    ) -> None:
        """`approve` asks a person. With `defer` no person is asked: the run ends, and can continue once
        `session.approvals` has the answer. `words`: telemetry may hold the texts. `before_call` gets each call before
        the policy decides. `after_call` gets each result before the result is kept. `hosted` are families of tools that
        the upstream itself runs, such as web_search. `diffs` is an editor that shows edits before they are made."""
        self._hosted = hosted
        self._models, self._around = models, around
        self._telemetry, self._words = telemetry, words
        self._services = CallServices(toolbox, policy, approve, defer, save, self._note, before_call, after_call, diffs)
        self.settings = settings or Settings(thoughts=True)
        """The program may change the settings between two runs."""
        self._limits = limits or Limits()
        self._pausing = False

    def pause(self) -> None:
        """End the run after the current step."""
        self._pausing = True

    async def check(self, session: Session) -> None:
        """Find out whether the session's model can be asked. ConfigError where it cannot."""
        await self._models(session.model).check()

    async def known(self, session: Session) -> WindowAndPrices:
        """The window and the prices of the session's model."""
        return await self._models(session.model).known()

    def offered(self, session: Session) -> tuple[Tool, ...]:
        """The tools that are declared to the session's model."""
        return self._declared_tools(self._models(session.model))

    async def compact(self, session: Session) -> list[RunEvent]:
        """Put a summary in place of the earlier turns, if that makes the history shorter."""
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            return await self._compress_history(session, self._models(session.model), None)
        finally:
            self._note_run(session, "stop", clock() - began)

    async def run(self, session: Session) -> AsyncGenerator[RunEvent, None]:
        """Run a session until it is the user's turn. The last event is Finished, unless the consumer leaves earlier."""
        if session.step == "idle":
            return
        clock = asyncio.get_running_loop().time
        began = clock()
        reason: Reason = "cancelled"
        try:
            async with aclosing(self._steps(session)) as events:
                async for event in events:
                    if isinstance(event, Finished):
                        reason = event.finish_reason
                    yield event
        finally:
            self._note_run(session, reason, clock() - began)

    async def _steps(self, session: Session) -> AsyncGenerator[RunEvent, None]:
        self._pausing = False
        clock = asyncio.get_running_loop().time
        # An unknown model must not leave a session that cannot be resumed.
        self._models(session.model)  # ConfigError comes first: nothing is saved under an unknown model
        self._services.save(session)  # the user's words are saved before the first request
        while session.step != "idle":
            reason: Reason | None = "paused" if self._pausing else self._reached_limit(session)
            if reason is not None:
                yield self._end_run(session, reason)
                return
            began = clock()
            deadline = began + self._limits.seconds - session.seconds if self._limits.seconds else None
            step = self._calls(session, deadline) if session.step == "calls" else self._ask(session, deadline)
            try:
                async with aclosing(step):
                    async for event in step:
                        yield event
                        if isinstance(event, Finished):
                            return
            except OutOfTime:
                reason = "seconds"
            finally:
                session.seconds += clock() - began
                # Also after a cancellation, because the session must contain all finished work.
                self._services.save(session)
            if reason is not None:
                yield self._end_run(session, reason)
                return

    def _reached_limit(self, session: Session) -> Reason | None:
        """The limit that is reached, if one is."""
        limits, spent = self._limits, session.spent
        if limits.seconds and session.seconds >= limits.seconds:
            return "seconds"
        # Input counts again with each request, as the upstream bills it.
        if limits.tokens and (spent.input or 0) + (spent.output or 0) >= limits.tokens:
            return "tokens"
        return "turns" if limits.turns and session.step == "ask" and session.asked >= limits.turns else None

    def _end_run(self, session: Session, reason: Reason, detail: str = "") -> Finished:
        """End the run. Unless the run can be resumed, close the history: every call gets a result."""
        # A history with an open call cannot be continued with a new prompt.
        if reason not in ("paused", "approval", "fault"):
            session.interrupt()
        self._services.save(session)
        return Finished(reason, session.spent, detail, session.cost)

    async def _calls(self, session: Session, deadline: float | None) -> AsyncGenerator[RunEvent, None]:
        lost: list[Loss] = []
        spent: list[tuple[Usage, float | None]] = []

        def spend(usage: Usage, cost: float | None = None) -> None:
            spent.append((usage, cost))

        around = msgspec.structs.replace(self._around, spend=spend)
        # A caller may answer side questions itself.
        if around.ask is None:
            model = self._models(session.model)
            known = await model.known()

            async def answer(request: Request) -> Response:
                return await self._whole(session, model, request, lost, None)

            aside = SideQuestion(answer, lambda usage: spend(usage, answer_cost(usage, known)))
            around = msgspec.structs.replace(around, ask=aside, answer=answer, hosted=model.hosted)
        calling = CallRunner(session, self._services, around, deadline)
        try:
            async with aclosing(calling.run()) as events:
                async for event in events:
                    yield event
        finally:
            # The time of waiting for a person does not count.
            session.seconds -= calling.spared
            for usage, cost in spent:
                session.spent, session.cost = add_usage(session.spent, usage), add_cost(session.cost, cost)
        for losses in _new_losses(session, lost):
            yield losses
        if calling.waiting:
            yield self._end_run(session, "approval")

    async def _ask(self, session: Session, deadline: float | None) -> AsyncGenerator[RunEvent, None]:
        model = self._models(session.model)
        window = (await model.known()).context or self._limits.window
        # The upstream has counted the last request only. Newer results are estimated.
        size = max(session.held, history_compression.estimate_tokens(session.turns))
        if window and size > history_compression.THRESHOLD * window:
            for event in await self._compress_history(session, model, deadline):
                yield event
        attempt, shortened = 0, False
        while True:
            answer = AnswerInProgress()
            async with aclosing(self._receive_answer(session, model, answer, deadline)) as events:
                async for event in events:
                    yield event
            fault = answer.fault
            if fault is None:
                break
            # Once only: a second compression would not help, and would cost again.
            if fault.kind == "context_too_long" and not shortened:
                shortened, before = True, session.turns
                for event in await self._compress_history(session, model, deadline):
                    yield event
                if session.turns is not before:
                    continue
            pause = self._seconds_before_retry(fault, attempt)
            if pause is None or answer.text:  # no retry, because shown text cannot be taken back
                fault = explain_deep_schema(fault, self._services.toolbox)
                yield Failed(fault)
                yield self._end_run(session, "fault", fault.message)
                return
            yield Retrying(fault, pause)
            await wait_until(asyncio.sleep(pause), deadline)
            attempt += 1
        cost = answer_cost(answer.response.usage, await model.known()) if answer.response is not None else None
        for event in self._add_answer(session, answer, cost):
            yield event

    def _seconds_before_retry(self, fault: Fault, attempt: int) -> float | None:
        """Seconds before the request is sent again. None: it is not sent again."""
        if fault.kind not in RETRIED or attempt >= self._limits.retries:
            return None
        seconds = seconds_before_retry(fault, self._limits.backoff, attempt)
        return seconds if seconds <= self._limits.patience else None

    async def _receive_answer(
        self, session: Session, model: Model, answer: AnswerInProgress, deadline: float | None
    ) -> AsyncGenerator[RunEvent, None]:
        """Send one request, and yield the events of the answer."""
        # Servers may have changed their tools since the last request.
        session.tools = self._declared_tools(model)
        request, lost = session.request(self.settings), list[Loss]()
        if self._hosted:
            request = msgspec.structs.replace(request, tools=(*request.tools, *hosted_tools(self._hosted)))
        with self._telemetry_of_request(session, model, request) as noted:
            try:
                async with aclosing(answer.events(model.ask(request, lost.extend), deadline)) as events:
                    async for event in events:
                        yield event
            finally:
                session.partial_text = answer.text
            noted.append(answer.fault or answer.response)
        for losses in _new_losses(session, lost):
            yield losses

    async def _whole(
        self, session: Session, model: Model, request: Request, lost: list[Loss], deadline: float | None
    ) -> Response:
        """The whole answer to a request, without events. FaultError: there is no answer."""
        with self._telemetry_of_request(session, model, request) as noted:
            try:
                response = await whole_answer(model, session.named(request), lost, deadline)
            except FaultError as error:
                noted.append(error.fault)
                raise
            noted.append(response)
        return response

    @contextmanager
    def _telemetry_of_request(
        self, session: Session, model: Model, request: Request
    ) -> Generator[list[Response | Fault | None], None, None]:
        """Telemetry for a request and its outcome. The body puts the outcome into the list; an empty list means that
        the run left before the end."""
        clock, prompt = asyncio.get_running_loop().time, session.prompt_id
        text = text_of(request.turns[-1].parts) if self._words else None
        self._note(telemetry_events.ApiRequestEvent(prompt_id=prompt, model=model.name, request_text=text))
        began, came = clock(), list[Response | Fault | None]()
        try:
            yield came
        finally:
            seconds, found = clock() - began, came[0] if came else None
            if isinstance(found, Fault):
                self._note(telemetry_events.api_error(found, model.name, seconds, prompt))
            elif found is not None:
                self._note(telemetry_events.api_response(found, model.name, seconds, prompt, words=self._words))
            else:
                self._note(telemetry_events.stopped_answer(model.name, seconds, prompt))

    def _declared_tools(self, model: Model) -> tuple[Tool, ...]:
        """The tools for a model with their places. Losses use the places as paths."""
        offered = [tool for tool in self._services.toolbox.declarations() if self._is_offered(tool.name, model)]
        return tuple(
            [msgspec.structs.replace(tool, at=("tools", n), schema_at=("schema",)) for n, tool in enumerate(offered)]
        )

    def _is_offered(self, name: str, model: Model) -> bool:
        """Whether a tool can work with this model, and the upstream does not run it itself."""
        tool = self._services.toolbox[name]
        family = tool.needs_hosted if isinstance(tool, NeedsHosted) else ""
        return not family or (family in model.hosted and family not in self._hosted)

    def _add_answer(self, session: Session, answer: AnswerInProgress, cost: float | None) -> list[RunEvent]:
        """Add the answer to the session, and decide the next step."""
        session.asked += 1
        session.cost = add_cost(session.cost, cost)
        if answer.chanting:
            return [self._end_run(session, "loop", "the model repeats itself")]
        response = answer.response
        assert response is not None
        session.partial_text = ""
        session.spent = add_usage(session.spent, response.usage)
        session.held = token_count(response.usage) if response.usage is not None else 0
        whole, cut = answer.whole()
        parts = kept_parts(whole, is_sealed)
        has_content = has_words(parts)
        if has_content:
            # An empty turn is refused by most upstreams.
            session.turns = append_turns(session.turns, Turn("assistant", parts))
        session.step = "calls" if any(isinstance(part, ToolCall) for part in parts) else "idle"
        events: list[RunEvent] = [*_new_losses(session, list(cut_call_losses(cut)))]
        # Anthropic pauses a long turn with hosted tools (`pause_turn`); the
        # content goes back as it is (docs "Handling stop reasons", 2026-10).
        if response.stop.reason == "pause" and session.step == "idle" and has_content:
            session.step = "ask"  # the next request continues the answer
        # A cut call must not run, so the run ends.
        elif session.step == "idle" or cut:
            events.append(self._end_run(session, _end_reason(response, has_content), response.stop.detail))
        elif self._limits.same_calls:
            again = loop_detection.same_calls(session.turns, self._limits.same_calls)
            if again is not None:
                events.append(self._end_run(session, "loop", f"{again.name} is called in the same way again and again"))
        self._services.save(session)
        return events

    async def _compress_history(self, session: Session, model: Model, deadline: float | None) -> list[RunEvent]:
        """Replace the earlier turns by a summary, if the history becomes shorter."""
        before = history_compression.estimate_tokens(session.turns)
        tools = self._declared_tools(model)
        # The tools stay declared, because the history contains their names, but no tool may be called.
        choice = Choice("none") if tools else None
        lost: list[Loss] = []
        for share in history_compression.KEPT:
            parted = history_compression.cut_history(session.turns, share)
            # A summary of a short beginning would save less than it costs.
            if parted is None or history_compression.estimate_tokens(parted.early) < before / 8:
                return []
            request = Request(
                history_compression.summary_request(parted.early), tools=tools, choice=choice, stream=True
            )
            try:
                response = await self._whole(session, model, request, lost, deadline)
                break
            except FaultError as error:
                if error.fault.kind != "context_too_long":
                    return []  # continue with the whole history; if it is too long, the upstream answers with a fault
        else:
            return []
        summary = text_of(response.parts)
        session.spent = add_usage(session.spent, response.usage)
        session.cost = add_cost(session.cost, answer_cost(response.usage, await model.known()))
        events: list[RunEvent] = [*_new_losses(session, lost)]
        turns = with_paths(history_compression.compressed_history(summary, parted))
        after = history_compression.estimate_tokens(turns)
        # A summary can be longer than what it replaces.
        if summary.strip() and after < before:
            # The paths of losses have changed.
            session.turns, session.held, session.reported_losses = turns, 0, []
            events.append(Compressed(before, after))
        return events

    def _note_run(self, session: Session, reason: Reason, seconds: float) -> None:
        self._note(
            telemetry_events.AgentRunEvent(
                prompt_id=session.prompt_id,
                model=session.model,
                duration_ms=round(seconds * 1000),
                finish_reason=reason,
                input_token_count=session.spent.input or 0,
                output_token_count=session.spent.output or 0,
                cost=session.cost,
            )
        )

    def _note(self, event: telemetry_events.Noted) -> None:
        if self._telemetry is not None:
            self._telemetry.note(event)


def _new_losses(session: Session, losses: list[Loss]) -> Iterator[Lost]:
    """Losses that were not reported yet in this conversation. Every request sends the history again, with the same
    losses."""
    new: list[Loss] = []
    for loss in losses:
        key = (loss.code, loss.path, loss.detail)
        if key not in session.reported_losses:
            session.reported_losses.append(key)
            new.append(loss)
    if new:
        yield Lost(tuple(new))


def _end_reason(response: Response, has_content: bool) -> Reason:
    reason = response.stop.reason
    if reason in ("length", "context_full"):
        return "length"
    if reason == "refusal" or reason == "content_filter":
        return reason
    if reason in ("error", "bad_tool_call"):
        return "fault"
    return "stop" if has_content else "empty"
