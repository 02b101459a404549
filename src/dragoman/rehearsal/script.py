"""Owns scripts: answers that a user has written down. The module reads a script, finds the step, and plays it.

A script is a list of steps. The first step whose conditions hold is played: `turn` (the number of the answer in the
conversation), `match` (a pattern in the user's last message), `after` (the kind of the last turn). A step without
conditions always holds. `read_script` reads JSON or TOML with the fields of the classes below.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from ..canon.events import Fault, FaultKind
from ..canon.parts import Opaque, Part, Reasoning, Text, ToolCall
from ..canon.request import Request
from ..canon.response import Stop, StopReason, Usage
from ..canon.tools import Tool
from ..codec import json_text
from ..codec.fault_kinds_statuses_and_error_object import status_of_kind
from ..errors import ConfigError
from . import planned_tool_calls, thinking
from .answer_composition import ComposedAnswer, cut_at_limits
from .conversation_view import ConversationView, fingerprint
from .planned_tool_calls import PlannedCall
from .text_replies import OPENING

_LONGEST = 3600.0


class ScriptedText(Struct, frozen=True, forbid_unknown_fields=True, tag_field="part", tag="text"):
    """A text. `refusal`: the model refuses with this text."""

    text: str
    refusal: bool = False


class ScriptedThought(Struct, frozen=True, forbid_unknown_fields=True, tag_field="part", tag="thinking"):
    """A thought. `sealed`: it has the rehearsal's seal. `shown`: the client sees its words; else only the seal holds
    them."""

    text: str
    sealed: bool = True
    shown: bool = True


class ScriptedCall(Struct, frozen=True, forbid_unknown_fields=True, tag_field="part", tag="call"):
    """A call of a tool by its `name`, or by its number `tool` among the declared tools (from 0, modulo their count).
    `arguments` is an object or exact text; by default they are made for the tool's schema."""

    name: str = ""
    tool: int | None = None
    arguments: dict[str, Any] | str | None = None
    id: str = ""
    custom: bool = False
    namespace: str = ""


class ScriptedHostedPart(Struct, frozen=True, forbid_unknown_fields=True, tag_field="part", tag="opaque"):
    """A part that only one dialect knows, such as the trace of a hosted tool."""

    dialect: str
    kind: str
    value: Any


class ScriptedFault(Struct, frozen=True, forbid_unknown_fields=True):
    """A fault. `status` defaults to the usual status of its kind. With `after` the fault comes inside the stream, after
    so many events."""

    kind: FaultKind
    message: str = ""
    status: int = 0
    code: str = ""
    retry_after: float | None = None
    after: int | None = None


class ScriptedUsage(Struct, frozen=True, forbid_unknown_fields=True):
    """Usage figures of the script, instead of counted ones."""

    input: int
    output: int
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None


class Step(Struct, frozen=True, forbid_unknown_fields=True):
    """One answer, and its conditions."""

    turn: int | None = None
    match: str = ""
    after: Literal["user", "results"] | None = None
    parts: tuple[ScriptedText | ScriptedThought | ScriptedCall | ScriptedHostedPart, ...] = ()
    stop: StopReason | None = None
    sequence: str | None = None
    truncate: int | None = None
    """Tokens after which the answer breaks off with the reason `length`."""
    fault: ScriptedFault | None = None
    break_after: int | None = None
    """Events after which the stream ends without a finish."""
    delay: float = 0.0
    """Seconds before the first event."""
    pace: float = 0.0
    """Seconds before every other event."""
    usage: ScriptedUsage | None = None


class Script(Struct, frozen=True, forbid_unknown_fields=True):
    """A scenario. `otherwise` is used if no step holds: the rules, or a fault."""

    steps: tuple[Step, ...]
    name: str = "script"
    about: str = ""
    otherwise: Literal["rules", "fault"] = "rules"


def read_script(text: str | bytes, form: Literal["json", "toml"] = "json", name: str = "") -> Script:
    """Read a script from its text. ConfigError has the error and its place."""
    decode = msgspec.json.decode if form == "json" else msgspec.toml.decode
    try:
        script = decode(text, type=Script)
        for place, step in enumerate(script.steps):
            _check(step, f"$.steps[{place}]")
    except (msgspec.DecodeError, ValueError, RecursionError, re.error) as error:
        raise ConfigError("script", name or form, problem=str(error)) from None
    return msgspec.structs.replace(script, name=name) if name else script


