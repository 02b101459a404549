"""Chat streams are written: for each answer one role chunk and one finish; requested usage; the terminator."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from dragoman.canon.events import Event, Fault, Finish, PartDelta, PartEnd, PartStart, Start
from dragoman.canon.fold_and_unfold import fold, unfold
from dragoman.canon.parts import Citation, Media, Opaque, Part, Reasoning, Seal, Text, ToolCall, ToolResult
from dragoman.canon.request import Request, Settings
from dragoman.canon.response import Alternative, Response, Stop, Usage
from dragoman.codec.call_ids import hashed
from tests.unit.dialects.openai_chat.helpers import CHAT, events_of, stream_of, unplaced

START = Start("chatcmpl-1", "m", 7)
HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 7, "model": "m"}
ROLE = {"role": "assistant", "content": ""}


def _chunks(events: list[Event], **options: Any) -> tuple[list[Any], list[tuple[str, str]]]:
    written, lost = stream_of(events, **options)
    frames = written.decode().split("\n\n")
    assert frames.pop() == ""
    assert all(frame.startswith("data: ") for frame in frames)
    chunks = [frame.removeprefix("data: ") for frame in frames]
    return [chunk if chunk == "[DONE]" else msgspec.json.decode(chunk) for chunk in chunks], lost


def _choice(delta: Any, finish: str | None = None, index: int = 0) -> dict[str, Any]:
    return {**HEAD, "choices": [{"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}]}


def _deltas(*parts: Event, **options: Any) -> tuple[list[Any], list[tuple[str, str]]]:
    """The deltas between the role and the finish."""
    called = any(isinstance(event, PartStart) and isinstance(event.part, ToolCall) for event in parts)
    chunks, lost = _chunks([START, *parts, Finish(Stop("tool_calls" if called else "stop"))], **options)
    assert chunks[0] == _choice(ROLE)
    assert chunks[-1] == "[DONE]"
    return [chunk["choices"][0]["delta"] for chunk in chunks[1:-2]], lost


def test_a_stream_is_written() -> None:
    events: list[Event] = [
        START,
        PartStart(0, Text("")),
        PartDelta(0, "Hé"),
        PartDelta(0, 'l"o'),
        PartEnd(0),
        Finish(Stop("stop"), Usage(3, 4)),
    ]
    assert _chunks(events) == (
        [
            _choice(ROLE),
            _choice({"content": "Hé"}),
            _choice({"content": 'l"o'}),
            _choice({}, "stop"),
            {**HEAD, "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}},
            "[DONE]",
        ],
        [],
    )


def test_choices_begin_in_order() -> None:
    """Clients add each new choice at the end of their list."""
    events: list[Event] = [START, PartStart(0, Text(""), 2), PartDelta(0, "c"), PartEnd(0)]
    events += [Finish(Stop("stop"), None, number, number == 2) for number in range(3)]
    chunks, lost = _chunks(events)
    assert chunks[:4] == [
        _choice(ROLE),
        _choice(ROLE, index=1),
        _choice(ROLE, index=2),
        _choice({"content": "c"}, index=2),
    ]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks[4:7]] == ["stop"] * 3
    assert not lost


def test_a_huge_number_of_a_choice_makes_no_other_choices() -> None:
    chunks, _ = _chunks([START, PartStart(0, Text(""), 10**9), PartDelta(0, "c"), PartEnd(0)])
    assert [chunk["choices"][0]["index"] for chunk in chunks] == [0, 10**9, 10**9]


@pytest.mark.parametrize("numbers", [(200, 1), (0, -1), (3, 1), (2,)])
def test_each_choice_begins_once_and_ends_once(numbers: tuple[int, ...]) -> None:
    """Upstreams may leave out numbers, or send numbers that no request can ask for."""
    call = ToolCall("call_1", "f", "")
    events: list[Event] = [START, *[PartStart(place, call, number) for place, number in enumerate(numbers)]]
    events += [Finish(Stop("tool_calls"), None, number, number == numbers[-1]) for number in numbers]
    chunks, losses = _chunks(events)
    choices = [chunk["choices"][0] for chunk in chunks[:-1]]
    begun = [choice["index"] for choice in choices if choice["delta"] == ROLE]
    assert len(set(begun)) == len(begun) and {0, *numbers} <= set(begun)
    assert sorted(choice["index"] for choice in choices if choice["finish_reason"]) == sorted(begun)
    assert {code for code, _ in losses} == ({"answer.invented"} if set(begun) - set(numbers) else set())


def test_choices_that_only_end_begin_before_their_end() -> None:
    """The last answer has no part, and the upstream left out the answer before it."""
    chunks, losses = _chunks(
        [
            START,
            PartStart(0, Text("")),
            PartEnd(0),
            Finish(Stop("stop"), None, 0, False),
            Finish(Stop("content_filter"), answer=2),
        ]
    )
    found = [(chunk["choices"][0]["index"], chunk["choices"][0]["finish_reason"]) for chunk in chunks[:-1]]
    assert found == [(0, None), (0, "stop"), (1, None), (2, None), (1, "stop"), (2, "content_filter")]
    assert losses == [("answer.invented", "")]


@pytest.mark.parametrize(("requested", "sent"), [(True, True), (False, False), (None, False)])
def test_usage_is_sent_if_it_was_requested(requested: bool | None, sent: bool) -> None:
    request = Request((), settings=Settings(stream_usage=requested))
    chunks, _ = _chunks([START, Finish(Stop("stop"), Usage(3, 4))], answers=request)
    assert [chunk["choices"] for chunk in chunks[:-1]].count([]) == sent
    assert all(("usage" in chunk) == sent for chunk in chunks[:-1])
    assert [chunk["usage"] for chunk in chunks[:2] if "usage" in chunk] == [None] * (2 if sent else 0)


def test_thinking_and_refusals_have_their_own_fields() -> None:
    found = _deltas(
        PartStart(0, Reasoning()),
        PartDelta(0, "hm"),
        PartEnd(0),
        PartStart(1, Text("", True)),
        PartDelta(1, "no"),
        PartEnd(1),
    )
    assert found == ([{"reasoning_content": "hm"}, {"refusal": "no"}], [])


def test_calls_are_numbered() -> None:
    found = _deltas(
        PartStart(0, ToolCall("call_a", "f")),
        PartDelta(0, '{"x"'),
        PartDelta(0, ":1}"),
        PartEnd(0),
        PartStart(1, ToolCall("call_b", "p", custom=True)),
        PartDelta(1, "+x"),
        PartEnd(1),
    )
    assert found == (
        [
            {
                "tool_calls": [
                    {"index": 0, "id": "call_a", "type": "function", "function": {"name": "f", "arguments": ""}}
                ]
            },
            {"tool_calls": [{"index": 0, "function": {"arguments": '{"x"'}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]},
            {"tool_calls": [{"index": 1, "id": "call_b", "type": "custom", "custom": {"name": "p", "input": ""}}]},
            {"tool_calls": [{"index": 1, "custom": {"input": "+x"}}]},
        ],
        [],
    )


def test_a_call_without_arguments_has_an_empty_object() -> None:
    deltas, _ = _deltas(
        PartStart(0, ToolCall("a", "f")),
        PartDelta(0, ""),
        PartEnd(0),
        PartStart(1, ToolCall("b", "p", custom=True)),
        PartEnd(1),
    )
    assert deltas[1] == {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}
    assert len(deltas) == 3


@pytest.mark.parametrize(
    ("seal", "extra", "lost"),
    [
        (Seal("gemini", "s"), {"extra_content": {"google": {"thought_signature": "s"}}}, []),
        (Seal("anthropic", "s"), {}, [("seal.dropped", "/p")]),
    ],
)
def test_a_seal_on_a_call(seal: Seal, extra: dict[str, Any], lost: list[tuple[str, str]]) -> None:
    deltas, found = _deltas(PartStart(0, ToolCall("call_a", "f", seal=seal, at=("p",))), PartEnd(0))
    first = {"index": 0, "id": "call_a", "type": "function", "function": {"name": "f", "arguments": ""}}
    assert deltas[0] == {"tool_calls": [{**first, **extra}]}
    assert found == lost


def test_seals_without_a_place_are_losses() -> None:
    seal = Seal("gemini", "s")
    deltas, lost = _deltas(
        PartStart(0, Reasoning(seal=seal, at=("p", 0))),
        PartEnd(0),
        PartStart(1, Text("", at=("p", 1))),
        PartDelta(1, "a", seal),
        PartEnd(1),
    )
    assert deltas == [{"content": "a"}]
    assert lost == [("seal.dropped", "/p/0"), ("seal.dropped", "/p/1")]


def test_citations_are_annotations_of_their_answer() -> None:
    cited = (Citation("https://a", "A", "", 0, 2), Citation("", "no address"))
    events: list[Event] = [
        START,
        PartStart(0, Text("", at=("p",)), 1),
        PartDelta(0, "ok", None, cited),
        PartDelta(0, "", None, cited[1:]),
        PartEnd(0),
        Finish(Stop("stop"), None, 0, False),
        Finish(Stop("stop"), None, 1),
    ]
    chunks, lost = _chunks(events)
    where = {"start_index": 0, "end_index": 2, "url": "https://a", "title": "A"}
    assert chunks[2:4] == [
        _choice({"content": "ok"}, index=1),
        _choice({"annotations": [{"type": "url_citation", "url_citation": where}]}, index=1),
    ]
    assert lost == [("citation.dropped", "/p")]


@pytest.mark.parametrize(
    ("part", "deltas", "lost"),
    [
        (
            Media("video", "video/mp4", "aGk=", at=("p",)),
            [{"content": "[video/mp4 attached here could not be sent]"}],
            [("media.dropped", "/p")],
        ),
        (Opaque("anthropic", "server_tool_use", Raw(b"{}"), at=("p",)), [], [("hosted.dropped", "/p")]),
        (ToolResult("a", (Text("r"),), at=("p",)), [], [("hosted.dropped", "/p")]),
    ],
)
def test_parts_without_a_place_are_losses(part: Part, deltas: list[Any], lost: list[tuple[str, str]]) -> None:
    assert _deltas(PartStart(0, part), PartDelta(0, "ignored"), PartEnd(0)) == (deltas, lost)


def test_every_answer_has_its_role_and_its_finish() -> None:
    events: list[Event] = [
        START,
        PartStart(0, Text(""), 0),
        PartDelta(0, "a"),
        PartStart(1, ToolCall("c", "f"), 1),
        PartDelta(1, "{}"),
        PartEnd(0),
        PartEnd(1),
        Finish(Stop("stop"), None, 0, False),
        Finish(Stop("tool_calls"), None, 1, False),
        Finish(Stop("length"), Usage(1, 2), 2),
    ]
    chunks, _ = _chunks(events)
    assert [(c["choices"][0]["index"], c["choices"][0]["delta"].get("role")) for c in chunks[:-2]] == [
        (0, "assistant"),
        (0, None),
        (1, "assistant"),
        (1, None),
        (1, None),
        (0, None),
        (1, None),
        (2, "assistant"),
        (2, None),
    ]
    assert [c["choices"][0]["finish_reason"] for c in chunks[:-2]][-4:] == ["stop", "tool_calls", None, "length"]


@pytest.mark.parametrize(
    ("parts", "stop", "word", "lost"),
    [
        ((Text("no", True),), Stop("refusal"), "stop", []),
        ((Text("no"),), Stop("refusal"), "content_filter", [("stop.approximated", "")]),
        ((Text("a"),), Stop("pause"), "stop", [("stop.approximated", "")]),
    ],
)
def test_the_stop_reason_is_written(
    parts: tuple[Part, ...], stop: Stop, word: str, lost: list[tuple[str, str]]
) -> None:
    chunks, found = _chunks(unfold(Response(parts, stop, "c1", "m", 7)))
    assert chunks[-2]["choices"][0]["finish_reason"] == word
    assert found == lost


def test_unknown_values_are_given_by_the_caller_or_invented() -> None:
    chunks, lost = _chunks([Start(), Finish(Stop("stop"))], created=5, model="asked")
    assert {(chunk["id"], chunk["created"], chunk["model"]) for chunk in chunks[:-1]} == {
        (hashed(":5", "chatcmpl-"), 5, "asked")
    }
    assert lost == [("id.invented", "")]


def test_illegal_ids_and_names_are_replaced() -> None:
    deltas, lost = _deltas(PartStart(0, ToolCall("x" * 41, "get", namespace="crm", at=("p",))), PartEnd(0))
    assert deltas[0]["tool_calls"][0]["id"] == hashed("x" * 41)
    assert deltas[0]["tool_calls"][0]["function"]["name"] == "crm__get"
    assert lost == [("tool.namespace.prefixed", "/p"), ("call.id.rewritten", "/p")]


@pytest.mark.parametrize("before", [[], [START, PartStart(0, ToolCall("a", "f")), PartDelta(0, "{")]])
def test_a_fault_ends_the_stream_without_its_terminator(before: list[Event]) -> None:
    chunks, _ = _chunks([*before, Fault("overloaded", "later", 529)])
    assert chunks[-1] == {"error": {"message": "later", "type": "server_error", "param": None, "code": "overloaded"}}
    assert len(chunks) == (4 if before else 1)


RESPONSE = Response(
    (Reasoning("hm"), Text("ok"), ToolCall("call_a", "f", '{"x": 1.0}'), ToolCall("call_b", "p", "+x", True)),
    Stop("tool_calls"),
    "chatcmpl-1",
    "m",
    7,
    Usage(9, 8, 4, 2, 5),
    (Alternative((Text("two"), ToolCall("call_c", "g", "{}")), Stop("length")),),
)


def test_a_written_stream_is_read_back() -> None:
    written, lost = stream_of(unfold(RESPONSE))
    assert lost == []
    assert fold(unplaced(events_of(written)[0])) == RESPONSE
    assert fold(unplaced(events_of(written, 1)[0])) == RESPONSE
    assert stream_of(events_of(written)[0], CHAT)[0] == written
