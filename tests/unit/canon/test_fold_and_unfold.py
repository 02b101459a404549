"""`fold` makes an answer from a stream, and `unfold` makes a stream from an answer. Both have the same content."""

from __future__ import annotations

import pytest
from msgspec import Raw

from dragoman.canon.events import Event, Fault, Finish, PartDelta, PartEnd, PartStart, Start
from dragoman.canon.fold_and_unfold import fold, unfold
from dragoman.canon.parts import Citation, Media, Opaque, Reasoning, Seal, Text, ToolCall, ToolResult
from dragoman.canon.response import Alternative, Response, Stop, Usage

CITED = Citation("https://a.example", "A")
SEAL = Seal("gemini", "c2VhbA==")


def test_deltas_are_joined() -> None:
    events: list[Event] = [
        Start("r1", "m", 7),
        PartStart(0, Reasoning()),
        PartDelta(0, "hm"),
        PartDelta(0, "m", SEAL),
        PartEnd(0, {"gemini": {"x": Raw(b"1")}}),
        PartStart(1, Text("")),
        PartDelta(1, "He"),
        PartDelta(1, "llo", None, (CITED,)),
        PartEnd(1),
        PartStart(2, ToolCall("c1", "f", seal=SEAL)),
        PartDelta(2, '{"a"'),
        PartDelta(2, ":1}"),
        PartEnd(2),
        Finish(Stop("tool_calls"), Usage(3, 4)),
    ]
    assert fold(events) == Response(
        (
            Reasoning("hmm", seal=SEAL, extra={"gemini": {"x": Raw(b"1")}}),
            Text("Hello", citations=(CITED,)),
            ToolCall("c1", "f", '{"a":1}', seal=SEAL),
        ),
        Stop("tool_calls"),
        "r1",
        "m",
        7,
        Usage(3, 4),
    )


def test_the_end_adds_to_the_extra_of_the_beginning() -> None:
    events: list[Event] = [
        Start("r", extra={"a": {"x": Raw(b"1")}}),
        PartStart(0, Text("", extra={"a": {"y": Raw(b"2")}})),
        PartEnd(0, {"a": {"z": Raw(b"3")}, "b": {"w": Raw(b"4")}}),
        Finish(Stop("stop"), extra={"a": {"v": Raw(b"5")}}),
    ]
    assert fold(events) == Response(
        (Text("", extra={"a": {"y": Raw(b"2"), "z": Raw(b"3")}, "b": {"w": Raw(b"4")}}),),
        Stop("stop"),
        "r",
        extra={"a": {"x": Raw(b"1"), "v": Raw(b"5")}},
    )


def test_a_stream_with_a_fault_folds_to_the_fault() -> None:
    fault = Fault("overloaded", "too many", 503)
    assert fold([Start("r"), PartStart(0, Text("")), PartDelta(0, "half"), fault]) == fault


def test_a_stream_without_a_finish_has_an_unknown_stop_reason() -> None:
    events: list[Event] = [Start("r"), PartStart(0, Text("")), PartDelta(0, "a"), PartEnd(0)]
    assert fold(events) == Response((Text("a"),), Stop("unknown"), "r")


def test_an_empty_stream_is_an_empty_answer() -> None:
    assert fold([]) == Response((), Stop("unknown"))


def test_usage_of_the_start_is_kept_if_no_finish_has_usage() -> None:
    assert fold([Start("r", usage=Usage(9)), Finish(Stop("stop"))]) == Response((), Stop("stop"), "r", usage=Usage(9))


def test_parts_of_several_answers_are_kept_separate() -> None:
    events: list[Event] = [
        Start("r"),
        PartStart(0, Text(""), 0),
        PartStart(1, Text(""), 1),
        PartDelta(1, "two"),
        PartDelta(0, "one"),
        PartEnd(1),
        PartEnd(0),
        Finish(Stop("length"), None, 1, False, {"a": {"x": Raw(b"1")}}),
        Finish(Stop("stop"), Usage(1, 2), 0),
    ]
    assert fold(events) == Response(
        (Text("one"),),
        Stop("stop"),
        "r",
        usage=Usage(1, 2),
        alternatives=(Alternative((Text("two"),), Stop("length"), {"a": {"x": Raw(b"1")}}),),
    )


RESPONSES = [
    Response((), Stop("stop")),
    Response((Text("a", citations=(CITED,), seal=SEAL),), Stop("stop"), "r", "m", 5, Usage(1, 2, 3, 4, 5)),
    Response((Text("no", True), Reasoning("why", seal=SEAL), Reasoning("")), Stop("refusal"), "r"),
    Response(
        (ToolCall("a", "f", ""), ToolCall("b", "g", '{"x":1}'), ToolCall("c", "p", "raw", True)), Stop("tool_calls")
    ),
    Response(
        (Media("image", "image/png", "aGk="), Opaque("anthropic", "x", Raw(b"{}")), ToolResult("a", (Text("r"),))),
        Stop("stop_sequence", "###"),
        extra={"gemini": {"x": Raw(b"1")}},
    ),
    Response(
        (Text("one"),),
        Stop("stop"),
        "r",
        usage=Usage(1, 2),
        alternatives=(
            Alternative((Text("two"), ToolCall("c", "f", "{}")), Stop("tool_calls")),
            Alternative((), Stop("length"), {"openai-chat": {"logprobs": Raw(b"{}")}}),
        ),
    ),
]


@pytest.mark.parametrize("response", RESPONSES)
def test_folding_an_unfolded_answer_gives_the_answer(response: Response) -> None:
    assert fold(unfold(response)) == response


def test_an_unfolded_answer_keeps_text_out_of_the_starts() -> None:
    response = Response(
        (Text("a", citations=(CITED,)), ToolCall("c", "f", "{}")), Stop("tool_calls"), "r", usage=Usage(1)
    )
    assert unfold(response) == [
        Start("r"),
        PartStart(0, Text("")),
        PartDelta(0, "a"),
        PartDelta(0, "", None, (CITED,)),
        PartEnd(0),
        PartStart(1, ToolCall("c", "f")),
        PartDelta(1, "{}"),
        PartEnd(1),
        Finish(Stop("tool_calls"), Usage(1)),
    ]