def _check(step: Step, where: str) -> None:
    """Check what the types cannot express."""
    re.compile(step.match)
    for field, value in (("delay", step.delay), ("pace", step.pace)):
        if not 0 <= value <= _LONGEST:
            raise ValueError(f"{field} is from 0 to {_LONGEST:g} seconds - at `{where}.{field}`")
    for place, part in enumerate(step.parts):
        if isinstance(part, ScriptedCall) and not part.name and part.tool is None:
            raise ValueError(f"a call names its tool, by `name` or by number as `tool` - at `{where}.parts[{place}]`")


def choose_step(script: Script, talk: ConversationView) -> Step | None:
    """The step to play."""
    for step in script.steps:
        if step.turn is not None and step.turn != talk.step:
            continue
        if step.after is not None and (step.after == "results") != bool(talk.results):
            continue
        if step.match and not re.search(step.match, talk.words, re.IGNORECASE):
            continue
        return step
    return None


def play_step(step: Step, request: Request, talk: ConversationView, model: str) -> ComposedAnswer:
    """The answer of a step."""
    print_ = fingerprint(request, model)
    thought = any(isinstance(part, ScriptedThought) for part in step.parts)
    parts: list[Part] = []
    for place, part in enumerate(step.parts):
        made = _part(part, request, talk, model, f"{print_[:18]}{place:02d}", thought)
        calls = sum([isinstance(one, ToolCall) for one in parts])
        if made is not None and not (calls and isinstance(made, ToolCall) and request.settings.parallel is False):
            parts.append(made)
    if step.parts and not any(not isinstance(part, Reasoning) for part in parts):
        parts.append(Text(f"{OPENING}this scenario calls tools, and there is none that may be called."))
    answer = cut_at_limits(parts, request.settings, _limit(step, request))
    if step.stop is None or answer.stop.reason in ("length", "stop_sequence"):
        return answer
    return ComposedAnswer(answer.parts, Stop(step.stop, step.sequence))


def _limit(step: Step, request: Request) -> int | None:
    limits = [one for one in (step.truncate, request.settings.max_tokens) if one is not None and one >= 0]
    return min(limits, default=None)


def _part(
    part: ScriptedText | ScriptedThought | ScriptedCall | ScriptedHostedPart,
    request: Request,
    talk: ConversationView,
    model: str,
    mark: str,
    thought: bool,
) -> Part | None:
    if isinstance(part, ScriptedText):
        return Text(part.text, refusal=part.refusal)
    if isinstance(part, ScriptedThought):
        if not part.sealed:
            return Reasoning(part.text)
        return thinking.sealed_thought(part.text, model, shown=part.shown and request.settings.thoughts is not False)
    if isinstance(part, ScriptedHostedPart):
        return Opaque(part.dialect, part.kind, Raw(json_text.encode(part.value)))
    return _call(part, request, talk, mark, thought)


def _call(part: ScriptedCall, request: Request, talk: ConversationView, mark: str, thought: bool) -> ToolCall | None:
    if request.choice is not None and request.choice.mode == "none":
        return None
    declared = [tool for tool in request.tools if isinstance(tool, Tool)]
    tool = next((tool for tool in declared if tool.name == part.name), None)
    if part.tool is not None:
        tools = planned_tool_calls.usable_tools(request)
        if not tools:
            return None
        tool = tools[part.tool % len(tools)]
    arguments = part.arguments
    if isinstance(arguments, dict):
        arguments = json_text.encode(arguments).decode()
    if arguments is None:
        arguments = planned_tool_calls.fill_arguments(tool, talk.words) if tool is not None else "{}"
    planned = PlannedCall(tool or Tool(part.name, custom=part.custom, namespace=part.namespace), arguments)
    given = part.id or f"{thinking.MARK if thought else 'call_s'}{mark}"
    return ToolCall(given, planned.tool.name, planned.arguments, planned.tool.custom, planned.tool.namespace)


def fault_of(trouble: ScriptedFault) -> Fault:
    """The fault of a step."""
    status = trouble.status or status_of_kind(trouble.kind)
    message = trouble.message or f"rehearsal: a fault of the kind {trouble.kind}, as the script demands"
    return Fault(trouble.kind, message, status, trouble.code, retry_after=trouble.retry_after)


def usage_of(step: Step) -> Usage | None:
    """The usage figures of a step, if it has some."""
    figures = step.usage
    if figures is None:
        return None
    return Usage(figures.input, figures.output, figures.cache_read, figures.cache_write, figures.reasoning)
