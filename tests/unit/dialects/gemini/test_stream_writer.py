"""Gemini streams are written: each chunk is legal, calls are whole, and the end is complete."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from dragoman.canon import (
    Citation,
    Fault,
    Finish,
    Media,
    Opaque,
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
from dragoman.canon.events import Event
from dragoman.canon.fold_and_unfold import fold, unfold
from dragoman.codec.packed_seals import pack
from dragoman.context import Context
from dragoman.dialects.gemini import DIALECT
from tests.oracles.grammar import check_stream
from tests.unit.dialects.gemini.helpers import answer_round_trip, candidate, chunks_of, read, read_answer

HEAD = {"modelVersion": "m", "responseId": "r"}
START = Start("r", "m")
USAGE = {"promptTokenCount": 3, "candidatesTokenCount": 1, "totalTokenCount": 4}
END = Finish(Stop("stop"), Usage(3, 1))


def chunks(*events: Event, **options: Any) -> tuple[list[Any], list[tuple[str, str]]]:
    """The written chunks and the losses. Together the chunks must be a legal stream."""
    written, lost = chunks_of(events, **options)
    stream = b"".join([b"data: " + msgspec.json.encode(each) + b"\r\n\r\n" for each in written])
    assert check_stream("gemini", stream) == []
    return written, lost


def content_chunk(part: Any, index: int = 0) -> Any:
    return {"candidates": [{"content": {"parts": [part], "role": "model"}, "index": index}], **HEAD}


def end_chunk(reason: str = "STOP", index: int = 0, **more: Any) -> Any:
    last = {"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": reason, "index": index, **more}
    return {"candidates": [last], "usageMetadata": USAGE, **HEAD}


def test_texts_and_thoughts_are_sent_immediately() -> None:
    assert chunks(
        START,
        PartStart(0, Reasoning()),
        PartDelta(0, "hm"),
        PartEnd(0),
        PartStart(1, Text("")),
        PartDelta(1, 'a"\n'),
        PartDelta(1, ""),
        PartDelta(1, "b"),
        PartEnd(1),
        END,
    ) == (
        [
            content_chunk({"text": "hm", "thought": True}),
            content_chunk({"text": 'a"\n'}),
            content_chunk({"text": "b"}),
            end_chunk(),
        ],
        [],
    )


def test_calls_are_written_whole_at_their_end() -> None:
    written, lost = chunks(
        START,
        PartStart(0, ToolCall("c1", "f", seal=Seal("anthropic", "s"))),
        PartDelta(0, '{"a":'),
        PartDelta(0, " 1}"),
        PartEnd(0),
        PartStart(1, ToolCall("c2", "patch", custom=True, at=("p", 1))),
        PartDelta(1, "***"),
        PartEnd(1),
        PartStart(2, ToolCall("c3", "f", at=("p", 2))),
        PartDelta(2, '{"a":'),
        PartDelta(2, "", Seal("gemini", "c2ln")),
        PartEnd(2),
        Finish(Stop("tool_calls"), Usage(3, 1)),
    )
    assert written == [
        content_chunk(
            {
                "functionCall": {"id": "c1", "name": "f", "args": {"a": 1}},
                "thoughtSignature": pack(Seal("anthropic", "s")),
            }
        ),
        content_chunk({"functionCall": {"id": "c2", "name": "patch", "args": {"input": "***"}}}),
        end_chunk("MALFORMED_FUNCTION_CALL"),
    ]
    assert lost == [
        ("call.custom.wrapped", "/p/1"),
        ("call.truncated", "/p/2"),
        ("seal.dropped", "/p/2"),
        ("stop.approximated", ""),
    ]


def test_a_seal_after_its_text_is_sent_in_an_empty_part_and_read_back() -> None:
    seal = Seal("anthropic", "sig", "thinking", "claude")
    written, _ = chunks(
        START,
        PartStart(0, Reasoning()),
        PartDelta(0, "Let "),
        PartDelta(0, "me"),
        PartDelta(0, "", seal),
        PartEnd(0),
        PartStart(1, Text("")),
        PartDelta(1, "a"),
        PartDelta(1, "", seal),
        PartEnd(1),
        END,
    )
    parts = [each["candidates"][0]["content"]["parts"][0] for each in written]
    assert parts[:3] == [
        {"text": "Let ", "thought": True},
        {"text": "me", "thought": True},
        {"text": "", "thought": True, "thoughtSignature": pack(seal)},
    ]
    assert parts[4] == {"text": "", "thoughtSignature": pack(seal)}
    (turn,) = read({"contents": [{"role": "model", "parts": parts[:3]}]})[0].turns
    assert turn.parts == (Reasoning("Let me", seal=seal, at=("contents", 0, "parts", 0)),)


def test_a_text_whose_seal_is_known_is_written_whole() -> None:
    written, _ = chunks(
        START,
        PartStart(0, Text("", seal=Seal("gemini", "c2ln"))),
        PartDelta(0, "a"),
        PartDelta(0, "b"),
        PartEnd(0),
        PartStart(1, Reasoning(seal=Seal("gemini", "c2ln"))),
        PartEnd(1),
        END,
    )
    assert written[:2] == [
        content_chunk({"text": "ab", "thoughtSignature": "c2ln"}),
        content_chunk({"text": "", "thought": True, "thoughtSignature": "c2ln"}),
    ]


def test_other_parts() -> None:
    written, lost = chunks(
        START,
        PartStart(0, Media("image", "image/png", "AAAA")),
        PartEnd(0),
        PartStart(1, Opaque("gemini", "executableCode", Raw(b'{"executableCode":\n{"code":"1"}}'))),
        PartEnd(1),
        PartStart(2, Opaque("anthropic", "server_tool_use", Raw(b"{}"), at=("p", 2))),
        PartEnd(2),
        PartStart(3, Text("", True, at=("p", 3))),
        PartDelta(3, "no"),
        PartDelta(9, "of no part"),
        PartEnd(3),
        PartEnd(9),
        Finish(Stop("refusal"), Usage(3, 1)),
    )
    assert written == [
        content_chunk({"inlineData": {"mimeType": "image/png", "data": "AAAA"}}),
        content_chunk({"executableCode": {"code": "1"}}),
        content_chunk({"text": "no"}),
        end_chunk("SAFETY"),
    ]
    assert lost == [("hosted.dropped", "/p/2"), ("refusal.as_text", "/p/3"), ("stop.approximated", "")]


def test_several_answers_keep_their_numbers() -> None:
    written, _ = chunks(
        START,
        PartStart(0, Text(""), 3),
        PartStart(1, Text(""), 10**9),
        PartDelta(1, "b"),
        PartDelta(0, "a"),
        PartEnd(0),
        PartEnd(1),
        Finish(Stop("stop"), None, 3, False),
        Finish(Stop("length"), Usage(3, 1), 10**9),
    )
    start_chunks = [content_chunk({"text": ""}, number) for number in range(5)]  # answers 0 to 2 can still have text
    assert written[:5] == start_chunks
    assert written[5:7] == [content_chunk({"text": "b"}, 4), content_chunk({"text": "a"}, 3)]
    assert written[7] == {key: value for key, value in end_chunk("STOP", 3).items() if key != "usageMetadata"}
    assert [chunk["candidates"][0]["finishReason"] for chunk in written[8:11]] == ["OTHER"] * 3
    assert written[11] == end_chunk("MAX_TOKENS", 4)


def test_citations_are_written_into_the_last_chunk() -> None:
    cited = (Citation("https://a.example", "A", "", 0, 1),)
    written, _ = chunks(
        START,
        PartStart(0, Text("")),
        PartDelta(0, "ö"),
        PartEnd(0),
        PartStart(1, Text("")),
        PartDelta(1, "ab"),
        PartDelta(1, "", None, cited),
        PartEnd(1),
        END,
    )
    assert written[-1]["candidates"][0]["groundingMetadata"] == {
        "groundingChunks": [{"web": {"uri": "https://a.example", "title": "A"}}],
        "groundingSupports": [{"segment": {"startIndex": 2, "endIndex": 3, "text": "a"}, "groundingChunkIndices": [0]}],
    }
    assert written[-2]["candidates"][0]["groundingMetadata"] == written[-1]["candidates"][0]["groundingMetadata"]
    assert "finishReason" not in written[-2]["candidates"][0]
    nothing = chunks(START, PartStart(0, Text("", citations=(Citation(""),))), PartEnd(0), END)
    assert nothing == ([end_chunk()], [("citation.dropped", "")])


def test_citations_of_a_text_before_a_call_are_read_back() -> None:
    cited = Citation("https://a.example", "A", "", 0, 1)
    events = (
        START,
        PartStart(0, Text("", citations=(cited,), seal=Seal("gemini", "c2ln"))),
        PartDelta(0, "ab"),
        PartEnd(0),
        PartStart(1, Text("")),
        PartDelta(1, "cd"),
        PartDelta(1, "", Seal("x", "y"), (cited,)),
        PartEnd(1),
        PartStart(2, ToolCall("c", "f")),
        PartEnd(2),
        Finish(Stop("tool_calls"), Usage(3, 1)),
    )
    writer = DIALECT.writer(Context("openai-chat", "gemini"))
    stream = b"".join([writer.send(event) for event in events])
    context = Context("gemini", "openai-chat")
    reader = DIALECT.reader(context)
    response = fold([*reader.feed(stream), *reader.close()])
    assert not isinstance(response, Fault)
    texts = [part for part in response.parts if isinstance(part, Text) and part.text]
    assert [text.citations for text in texts] == [(cited,), (cited,)]


def test_a_stream_without_usage_a_model_or_an_id() -> None:
    written, lost = chunks(Start(created=1756331047), Finish(Stop("unknown")), model="asked")
    assert written == [
        {
            "candidates": [{"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0},
            "modelVersion": "asked",
            "createTime": "2025-08-27T21:44:07Z",
        }
    ]
    assert lost == [("stop.approximated", ""), ("usage.invented", "")]
    bare, _ = chunks(Start(), PartStart(0, Text("")), PartDelta(0, "a"), PartEnd(0), END)
    assert bare[0] == {"candidates": [{"content": {"parts": [{"text": "a"}], "role": "model"}, "index": 0}]}


def test_a_fault_ends_the_stream_and_an_open_call_is_never_completed() -> None:
    events = (START, PartStart(0, ToolCall("c1", "f")), PartDelta(0, "{}"), Fault("overloaded", "busy\n", 529))
    assert chunks(*events) == ([{"error": {"code": 503, "message": "busy\n", "status": "UNAVAILABLE"}}], [])


@pytest.mark.parametrize(
    "body",
    [
        {
            "candidates": [candidate({"text": "a"}, finishReason="STOP", avgLogprobs=-1.5, finishMessage="fine")],
            "usageMetadata": USAGE,
            "createTime": "2025-08-27T21:44:07.2Z",
            **HEAD,
        },
        {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": USAGE, **HEAD},
        {
            "candidates": [
                candidate({"text": "a"}, finishReason="STOP"),
                {**candidate({"text": "b"}, finishReason="OTHER", tokenCount=2), "index": 1},
            ],
            "usageMetadata": USAGE,
        },
        {
            "candidates": [
                candidate(
                    {"text": "ab", "thoughtSignature": "c2ln"},
                    {"text": "", "thoughtSignature": "c2ln"},
                    finishReason="STOP",
                    groundingMetadata={
                        "groundingChunks": [{"web": {"uri": "u"}}],
                        "groundingSupports": [{"segment": {"endIndex": 2}, "groundingChunkIndices": [0]}],
                    },
                )
            ],
            "usageMetadata": USAGE,
        },
    ],
)
def test_a_gemini_answer_has_the_same_content_as_a_stream(body: Any) -> None:
    response, _ = read_answer(body, "gemini")
    writer = DIALECT.writer(Context("gemini", "gemini"))
    stream = b"".join([writer.send(event) for event in unfold(response)])
    reader = DIALECT.reader(Context("gemini", "gemini"))
    folded = fold([*reader.feed(stream), *reader.close()])
    assert not isinstance(folded, Fault)
    written = msgspec.json.decode(DIALECT.write_response(folded, Context("gemini", "gemini")))
    assert written == answer_round_trip(body)
    assert fold(unfold(folded)).parts == folded.parts  # type: ignore[union-attr]
    cited = [len(part.citations) for part in response.parts if isinstance(part, Text)]
    assert [len(part.citations) for part in folded.parts if isinstance(part, Text)] == cited


def test_a_candidate_without_a_reason_gets_one_in_a_stream() -> None:
    response, _ = read_answer({"candidates": [candidate({"text": "a"})]}, "gemini")
    written, _ = chunks_of(unfold(response), "gemini")
    assert written[-1]["candidates"][0]["finishReason"] == "STOP"
