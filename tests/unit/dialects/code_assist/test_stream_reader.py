"""Code Assist streams: each frame is one wrapped chunk."""

from __future__ import annotations

from typing import Any

import dragoman
from dragoman.canon.events import Fault, Finish, PartDelta, PartEnd, PartStart, Start
from dragoman.canon.parts import Seal, Text, ToolCall
from dragoman.canon.response import Stop, Usage
from dragoman.context import Context
from dragoman.dialects.code_assist import DIALECT

from .helpers import NAME, SEAL, chunks, frames, read_stream, write_stream

USAGE = {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7}


def chunk(*parts: Any, finish: str = "", **fields: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [{**candidate, "index": 0}], **fields}


TEXT = chunk({"text": "Hi"}, modelVersion="m")
CALL = chunk(
    {"functionCall": {"id": "a1", "name": "f", "args": {}}, "thoughtSignature": SEAL},
    finish="STOP",
    usageMetadata=USAGE,
    modelVersion="m",
)
STREAM = frames({"response": TEXT, "traceId": "t1"}, {"response": CALL, "traceId": "t1"})
EVENTS = [
    Start("t1", "m"),
    PartStart(0, Text("")),
    PartDelta(0, "Hi"),
    PartEnd(0),
    PartStart(1, ToolCall("a1", "f", seal=Seal("gemini", SEAL), at=("candidates", 0, "content", "parts", 1))),
    PartDelta(1, "{}"),
    PartEnd(1),
    Finish(Stop("tool_calls"), Usage(3, 4)),
]


def test_chunks_are_read_out_of_their_envelopes() -> None:
    assert read_stream(STREAM) == (EVENTS, [])


def test_other_fields_of_the_envelope_are_reported_once() -> None:
    credits = [{"creditType": "X", "creditAmount": "1"}]
    first = {"response": {**TEXT, "responseId": "r1"}, "traceId": "t1", "consumedCredits": credits, "newer": 1}
    last = {"response": {**CALL, "automaticFunctionCallingHistory": []}, "traceId": "t1", "consumedCredits": credits}
    events, lost = read_stream(frames(first, last))
    start, finish = events[0], events[-1]
    assert isinstance(start, Start) and start.id == "r1" and start.extra is not None
    assert bytes(start.extra[NAME]["traceId"]) == b'"t1"'
    assert isinstance(finish, Finish) and finish.extra is not None
    assert sorted(finish.extra[NAME]) == ["consumedCredits", "newer", "response/automaticFunctionCallingHistory"]
    assert sorted(lost) == [
        ("field.dropped", "/consumedCredits"),
        ("field.dropped", "/newer"),
        ("field.dropped", "/response/automaticFunctionCallingHistory"),
        ("field.dropped", "/traceId"),
    ]


def test_envelopes_without_an_answer_give_no_events() -> None:
    assert read_stream(frames({"traceId": "t1"}) + STREAM + frames({})) == (EVENTS, [])


def test_several_data_lines_are_one_chunk() -> None:
    raw = STREAM.replace(b'"response":', b'"response":\r\ndata: ')
    assert read_stream(b": a comment\r\nid: 7\r\n" + raw) == (EVENTS, [])


def test_unknown_fields_of_chunks_are_reported_for_gemini_too() -> None:
    raw = frames({"response": {**CALL, "newer": 1}, "traceId": "t1"})
    assert read_stream(raw, target="gemini")[1] == [("field.dropped", "/response/newer")]
    stream = dragoman.StreamTranslator(source="gemini", target=NAME)
    stream.feed(frames({**CALL, "newer": 1}))
    stream.close()
    assert [(loss.code, loss.path) for loss in stream.losses] == [("field.dropped", "/newer")]


def test_a_fault_has_no_envelope_and_may_have_doubled_commas() -> None:
    error = (
        b'data: {"error":{"code":429,,"message":"wait","status":"RESOURCE_EXHAUSTED",\n'
        b'data: ,"details":[{"@type":"e","reason":"MODEL_CAPACITY_EXHAUSTED"}]}}\n\n'
    )
    events, _ = read_stream(frames({"response": TEXT}) + error)
    fault = events[-1]
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.message, fault.status) == ("overloaded", "wait", 429)


def test_a_broken_frame_is_a_fault() -> None:
    events, _ = read_stream(frames({"response": TEXT}) + b'data: {"response":\r\n\r\n')
    assert isinstance(events[-1], Fault) and events[-1].kind == "upstream_bad"
    assert "not valid JSON" in events[-1].message


def test_a_cut_stream_is_a_fault() -> None:
    events, _ = read_stream(frames({"response": TEXT}))
    assert isinstance(events[-1], Fault)


def test_events_are_written_as_wrapped_chunks() -> None:
    start = Start("r1", "m")
    written, lost = write_stream([start, *EVENTS[1:]])
    end = chunk({"text": ""}, finish="STOP", usageMetadata=USAGE, modelVersion="m")
    call = chunk({"functionCall": {"id": "a1", "name": "f", "args": {}}, "thoughtSignature": SEAL}, modelVersion="m")
    assert written == [{"response": inner, "traceId": "r1"} for inner in (TEXT, call, end)]
    assert lost == []


