"""Owns the endings of answers that failed, or that hold a call which breaks off, for dialects without a word for such
an ending.

The client gets a sentence instead of an empty success.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Literal

import msgspec

from ..canon.events import Event, Fault
from ..canon.losses import Severity
from ..canon.parts import Part, Path, Text, ToolCall
from ..canon.response import Alternative, Response, Stop, StopReason
from ..context import Context
from ..errors import FaultError, WireError
from . import json_text
from .surrogates.documents import lose_replaced, without_surrogates

FAILED: dict[StopReason, str] = {
    "bad_tool_call": "The model ended its answer with a tool call that cannot be used.",
    "error": "The model's answer ended with an error.",
}
"""Stop reasons that `stop` would misrepresent, and the sentence for an upstream that gave none."""
GAP = "\n\n"
"""Between the model's text and the sentence, in dialects that join texts."""


def failure(stop: Stop, *own: str) -> str:
    """The sentence for an answer that failed. Empty if the answer did not fail, or if one of the dialects `own` has its
    own word.
    """
    sentence = FAILED.get(stop.reason, "")
    # The dialect's own word restores the ending exactly. The sentence would add invented text.
    if not sentence or (stop.extra is not None and any(name in stop.extra for name in own)):
        return ""
    return stop.detail or sentence


def stop_detail(word: str, reason: StopReason) -> str:
    """The detail of a stop whose word is more precise than the canon's reason (Gemini's `RECITATION`, `NO_IMAGE`)."""
    if reason in FAILED:
        return f"{FAILED[reason][:-1]}: {word}."
    return f"the answer was stopped: {word}" if reason == "content_filter" else ""


def with_failure(parts: tuple[Part, ...], words: str, gap: str = "") -> tuple[Part, ...]:
    """The parts of an answer, with the sentence of `failure` at the end."""
    if not words:
        return parts
    has_text = any(type(part) is Text and part.text for part in parts)
    # An answer of a failed model may be empty. Then there is nothing to separate the sentence from.
    return (*parts, Text(gap + words if has_text else words))


def events_of_whole_answer(stray: bytes, read: Callable[[bytes, Context], Response], context: Context) -> list[Event]:
    """The events of a whole answer that came in place of a stream. Empty if the bytes are not an answer."""
    # Frames of a stream never begin with a brace, so only these bytes can be a whole answer.
    if not stray.lstrip().startswith(b"{"):
        return []
    cleaned = None if json_text.is_whole(stray) else without_surrogates(stray)
    try:
        response = read(stray if cleaned is None else cleaned, context)
    except WireError:
        return []
    if cleaned is not None:
        lose_replaced(stray, cleaned, context)
    # An error without any content is a fault, not an answer.
    if not response.parts and response.stop.reason in ("unknown", "error"):
        return []
    from ..canon.fold_and_unfold import unfold  # late: an upstream that ignores `stream` is rare

    return unfold(response)


def is_exact(stop: Stop, exact: frozenset[StopReason]) -> bool:
    """Whether the target's word for the reason is exact. A sentence in a field of its own does not count."""
    # A detail without a path was made from the word. It shows that the word is finer than the reason.
    return stop.reason in exact and not stop.word and not (stop.detail and not stop.detail_at)


def lose_stop(stop: Stop, word: str, context: Context, number: int = 0, *, exact: bool, written: bool = False) -> None:
    """Report a stop that is sent as `word`. `exact`: the word has the same meaning. `written`: the sentence about the
    stop is sent too.
    """
    if not exact:
        original = stop.word or (stop.detail if not stop.detail_at else "") or stop.sequence or stop.reason
        # An answer that failed and looks complete is the worst case: an agent continues with it.
        grave = stop.reason in FAILED and word not in _FAILURES
        severity: Severity | None = "warning" if grave or (stop.word and stop.reason == "unknown") else None
        context.lose("stop.approximated", context.stopped(stop, number), f"{original} is sent as {word}", severity)
    if stop.detail_at and not written:
        context.lose("field.dropped", stop.detail_at, severity="info")


_FAILURES = frozenset({"failed", "OTHER"})
"""Words that mean the same as `error`."""


def lose_missing_call(stop: Stop, called: bool, word: str, context: Context, number: int = 0) -> None:
    """Report an answer that ended with calls but has none, if the target's `word` does not show the difference."""
    if stop.reason == "tool_calls" and not called:
        detail = f"tool_calls without a call is sent as {word}"
        context.lose("stop.approximated", context.stopped(stop, number), detail)


def in_order(answers: list[Alternative], numbers: list[int]) -> list[Alternative]:
    """Answers sorted by their own numbers, in whatever order the upstream listed them."""
    # Nearly all answers are in order. The check avoids the sorting.
    if len(answers) < 2 or all(before <= after for before, after in pairwise(numbers)):
        return answers
    return [answers[place] for place in sorted(range(len(answers)), key=numbers.__getitem__)]


