"""Gemini answers: candidates, reasons, usage and citations. Also: answers of other dialects written as Gemini."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

import dragoman
from dragoman.canon import (
    Alternative,
    Citation,
    HostedCall,
    HostedResult,
    Media,
    Opaque,
    Reasoning,
    Request,
    Response,
    Seal,
    Stop,
    Text,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
)
from dragoman.codec.packed_seals import pack
from dragoman.context import Context
from dragoman.dialects.gemini import DIALECT
from dragoman.errors import WireError
from tests.oracles.body_verdict import check_response
from tests.unit.dialects.gemini.helpers import answer_round_trip, candidate, read_answer, write_answer

AT = ("candidates", 0, "content", "parts")


def write(response: Response, **options: Any) -> tuple[Any, list[tuple[str, str]]]:
    """The written answer, which must be legal."""
    body, lost = write_answer(response, **options)
    assert check_response("gemini", msgspec.json.encode(body)) == []
    return body, lost


def test_an_answer() -> None:
    body = {
        "candidates": [
            candidate(
                {"text": "hm", "thought": True},
                {"text": "Hi"},
                {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"},
                finishReason="STOP",
                finishMessage="Model generated function call(s).",
            )
        ],
        "usageMetadata": {
            "promptTokenCount": 10,
            "candidatesTokenCount": 4,
            "thoughtsTokenCount": 3,
            "cachedContentTokenCount": 8,
            "totalTokenCount": 17,
        },
        "modelVersion": "gemini-3-pro",
        "responseId": "r1",
        "createTime": "2025-08-27T21:44:07.239896Z",
    }
    response, lost = read_answer(body)
    assert response == Response(
        (
            Reasoning("hm", at=(*AT, 0)),
            Text("Hi", at=(*AT, 1)),
            ToolCall("c1", "f", '{"a":1}', seal=Seal("gemini", "c2ln"), at=(*AT, 2)),
        ),
        Stop("tool_calls", extra={"gemini": {"finishMessage": Raw(b'"Model generated function call(s)."')}}),
        "r1",
        "gemini-3-pro",
        1756331047,
        Usage(10, 7, 8, None, 3),
        extra={"gemini": {"createTime": Raw(b'"2025-08-27T21:44:07.239896Z"')}},
    )
    assert lost == []
    assert answer_round_trip(body) == body


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("MODEL_ARMOR", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "bad_tool_call"),
        ("UNEXPECTED_TOOL_CALL", "bad_tool_call"),
        ("CONTINUATION", "pause"),
        ("OTHER", "error"),
        (1, "stop"),
        (2, "length"),
    ],
)
def test_reasons(word: Any, reason: str) -> None:
    body = {"candidates": [candidate({"text": "a"}, finishReason=word, finishMessage="why")]}
    response, lost = read_answer(body)
    assert response.stop.reason == reason
    assert response.stop.detail == ("" if reason == "stop" else "why")
    assert lost == ([("field.dropped", "/candidates/0/finishMessage")] if reason == "stop" else [])
    assert answer_round_trip(body) == body


@pytest.mark.parametrize("word", ["BRAND_NEW", 77])
def test_an_unknown_finish_reason_is_kept(word: Any) -> None:
    body = {"candidates": [candidate({"text": "a"}, finishReason=word)]}
    response, lost = read_answer(body)
    assert response.stop.reason == "unknown"
    assert lost == []
    assert (response.stop.word, response.stop.at) == (str(word), ("candidates", 0, "finishReason"))
    assert answer_round_trip(body) == body


def test_a_block_message_alone_means_that_the_prompt_was_blocked() -> None:
    body = {"promptFeedback": {"blockReasonMessage": "Not this."}, "modelVersion": "m", "responseId": "r"}
    out = dragoman.translate_response(body, source="gemini", target="anthropic")
    assert out.json()["stop_reason"] == "refusal"
    assert out.json()["stop_details"]["explanation"] == "Not this."
    chat = dragoman.translate_response(body, source="gemini", target="openai-chat")
    assert chat.json()["choices"][0]["finish_reason"] == "content_filter"
    assert "/promptFeedback/blockReasonMessage" in {loss.path for loss in chat.losses}


@pytest.mark.parametrize(
    ("word", "reason"), [("OTHER", "tool_calls"), ("MAX_TOKENS", "length"), ("SAFETY", "content_filter")]
)
def test_calls_decide_the_reason_unless_the_answer_was_cut(word: str, reason: str) -> None:
    body = {"candidates": [candidate({"functionCall": {"id": "c", "name": "f", "args": {}}}, finishReason=word)]}
    assert read_answer(body)[0].stop.reason == reason
    assert answer_round_trip(body) == body


def test_a_blocked_prompt() -> None:
    body = {
        "promptFeedback": {"blockReason": "MODEL_ARMOR", "blockReasonMessage": "no"},
        "usageMetadata": {"promptTokenCount": 3, "totalTokenCount": 3},
        "modelVersion": "m",
        "responseId": "r",
    }
    response, lost = read_answer(body)
    assert (response.parts, response.stop.reason, response.stop.detail) == ((), "content_filter", "no")
    assert lost == []
    assert answer_round_trip(body) == body
    assert read_answer({"promptFeedback": {"blockReason": "SAFETY", "safetyRatings": []}})[1] == [
        ("field.dropped", "/promptFeedback/safetyRatings")
    ]
    plain = read_answer({"promptFeedback": {"blockReason": "SAFETY"}})[0].stop
    assert (plain.reason, plain.detail) == ("content_filter", "the prompt was blocked: SAFETY")


@pytest.mark.parametrize(
    "body",
    [
        {"promptFeedback": {"safetyRatings": []}},
        {"modelVersion": "m"},
        {"candidates": [{"finishReason": "OTHER"}]},
        {"candidates": [{"content": {"role": "model", "parts": []}, "index": 0}]},
        {"candidates": [candidate({"text": "a"})], "promptFeedback": {"safetyRatings": []}, "newer": 1},
        {"candidates": [candidate({"text": "a"}, safetyRatings=[], avgLogprobs=-0.5, newer=1)]},
    ],
)
def test_odd_answers_survive_a_round_trip(body: Any) -> None:
    assert answer_round_trip(body) == body


def test_a_content_by_itself_is_an_answer() -> None:
    response, _ = read_answer({"role": "model", "parts": [{"text": "a"}]})
    assert response.parts == (Text("a", at=(*AT, 0)),)
    with pytest.raises(WireError, match="at /candidates"):
        read_answer({})


def test_metadata_that_is_nested_too_deeply_survives_a_round_trip() -> None:
    deep: Any = 1
    for _ in range(400):
        deep = {"a": deep}
    body = {"candidates": [candidate({"text": "a"}, finishReason="STOP", groundingMetadata={"x": deep})]}
    assert answer_round_trip(body) == body


def test_several_candidates() -> None:
    body = {
        "candidates": [
            candidate({"text": "a"}, finishReason="STOP", avgLogprobs=-1.5),
            {**candidate({"text": "b"}, finishReason="MAX_TOKENS", tokenCount=3), "index": 1},
        ]
    }
    response, lost = read_answer(body)
    assert response.alternatives == (
        Alternative(
            (Text("b", at=("candidates", 1, "content", "parts", 0)),),
            Stop("length"),
            {"gemini": {"tokenCount": Raw(b"3")}},
        ),
    )
    assert response.extra == {"gemini": {"candidates/0/avgLogprobs": Raw(b"-1.5")}}
    assert lost == [("field.dropped", "/candidates/0/avgLogprobs"), ("field.dropped", "/candidates/1/tokenCount")]
    assert answer_round_trip(body) == body


def test_calls_without_ids_differ_from_answer_to_answer() -> None:
    def first(response_id: str, turns: int) -> tuple[Any, list[tuple[str, str]]]:
        call = {"functionCall": {"name": "f", "args": {}}}
        answers = Request(tuple([Turn("user", ())] * turns))
        body = {"candidates": [candidate(call, call, finishReason="STOP")], "responseId": response_id}
        response, lost = read_answer(body, answers=answers)
        return response.parts[0].id, lost  # type: ignore[attr-defined]

    assert first("r1", 1) == first("r1", 1)
    assert len({first("r1", 1)[0], first("r2", 1)[0], first("r1", 3)[0]}) == 3
    assert first("r1", 1)[1] == [
        ("call.id.invented", "/candidates/0/content/parts/0"),
        ("call.id.invented", "/candidates/0/content/parts/1"),
    ]


@pytest.mark.parametrize(
    "usage",
    [
        {"promptTokenCount": 5, "toolUsePromptTokenCount": 2, "candidatesTokenCount": 1, "totalTokenCount": 8},
        {"promptTokenCount": 5, "thoughtsTokenCount": 2, "totalTokenCount": 7},
        {"promptTokenCount": 5, "candidatesTokenCount": 1},
        {
            "promptTokenCount": 5,
            "candidatesTokenCount": 1,
            "totalTokenCount": 99,
            "trafficType": "ON_DEMAND",
            "newer": 1,
        },
        {},
    ],
)
def test_usage_survives_a_round_trip(usage: Any) -> None:
    body = {"candidates": [candidate({"text": "a"}, finishReason="STOP")], "usageMetadata": usage}
    assert answer_round_trip(body) == body


def test_usage_arithmetic() -> None:
    usage = {"promptTokenCount": 5, "toolUsePromptTokenCount": 2, "candidatesTokenCount": 1, "thoughtsTokenCount": 4}
    response, lost = read_answer({"usageMetadata": usage})
    assert response.usage is not None
    assert (response.usage.input, response.usage.output, response.usage.reasoning) == (7, 5, 4)
    assert lost == [("field.dropped", "/usageMetadata/toolUsePromptTokenCount")]
    body, lost = write(Response((), Stop("stop"), usage=Usage(10, 7, 2, 3, 4)))
    assert body["usageMetadata"] == {
        "promptTokenCount": 10,
        "candidatesTokenCount": 3,
        "thoughtsTokenCount": 4,
        "cachedContentTokenCount": 2,
        "totalTokenCount": 17,
    }
    assert lost == [("usage.dropped", "")]


GROUNDED = "Grüße aus Köln. Sonne."


def grounding(**more: Any) -> dict[str, Any]:
    return {
        "groundingChunks": [
            {"web": {"uri": "https://a.example", "title": "A"}},
            {"retrievedContext": {"title": "B", "text": "quoted"}},
            {"newer": {}},
        ],
        "groundingSupports": [
            {"segment": {"endIndex": 18, "text": "Grüße aus Köln."}, "groundingChunkIndices": [0, 1]},
            {"segment": {"startIndex": 900, "endIndex": 910, "text": "Sonne."}, "groundingChunkIndices": [0]},
            {"segment": {"startIndex": 0, "endIndex": 999}, "groundingChunkIndices": [1, 7]},
        ],
        **more,
    }


def test_grounding_counts_bytes_of_the_whole_text() -> None:
    body = {
        "candidates": [
            candidate(
                {"text": "hm", "thought": True},
                {"text": "Grüße "},
                {"text": "aus Köln. Sonne.", "thoughtSignature": "c2ln"},
                finishReason="STOP",
                groundingMetadata=grounding(webSearchQueries=["q"]),
            )
        ]
    }
    response, lost = read_answer(body)
    call, result, first, second = response.parts[1:]
    assert isinstance(call, HostedCall) and call.arguments == '{"query":"q"}'
    assert isinstance(result, HostedResult) and result.sources == (Citation("https://a.example", "A"),)
    assert isinstance(first, Text)
    assert isinstance(second, Text)
    assert first.citations == (
        Citation("https://a.example", "A", "", 0, 6),
        Citation("", "B", "quoted", 0, 6),
    )
    assert second.citations == (Citation("https://a.example", "A", "", 10, 16), Citation("", "B", "quoted"))
    assert second.seal == Seal("gemini", "c2ln")
    assert lost == [
        ("citation.approximated", "/candidates/0/content/parts/1"),
        ("field.dropped", "/candidates/0/groundingMetadata/groundingChunks/2/newer"),
    ]


def test_grounding_survives_a_round_trip() -> None:
    supports = [{"segment": {"endIndex": 3, "text": "abc"}, "groundingChunkIndices": [0], "confidenceScores": [0.5]}]
    chunks = [{"maps": {"uri": "https://maps.example", "title": "M"}}]
    for metadata in ({"groundingChunks": chunks, "groundingSupports": supports}, {"groundingChunks": chunks}, {}):
        body = {"candidates": [candidate({"text": "abc"}, finishReason="STOP", groundingMetadata=metadata)]}
        assert answer_round_trip(body) == body
    metadata = {"groundingChunks": chunks, "groundingSupports": supports}
    body = {"candidates": [candidate({"text": "abc"}, finishReason="STOP", groundingMetadata=metadata)]}
    assert read_answer(body)[1] == [
        ("field.dropped", "/candidates/0/groundingMetadata/groundingSupports/0/confidenceScores")
    ]
    alone = {"candidates": [candidate({"text": "abc"}, groundingMetadata={"groundingChunks": chunks})]}
    assert read_answer(alone)[1] == [("field.dropped", "/candidates/0/groundingMetadata/groundingChunks/0/maps")]
    wrong = {"groundingSupports": [{"segment": {"endIndex": 3, "text": "xyz"}}, "?"], "groundingChunks": ["?"]}
    assert read_answer({"candidates": [candidate({"text": "abc"}, groundingMetadata=wrong)]})[1] == [
        ("field.dropped", "/candidates/0/groundingMetadata/groundingSupports/0/segment/text")
    ]


def test_cited_sources() -> None:
    source = {"startIndex": 1, "endIndex": 3, "uri": "https://a.example", "license": "mit"}
    body = {
        "candidates": [
            candidate({"text": "abc"}, finishReason="STOP", citationMetadata={"citationSources": [source, "?"]})
        ]
    }
    response, lost = read_answer(body)
    assert response.parts == (Text("abc", citations=(Citation("https://a.example", "", "", 1, 3),), at=(*AT, 0)),)
    assert lost == [("field.dropped", "/candidates/0/citationMetadata/citationSources/0/license")]
    assert answer_round_trip(body) == body
    none = {"candidates": [candidate(finishReason="STOP", citationMetadata={"citations": [source]})]}
    assert read_answer(none)[0].parts == ()


def test_citations_of_other_dialects_become_grounding_and_are_read_back() -> None:
    cited = (
        Citation("https://a.example", "A", "said there", 0, 5),
        Citation("", "B", "quoted"),
        Citation("https://a.example", "A", "", 6, 9),
        Citation("https://c.example"),
        Citation(""),
    )
    parts = (Text("öäü "), Text(GROUNDED, citations=cited, at=("m",)))
    body, lost = write(Response(parts, Stop("stop")))
    metadata = body["candidates"][0]["groundingMetadata"]
    assert metadata == {
        "groundingChunks": [
            {"web": {"uri": "https://a.example", "title": "A"}},
            {"retrievedContext": {"title": "B", "text": "quoted"}},
            {"web": {"uri": "https://c.example"}},
        ],
        "groundingSupports": [
            {"segment": {"startIndex": 7, "endIndex": 14, "text": "Grüße"}, "groundingChunkIndices": [0]},
            {"segment": {"startIndex": 7, "endIndex": 32, "text": GROUNDED}, "groundingChunkIndices": [1]},
            {"segment": {"startIndex": 15, "endIndex": 18, "text": "aus"}, "groundingChunkIndices": [0]},
            {"segment": {"startIndex": 7, "endIndex": 32, "text": GROUNDED}, "groundingChunkIndices": [2]},
        ],
    }
    assert lost == [("citation.approximated", "/m"), ("citation.dropped", "/m")]
    back = read_answer(body)[0].parts[1]
    assert isinstance(back, Text)
    assert back.citations == (
        Citation("https://a.example", "A", "", 0, 5),
        Citation("", "B", "quoted", 0, 22),
        Citation("https://a.example", "A", "", 6, 9),
        Citation("https://c.example", "", "", 0, 22),
    )


def test_a_citation_of_an_empty_text() -> None:
    body, _ = write(Response((Text("", citations=(Citation("https://a.example"),)),), Stop("stop")))
    assert body["candidates"][0]["groundingMetadata"]["groundingSupports"] == [{"groundingChunkIndices": [0]}]


def test_without_a_writable_citation_there_is_no_metadata() -> None:
    body, lost = write(Response((Text("a", citations=(Citation(""),)),), Stop("stop")))
    assert "groundingMetadata" not in body["candidates"][0]
    assert lost == [("citation.dropped", "")]


def test_an_answer_of_another_dialect() -> None:
    seal = Seal("anthropic", "sig", "thinking", "claude")
    response = Response(
        (
            Reasoning("hm", seal=seal),
            Text("Hi"),
            Text("no", True, at=("m", 1)),
            Text(""),
            Reasoning(),
            Media("image", "image/png", "AAAA"),
            Opaque("anthropic", "server_tool_use", Raw(b"{}"), at=("m", 2)),
            ToolCall("c1", "get.x", "", seal=Seal("openrouter", "x")),
        ),
        Stop("tool_calls"),
        "msg_1",
        "claude",
        1756331047,
        alternatives=(Alternative((Text("b"),), Stop("length")),),
    )
    body, lost = write(response)
    assert body == {
        "candidates": [
            {
                "content": {
                    "parts": [
                        {"text": "hm", "thought": True, "thoughtSignature": pack(seal)},
                        {"text": "Hi"},
                        {"text": "no"},
                        {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
                        {
                            "functionCall": {"id": "c1", "name": "get.x", "args": {}},
                            "thoughtSignature": pack(Seal("openrouter", "x")),
                        },
                    ],
                    "role": "model",
                },
                "finishReason": "STOP",
                "index": 0,
            },
            {"content": {"parts": [{"text": "b"}], "role": "model"}, "finishReason": "MAX_TOKENS", "index": 1},
        ],
        "modelVersion": "claude",
        "responseId": "msg_1",
        "createTime": "2025-08-27T21:44:07Z",
    }
    assert lost == [("refusal.as_text", "/m/1"), ("hosted.dropped", "/m/2")]


@pytest.mark.parametrize(
    ("reason", "word", "exact"),
    [
        ("stop_sequence", "STOP", False),
        ("context_full", "MAX_TOKENS", False),
        ("refusal", "SAFETY", False),
        ("pause", "CONTINUATION", True),
        ("error", "OTHER", False),
        ("unknown", "STOP", False),
    ],
)
def test_reasons_of_other_dialects(reason: Any, word: str, exact: bool) -> None:
    body, lost = write(Response((), Stop(reason, detail="why")), model="asked", created=5)
    assert body == {
        "candidates": [
            {
                "content": {"parts": [], "role": "model"},
                "finishReason": word,
                "index": 0,
                "finishMessage": "why",
            }
        ],
        "modelVersion": "asked",
    }
    assert lost == ([] if exact else [("stop.approximated", "")])


@pytest.mark.parametrize("created", [0, -1, 10**15])
def test_times_out_of_range_are_not_written(created: int) -> None:
    assert "createTime" not in write(Response((Text("a"),), Stop("stop"), created=created))[0]
    assert read_answer({"createTime": "yesterday"})[0].created is None


def test_the_continuation_of_a_tool_turn() -> None:
    context = Context("gemini", "gemini")
    body = {
        "candidates": [
            candidate(
                {"text": "hm", "thought": True},
                {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "c2ln"},
                finishReason="STOP",
            )
        ]
    }
    response = DIALECT.read_response(msgspec.json.encode(body), context)
    call = response.parts[1]
    assert isinstance(call, ToolCall)
    results = Request((Turn("tool", (ToolResult(call.id, (Text("x"),), "f"),)),))
    assert msgspec.json.decode(DIALECT.write_results(response, results, context)) == [
        {
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True},
                {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "c2ln"},
            ],
        },
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "x"}}}]},
    ]