def test_an_answer_without_an_id_has_no_trace() -> None:
    written, _ = write_stream([Start(), *EVENTS[1:4], EVENTS[-1]])
    assert [list(frame) for frame in written] == [["response"], ["response"]]


def test_a_fault_is_written_without_an_envelope() -> None:
    written, _ = write_stream([*EVENTS[:3], Fault("rate_limit", "wait", 429, retry_after=2)])
    assert written[-1] == {
        "error": {
            "code": 429,
            "message": "wait",
            "status": "RESOURCE_EXHAUSTED",
            "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s"}],
        }
    }


def test_within_the_dialect_the_envelope_survives_a_round_trip() -> None:
    credits = [{"creditType": "X", "creditAmount": "1"}]
    raw = frames(
        {"response": {**TEXT, "responseId": "r1"}, "traceId": "t1"},
        {
            "response": {**CALL, "responseId": "r1", "automaticFunctionCallingHistory": [1]},
            "traceId": "t1",
            "remainingCredits": credits,
        },
    )
    written, lost = write_stream(read_stream(raw, target=NAME)[0], NAME)
    assert [frame["traceId"] for frame in written] == ["t1"] * len(written)
    assert [frame["response"]["responseId"] for frame in written] == ["r1"] * len(written)
    assert written[-1]["remainingCredits"] == credits
    assert written[-1]["response"]["automaticFunctionCallingHistory"] == [1]
    assert lost == []


def test_carried_values_stay_on_one_line() -> None:
    credits = b'"consumedCredits":[\n1,\r\n2]'
    raw = STREAM[:-5] + b"," + credits.replace(b"\r\n", b"\n").replace(b"\n", b"\r\ndata: ") + b"}\r\n\r\n"
    written, _ = write_stream(read_stream(raw, target=NAME)[0], NAME)
    assert written[-1]["consumedCredits"] == [1, 2]


def test_streams_are_translated_between_gemini_and_code_assist() -> None:
    there = dragoman.StreamTranslator(source="gemini", target=NAME)
    inner = [{**TEXT, "responseId": "r1"}, {**CALL, "responseId": "r1"}]
    raw = there.feed(frames(*inner)) + there.close()
    assert [frame["traceId"] for frame in chunks(raw)] == ["r1"] * 3
    back = dragoman.StreamTranslator(source=NAME, target="gemini")
    end = chunk({"text": ""}, finish="STOP", usageMetadata=USAGE, modelVersion="m", responseId="r1")
    call = {**inner[1], "candidates": [{**inner[1]["candidates"][0]}]}
    del call["candidates"][0]["finishReason"], call["usageMetadata"]
    assert chunks(back.feed(raw) + back.close()) == [inner[0], call, end]
    assert there.losses == back.losses == ()


def test_usage_and_credits_come_from_the_last_chunk_that_has_them() -> None:
    def frame(words: str, number: int, finish: str = "") -> bytes:
        usage = f'"usageMetadata": {{"promptTokenCount": 3,"candidatesTokenCount": {number}}}'
        end = f',"finishReason": "{finish}"' if finish else ""
        candidate = f'{{"content": {{"parts": [{{"text": "{words}"}}],"role": "model"}}{end},"index": 0}}'
        inner = f'{{"candidates": [{candidate}],{usage},"modelVersion": "m"}}'
        return f'data: {{"response": {inner},"traceId": "t","consumedCredits": [{number}]}}\r\n\r\n'.encode()

    pieces = [frame(f"w{i} ", i) for i in range(1, 6)]
    whole = read_stream(b"".join([*pieces, frame("end", 6, "STOP")]))
    context = Context(NAME, "openai-chat")
    reader = DIALECT.reader(context)
    events = [event for piece in pieces for event in reader.feed(piece)]
    cut = events + reader.close()
    assert [event.text for event in cut if isinstance(event, PartDelta)] == [f"w{i} " for i in range(1, 6)]
    assert isinstance(cut[-1], Fault)
    finish = whole[0][-1]
    assert isinstance(finish, Finish) and finish.usage is not None and finish.extra is not None
    assert (finish.usage.input, finish.usage.output) == (3, 6)
    assert bytes(finish.extra[NAME]["consumedCredits"]) == b"[6]"
    reader = DIALECT.reader(Context(NAME, "openai-chat"))
    last = b'data: {"response": {"candidates": [{"finishReason": "STOP","index": 0}]},"traceId": "t"}\r\n\r\n'
    finish = [event for piece in [*pieces, last] for event in reader.feed(piece)] and reader.close()[-1]
    assert isinstance(finish, Finish) and finish.usage is not None and finish.extra is not None
    assert (finish.usage.output, bytes(finish.extra[NAME]["consumedCredits"])) == (5, b"[5]")
