"""Owns the calls of one step: it asks the policy and the user, and runs the calls. Reading tools run in parallel,
others one by one."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing

import msgspec
from msgspec import Struct

from ..canon.parts import ToolCall, ToolResult
from . import telemetry_events
from .diff_viewer_interface import DiffViewer, approval_of
from .events import RunEvent, ToolCallProgress, ToolCallRequest, ToolCallResponse, Waiting
from .history import INTERRUPTED, failed_result
from .model_answer_to_run_events import wait_until
from .policy import Policy
from .resumable_conversation import Session
from .tool_interface import Confirmation, Failure, Outcome, ToolEnvironment
from .toolbox import Approval, Approve, Decision, FinishedCall, PlannedCall, Toolbox, decision_of

HARMLESS = frozenset({"read", "fetch"})
"""Kinds of tools that only read. They may run in parallel, and may run again after an interruption."""

BeforeCall = Callable[[ToolCall], str | Awaitable[str | None] | None]
"""Gets each call before the policy decides. A returned text refuses the call, and the model gets the text as the
reason."""
AfterCall = Callable[[ToolCall, ToolResult], ToolResult | Awaitable[ToolResult | None] | None]
"""Gets the result of each call that BeforeCall did not refuse, before the result is kept. If the function returns a
result, that result is kept instead."""

_Item = ToolCallProgress | asyncio.Task[FinishedCall]


class CallServices(Struct, frozen=True):
    """The services that every step uses."""

    toolbox: Toolbox
    policy: Policy
    approve: Approve | None
    defer: bool
    """No person can be asked now, so calls that need an approval wait in the session."""
    save: Callable[[Session], None]
    note: Callable[[telemetry_events.Noted], None]
    before: BeforeCall | None = None
    after: AfterCall | None = None
    diffs: DiffViewer | None = None
    """An editor that shows edits before they are made."""


class CallRunner:
    """One step of a session."""

    def __init__(
        self, session: Session, services: CallServices, around: ToolEnvironment, deadline: float | None
    ) -> None:
        self._session, self._services, self._around, self._deadline = session, services, around, deadline
        self.waiting = False
        """True if a call waits for a person's approval."""
        self.spared = 0.0
        """Seconds in which the run waited for a person. They do not count against the time limit."""

    async def run(self) -> AsyncGenerator[RunEvent, None]:
        """Run the calls without a result. Close the step when every call has a result."""
        session = self._session
        calls = session.open()
        for call in calls:
            yield ToolCallRequest(call.id, call.name, _arguments(call), prompt_id=session.prompt_id)
        # Calls that were running when the process ended may have changed something, so they are not run again.
        for call in calls:
            if call.id in session.started:
                yield self._keep_result(await self._after_hook(_interrupted_call(call)))
        for group in self._groups([call for call in calls if call.id not in session.results]):
            ready: list[tuple[PlannedCall, Approval | None]] = []
            for call in group:
                planned = await self._plan_call(call)
                if isinstance(planned, FinishedCall):
                    yield self._keep_result(planned)
                elif isinstance(planned, Waiting):
                    self.waiting = True
                    yield planned
                else:
                    ready.append(planned)
            async with aclosing(self._run(ready)) as events:
                async for event in events:
                    yield event
            # The step stays open. The run continues when the person has answered.
            if self.waiting:
                return
        session.close_step()

    def _groups(self, calls: list[ToolCall]) -> Iterator[list[ToolCall]]:
        """The calls in groups. The calls of one group run at the same time."""
        group: list[ToolCall] = []
        for call in calls:
            # Such a call runs alone and in its order, because later calls may depend on its effect.
            if not self._may_run_at_once(call):
                if group:
                    yield group
                yield [call]
                group = []
            else:
                group.append(call)
        if group:
            yield group

    def _may_run_at_once(self, call: ToolCall) -> bool:
        toolbox = self._services.toolbox
        # A call of an unknown tool fails at once, so it is harmless.
        return call.name not in toolbox or toolbox[call.name].kind in HARMLESS

    async def _plan_call(self, call: ToolCall) -> tuple[PlannedCall, Approval | None] | FinishedCall | Waiting:
        """A call with its plan and its approval, or the result of a call that is not run."""
        session, services = self._session, self._services
        plan = session.plans.get(call.id)
        if plan is None:
            refusal = await self._refusal_of_hook(call)
            if refusal:
                return services.toolbox.refused(call, refusal)
            found = await wait_until(services.toolbox.plan(call, self._around, services.policy), self._deadline)
            if isinstance(found, FinishedCall):
                return await self._after_hook(found)
            plan = found
        approval = session.approvals.get(call.id)
        if plan.verdict.word == "ask" and plan.asked is not None and approval is None:
            # An editor shows edits only, so other calls need `approve`.
            if services.approve is not None or (services.diffs is not None and plan.asked.diff is not None):
                approval = await self._ask_person(plan.asked)
            elif services.defer:
                # The plan is kept, so that the person approves exactly what will run.
                session.plans[call.id] = plan
                return Waiting(call.id, call.name, plan.asked)
        if approval is not None and plan.asked is not None:
            services.policy.remember(call.name, plan.asked, approval.answer)
        return plan, approval

    async def _refusal_of_hook(self, call: ToolCall) -> str:
        """The reason for which the program's own hook refuses a call; "" if the hook allows the call."""
        if self._services.before is None:
            return ""
        found = self._services.before(call)
        if inspect.isawaitable(found):
            found = await wait_until(found, self._deadline)
        return found or ""

    async def _ask_person(self, confirmation: Confirmation) -> Approval:
        clock = asyncio.get_running_loop().time
        approve, diffs = self._services.approve, self._services.diffs
        began = clock()
        try:
            if diffs is not None and confirmation.diff is not None:
                return await approval_of(diffs, confirmation, approve)
            assert approve is not None
            return await approve(confirmation)
        finally:
            took = clock() - began
            self.spared += took
            # The deadline moves, because the time of waiting for a person does not count.
            if self._deadline is not None:
                self._deadline += took

    async def _run(self, ready: list[tuple[PlannedCall, Approval | None]]) -> AsyncGenerator[RunEvent, None]:
        session, services = self._session, self._services
        queue: asyncio.Queue[_Item] = asyncio.Queue()
        # Saved before the run, so that the session names the calls that had begun before a crash.
        session.started += [plan.call.id for plan, _ in ready if not self._may_run_at_once(plan.call)]
        services.save(session)
        clock = asyncio.get_running_loop().time
        began = clock()
        tasks = [asyncio.create_task(self._run_one(plan, approval, queue)) for plan, approval in ready]
        for task in tasks:
            task.add_done_callback(queue.put_nowait)
        left = len(tasks)
        try:
            while left:
                item = await wait_until(queue.get(), self._deadline)
                if isinstance(item, ToolCallProgress):
                    yield item
                else:
                    left -= 1
                    yield self._keep_result(item.result())
        finally:
            for task in tasks:
                task.cancel()
            # Tools clean up when they are cancelled. The run waits for that.
            await asyncio.gather(*tasks, return_exceptions=True)
            for (plan, approval), task in zip(ready, tasks, strict=True):
                if task.cancelled():
                    self._note(_interrupted_call(plan.call, decision_of(plan, approval), clock() - began))

    async def _run_one(self, plan: PlannedCall, approval: Approval | None, queue: asyncio.Queue[_Item]) -> FinishedCall:
        def report(text: str) -> None:
            queue.put_nowait(ToolCallProgress(plan.call.id, text))

        around = msgspec.structs.replace(self._around, report=report)
        return await self._after_hook(await self._services.toolbox.finish(plan, around, approval))

    async def _after_hook(self, done: FinishedCall) -> FinishedCall:
        """The result, or its replacement from the program's own hook."""
        if self._services.after is None:
            return done
        found = self._services.after(done.call, done.result)
        if inspect.isawaitable(found):
            found = await wait_until(found, self._deadline)
        return done if found is None else msgspec.structs.replace(done, result=found)

    def _keep_result(self, done: FinishedCall) -> ToolCallResponse:
        """Keep a result in the session and save the session. Gives the event for the result."""
        session, services, call = self._session, self._services, done.call
        session.results[call.id] = done.result
        session.plans.pop(call.id, None)
        session.started = [other for other in session.started if other != call.id]
        services.save(session)
        self._note(done)
        failure = done.outcome.failure
        return ToolCallResponse(
            call.id,
            call.name,
            (done.result,),
            done.outcome.display,
            failure.message if failure is not None else None,
            failure.kind if failure is not None else None,
            done.decision,
            round(done.seconds * 1000),
        )

    def _note(self, done: FinishedCall) -> None:
        toolbox, name = self._services.toolbox, done.call.name
        mcp = name in toolbox and bool(getattr(toolbox[name], "server", ""))
        self._services.note(telemetry_events.tool_call(done, self._session.prompt_id, mcp=mcp))


def _arguments(call: ToolCall) -> object:
    try:
        return call.input
    except (ValueError, RecursionError):
        return call.arguments


def _interrupted_call(call: ToolCall, decision: Decision | None = None, seconds: float = 0.0) -> FinishedCall:
    """The result of a call that was running when the session ended. The call may have changed something."""
    outcome = Outcome(INTERRUPTED, INTERRUPTED, Failure(INTERRUPTED, "interrupted"))
    return FinishedCall(call, failed_result(call, INTERRUPTED), outcome, decision, seconds)
