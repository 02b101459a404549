"""Tests of the stream grammars: real streams and the transcripts are legal, each broken rule is one finding."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.oracles import exchanges, grammar, rejected_recordings, transcripts
from tests.oracles.event_stream_reader import frames
from tests.oracles.transcripts import Event

Json = Any
Change = Callable[[list[Event]], object]


@pytest.mark.parametrize("dialect", exchanges.DIALECTS)
def test_real_streams_are_legal(dialect: str) -> None:
    streams = {record.id: record.raw for record in exchanges.streams(dialect) if record.real}
    if dialect == "gemini":
        arrays = [record for record in exchanges.records(dialect) if record.real and record.framing == "json-array"]
        streams |= {record.id: json.dumps(record.response).encode() for record in arrays}
    refused = {name for name, raw in streams.items() if grammar.check_stream(dialect, raw)}
    assert len(streams) >= exchanges.least(40, 3)
    assert exchanges.surprises(refused, rejected_recordings.rejected(dialect, "stream")) == []


def test_transcripts_of_the_pages_are_legal() -> None:
    found = {
        (dialect, scenario): grammar.check_stream(
            _judged(dialect), transcripts.raw(transcripts.events(dialect, scenario))
        )
        for dialect, scenario in transcripts.scenarios()
    }
    # The page's transcript of calls in pieces shows the pieces only.
    assert found.pop(("vertex", "partial-args")) == ["end: the last chunk has no usageMetadata"]
    assert len(found) == 15
    assert {key: value for key, value in found.items() if value} == {}


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "anthropic", "gemini", "ollama", "code-assist"])
def test_transcripts_are_those_of_the_protocol_pages(name: str) -> None:
    text = (exchanges.require_shared("protocols") / f"{name}.md").read_text(encoding="utf-8")
    ours = transcripts.fences(transcripts.page())
    assert {key: ours.get(key) for key in transcripts.fences(text)} == transcripts.fences(text)


def _judged(dialect: str) -> str:
    return "gemini" if dialect == "vertex" else dialect


def put(place: int, path: str, value: Json) -> Change:
    """Set one field of the event at a place; a path is keys and indexes joined by dots."""

    def change(events: list[Event]) -> None:
        *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        holder = events[place][1]
        for step in steps:
            holder = holder[step]
        holder[last] = value

    return change


def drop(place: int) -> Change:
    return lambda events: events.pop(place)


def twice(place: int) -> Change:
    return lambda events: events.insert(place, events[place])


def swap(one: int, other: int) -> Change:
    def change(events: list[Event]) -> None:
        events[one], events[other] = events[other], events[one]

    return change


def add(place: int, data: Json, name: str | None = None) -> Change:
    return lambda events: events.insert(place, (name, data))


def both(*changes: Change) -> Change:
    def change(events: list[Event]) -> None:
        for one in changes:
            one(events)

    return change


def renamed(place: int, name: str | None) -> Change:
    def change(events: list[Event]) -> None:
        events[place] = (name, events[place][1])

    return change


def _error(dialect: str) -> Event:
    return {
        "anthropic": ("error", {"type": "error", "error": {"type": "api_error", "message": "m"}}),
        "openai-chat": (None, {"error": {"message": "m", "type": "server_error", "param": None, "code": None}}),
        "openai-responses": (
            "error",
            {"type": "error", "code": "server_error", "message": "m", "param": None, "sequence_number": 3},
        ),
        "gemini": (None, {"error": {"code": 503, "message": "m", "status": "UNAVAILABLE"}}),
    }[dialect]


TEXT_BLOCK = {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}
SIGNATURE = {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "x"}}
MORE_THOUGHT = {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "x"}}
ANTHROPIC: list[tuple[str, Change, str]] = [
    ("text", drop(0), "before message_start"),
    ("text", twice(0), "a second message_start"),
    ("text", put(0, "message.content", [{"type": "text", "text": "a"}]), "content is not empty"),
    ("text", put(0, "message.stop_reason", "end_turn"), "stop_reason is not null"),
    ("text", put(1, "index", 1), "block index 1, expected 0"),
    ("text", put(2, "index", 1), "delta for block 1, which is not open"),
    ("text", put(3, "index", 1), "stop of block 1, which is not open"),
    ("text", swap(2, 3), "delta for block 0, which is not open"),
    ("text", add(2, TEXT_BLOCK, "content_block_start"), "block 1 starts inside block 0"),
    ("text", drop(3), "message_delta inside block 0"),
    ("text", both(drop(3), drop(3)), "message_stop inside block 0"),
    ("text", drop(4), "message_stop without message_delta"),
    ("text", put(4, "delta.stop_reason", None), "no message_delta gave a stop_reason"),
    ("text", put(4, "delta.stop_reason", "tool_use"), "tool_use without a tool_use block"),
    ("text", swap(1, 4), "block 0 starts after message_delta"),
    ("text", drop(5), "neither message_stop nor error"),
    ("text", twice(5), "message_stop after message_stop"),
    ("text", add(6, {"type": "ping"}, "ping"), "ping after message_stop"),
    ("text", put(2, "delta", {"type": "input_json_delta", "partial_json": "{}"}), "input_json_delta in a text block"),
    ("text", renamed(2, "content_block_start"), "event line 'content_block_start'"),
    ("text", renamed(2, None), "event line None"),
    ("text", add(1, {"type": "message_pause"}, "message_pause"), "unknown event 'message_pause'"),
    ("one-tool", put(3, "delta.partial_json", '{"x":'), "ANT-S03 input of block 0"),
    ("one-tool", put(3, "delta.partial_json", "[1]"), "a JSON list, not an object"),
    ("one-tool", put(1, "content_block.input", {"x": 1}), "an input that is not empty"),
    ("one-tool", put(1, "content_block.id", "a.b"), "characters outside"),
    ("one-tool", put(2, "delta", {"type": "text_delta", "text": "a"}), "text_delta in a tool_use block"),
    ("two-tools", put(4, "content_block.id", "toolu_a"), "used twice"),
    ("two-tools", both(put(4, "index", 0), put(5, "index", 0), put(6, "index", 0)), "block index 0, expected 1"),
    ("thinking-tool", add(4, SIGNATURE, "content_block_delta"), "signature_delta after the signature"),
    ("thinking-tool", add(4, MORE_THOUGHT, "content_block_delta"), "thinking_delta after the signature"),
    ("thinking-tool", put(6, "delta", SIGNATURE["delta"]), "signature_delta in a tool_use block"),
]
EXTRA_CHOICE = {"index": 0, "delta": {"content": "x"}, "finish_reason": None}
CHAT: list[tuple[str, Change, str]] = [
    ("text", put(0, "choices.0.delta", {"content": ""}), "first delta of choice 0 has role None"),
    ("text", put(1, "choices.0.delta.role", "user"), "role changes to 'user'"),
    ("text", put(1, "choices.0.index", 2), "choice index 2, expected 1"),
    ("text", put(1, "id", "c9"), "id changes"),
    ("text", put(1, "model", "n"), "model changes"),
    ("text", put(1, "created", 2), "created changes"),
    ("text", drop(2), "choice 0 has no finish_reason"),
    ("text", twice(2), "goes on after its finish_reason"),
    ("text", swap(1, 2), "goes on after its finish_reason"),
    ("text", put(3, "choices", [EXTRA_CHOICE]), "the usage chunk has choices"),
    ("text", swap(2, 3), "a chunk after the usage chunk"),
    ("text", put(1, "choices", []), "neither choices nor usage"),
    ("text", drop(4), "neither [DONE] nor an error"),
    ("text", twice(4), "[DONE] after [DONE]"),
    ("text", swap(3, 4), "a payload after [DONE]"),
    ("text", add(4, {"error": {"message": "m", "type": "t", "param": None, "code": None}}), "[DONE] after an error"),
    ("text", renamed(1, "chunk"), "an event line"),
    ("text", put(2, "choices.0.finish_reason", "tool_calls"), "finishes with tool_calls and has none"),
    ("one-tool", put(0, "choices.0.delta.tool_calls.0.id", None), "first delta of tool call 0 has no id"),
    ("one-tool", put(0, "choices.0.delta.tool_calls.0.function.name", None), "first delta of tool call 0 has no name"),
    ("one-tool", put(1, "choices.0.delta.tool_calls.0.id", "call_z"), "id of tool call 0 changes to 'call_z'"),
    ("one-tool", put(1, "choices.0.delta.tool_calls.0.function.name", "g"), "name of tool call 0 changes to 'g'"),
    ("one-tool", drop(2), "arguments of tool call 0 of choice 0"),
    ("one-tool", both(drop(1), drop(1)), "arguments of tool call 0 of choice 0"),
    ("two-tools", put(2, "choices.0.delta.tool_calls.0.index", 2), "tool call index 2, expected 1"),
    ("two-tools", put(2, "choices.0.delta.tool_calls.0.id", "call_a"), "'call_a' used twice"),
    ("text", both(*[drop(0)] * 4), "no choice at all"),
    (
        "text",
        put(1, "choices.0.delta", {"function_call": {"name": "f", "arguments": "["}}),
        "arguments of function_call",
    ),
    ("text", add(1, "[]"), "the payload is not an object"),
    ("text", add(1, "{"), "not JSON"),
]
ANNOTATED = {
    "type": "response.output_text.annotation.added",
    "sequence_number": 4,
    "item_id": "msg_1",
    "output_index": 0,
    "content_index": 0,
    "annotation_index": 1,
    "annotation": {"type": "file_path", "file_id": "file_1", "index": 0},
}
RESPONSES: list[tuple[str, Change, str]] = [
    ("text", put(4, "sequence_number", 9), "sequence_number 9, expected 4"),
    ("text", drop(0), "before response.created"),
    ("text", twice(0), "a second response.created"),
    ("text", put(1, "response.id", "resp_2"), "response id changes"),
    ("text", put(8, "response.id", "resp_2"), "response id changes"),
    ("text", put(8, "response.created_at", 2), "response created_at changes"),
    ("text", put(8, "response.status", "in_progress"), "response.completed with status 'in_progress'"),
    ("text", put(0, "response.status", "completed"), "response.created with status 'completed'"),
    ("text", put(0, "response.output", [{"type": "message"}]), "response.created with output"),
    ("text", put(2, "output_index", 1), "output_index 1, expected 0"),
    ("text", put(2, "item.content", [{"type": "output_text", "text": "a"}]), "has content already"),
    ("text", put(3, "content_index", 1), "content_index 1, expected 0"),
    ("text", drop(3), "for part 0, which is not open"),
    ("text", put(4, "delta", "Ha"), "response.output_text.done is not its deltas joined"),
    ("text", put(4, "item_id", "msg_2"), "item_id 'msg_2', output 0 is 'msg_1'"),
    ("text", put(4, "output_index", 3), "for output 3, which was never added"),
    ("text", drop(5), "part 0 is done without response.output_text.done"),
    ("text", put(6, "part.text", "Ha"), "part 0 differs from response.output_text.done"),
    ("text", drop(6), "content part 0 was added and never done"),
    ("text", put(7, "item.content.0.text", "Ha"), "content of the done item is not the parts streamed"),
    ("text", put(7, "item.id", "msg_2"), "output 0 was added as"),
    ("text", put(6, "part.annotations", [{"type": "url_citation"}]), "annotations other than those added"),
    ("text", drop(7), "output 0 was added and never done"),
    ("text", put(8, "response.output", []), "has 0 items, 1 were streamed"),
    ("text", put(8, "response.output", [{"id": "msg_1"}]), "differs from its done event"),
    ("text", swap(5, 7), "which is done"),
    ("text", swap(4, 5), "response.output_text.delta after its done"),
    ("text", add(4, ANNOTATED, "response.output_text.annotation.added"), "annotation_index 1, expected 0"),
    ("text", twice(6), "response.content_part.done for part 0, which is not open"),
    ("text", both(put(8, "type", "response.incomplete"), put(8, "response.status", "incomplete")), "without a reason"),
    ("text", add(1, "{}"), '"type" is a required property'),
    ("text", drop(8), "no terminal event"),
    ("text", twice(8), "response.completed after response.completed"),
    ("text", add(9, "[DONE]"), "[DONE]; this dialect has none"),
    ("text", renamed(4, "response.output_text.done"), "event line 'response.output_text.done'"),
    ("text", renamed(4, None), "event line None"),
    ("one-tool", put(1, "item.arguments", "{}"), "has arguments already"),
    ("one-tool", put(2, "delta", "{}"), "function_call_arguments.done is not its deltas joined"),
    ("one-tool", put(4, "item.arguments", "{}"), "arguments of the done item is not what was streamed"),
    ("one-tool", drop(3), "has deltas and no done"),
    ("one-tool", both(drop(2), drop(2)), "a function_call without function_call_arguments.done"),
    (
        "one-tool",
        both(*[put(n, f, "[") for n, f in ((2, "delta"), (3, "arguments"), (4, "item.arguments"))]),
        "not JSON",
    ),
    ("two-tools", put(8, "item.call_id", "call_a"), "call_id 'call_a' used twice"),
    ("two-tools", put(5, "item.id", "fc_1"), "item id 'fc_1' used twice"),
    ("two-tools", put(6, "output_index", 0), "for output 0, which is done"),
    ("thinking-tool", put(3, "delta", "x"), "reasoning_summary_text.done is not its deltas joined"),
    ("thinking-tool", put(2, "summary_index", 1), "summary_index 1, expected 0"),
    ("thinking-tool", drop(5), "summary part 0 was added and never done"),
    ("thinking-tool", put(6, "item.summary", []), "summary of the done item is not the parts streamed"),
    (
        "thinking-tool",
        put(8, "type", "response.custom_tool_call_input.delta"),
        "custom_tool_call_input.delta for a function_call",
    ),
]
GEMINI: list[tuple[str, Change, str]] = [
    ("text", put(0, "candidates.0.finishReason", "STOP"), "goes on after its finishReason"),
    ("text", drop(1), "candidate 0 has no finishReason"),
    ("text", lambda events: events[1][1].pop("usageMetadata"), "the last chunk has no usageMetadata"),
    ("text", put(1, "modelVersion", "n"), "modelVersion changes"),
    ("text", put(1, "responseId", "r9"), "responseId changes"),
    ("text", put(0, "candidates.0.index", 1), "candidate index 1, expected 0"),
    ("text", put(0, "candidates.0.content.role", "assistant"), "has role 'assistant'"),
    ("text", put(0, "candidates.0.content.parts.0.functionCall", {"name": "f"}), "exactly one data field expected"),
    ("text", put(0, "candidates.0.content.parts.0", {"thought": True}), "exactly one data field expected"),
    ("text", add(2, "[DONE]"), "[DONE]; this dialect has none"),
    ("text", renamed(0, "message"), "an event line"),
    ("text", lambda events: events.clear(), "no chunk at all"),
    ("text", both(put(0, "candidates", []), put(1, "candidates", [])), "neither a candidate nor a blocked prompt"),
    ("partial-args", drop(0), "a piece of a call without its start"),
    (
        "partial-args",
        put(1, "candidates.0.content.parts.0.functionCall.partialArgs.0.jsonPath", "city"),
        "does not start with $",
    ),
    ("partial-args", put(3, "candidates.0.content.parts", []), "is never closed"),
    ("partial-args", put(1, "candidates.0.content.parts.0", {"text": "a"}), "another part inside a call"),
    ("partial-args", put(1, "candidates.0.content.parts.0.functionCall.name", "g"), "a call starts inside a call"),
]
BROKEN = [
    (dialect, *row)
    for dialect, rows in (
        ("anthropic", ANTHROPIC),
        ("openai-chat", CHAT),
        ("openai-responses", RESPONSES),
        ("gemini", GEMINI),
    )
    for row in rows
]


@pytest.mark.parametrize(
    ("dialect", "scenario", "change", "text_of_finding"), BROKEN, ids=[f"{row[0]}-{row[1]}-{row[3]}" for row in BROKEN]
)
def test_a_broken_rule_is_a_finding(dialect: str, scenario: str, change: Change, text_of_finding: str) -> None:
    events = transcripts.events("vertex" if scenario == "partial-args" else dialect, scenario)
    change(events)
    found = grammar.check_stream(dialect, transcripts.raw(events))
    assert [line for line in found if text_of_finding in line], found


@pytest.mark.parametrize("dialect", exchanges.DIALECTS)
def test_a_stream_may_end_with_a_fault_and_nothing_after_it(dialect: str) -> None:
    events = transcripts.events(dialect, "thinking-tool" if dialect == "openai-responses" else "text")
    kept = {"openai-responses": 3, "gemini": 1}.get(dialect, 2)
    cut = [*events[:kept], _error(dialect)]
    assert grammar.check_stream(dialect, transcripts.raw(cut)) == []
    assert grammar.check_stream(dialect, transcripts.raw([*cut, events[kept]]))
    assert grammar.check_stream(dialect, transcripts.raw(events[:kept]))


@pytest.mark.parametrize("dialect", exchanges.DIALECTS)
def test_the_framing_itself_is_judged(dialect: str) -> None:
    raw = transcripts.raw(transcripts.events(dialect, "text"))
    assert grammar.check_stream(dialect, raw.replace(b"\n", b"\r\n")) == []
    assert grammar.check_stream(dialect, b": comment\n\n" + raw) == []
    assert "end: the last frame has no blank line after it" in grammar.check_stream(dialect, raw[:-1])
    assert "end: the last line is not terminated" in grammar.check_stream(dialect, raw[:-2])
    assert grammar.check_stream(dialect, raw.replace(b"data:", b"date:", 1))
    assert grammar.check_stream(dialect, raw.replace(b"{", b"{{", 1))


def test_a_failed_response_may_leave_items_open() -> None:
    events = transcripts.events("openai-responses", "text")[:5]
    error = {"code": "server_error", "message": "m"}
    failed = {**events[0][1]["response"], "status": "failed", "error": error}
    events.append(("response.failed", {"type": "response.failed", "sequence_number": 5, "response": failed}))
    assert grammar.check_stream("openai-responses", transcripts.raw(events)) == []
    failed.pop("error")
    assert grammar.check_stream("openai-responses", transcripts.raw(events)) == [
        "event 5: response.failed without an error"
    ]


def test_a_call_cut_by_the_token_limit_is_legal() -> None:
    chat = transcripts.events("openai-chat", "one-tool")
    both(drop(2), put(-2, "choices.0.finish_reason", "length"))(chat)
    assert grammar.check_stream("openai-chat", transcripts.raw(chat)) == []
    messages = transcripts.events("anthropic", "one-tool")
    both(put(3, "delta.partial_json", '{"x":'), put(5, "delta.stop_reason", "max_tokens"))(messages)
    assert grammar.check_stream("anthropic", transcripts.raw(messages)) == []


def test_an_annotation_belongs_to_the_part_it_was_added_to() -> None:
    events = transcripts.events("openai-responses", "text")
    events.insert(5, ("response.output_text.annotation.added", {**ANNOTATED, "annotation_index": 0}))
    for place, (_, event) in enumerate(events):
        event["sequence_number"] = place
    noted = [ANNOTATED["annotation"]]
    both(put(7, "part.annotations", noted), put(8, "item.content.0.annotations", noted))(events)
    assert grammar.check_stream("openai-responses", transcripts.raw(events)) == []


def test_bytes_that_are_not_utf8_are_a_finding() -> None:
    raw = transcripts.raw(transcripts.events("openai-chat", "text"))
    assert "line 3: not UTF-8" in grammar.check_stream("openai-chat", raw.replace(b"Hi", b"\xff"))


def test_reasoning_fields_of_compatible_servers_are_legal_only_with_extensions() -> None:
    events = transcripts.events("openai-chat", "text")
    put(0, "choices.0.delta.reasoning_content", "hm")(events)
    assert grammar.check_stream("openai-chat", transcripts.raw(events))
    assert grammar.check_stream("openai-chat", transcripts.raw(events), extensions=True) == []


def test_custom_calls_need_no_json() -> None:
    events = transcripts.events("openai-chat", "one-tool")
    call = {"index": 0, "id": "call_a", "type": "custom", "custom": {"name": "f", "input": ""}}
    put(0, "choices.0.delta.tool_calls", [call])(events)
    put(1, "choices.0.delta.tool_calls", [{"index": 0, "custom": {"input": "free text"}}])(events)
    events.pop(2)
    assert grammar.check_stream("openai-chat", transcripts.raw(events)) == []


def test_a_blocked_prompt_is_a_whole_gemini_stream() -> None:
    chunk = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 1}}
    assert grammar.check_stream("gemini", transcripts.raw([(None, chunk)])) == []


def test_a_gemini_stream_may_be_one_json_array() -> None:
    chunks = [chunk for _, chunk in transcripts.events("gemini", "text")]
    assert grammar.check_stream("gemini", json.dumps(chunks).encode()) == []
    assert grammar.check_stream("gemini", json.dumps(chunks[:1]).encode())
    assert grammar.check_stream("gemini", json.dumps(chunks).encode()[:-1])


def test_frames_join_data_lines_and_reset_event_names() -> None:
    found: list[str] = []
    raw = b"event: a\ndata: 1\ndata: 2\n\ndata:3\r\n\r\n: note\nid: 7\nretry: 1\ndata:  4\r\r"
    assert [(frame.name, frame.data) for frame in frames(raw, found)] == [("a", "1\n2"), (None, "3"), (None, " 4")]
    assert found == []
