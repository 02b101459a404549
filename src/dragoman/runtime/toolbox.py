"""Owns the tools of a session: unique names, canon declarations, and the steps of a call: validate, confirm, run,
result.

Every error of a call or of its tool becomes a result with the error flag. Only a cancellation does not.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, TypeVar, cast

import jsonschema_rs
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..canon import tools as canon
from ..canon.parts import Media, Part, Text, ToolCall, ToolResult
from ..codec.media import note
from ..errors import ConfigError, DragomanError
from .policy import PersonAnswer, Policy, Verdict
from .text_file_and_diff import without_invalid_bytes
from .tool_interface import Confirmation, Failure, Outcome, Tool, ToolEnvironment, ToolError, ToolWithProcesses

P = TypeVar("P", bound=Part)

SUCCEEDED = "Tool execution succeeded."

Decision = Literal["auto_accept", "accept", "modify", "reject"]
"""The decision about a call: by the policy, by a person, by a person who changed the edit, or refused."""


class Approval(Struct, frozen=True, rename={"answer": "said"}):
    """A person's answer. `wanted` is the new text of an edit, if the person changed it."""

    answer: PersonAnswer
    wanted: str | None = None
    why: str = ""
    """The reason for a refusal, for the model."""


Approve = Callable[[Confirmation], Awaitable[Approval]]


class PlannedCall(Struct, frozen=True):
    """A valid call with the policy's verdict, before its run. A plan can be written to JSON, so a session can wait."""

    call: ToolCall
    arguments: dict[str, Any]
    verdict: Verdict
    asked: Confirmation | None = None


class FinishedCall(Struct, frozen=True):
    """A call after its run or its refusal."""

    call: ToolCall
    result: ToolResult
    outcome: Outcome
    decision: Decision | None = None
    """The decision. None: there was no decision, because the call was not valid."""
    seconds: float = 0.0
    """Seconds of the tool's run."""


