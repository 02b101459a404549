"""Gemini streams are read in both framings and with any cut: texts, calls, Vertex's pieces, ends and faults."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

import dragoman
from dragoman.canon import (
    Citation,
    Fault,
    Finish,
    HostedCall,
    Media,
    Opaque,
    PartDelta,
    PartEnd,
    PartStart,
    Path,
    Reasoning,
    Seal,
    Start,
    Stop,
    Text,
    ToolCall,
    Usage,
)
from dragoman.canon.events import Event
from tests.unit.dialects.gemini.helpers import candidate, chunk, events_of, sse

END = {"finishReason": "STOP"}
USAGE = {"promptTokenCount": 3, "candidatesTokenCount": 1, "totalTokenCount": 4}
START = Start("r", "m")
CUT = Fault("upstream_bad", "the upstream's stream ended before the answer did", 502)


def at(number: int, answer: int = 0) -> tuple[str | int, ...]:
    return ("candidates", answer, "content", "parts", number)


def events(*chunks: Any) -> list[Event]:
    """The events of a stream, which are the same in both framings and under any cut."""
    stream = sse(*chunks)
    found = events_of(stream)[0]
    assert events_of(stream, 1)[0] == found
    assert events_of(stream.replace(b"\r\n", b"\n"), 7)[0] == found
    array = msgspec.json.encode(list(chunks))
    assert events_of(array)[0] == found
    assert events_of(b"\xef\xbb\xbf \n" + array, 1)[0] == found
    return found


def test_text_is_read_in_increments() -> None:
    found = events(
        chunk({"text": "He"}),
        chunk({"text": ""}),
        chunk({"text": "llo"}),
        {"usageMetadata": USAGE},
        {**chunk({"text": ""}, **END), "usageMetadata": USAGE},
    )
    assert found == [
        START,
        PartStart(0, Text("")),
        PartDelta(0, "He"),
        PartDelta(0, "llo"),
        PartEnd(0),
        Finish(Stop("stop"), Usage(3, 1)),
    ]


def test_thoughts_and_texts_are_separate_parts() -> None:
    assert events(
        chunk({"text": "h", "thought": True}, {"text": "m", "thought": True}),
        chunk({"text": "a", "thought": False}),
        chunk({"text": "b"}, **END),
    ) == [
        START,
        PartStart(0, Reasoning()),
        PartDelta(0, "h"),
        PartDelta(0, "m"),
        PartEnd(0),
        PartStart(1, Text("")),
        PartDelta(1, "a"),
        PartDelta(1, "b"),
        PartEnd(1),
        Finish(Stop("stop")),
    ]


def test_a_signed_part_is_a_separate_part() -> None:
    seal = Seal("gemini", "c2ln")
    assert events(
        chunk({"text": "a"}),
        chunk({"text": "b", "thoughtSignature": "c2ln"}),
        chunk({"text": "", "thoughtSignature": "c2ln"}, **END),
    ) == [
        START,
        PartStart(0, Text("")),
        PartDelta(0, "a"),
        PartEnd(0),
        PartStart(1, Text("", seal=seal, at=at(1))),
        PartDelta(1, "b"),
        PartEnd(1),
        PartStart(2, Text("", seal=seal, at=at(2))),
        PartEnd(2),
        Finish(Stop("stop")),
    ]


def test_calls_are_read_whole_and_may_precede_the_finish_reason() -> None:
    found = events(
        chunk({"text": "a"}),
        chunk({"functionCall": {"id": "c1", "name": "f", "args": {"x": 1}}, "thoughtSignature": "c2ln"}),
        chunk({"functionCall": {"id": "c2", "name": "g"}}),
        {**chunk(**END), "usageMetadata": USAGE},
    )
    assert found[3:] == [
        PartEnd(0),
        PartStart(1, ToolCall("c1", "f", seal=Seal("gemini", "c2ln"), at=at(1))),
        PartDelta(1, '{"x":1}'),
        PartEnd(1),
        PartStart(2, ToolCall("c2", "g", at=at(2))),
        PartEnd(2),
        Finish(Stop("tool_calls"), Usage(3, 1)),
    ]


def test_calls_without_ids_get_different_ids() -> None:
    call = {"functionCall": {"name": "f", "args": {}}}
    found, lost = events_of(sse(chunk({"text": "a"}), chunk(call), chunk(call, **END)))
    ids = [event.part.id for event in found if isinstance(event, PartStart) and isinstance(event.part, ToolCall)]
    assert len(set(ids)) == 2
    split = [chunk({"text": "a"}), chunk({"text": "b"}), chunk(call), chunk(call, **END)]
    ids_again = [e.part.id for e in events(*split) if isinstance(e, PartStart) and isinstance(e.part, ToolCall)]
    assert ids_again == ids
    assert [code for code, _ in lost] == ["call.id.invented", "call.id.invented"]


def test_other_parts_are_complete_at_once() -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    code = {"executableCode": {"code": "1"}}
    assert events(chunk({"text": "a"}, image, code), chunk(**END))[3:8] == [
        PartEnd(0),
        PartStart(1, Media("image", "image/png", "AAAA", at=at(1))),
        PartEnd(1),
        PartStart(2, hosted_code(msgspec.json.encode(code), at(2))),
        PartEnd(2),
    ]


def test_an_array_spread_over_many_lines() -> None:
    chunks = [chunk({"text": "a"}), chunk({"functionCall": {"id": "c", "name": "f", "args": {"x": 1}}}, **END)]
    found = events_of(msgspec.json.format(msgspec.json.encode(chunks)), 5)[0]
    assert [type(event).__name__ for event in found] == [type(event).__name__ for event in events(*chunks)]
    arguments = [event.text for event in found if isinstance(event, PartDelta)][1]
    assert msgspec.json.decode(arguments) == {"x": 1}


def test_a_hosted_part_in_a_stream() -> None:
    stream = sse(chunk({"executableCode": {"code": "1"}, "thoughtSignature": "c2ln"}, **END))
    found = events_of(stream)[0]
    value = b'{"thoughtSignature":"c2ln","executableCode":{"code":"1"}}'
    assert found[1:3] == [PartStart(0, hosted_code(value, at(0))), PartEnd(0)]


def hosted_code(value: bytes, at: Path) -> HostedCall:
    """The hosted call that a part with code is read as."""
    family = "code_execution"
    return HostedCall("gemini", "executableCode", Raw(value), family, "", family, '{"code":"1"}', at=at)


PIECES = [
    chunk({"functionCall": {"id": "a1", "name": "f", "willContinue": True}, "thoughtSignature": "c2ln"}),
    chunk(
        {
            "functionCall": {
                "partialArgs": [{"jsonPath": "$.city", "stringValue": "Par", "willContinue": True}],
                "willContinue": True,
            }
        }
    ),
    chunk(
        {
            "functionCall": {
                "partialArgs": [
                    {"jsonPath": "$.city", "stringValue": "is"},
                    {"jsonPath": "$.n", "numberValue": 1.50},
                    {"jsonPath": "$.deep.list[1]['a b']", "boolValue": True},
                    {"jsonPath": '$.deep["q\\"x"]', "nullValue": "NULL_VALUE"},
                    {"jsonPath": "$.none", "nullValue": None},
                ],
                "willContinue": True,
            }
        }
    ),
    chunk({"functionCall": {}}, **END),
]


def test_vertex_streams_calls_in_pieces() -> None:
    found = events(*PIECES)
    assert found == [
        START,
        PartStart(0, ToolCall("a1", "f", seal=Seal("gemini", "c2ln"), at=at(0))),
        PartDelta(0, '{"city":"Paris","n":1.5,"deep":{"list":[null,{"a b":true}],"q\\"x":null},"none":null}'),
        PartEnd(0),
        Finish(Stop("tool_calls")),
    ]


def test_pieces_in_one_part_after_given_arguments_and_without_a_close() -> None:
    found = events(
        chunk({"functionCall": {"name": "f", "id": "1", "partialArgs": [{"jsonPath": "$.a", "stringValue": "x"}]}}),
        chunk({"functionCall": {"name": "g", "id": "2", "args": {"b": [1]}, "willContinue": True}}),
        chunk(
            {
                "functionCall": {"partialArgs": [{"jsonPath": "$.b[0]", "numberValue": 2}], "willContinue": True},
                "thoughtSignature": "c2ln",
            }
        ),
        chunk({"functionCall": {"name": "h", "id": "3", "args": {}}}, **END),
    )
    calls = [event.part for event in found if isinstance(event, PartStart)]
    texts = [event.text for event in found if isinstance(event, PartDelta)]
    assert [(call.id, call.seal) for call in calls] == [  # type: ignore[attr-defined]
        ("1", None),
        ("2", Seal("gemini", "c2ln")),
        ("3", None),
    ]
    assert texts == ['{"a":"x"}', '{"b":[2]}', "{}"]


@pytest.mark.parametrize("path", ["city", "$", "$..a", "$[x]", "$.a[5000]", "$.a[9999999]"])
def test_json_paths_without_a_target_are_a_fault(path: str) -> None:
    broken = {"functionCall": {"partialArgs": [{"jsonPath": path, "stringValue": "x"}], "willContinue": True}}
    found = events(PIECES[0], chunk(broken), PIECES[3])
    assert isinstance(found[-1], Fault)
    assert found[-1].kind == "upstream_bad"
    assert not any(isinstance(event, PartEnd | Finish) for event in found)


def test_a_value_replaces_a_value_of_another_type() -> None:
    def piece(path: str, **value: Any) -> Any:
        return chunk({"functionCall": {"partialArgs": [{"jsonPath": path, **value}], "willContinue": True}})

    found = events(
        PIECES[0],
        piece("$.a", stringValue="x"),
        piece("$.a.b", stringValue="y"),
        piece("$.a.b", numberValue=3),
        piece("$.a.b", stringValue="z"),
        PIECES[3],
    )
    assert [event.text for event in found if isinstance(event, PartDelta)] == ['{"a":{"b":"z"}}']


def test_a_call_cut_by_the_limit_is_no_call() -> None:
    found, lost = events_of(sse(chunk({"text": "a"}), *PIECES[:2], chunk(finishReason="MAX_TOKENS")))
    assert found[-2:] == [PartEnd(0), Finish(Stop("length"))]
    assert ("call.truncated", "/candidates/0/content/parts/1") in lost


def test_the_last_reason_counts_and_text_may_follow_an_earlier_reason() -> None:
    found = events(chunk({"text": "a"}, finishReason="STOP"), chunk({"text": "b"}, finishReason="MAX_TOKENS"))
    assert found[-3:] == [PartDelta(0, "b"), PartEnd(0), Finish(Stop("length"))]


def test_several_answers() -> None:
    second = {**candidate({"text": "b"}, finishReason="MAX_TOKENS"), "index": 1}
    found = events(
        {"candidates": [candidate({"text": "a"}), second], "responseId": "r", "modelVersion": "m"},
        {**chunk({"text": "c"}, finishReason="STOP"), "usageMetadata": USAGE},
    )
    assert found == [
        START,
        PartStart(0, Text("")),
        PartDelta(0, "a"),
        PartStart(1, Text(""), 1),
        PartDelta(1, "b"),
        PartDelta(0, "c"),
        PartEnd(0),
        Finish(Stop("stop"), None, 0, False),
        PartEnd(1),
        Finish(Stop("length"), Usage(3, 1), 1),
    ]


def test_a_blocked_prompt() -> None:
    found = events({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}})
    assert isinstance(found[-1], Finish)
    assert found[-1].stop.reason == "content_filter"


@pytest.mark.parametrize("framing", ["sse", "array", "cut", "empty"])
def test_a_cut_stream_is_a_fault(framing: str) -> None:
    stream = sse(chunk({"text": "a"}))
    if framing == "array":
        stream = msgspec.json.encode([chunk({"text": "a"})])[:-1]
    elif framing == "cut":
        stream = msgspec.json.encode([chunk({"text": "a"}, **END), chunk()])[:-5]
    elif framing == "empty":
        stream = b" \n"
    found = events_of(stream)[0]
    assert found[-1] == CUT
    assert not any(isinstance(event, PartEnd | Finish) for event in found)


def test_a_missing_blank_line_at_the_end_is_no_cut() -> None:
    stream = sse(chunk({"text": "a"}, **END))
    assert events_of(stream[:-4])[0] == events_of(stream)[0]
    array = msgspec.json.encode([chunk({"text": "a"}, **END)])
    assert events_of(array[:-1])[0] == events_of(array)[0]


def test_an_error_in_the_stream_ends_it() -> None:
    error = {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}
    found = events(chunk({"text": "a"}), error, chunk({"text": "b"}, **END))
    assert found[:3] == [START, PartStart(0, Text("")), PartDelta(0, "a")]
    assert len(found) == 4
    assert isinstance(found[3], Fault)
    assert (found[3].kind, found[3].message, found[3].status) == ("overloaded", "busy", 503)
    assert events_of(msgspec.json.encode(error))[0] == [found[3]]
    assert events_of(sse({"error": "busy"}))[0] == [
        Fault("server", "busy", 500),
    ]


@pytest.mark.parametrize(
    ("stream", "problem"),
    [
        (b"data: {broken\r\n\r\n", "not valid JSON"),
        (b"data: {broken", "not valid JSON"),
        (b"[{broken}]", "not valid JSON"),
        (b'[{"a":"\xff"}]', "not gemini"),
        (b"[1]", "not gemini"),
    ],
)
def test_a_broken_frame_is_a_fault(stream: bytes, problem: str) -> None:
    (fault,) = events_of(stream)[0]
    assert isinstance(fault, Fault)
    assert fault.message.startswith(f"the upstream sent a broken frame: {problem}")
    assert fault.status == 502


def test_a_terminator_of_compatible_servers_is_ignored() -> None:
    assert events_of(sse(chunk({"text": "a"}, **END)) + b"data: [DONE]\n\n")[0][-1] == Finish(Stop("stop"))


def test_citations_are_read_last_and_belong_to_the_open_text() -> None:
    metadata = {
        "groundingChunks": [{"web": {"uri": "https://a.example", "title": "A"}}],
        "groundingSupports": [
            {"segment": {"startIndex": 1, "endIndex": 5, "text": "öab"}, "groundingChunkIndices": [0]},
        ],
        "webSearchQueries": ["q"],
    }
    found, lost = events_of(
        sse(
            chunk({"text": "xöa"}),
            chunk({"text": "b"}, groundingMetadata=metadata, safetyRatings=[]),
            chunk({"text": "", "thoughtSignature": "c2ln"}, **END, groundingMetadata=metadata),
        )
    )
    cited = PartDelta(0, "", None, (Citation("https://a.example", "A", "", 1, 4),))
    assert found[1:6] == [PartStart(0, Text("")), PartDelta(0, "xöa"), PartDelta(0, "b"), cited, PartEnd(0)]
    uses = [event.part for event in found if isinstance(event, PartStart) and isinstance(event.part, Opaque)]
    assert [type(part).__name__ for part in uses] == ["HostedCall", "HostedResult"]
    finish = found[-1]
    assert isinstance(finish, Finish)
    assert finish.extra == {
        "gemini": {
            "candidates/0/safetyRatings": Raw(b"[]"),
            "candidates/0/groundingMetadata": Raw(msgspec.json.encode(metadata)),
        }
    }
    assert lost == [("field.dropped", "/candidates/0/safetyRatings")]


def test_citations_of_a_text_that_has_ended() -> None:
    source = {"startIndex": 0, "endIndex": 1, "uri": "https://a.example"}
    first = chunk({"text": "ab"}, {"text": "c", "thoughtSignature": "c2ln"})
    found, lost = events_of(sse(first, chunk({"text": "d"}, **END, citationMetadata={"citations": [source, {}]})))
    assert found[-3] == PartDelta(2, "", None, (Citation("https://a.example"), Citation("")))
    assert lost == [("citation.approximated", "/candidates/0")]
    call = {"functionCall": {"id": "c", "name": "f", "args": {}}}
    both = {"citations": [source, {"uri": "https://b.example"}]}
    found, lost = events_of(sse(chunk({"text": "ab"}), chunk(call, **END, citationMetadata=both)))
    assert lost == [("citation.dropped", "/candidates/0")]
    assert PartDelta(0, "", None, (Citation("https://a.example", "", "", 0, 1),)) in found
    late = chunk(**END, citationMetadata={"citations": [source]})
    assert events_of(sse(chunk({"text": "ab"}), chunk(call), late))[1] == [("citation.dropped", "/candidates/0")]


def test_unknown_fields_are_counted_once() -> None:
    strange = {**chunk({"text": "a", "newer": 1}, newer=2), "newer": 3, "modelStatus": {"modelStage": "STABLE"}}
    usage = {**USAGE, "newer": 4}
    found, lost = events_of(sse(strange, strange, {**chunk({"text": "b"}, **END), "usageMetadata": usage, "x": 5}))
    assert sorted(lost) == [
        ("field.dropped", "/candidates/0/content/parts/0/newer"),
        ("field.dropped", "/candidates/0/content/parts/1/newer"),
        ("field.dropped", "/candidates/0/newer"),
        ("field.dropped", "/modelStatus"),
        ("field.dropped", "/newer"),
        ("field.dropped", "/usageMetadata/newer"),
        ("field.dropped", "/x"),
    ]
    assert isinstance(found[-1], Finish)


def test_the_creation_time_of_the_answer() -> None:
    first = {**chunk({"text": "a"}, **END), "createTime": "2025-08-27T21:44:07.2Z", "promptFeedback": {}}
    found = events_of(sse(first))[0]
    assert found[0] == Start("r", "m", 1756331047, None, {"gemini": {"createTime": Raw(b'"2025-08-27T21:44:07.2Z"')}})
    assert isinstance(found[-1], Finish)
    assert found[-1].extra == {"gemini": {"promptFeedback": Raw(b"{}")}}


def test_arguments_of_a_call_in_pieces_that_are_no_object_are_a_loss() -> None:
    piece = {"functionCall": {"name": "f", "args": 7, "willContinue": True}}
    events, lost = events_of(sse(chunk(piece)))
    assert ("arguments.invalid", "/candidates/0/content/parts/0") in lost
    assert isinstance(events[-1], Fault)


def test_unread_citation_fields_are_reported_for_every_chunk() -> None:
    def cited(**more: object) -> bytes:
        citation = {"endIndex": 2, "uri": "https://example.com", **more}
        part = {"content": {"role": "model", "parts": [{"text": "Hi"}]}, "citationMetadata": {"citations": [citation]}}
        return b"data: " + msgspec.json.encode({"candidates": [part]}) + b"\n\n"

    end = b'data: {"candidates": [{"content": {"parts": [{"text": "."}]}, "finishReason": "STOP"}]}\n\n'
    stream = dragoman.StreamTranslator(source="gemini", target="anthropic")
    stream.feed(cited(publicationDate={"year": 2014}) + cited(license="mit") + end)
    stream.close()
    lost = {loss.path.rpartition("/")[2] for loss in stream.losses if loss.code == "field.dropped"}
    assert lost == {"publicationDate", "license"}