def report_broken_arguments(call: ToolCall, arguments: str, context: Context) -> bool:
    """Report arguments that are not a JSON object. True: they break off, so the call is incomplete."""
    # The cheap tests come first: most arguments are valid, and this runs for each call.
    if call.custom or not arguments or json_text.is_whole(arguments) or json_text.object_raw(arguments) is not None:
        return False
    cut = json_text.breaks_off(arguments)
    context.lose("arguments.invalid", call.at, "they break off" if cut else "they are not a JSON object")
    return cut


def decoded_once(arguments: str, at: Path, context: Context) -> str:
    """Arguments without the JSON string around them, which some hosts add by encoding twice."""
    inner = json_text.encoded_twice(arguments)
    if inner is None:
        return arguments
    context.lose("arguments.invalid", at, "they are a JSON object in a JSON string", "info")
    return inner


def report_later_answers(response: Response, context: Context) -> None:
    """Report the second and later answers, for dialects with one answer only."""
    for number, other in enumerate(response.alternatives, 1):
        place = context.answer_paths.answer(number)
        # Some upstreams do not list answers in the order of their numbers. The paths of the parts are reliable.
        stood = next((part.at[: len(place)] for part in other.parts if len(part.at) > len(place)), place)
        context.lose("answer.dropped", stood, "only the first answer is written")


_WHOLE: frozenset[StopReason] = frozenset({"tool_calls", "stop", "unknown"})


def cut_short(stop: Stop, context: Context, number: int = 0) -> Stop:
    """The stop of an answer with a call that breaks off. Clients run the calls of a complete answer, so the answer is
    sent as cut. Nothing else is known about its end.
    """
    # The upstream's own reason (a limit, a filter) already shows that the answer is not complete.
    if stop.reason not in _WHOLE:
        return stop
    detail = f"{stop.reason} is sent as length: a call breaks off"
    context.lose("stop.approximated", context.stopped(stop, number), detail, "warning")
    return Stop("length")


BrokenCalls = Literal["text", "word", "fault"]
"""How an answer of a dialect represents a call whose arguments are not a JSON object. text: the text, unchanged. word:
the call is left out, because arguments are objects there and clients run every call; the dialect has a word for such an
ending. fault: not even a word, so the answer becomes a fault.
"""


def leave_out_broken_call(call: ToolCall, arguments: str, context: Context) -> bool:
    """Whether a call of an answer is left out because its arguments are not a JSON object. Reports the loss."""
    if call.custom or json_text.object_raw(arguments) is not None:
        return False
    why = "its arguments break off" if json_text.breaks_off(arguments) else "its arguments are not a JSON object"
    context.lose("call.truncated", call.at, f"the call of {call.name}: {why}")
    return True


def stop_without_call(stop: Stop, context: Context, number: int = 0) -> Stop:
    """The stop of an answer without one of its calls: the upstream's own reason if that explains the missing call (such
    as a limit), else bad_tool_call.
    """
    if stop.reason not in _WHOLE:
        return stop
    detail = f"{stop.reason} is sent as bad_tool_call: a call is left out"
    context.lose("stop.approximated", context.stopped(stop, number), detail, "warning")
    return Stop("bad_tool_call")


def unusable_call_fault() -> Fault:
    """The fault for an answer with such a call, in dialects without a word for it."""
    return Fault("upstream_bad", FAILED["bad_tool_call"], 502)


def with_fitting_stop(response: Response, context: Context, broken: BrokenCalls = "text") -> Response:
    """The response with a stop that fits its calls. Raises FaultError if the target cannot represent the answer."""
    parts, stop = _with_fitting_stop(response.parts, response.stop, context, 0, broken)
    # The fault is raised only for a call that is left out here, not for an ending that the upstream itself reported.
    if broken == "fault" and stop is not response.stop and stop.reason == "bad_tool_call":
        raise FaultError(unusable_call_fault(), losses=tuple(context.losses.all()))
    if not response.alternatives:
        if stop is response.stop and parts is response.parts:
            return response
        return msgspec.structs.replace(response, parts=parts, stop=stop)
    others = [
        Alternative(*_with_fitting_stop(other.parts, other.stop, context, i + 1, broken), other.extra)
        for i, other in enumerate(response.alternatives)
    ]
    return msgspec.structs.replace(response, parts=parts, stop=stop, alternatives=tuple(others))


def _with_fitting_stop(
    parts: tuple[Part, ...], stop: Stop, context: Context, number: int, broken: BrokenCalls
) -> tuple[tuple[Part, ...], Stop]:
    calls = [part for part in parts if type(part) is ToolCall]
    if broken == "text":
        cut = [call for call in calls if report_broken_arguments(call, call.arguments, context)]
        return parts, cut_short(stop, context, number) if cut else stop
    gone = [call for call in calls if leave_out_broken_call(call, call.arguments, context)]
    if not gone:
        return parts, stop
    for call in gone:
        if call.seal is not None and call.seal.data:
            context.lose("seal.dropped", call.at, "of a call that is left out")
    return tuple([part for part in parts if not any(part is call for call in gone)]), stop_without_call(
        stop, context, number
    )
