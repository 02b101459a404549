"""OpenRouter streams are read and written: comments, details in pieces, errors and the end."""

from __future__ import annotations

from typing import Any

from dragoman.canon.events import Fault, Finish, PartDelta, PartEnd, PartStart, Start
from dragoman.canon.fold_and_unfold import fold
from dragoman.canon.parts import Media, Opaque, Reasoning, Seal, Text, ToolCall
from dragoman.canon.response import Response, Stop, Usage
from dragoman.codec import json_text, packed_seals
from tests.unit.dialects.openai_chat.helpers import unplaced
from tests.unit.dialects.openrouter.helpers import CHAT, DONE, ENCRYPTED, NAME, chunk, send, stream

COMMENT = b": OPENROUTER PROCESSING\n\n"
FORMAT = {"format": "anthropic-claude-v1", "index": 0}


def text_detail(**fields: Any) -> dict[str, Any]:
    return {"type": "reasoning.text", **fields, **FORMAT}


THINKING = (
    COMMENT,
    chunk({"role": "assistant", "content": "", "reasoning": "Ne", "reasoning_details": [text_detail(text="Ne")]}),
    COMMENT,
    chunk({"content": "", "reasoning": "ed", "reasoning_details": [text_detail(text="ed")]}),
    chunk({"content": "", "reasoning_details": [text_detail(signature="c2ln")]}),
    chunk({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}),
    chunk({"content": ""}, "tool_calls"),
    chunk({"content": ""}, "tool_calls", usage={"prompt_tokens": 3, "completion_tokens": 9, "total_tokens": 12}),
    DONE,
)
WHOLE = Seal(
    NAME,
    '{"type":"reasoning.text","text":"Need","format":"anthropic-claude-v1","index":0,"signature":"c2ln"}',
    "reasoning.text",
)


def test_the_deltas_of_a_detail_are_one_thought_with_the_detail_as_seal() -> None:
    events, _ = stream(*THINKING)
    assert unplaced(events) == [
        Start("gen-1", "m", 1),
        PartStart(0, Reasoning()),
        PartDelta(0, "Ne"),
        PartDelta(0, "ed"),
        PartDelta(0, "", WHOLE),
        PartEnd(0),
        PartStart(1, ToolCall("c1", "f")),
        PartDelta(1, "{}"),
        PartEnd(1),
        Finish(Stop("tool_calls"), Usage(3, 9)),
    ]


def test_any_chunking_gives_the_same_events() -> None:
    whole, _ = stream(*THINKING)
    raw = b"".join(THINKING)
    for size in (1, 7, 100):
        assert stream(*[raw[i : i + size] for i in range(0, len(raw), size)])[0] == whole


def test_a_stream_survives_a_round_trip() -> None:
    events, _ = stream(*THINKING)
    frames, lost = send(events, source=NAME)
    assert lost == []
    assert frames[-1] == "[DONE]"
    raw = [
        b"data: " + (json_text.encode(frame) if isinstance(frame, dict) else frame.encode()) + b"\n\n"
        for frame in frames
    ]
    assert fold(stream(*raw)[0]) == fold(events)


def test_another_type_or_index_is_another_detail() -> None:
    other = {"type": "reasoning.summary", "summary": "S", "index": 0}
    more = {"type": "reasoning.summary", "summary": "T", "index": 1}
    events, _ = stream(
        chunk({"reasoning_details": [text_detail(text="a"), other, more, ENCRYPTED]}), chunk({}, "stop"), DONE
    )
    answer = fold(events)
    assert isinstance(answer, Response)
    assert [(part.text, part.seal.kind) for part in answer.parts if isinstance(part, Reasoning) and part.seal] == [
        ("a", "reasoning.text"),
        ("S", "reasoning.summary"),
        ("T", "reasoning.summary"),
        ("", "reasoning.encrypted"),
    ]


def test_a_detail_within_a_call_is_read_after_the_call() -> None:
    piece = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":'}}
    rest = {"index": 0, "function": {"arguments": "1}"}}
    frames = (chunk({"tool_calls": [piece]}), chunk({"reasoning_details": [ENCRYPTED]}), chunk({"tool_calls": [rest]}))
    answer = fold(unplaced(stream(*frames, chunk({}, "tool_calls"), DONE)[0]))
    assert isinstance(answer, Response)
    assert [type(part) for part in answer.parts] == [ToolCall, Reasoning]
    assert answer.parts[0] == ToolCall("c1", "f", '{"a":1}')


def test_reasoning_without_details_is_a_thought_without_a_seal() -> None:
    frames = (chunk({"reasoning": "Hm"}), chunk({"reasoning": "m"}), chunk({"content": "a"}, "stop"), DONE)
    answer = fold(unplaced(stream(*frames)[0]))
    assert isinstance(answer, Response)
    assert answer.parts == (Reasoning("Hmm"), Text("a"))


