"""Responses streams are read: any cut of the bytes gives the same events, in order and without repetition."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from dragoman.canon import (
    Citation,
    Event,
    Fault,
    Finish,
    HostedCall,
    HostedResult,
    Part,
    PartDelta,
    PartEnd,
    PartStart,
    Reasoning,
    Seal,
    Start,
    Stop,
    Text,
    ToolCall,
    Usage,
)
from dragoman.canon.parts import ELSEWHERE, Opaque
from dragoman.context import Context
from dragoman.dialects.openai_responses.stream_reader import StreamReader
from tests.unit.dialects.openai_responses.helpers import NAME, losses_of, new_context

RESPONSE = {"id": "resp_1", "object": "response", "created_at": 5, "model": "m", "status": "in_progress", "output": []}
CREATED = ("response.created", {"response": RESPONSE})
BEGIN: Event = Start("resp_1", "m", 5)

Step = tuple[str, dict[str, Any]]


def raw(*steps: Step, end: bool = True) -> bytes:
    """A stream: `response.created`, the steps, and by default an empty `response.completed`."""
    all_steps = [CREATED, *steps]
    if end:
        all_steps.append(("response.completed", {"response": {**RESPONSE, "status": "completed"}}))
    out = b""
    for number, (kind, fields) in enumerate(all_steps):
        data = msgspec.json.encode({"type": kind, "sequence_number": number, **fields})
        out += b"event: " + kind.encode() + b"\ndata: " + data + b"\n\n"
    return out


def events(stream: bytes, context: Context | None = None, size: int = 0) -> list[Event]:
    reader = StreamReader(context or new_context(target="anthropic"))
    out: list[Event] = []
    for start in range(0, len(stream), size or len(stream)):
        out += reader.feed(stream[start : start + (size or len(stream))])
    return out + reader.close()


def added(place: int, **item: Any) -> Step:
    return "response.output_item.added", {"output_index": place, "item": item}


def done(place: int, **item: Any) -> Step:
    return "response.output_item.done", {"output_index": place, "item": item}


def delta(kind: str, place: int, text: str, **more: Any) -> Step:
    return f"response.{kind}.delta", {"item_id": "i", "output_index": place, "delta": text, **more}


def message(place: int, text: str, *pieces: str) -> list[Step]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return [
        added(place, type="message", id="msg_1", role="assistant", status="in_progress", content=[]),
        ("response.content_part.added", {"output_index": place, "content_index": 0, "part": {**part, "text": ""}}),
        *[delta("output_text", place, piece, content_index=0) for piece in pieces],
        ("response.output_text.done", {"output_index": place, "content_index": 0, "text": text}),
        ("response.content_part.done", {"output_index": place, "content_index": 0, "part": part}),
        done(place, type="message", id="msg_1", role="assistant", status="completed", content=[part]),
    ]


def call(place: int, call_id: str = "c", arguments: str = '{"a":1}', **more: Any) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": f"fc_{place}",
        "call_id": call_id,
        "name": "f",
        "arguments": arguments,
        **more,
    }


def part_events(index: int, part: Any, *texts: str) -> list[Event]:
    return [PartStart(index, part), *[PartDelta(index, text) for text in texts], PartEnd(index)]


def text_at(place: int, inner: int = 0) -> Text:
    return Text("", at=("output", place, "content", inner))


STOP = Finish(Stop("stop"))
CALLED = Finish(Stop("tool_calls"))


def test_a_text() -> None:
    stream = raw(*message(0, "Hi there", "Hi", " there"))
    expected = [BEGIN, *part_events(0, text_at(0), "Hi", " there"), STOP]
    for size in (0, 1, 7, 100):
        assert events(stream, size=size) == expected
    assert events(stream.replace(b"\n", b"\r\n"), size=3) == expected


def test_a_text_that_only_its_done_event_has() -> None:
    assert events(raw(*message(0, "Hi"))) == [BEGIN, *part_events(0, text_at(0), "Hi"), STOP]
    assert events(raw(*message(0, "Hi there", "Hi"))) == [BEGIN, *part_events(0, text_at(0), "Hi", " there"), STOP]
    only_item = message(0, "Hi")[-1]
    assert events(raw(only_item)) == [BEGIN, *part_events(0, text_at(0), "Hi"), STOP]


def test_thinking_calls_and_usage() -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "a"}]}
    thought["summary"].append({"type": "summary_text", "text": "b"})  # type: ignore[attr-defined]
    usage = {"input_tokens": 3, "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": 1}}
    stream = raw(
        added(0, type="reasoning", id="rs_1", summary=[]),
        delta("reasoning_summary_text", 0, "a", summary_index=0),
        delta("reasoning_summary_text", 0, "b", summary_index=1),
        done(0, **thought, encrypted_content="gAAA"),
        added(1, **call(1, arguments="")),
        delta("function_call_arguments", 1, '{"a"'),
        delta("function_call_arguments", 1, ":1}"),
        ("response.function_call_arguments.done", {"output_index": 1, "arguments": '{"a":1}'}),
        done(1, **call(1)),
        added(2, type="custom_tool_call", call_id="p", name="patch", input=""),
        delta("custom_tool_call_input", 2, "free"),
        done(2, type="custom_tool_call", call_id="p", name="patch", input="free text"),
        ("response.completed", {"response": {**RESPONSE, "status": "completed", "usage": usage}}),
        end=False,
    )
    assert events(stream) == [
        BEGIN,
        PartStart(0, Reasoning(at=("output", 0))),
        PartDelta(0, "a"),
        PartDelta(0, "\n\n"),
        PartDelta(0, "b"),
        PartDelta(0, "", Seal(NAME, "gAAA")),
        PartEnd(0),
        *part_events(1, ToolCall("c", "f", at=("output", 1)), '{"a"', ":1}"),
        *part_events(2, ToolCall("p", "patch", "", True, at=("output", 2)), "free", " text"),
        Finish(Stop("tool_calls"), Usage(3, 2, reasoning=1)),
    ]


def test_raw_reasoning_and_reasoning_without_text() -> None:
    stream = raw(
        added(0, type="reasoning", id="rs_1", summary=[]),
        delta("reasoning_text", 0, "deep", content_index=0),
        done(0, type="reasoning", id="rs_1", summary=[], content=[{"type": "reasoning_text", "text": "deep"}]),
        added(1, type="reasoning", id="rs_2", summary=[]),
        done(1, type="reasoning", id="rs_2", summary=[]),
        added(2, type="reasoning", id="rs_3", summary=[]),
        done(2, type="reasoning", id="rs_3", summary=[], encrypted_content="gAAA"),
    )
    assert events(stream) == [
        BEGIN,
        *part_events(0, Reasoning(at=("output", 0)), "deep"),
        PartStart(1, Reasoning(at=("output", 2))),
        PartDelta(1, "", Seal(NAME, "gAAA")),
        PartEnd(1),
        STOP,
    ]


def test_overlapping_items_are_read_in_order() -> None:
    stream = raw(
        added(0, **call(0, "c0", "")),
        added(1, **call(1, "c1", "")),
        delta("function_call_arguments", 1, "{}"),
        delta("function_call_arguments", 0, '{"a"'),
        done(1, **call(1, "c1", "{}")),
        delta("function_call_arguments", 0, ":1}"),
        done(0, **call(0, "c0")),
    )
    assert events(stream) == [
        BEGIN,
        *part_events(0, ToolCall("c0", "f", at=("output", 0)), '{"a"', ":1}"),
        *part_events(1, ToolCall("c1", "f", at=("output", 1)), "{}"),
        CALLED,
    ]


def test_hosted_items_are_read_whole_and_delay_no_other_item() -> None:
    search = {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "q"},
    }
    listing = {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": []}
    context = new_context(target="anthropic")
    stream = raw(
        added(0, **listing),
        added(1, **{**search, "status": "in_progress"}),
        ("response.web_search_call.searching", {"output_index": 1, "item_id": "ws_1"}),
        done(1, **search),
        *message(2, "Hi", "Hi"),
        ("response.completed", {"response": {**RESPONSE, "status": "completed", "output": [listing]}}),
        end=False,
    )
    parts = [event.part for event in events(stream, context) if isinstance(event, PartStart)]
    # The list has no done event. The last event of the answer contains the list.
    assert parts[:-2] == [*searched(search, 1, '{"query":"q"}'), text_at(2)]
    assert [(part.kind, part.at) for part in parts[-2:] if isinstance(part, Opaque)] == [
        ("mcp_list_tools", ("output", 0))
    ] * 2
    assert losses_of(context) == []


def searched(item: dict[str, Any], place: int, arguments: str) -> tuple[Part, Part]:
    """The hosted call and the hosted result that one search item is read as."""
    at = ("output", place)
    value = Raw(msgspec.json.encode(item))
    return (
        HostedCall(NAME, "web_search_call", value, "web_search", item["id"], "web_search", arguments, at=at),
        HostedResult(NAME, "web_search_call", ELSEWHERE, "web_search", item["id"], at=at),
    )


def test_one_message_of_two_texts_with_citations() -> None:
    note = {"type": "url_citation", "url": "https://e.com", "title": "E", "start_index": 0, "end_index": 1}
    content = [
        {"type": "output_text", "text": "a", "annotations": [note, note]},
        {"type": "refusal", "refusal": "no"},
    ]
    stream = raw(
        added(0, type="message", id="msg_1", role="assistant", phase="final_answer", content=[]),
        delta("output_text", 0, "a", content_index=0),
        (
            "response.output_text.annotation.added",
            {"output_index": 0, "content_index": 0, "annotation_index": 0, "annotation": note},
        ),
        delta("refusal", 0, "no", content_index=1),
        done(0, type="message", id="msg_1", role="assistant", phase="final_answer", content=content),
    )
    context = new_context(target="anthropic")
    assert events(stream, context) == [
        BEGIN,
        PartStart(0, text_at(0)),
        PartDelta(0, "a"),
        PartDelta(0, "", None, (Citation("https://e.com", "E", "", 0, 1),)),
        PartEnd(0),
        PartStart(1, Text("", True, at=("output", 0, "content", 1))),
        PartDelta(1, "no"),
        PartEnd(1),
        Finish(Stop("refusal")),
    ]
    assert {name for _, fields in context.kept for name in fields} == {"id", "phase"}


def test_items_without_events_are_read_from_the_last_event() -> None:
    output = [call(0), {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "t"}]}]
    stream = raw(("response.completed", {"response": {**RESPONSE, "status": "completed", "output": output}}), end=False)
    assert events(stream) == [
        BEGIN,
        *part_events(0, ToolCall("c", "f", at=("output", 0)), '{"a":1}'),
        *part_events(1, text_at(1), "t"),
        CALLED,
    ]


def test_a_call_with_a_late_name_is_read_whole() -> None:
    stream = raw(
        added(0, type="function_call", call_id="c"), delta("function_call_arguments", 0, "{"), done(0, **call(0))
    )
    assert events(stream) == [BEGIN, *part_events(0, ToolCall("c", "f", at=("output", 0)), '{"a":1}'), CALLED]


def test_items_without_an_added_event() -> None:
    stream = raw(delta("output_text", 0, "Hi", content_index=0), delta("output_text", 0, "!", content_index=0))
    assert events(stream) == [BEGIN, *part_events(0, text_at(0), "Hi", "!"), STOP]


def test_an_incomplete_answer() -> None:
    end = {**RESPONSE, "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    stream = raw(
        added(0, **call(0, arguments="")),
        delta("function_call_arguments", 0, '{"a'),
        ("response.incomplete", {"response": end}),
        end=False,
    )
    assert events(stream) == [
        BEGIN,
        *part_events(0, ToolCall("c", "f", at=("output", 0)), '{"a'),
        Finish(Stop("length")),
    ]


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        (
            ("error", {"code": "rate_limit_exceeded", "message": "slow", "param": None}),
            Fault("rate_limit", "slow", 429, "rate_limit_exceeded"),
        ),
        (
            ("error", {"error": {"type": "invalid_request_error", "message": "bad", "code": None}}),
            Fault("invalid_request", "bad", 400),
        ),
        (
            ("response.failed", {"response": {"error": {"code": "server_error", "message": "oh"}}}),
            Fault("server", "oh", 500, "server_error"),
        ),
        (("response.cancelled", {"response": RESPONSE}), Fault("cancelled", "the response was cancelled", 499)),
    ],
)
def test_faults_end_the_stream(step: Step, fault: Fault) -> None:
    opened = added(0, **call(0, arguments=""))
    found = events(raw(opened, step))
    assert found == [BEGIN, PartStart(0, ToolCall("c", "f", at=("output", 0))), fault]


def test_cut_and_broken_streams_are_faults() -> None:
    whole = raw(*message(0, "Hi", "Hi"))
    cut = events(whole[: whole.index(b"event: response.completed")])
    assert isinstance(cut[-1], Fault)
    assert (cut[-1].kind, cut[-1].status) == ("upstream_bad", 502)
    for broken in (b"data: {\n\n", b"data: 7\n\n", b'data: {"type":"response.completed","response":7}\n\n'):
        found = events(raw(end=False) + broken + whole)
        assert found[0] == BEGIN
        assert isinstance(found[-1], Fault)
        assert found[-1].kind == "upstream_bad"
    assert [type(event) for event in events(b": nothing\n\n")] == [Fault]


def test_nothing_is_read_after_the_end() -> None:
    stream = raw(*message(0, "Hi", "Hi"))
    assert events(stream + b"data: [DONE]\n\n" + stream) == events(stream)


def test_the_type_may_be_only_in_the_event_line() -> None:
    data = msgspec.json.encode({"response": {**RESPONSE, "status": "completed"}})
    stream = b"event: response.created\ndata: " + data + b"\n\nevent: response.completed\ndata: " + data + b"\n\n"
    assert events(stream) == [BEGIN, STOP]


def test_within_the_dialect_the_fields_of_items_are_kept() -> None:
    found = events(raw(*message(0, "Hi", "Hi"), added(1, **call(1, arguments="")), done(1, **call(1))), new_context())
    ends = [event.extra for event in found if isinstance(event, PartEnd)]
    assert [sorted(extra[NAME]) if extra else [] for extra in ends] == [["item/id", "item/status"], ["id"]]


def test_overlapping_items_of_every_kind() -> None:
    search = {"type": "web_search_call", "id": "ws_1"}
    note = {"type": "url_citation", "url": "https://e.com", "title": "", "start_index": 0, "end_index": 1}
    text = {"type": "output_text", "text": "ab", "annotations": [note]}
    stream = raw(
        added(0, **call(0, "c0", "")),
        done(1, **search),
        done(2, **call(2, "c2", "{}")),
        delta("output_text", 3, "a", content_index=0),
        (
            "response.output_text.annotation.added",
            {"output_index": 3, "content_index": 0, "annotation_index": 0, "annotation": note},
        ),
        delta("output_text", 3, "b", content_index=0),
        delta("output_text", 3, "", content_index=0),
        done(3, type="message", role="assistant", content=[text]),
        delta("output_text", 3, "late", content_index=0),
        done(0, **call(0, "c0", "{}")),
        delta("output_text", 3, "too late", content_index=0),
        added(3, type="message", role="assistant", content=[]),
    )
    assert events(stream) == [
        BEGIN,
        *part_events(0, ToolCall("c0", "f", at=("output", 0)), "{}"),
        *part_events(1, searched(search, 1, "{}")[0]),
        *part_events(2, searched(search, 1, "{}")[1]),
        *part_events(3, ToolCall("c2", "f", at=("output", 2)), "{}"),
        PartStart(4, text_at(3)),
        PartDelta(4, "a"),
        PartDelta(4, "", None, (Citation("https://e.com", "", "", 0, 1),)),
        PartDelta(4, "b"),
        PartEnd(4),
        CALLED,
    ]


def test_a_call_that_begins_with_arguments() -> None:
    stream = raw(added(0, **call(0, arguments='{"a"')), done(0, **call(0)))
    assert events(stream) == [BEGIN, *part_events(0, ToolCall("c", "f", at=("output", 0)), '{"a"', ":1}"), CALLED]


def test_unknown_fields_of_events_are_reported_once() -> None:
    context = new_context(target="anthropic")
    pieces = [delta("output_text", 0, text, content_index=0, x=1) for text in ("a", "b")]
    assert events(raw(*pieces), context) == [BEGIN, *part_events(0, text_at(0), "a", "b"), STOP]
    assert context.kept == [((), {"x": Raw(b"1")})]


def test_a_stream_without_its_beginning() -> None:
    stream = raw(*message(0, "Hi", "Hi"))
    stream = stream[stream.index(b"event: response.output_item.added") :].rstrip(b"\n")
    assert events(stream) == [Start(), *part_events(0, text_at(0), "Hi"), STOP]


def test_two_texts_within_the_dialect() -> None:
    content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []} for text in ("a", "b")]
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    stream = raw(
        added(0, **{**item, "status": "in_progress", "content": []}),
        delta("output_text", 0, "a", content_index=0),
        ("response.content_part.done", {"output_index": 0, "content_index": 0, "part": content[0]}),
        delta("output_text", 0, "b", content_index=1),
        done(0, **item),
        ("response.completed", {"response": {**RESPONSE, "status": "completed", "output": [{**item, "x": 1}]}}),
        end=False,
    )
    ends = [event.extra for event in events(stream, new_context()) if isinstance(event, PartEnd)]
    assert [sorted((extra or {}).get(NAME, {})) for extra in ends] == [["item/status", "logprobs"], ["logprobs"]]


PROGRESS = ("response.in_progress", {"response": RESPONSE})


@pytest.mark.parametrize(
    ("step", "losses"),
    [
        (PROGRESS, []),
        (("response.in_progress", {"response": RESPONSE, "odd": 1}), [("field.dropped", "/odd")]),
        (("response.in_progress", {"odd": 1, "response": RESPONSE}), [("field.dropped", "/odd")]),
        (("response.in_progress", {"response": {**RESPONSE, "odd": 1}}), []),
        (("response.unheard_of", {"response": RESPONSE}), [("event.dropped", "")]),
    ],
)
def test_only_an_event_that_repeats_the_first_event_is_skipped(step: Step, losses: list[tuple[str, str]]) -> None:
    for steps in ([step], [PROGRESS, step]):
        context = new_context(target="anthropic")
        assert events(raw(*steps, *message(0, "Hi", "Hi")), context) == [BEGIN, *part_events(0, text_at(0), "Hi"), STOP]
        context.settle(frozenset({"id", "status"}))
        assert [loss for loss in losses_of(context) if "/output" not in loss[1]] == losses


@pytest.mark.parametrize(
    "name", ["response.created", "response.output_item.done", "response.completed", "response.unheard_of", ""]
)
def test_the_type_in_the_data_counts_and_not_the_event_name(name: str) -> None:
    stream = raw(*message(0, "Hi", "Hi"), ("response.output_item.added", {"output_index": 1, "item": call(1)}))
    frames = [frame.partition(b"\ndata: ") for frame in stream.split(b"\n\n")[:-1]]
    called = [b"event: %b\ndata: %b\n\n" % (name.encode(), data) for _, _, data in frames]
    assert events(b"".join(called)) == events(stream)
    assert [event for frame in called for event in events(frame)[:-1]][:1] == [BEGIN]


@pytest.mark.parametrize("value", [None, 5, [], "x"])
@pytest.mark.parametrize("kind", ["created", "output_item.added", "output_item.done", "completed"])
def test_an_item_or_response_of_a_wrong_type_is_handled(kind: str, value: Any) -> None:
    field = "item" if "item" in kind else "response"
    found = events(raw((f"response.{kind}", {field: value}), *message(1, "Hi", "Hi")))
    assert found[0] == BEGIN
    assert isinstance(found[-1], Fault | Finish)