class Toolbox:
    """Tools by name."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self._validators: dict[str, Any] = {}
        for tool in tools:
            self.add(tool)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def add(self, tool: Tool) -> None:
        """Add a tool. ConfigError: the name is taken, or the schema is not valid."""
        if tool.name in self._tools:
            raise ConfigError("tool", tool.name, problem="there is already a tool with this name")
        # The schema is compiled once, and a broken one is found when the tool is added.
        self._validators[tool.name] = _validator(tool)
        self._tools[tool.name] = tool

    def remove(self, name: str) -> None:
        """Remove a tool by its name."""
        del self._tools[name], self._validators[name]

    def declarations(self) -> tuple[canon.Tool, ...]:
        """The declarations of the tools, in the order of their addition."""
        return tuple([canon.Tool(tool.name, tool.description, _text(tool.schema)) for tool in self])

    async def run(
        self, call: ToolCall, around: ToolEnvironment, policy: Policy, approve: Approve | None = None
    ) -> FinishedCall:
        """Validate, confirm and run a call. Without `approve` no person can be asked."""
        plan = await self.plan(call, around, policy)
        if isinstance(plan, FinishedCall):
            return plan
        approval = None
        if plan.verdict.word == "ask" and plan.asked is not None and approve is not None:
            approval = await approve(plan.asked)
            policy.remember(call.name, plan.asked, approval.answer)
        return await self.finish(plan, around, approval)

    async def plan(self, call: ToolCall, around: ToolEnvironment, policy: Policy) -> PlannedCall | FinishedCall:
        """Validate a call and ask the policy. Gives FinishedCall with a failure for an invalid call."""
        tool = self._tools.get(call.name)
        if tool is None:
            # The message lists the names, because the model may have misspelled one.
            return _failed_call(
                call, "tool_not_registered", f'Tool "{call.name}" not found. There are: {", ".join(self._tools)}.'
            )
        try:
            arguments = self._arguments(call)
        except ToolError as error:
            return _failed_call(call, error.kind, error.message)
        complaint = await _run_settled(_check_call(tool, arguments, around))
        if isinstance(complaint, Outcome):
            return _finished_call(call, complaint)
        if complaint is not None:
            return _failed_call(call, "invalid_tool_params", complaint)
        confirmation = await _run_settled(tool.confirm(arguments, around))
        if isinstance(confirmation, Outcome):
            return _finished_call(call, confirmation)
        # The person must see the name that the model used.
        if confirmation is not None and confirmation.server and not confirmation.display:
            confirmation = replace(confirmation, display=tool.name)
        return PlannedCall(call, arguments, policy.judge(tool.name, tool.kind, confirmation), confirmation)

    async def finish(
        self, plan: PlannedCall, around: ToolEnvironment, approval: Approval | None = None
    ) -> FinishedCall:
        """Run a planned call if the policy or a person allows it. Otherwise the result has the refusal."""
        call = plan.call
        tool = self._tools.get(call.name)
        if tool is None:
            return _failed_call(call, "tool_not_registered", f'Tool "{call.name}" not found.')
        refusal = _refusal(plan, approval)
        if refusal:
            return _failed_call(call, "denied", refusal, "reject")
        if plan.asked is not None:
            wanted = approval.wanted if approval is not None else None
            around = replace(around, shown=plan.asked.diff, wanted=wanted)
        began = time.perf_counter()
        outcome = await _run_settled(tool.run(plan.arguments, around))
        assert outcome is not None
        return _finished_call(call, outcome, decision_of(plan, approval), time.perf_counter() - began)

    def refused(self, call: ToolCall, reason: str) -> FinishedCall:
        """A call that was not run, for a reason that the model gets."""
        return _failed_call(call, "denied", reason, "reject")

    async def close(self) -> None:
        """End everything that the tools started."""
        for tool in self:
            if isinstance(tool, ToolWithProcesses):
                await tool.close()

    def _arguments(self, call: ToolCall) -> dict[str, Any]:
        try:
            arguments = call.input
        except (ValueError, RecursionError) as error:
            raise ToolError("invalid_tool_params", f"The arguments are not JSON: {error}") from error
        if not isinstance(arguments, dict):
            raise ToolError("invalid_tool_params", "The arguments are not a JSON object.")
        wrong = [f"{_error_path(error)}{error.message}" for error in self._validators[call.name].iter_errors(arguments)]
        if wrong:
            # Five errors are enough for a model to correct its call; a large schema can have hundreds.
            raise ToolError("invalid_tool_params", "The arguments do not fit the schema: " + "; ".join(wrong[:5]))
        return cast("dict[str, Any]", arguments)


def decision_of(plan: PlannedCall, approval: Approval | None) -> Decision:
    """The decision behind a call that runs."""
    if plan.verdict.word == "run":
        return "auto_accept"
    return "modify" if approval is not None and approval.wanted is not None else "accept"


def as_result(call: ToolCall, outcome: Outcome) -> ToolResult:
    """An outcome as a result for the model: a string unchanged, media after a line that names them, several parts after
    a line of status."""
    content = outcome.content
    parts: tuple[Part, ...]
    if isinstance(content, ToolResult):
        failed = content.is_error or outcome.failure is not None
        return replace(content, call_id=call.id, name=call.name, is_error=failed, custom=call.custom)
    if isinstance(content, str):
        parts = (Text(content),)
    elif len(content) == 1:
        only = content[0]
        # Media alone need a line of text: gemini-cli writes the same (sources, 2026-08).
        parts = (Text(note(Media(only.kind, only.mime))), only) if isinstance(only, Media) else (only,)
    else:
        parts = (Text(SUCCEEDED), *content) if outcome.failure is None else content
    return ToolResult(call.id, parts, call.name, outcome.failure is not None, custom=call.custom)


async def _check_call(tool: Tool, arguments: Mapping[str, Any], around: ToolEnvironment) -> str | None:
    return tool.check(arguments, around)


async def _run_settled(work: Awaitable[Any]) -> Any:
    """The outcome of a tool's run. A foreign tool may raise any exception, so every exception becomes an outcome,
    except the cancellation of the call."""
    # `gather` returns the exception, even a cancellation that the tool itself raised.
    found: Any = (await asyncio.gather(work, return_exceptions=True))[0]
    if isinstance(found, asyncio.CancelledError):
        return ToolError("cancelled", "The tool was cancelled.").outcome()
    if isinstance(found, ToolError):
        return found.outcome()
    if isinstance(found, BaseException):
        name = "" if isinstance(found, DragomanError) else f"{type(found).__name__}: "
        return ToolError("execution_failed", f"{name}{found}").outcome()
    return found


def _refusal(plan: PlannedCall, approval: Approval | None) -> str:
    """The reason why a call does not run. "": the call runs."""
    name, reason = plan.call.name, plan.verdict.reason
    because = f": {reason}" if reason else ""
    if plan.verdict.word == "refuse":
        return f'Tool "{name}" was not run{because}.'
    if plan.verdict.word == "ask" and approval is None:
        return f'Tool "{name}" was not run: it needs a person\'s approval, and there is nobody to ask{because}.'
    if approval is not None and approval.answer == "no":
        return f'Tool "{name}" was not run: the user refused it{f": {approval.why}" if approval.why else ""}.'
    return ""


def _finished_call(
    call: ToolCall, outcome: Outcome, decision: Decision | None = None, seconds: float = 0.0
) -> FinishedCall:
    sendable = _without_undecodable_bytes(outcome)
    return FinishedCall(call, as_result(call, sendable), sendable, decision, seconds)


def _without_undecodable_bytes(outcome: Outcome) -> Outcome:
    """An outcome that can be sent and stored. File names may hold bytes that are not text; they are replaced."""
    content, display, failure = outcome.content, outcome.display, outcome.failure
    if isinstance(content, ToolResult):
        content = replace(content, parts=tuple([_without_undecodable(part) for part in content.parts]))
    elif isinstance(content, str):
        content = without_invalid_bytes(content)
    else:
        content = tuple([_without_undecodable(part) for part in content])
    if isinstance(display, str):
        display = without_invalid_bytes(display)
    if failure is not None:
        failure = replace(failure, message=without_invalid_bytes(failure.message))
    return Outcome(content, display, failure)


def _without_undecodable(part: P) -> P:
    return replace(part, text=without_invalid_bytes(part.text)) if isinstance(part, Text) else part


def _failed_call(call: ToolCall, kind: str, message: str, decision: Decision | None = None) -> FinishedCall:
    return _finished_call(call, Outcome(message, message, Failure(message, kind)), decision)


def _validator(tool: Tool) -> Any:
    try:
        return jsonschema_rs.validator_for(dict(tool.schema), retriever=_retrieve)
    except ValueError as error:
        raise ConfigError("schema of the tool", tool.name, problem=str(error).partition("\n")[0]) from error


def _retrieve(uri: str) -> Any:
    """Refuse references to other documents: a schema must not cause a fetch."""
    raise ValueError(f"{uri} is not in the schema itself")


def _error_path(error: Any) -> str:
    path = "/".join(map(str, error.instance_path))
    return f"{path}: " if path else ""


def _text(schema: Mapping[str, Any]) -> str:
    return msgspec.json.encode(schema).decode()