def test_images_and_unknown_details_are_read_whole() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    answer = fold(
        stream(chunk({"reasoning_details": [{"type": "x"}], "images": [picture]}), chunk({}, "stop"), DONE)[0]
    )
    assert isinstance(answer, Response)
    assert [type(part) for part in answer.parts] == [Opaque, Media]


def test_an_error_chunk_ends_the_stream() -> None:
    error = {"code": 502, "message": "gone", "metadata": {"error_type": "provider_unavailable"}}
    events, _ = stream(
        chunk({"content": "par"}), chunk({"content": ""}, "error", error=error), chunk({"content": "x"}), DONE
    )
    assert isinstance(events[-1], Fault)
    assert (events[-1].kind, events[-1].message, events[-1].status) == ("upstream_bad", "gone", 502)
    assert [type(event) for event in events] == [Start, PartStart, PartDelta, Fault]


def test_a_call_cut_by_the_limit_ends_with_length() -> None:
    piece = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a'}}
    events, _ = stream(chunk({"tool_calls": [piece]}), chunk({}, "tool_calls", native="length"), DONE)
    assert isinstance(events[-1], Finish)
    assert events[-1].stop.reason == "length"


def test_fields_of_openrouter_are_reported_once() -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2, "cost": 0.1, "is_byok": False}
    frames = [chunk({"content": "a"}, provider="P", x=1)] * 3
    for target in ("anthropic", CHAT):
        _, lost = stream(*frames, chunk({}, "stop", native="end", usage=usage), DONE, target=target)
        assert sorted(lost) == [
            ("field.dropped", "/choices/0/native_finish_reason"),
            ("field.dropped", "/provider"),
            ("field.dropped", "/usage/cost"),
            ("field.dropped", "/usage/is_byok"),
            ("field.dropped", "/x"),
        ]


def test_a_foreign_thought_is_written_in_both_fields_with_its_seal_last() -> None:
    seal = Seal("anthropic", "sig")
    events = [
        Start("i", "m", 1),
        PartStart(0, Reasoning()),
        PartDelta(0, "Need"),
        PartDelta(0, "", seal),
        PartEnd(0),
        PartStart(1, ToolCall("c1", "f", seal=Seal("gemini", "g3"))),
        PartDelta(1, "{}"),
        PartEnd(1),
        Finish(Stop("tool_calls"), Usage(3, 9)),
    ]
    frames, lost = send(events)
    deltas = [frame["choices"][0]["delta"] for frame in frames[:-1]]
    shape = {"type": "reasoning.text", "id": "dragoman-0", "format": "unknown", "index": 0}
    on_call = {"type": "reasoning.encrypted", "data": packed_seals.pack(Seal("gemini", "g3")), "id": "call__c1"}
    assert deltas[1:4] == [
        {"reasoning": "Need", "reasoning_details": [{**shape, "text": "Need"}]},
        {"reasoning_details": [{**shape, "signature": packed_seals.pack(seal)}]},
        {"reasoning_details": [{**on_call, "format": "unknown", "index": 1}]},
    ]
    assert frames[-2]["usage"] == {"prompt_tokens": 3, "completion_tokens": 9, "total_tokens": 12}
    assert frames[-2]["choices"][0]["finish_reason"] == "tool_calls"
    assert (frames[-1], lost) == ("[DONE]", [])


def test_a_custom_call_is_wrapped_piece_by_piece() -> None:
    events = [
        Start("i", "m", 1),
        PartStart(0, ToolCall("c1", "f", custom=True)),
        PartDelta(0, 'a "b"\n'),
        PartDelta(0, "c"),
        PartEnd(0),
        Finish(Stop("tool_calls")),
    ]
    frames, lost = send(events)
    calls = [call for frame in frames[:-1] for call in frame["choices"][0]["delta"].get("tool_calls", ())]
    assert json_text.decode("".join([call["function"]["arguments"] for call in calls])) == {"input": 'a "b"\nc'}
    assert lost == [("call.custom.wrapped", "")]


def test_a_fault_is_written_in_the_last_chunk() -> None:
    for events in ([Start("i", "m", 1), PartStart(0, Text("")), PartDelta(0, "a")], []):
        frames, _ = send([*events, Fault("rate_limit", "slow", 429)])
        last = frames[-1]
        assert last["error"] == {"code": 429, "message": "slow", "metadata": {"error_type": "rate_limit_exceeded"}}
        assert last["choices"][0]["finish_reason"] == "error"
        assert {"id", "object", "created", "model"} <= last.keys()


def test_details_with_line_ends_in_their_json_do_not_break_the_frame() -> None:
    seal = Seal(NAME, '{"type":\n"reasoning.encrypted",\r\n"data":"x"}', "reasoning.encrypted")
    frames, _ = send([Start("i", "m", 1), PartStart(0, Reasoning(seal=seal)), PartEnd(0), Finish(Stop("stop"))])
    assert frames[1]["choices"][0]["delta"]["reasoning_details"] == [{"type": "reasoning.encrypted", "data": "x"}]
