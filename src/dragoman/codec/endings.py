"""Answers that failed, for dialects without a word for it: what the client reads instead of an empty success; and
answers with a call that breaks off, which did not end as they say."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ..canon.events import Event
from ..canon.parts import Part, Path, Text, ToolCall
from ..canon.response import Alternative, Response, Stop, StopReason
from ..crossing import Crossing
from ..errors import WireError
from . import jsontext

FAILED: dict[StopReason, str] = {
    "bad_tool_call": "The model ended its answer with a tool call that cannot be used.",
    "error": "The model's answer ended with an error.",
}
"""Reasons for which `stop` alone would be untrue, and what is said when the upstream said nothing."""
GAP = "\n\n"
"""Between what the model said and these words, where texts run together."""


def failure(stop: Stop, *own: str) -> str:
    """The words for an answer that failed; none when it did not, or when one of the dialects `own` has its word."""
    said = FAILED.get(stop.reason, "")
    if not said or (stop.extra is not None and any(name in stop.extra for name in own)):
        return ""
    return stop.detail or said


def with_failure(parts: tuple[Part, ...], words: str, gap: str = "") -> tuple[Part, ...]:
    """The parts of an answer with the words of `failure` behind them."""
    if not words:
        return parts
    said = any(type(part) is Text and part.text for part in parts)
    return (*parts, Text(gap + words if said else words))


def told_whole(stray: bytes, read: Callable[[bytes, Crossing], Response], crossing: Crossing) -> list[Event]:
    """The events of a whole answer that came in place of a stream; none when it is no answer."""
    if not stray.lstrip().startswith(b"{"):
        return []
    try:
        response = read(stray, crossing)
    except WireError:
        return []
    if not response.parts and response.stop.reason in ("unknown", "error"):
        return []
    from ..canon.fold import unfold  # hardly any stream is none

    return unfold(response)


def flawed(call: ToolCall, arguments: str, crossing: Crossing) -> bool:
    """Report arguments that are no JSON object. True when they break off: half a call is no call."""
    if call.custom or not arguments or jsontext.is_whole(arguments) or jsontext.object_raw(arguments) is not None:
        return False
    cut = jsontext.breaks_off(arguments)
    crossing.lose("arguments.invalid", call.at, "they break off" if cut else "they are no JSON object")
    return cut


def decoded_once(arguments: str, at: Path, crossing: Crossing) -> str:
    """Arguments without the JSON string around them that hosts make which encode them twice."""
    inner = jsontext.encoded_twice(arguments)
    if inner is None:
        return arguments
    crossing.lose("arguments.invalid", at, "they are a JSON object in a JSON string", "info")
    return inner


def first_only(response: Response, crossing: Crossing) -> None:
    """Report the second and later answers, for dialects that have one only."""
    for number in range(1, len(response.alternatives) + 1):
        crossing.lose("answer.dropped", crossing.ends.answer(number), "the first is told")


_WHOLE: frozenset[StopReason] = frozenset({"tool_calls", "stop", "unknown"})


def cut_short(stop: Stop, crossing: Crossing, number: int = 0) -> Stop:
    """How an answer ended in which a call breaks off. Clients run the calls of an answer that is whole, so none may be
    told as that; that it was cut is all that is known."""
    if stop.reason not in _WHOLE:
        return stop
    said = f"{stop.reason} is sent as length: a call breaks off"
    crossing.lose("stop.approximated", crossing.stopped(stop, number), said, "warning")
    return Stop("length")


def ended(response: Response, crossing: Crossing) -> Response:
    """The response, ended as its calls show."""
    stop = _ended(response.parts, response.stop, crossing, 0)
    if not response.alternatives:
        return response if stop is response.stop else msgspec.structs.replace(response, stop=stop)
    others = [
        Alternative(other.parts, _ended(other.parts, other.stop, crossing, i + 1), other.extra)
        for i, other in enumerate(response.alternatives)
    ]
    return msgspec.structs.replace(response, stop=stop, alternatives=tuple(others))


def _ended(parts: tuple[Part, ...], stop: Stop, crossing: Crossing, number: int) -> Stop:
    cut = [part for part in parts if type(part) is ToolCall and flawed(part, part.arguments, crossing)]
    return cut_short(stop, crossing, number) if cut else stop
