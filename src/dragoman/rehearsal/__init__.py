"""Owns the built-in upstream `rehearsal`: no weights, no key, the same answer to the same request. Every text names it.

`answer` takes a canon request and gives canon events and a canon response. It opens no socket, does not sleep, and uses
no random numbers. Delays of a slow stream are data; the caller sleeps. README.md has the rules.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..canon.events import Event, Fault
from ..canon.request import Request
from ..canon.response import Response
from . import rules_model
from .answer_composition import events_of, response_of, usage_of
from .conversation_view import ConversationView, fingerprint, read_conversation
from .scenarios import SCENARIOS
from .script import Script, Step, choose_step, fault_of, play_step, read_script
from .script import usage_of as figures_of
from .thinking import Seals, check_thoughts
from .token_estimate import count, estimate

__all__ = [
    "SCENARIOS",
    "Rehearsed",
    "Script",
    "Seals",
    "Step",
    "answer",
    "count",
    "estimate",
    "models",
    "read_script",
]

PREFIX = "rehearsal/"


class Rehearsed:
    """The answer of the rehearsal, as a whole and as a stream."""

    __slots__ = ("_answer", "_step", "model")

    def __init__(self, model: str, answer: Response | Fault, step: Step | None = None) -> None:
        self.model = model
        """The model of the answer: `rehearsal/rules`, or `rehearsal/` and the script's name."""
        self._answer = answer
        self._step = step or Step()

    @property
    def delay(self) -> float:
        """Seconds before a whole answer."""
        return self._step.delay

    @property
    def fault(self) -> Fault | None:
        """The fault instead of an answer. A fault inside a stream is an event, not this fault."""
        return self._answer if isinstance(self._answer, Fault) else None

    @property
    def breaks_off(self) -> bool:
        """Whether the stream breaks off. The caller then cuts the connection, or sends the fault of `response`."""
        return self._step.break_after is not None and not isinstance(self._answer, Fault)

    def events(self) -> Iterator[tuple[float, Event]]:
        """The events of the stream, each with the seconds before it. A stream that breaks off has no Finish and no
        Fault."""
        step = self._step
        if isinstance(self._answer, Fault):
            yield step.delay, self._answer
            return
        trouble = step.fault
        for number, event in enumerate(events_of(self._answer)):
            wait = step.pace if number else step.delay
            if trouble is not None and trouble.after is not None and number >= trouble.after:
                yield wait, fault_of(trouble)
                return
            if step.break_after is not None and number >= step.break_after:
                return
            yield wait, event

    def response(self) -> Response | Fault:
        """The whole answer, equal to the folded stream."""
        if isinstance(self._answer, Fault):
            return self._answer
        if self._step.fault is not None:
            return fault_of(self._step.fault)
        if self.breaks_off:
            return Fault("upstream_bad", "rehearsal: the stream breaks off, as the script demands", 502)
        return self._answer


def models() -> dict[str, str]:
    """The built-in models, each with its description."""
    rules = "Answers by rules: calls tools whose arguments are in the request, quotes plain words."
    return {rules_model.MODEL: rules} | {PREFIX + name: script.about for name, script in SCENARIOS.items()}


def answer(request: Request, *, script: Script | None = None, seals: Seals = "checked") -> Rehearsed:
    """The answer to a request: by the script, else by the scenario that the model names (`rehearsal/parallel-calls`),
    else by the rules. `seals` decides which thoughts must come back."""
    name = request.model.removeprefix(PREFIX)
    if script is None:
        script = SCENARIOS.get(name)
    if script is None and request.model.startswith(PREFIX) and name not in ("rules", "script"):
        known = ", ".join(models())
        return Rehearsed(
            request.model, Fault("not_found", f"rehearsal: there is no model {request.model}; there are {known}", 404)
        )
    wrong = check_thoughts(request, seals)
    if script is None:
        return _by_rules(request, wrong)
    talk = read_conversation(request)
    step = choose_step(script, talk)
    if step is None and script.otherwise == "rules":
        return _by_rules(request, wrong)
    return _play_script(script, step, request, talk, wrong)


def _by_rules(request: Request, wrong: Fault | None) -> Rehearsed:
    answers = wrong or rules_model.answer_by_rules(request)
    if isinstance(answers, Fault):
        return Rehearsed(rules_model.MODEL, answers)
    usage = usage_of(request, answers)
    return Rehearsed(rules_model.MODEL, response_of(answers, _id(request, rules_model.MODEL), rules_model.MODEL, usage))


def _play_script(
    script: Script, step: Step | None, request: Request, talk: ConversationView, wrong: Fault | None
) -> Rehearsed:
    model = PREFIX + script.name
    if step is None:
        wrong = Fault("invalid_request", f"rehearsal: no step of the script {script.name} holds here", 400)
    elif step.fault is not None and step.fault.after is None:
        wrong = fault_of(step.fault)
    if wrong is not None or step is None:
        return Rehearsed(model, wrong or Fault("server", "rehearsal: no step"), step)
    answer = play_step(step, request, talk, model)
    usage = figures_of(step) or usage_of(request, [answer])
    return Rehearsed(model, response_of([answer], _id(request, model), model, usage), step)


def _id(request: Request, model: str) -> str:
    return f"rehearsal_{fingerprint(request, model)[:24]}"
