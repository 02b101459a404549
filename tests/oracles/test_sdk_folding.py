"""Tests of the reference folds by the official SDKs, over every recorded stream and the transcripts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from tests.oracles import body_verdict, exchanges, rejected_recordings, sdk_folding, transcripts

Json = Any
FOLDS: dict[str, Callable[[bytes], Json]] = {
    "openai-chat": sdk_folding.openai_chat,
    "openai-responses": sdk_folding.openai_responses,
    "anthropic": sdk_folding.anthropic,
    "gemini": sdk_folding.gemini,
}


@pytest.mark.parametrize("dialect", exchanges.DIALECTS)
def test_every_recorded_stream_folds(dialect: str) -> None:
    failed = set()
    for record in exchanges.streams(dialect):
        try:
            answer = FOLDS[dialect](record.raw)
        except sdk_folding.FoldError:
            failed.add(record.id)
            continue
        if record.real and exchanges.base_id(record.id) not in rejected_recordings.rejected(dialect, "stream"):
            assert body_verdict.check_response(dialect, json.dumps(answer).encode()) == [], record.id
    listed = [name for name in rejected_recordings.SDK_FAILS if name.rpartition("-")[0] == dialect]
    assert exchanges.surprises(failed, listed) == []


def folded(dialect: str, scenario: str) -> Json:
    return FOLDS[dialect](transcripts.raw(transcripts.events(dialect, scenario)))


def test_chat_calls_are_joined() -> None:
    answer = folded("openai-chat", "one-tool")
    assert answer["object"] == "chat.completion"
    assert answer["choices"][0]["finish_reason"] == "tool_calls"
    call = {"id": "call_a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
    assert answer["choices"][0]["message"]["tool_calls"] == [call]
    assert folded("openai-chat", "text")["usage"]["total_tokens"] == 4


def test_responses_end_with_the_terminal_response() -> None:
    answer = folded("openai-responses", "thinking-tool")
    assert [item["type"] for item in answer["output"]] == ["reasoning", "function_call"]
    assert answer["output"][1]["arguments"] == "{}"
    assert "parsed_arguments" not in answer["output"][1]


def test_responses_that_are_incomplete_fold_too() -> None:
    events = transcripts.events("openai-responses", "text")
    response = {**events[-1][1]["response"], "status": "incomplete"}
    events[-1] = ("response.incomplete", {"type": "response.incomplete", "sequence_number": 8, "response": response})
    assert sdk_folding.openai_responses(transcripts.raw(events))["status"] == "incomplete"


def test_messages_are_gathered_by_both_kinds_of_types() -> None:
    raw = transcripts.raw(transcripts.events("anthropic", "thinking-tool"))
    answer = sdk_folding.anthropic(raw)
    assert answer == sdk_folding.anthropic(raw, beta=False)
    assert answer["content"] == [
        {"type": "thinking", "thinking": "Need f", "signature": "EqQB…"},
        {"type": "tool_use", "id": "toolu_a", "name": "f", "input": {}},
    ]
    assert answer["stop_reason"] == "tool_use"
    assert answer["usage"]["output_tokens"] == 30


def test_gemini_joins_text_but_never_across_a_signature() -> None:
    def chunk(*parts: Json, **more: Json) -> tuple[None, Json]:
        return None, {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **more}]}

    answer = sdk_folding.gemini(
        transcripts.raw(
            [
                chunk({"text": "Need ", "thought": True}),
                chunk({"text": "f", "thought": True}),
                chunk({"text": "He"}, {"text": "llo"}),
                chunk({"text": "", "thoughtSignature": "c2ln"}),
                chunk({"text": " you"}, {"text": ""}),
                chunk({"functionCall": {"name": "f", "args": {}}}, {"functionCall": {"name": "g", "args": {}}}),
                chunk(finishReason="STOP"),
                (None, {"usageMetadata": {"totalTokenCount": 9}, "responseId": "r1"}),
            ]
        )
    )
    assert answer == {
        "candidates": [
            {
                "index": 0,
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "Need f", "thought": True},
                        {"text": "Hello"},
                        {"text": "", "thoughtSignature": "c2ln"},
                        {"text": " you"},
                        {"functionCall": {"name": "f", "args": {}}},
                        {"functionCall": {"name": "g", "args": {}}},
                    ],
                },
                "finishReason": "STOP",
            }
        ],
        "usageMetadata": {"totalTokenCount": 9},
        "responseId": "r1",
    }


def test_gemini_joins_the_pieces_of_calls() -> None:
    answer = sdk_folding.gemini(transcripts.raw(transcripts.events("vertex", "partial-args")))
    part = answer["candidates"][0]["content"]["parts"]
    assert part == [{"functionCall": {"id": "a1", "name": "f", "args": {"city": "Paris"}}, "thoughtSignature": "c2ln"}]


def test_gemini_pieces_may_be_deep_in_lists() -> None:
    pieces = [
        {"jsonPath": "$.a[1].b", "numberValue": 2},
        {"jsonPath": "$.a[0].b", "boolValue": True},
        {"jsonPath": "$.n", "nullValue": "NULL_VALUE"},
    ]
    call = {"name": "f", "willContinue": True}
    parts = [{"functionCall": call}, {"functionCall": {"partialArgs": pieces}}]
    answer = sdk_folding.gemini(transcripts.raw([(None, {"candidates": [{"content": {"parts": parts}}]})]))
    args = answer["candidates"][0]["content"]["parts"][0]["functionCall"]["args"]
    assert args == {"a": [{"b": True}, {"b": 2}], "n": None}


def test_gemini_arrays_fold_like_streams() -> None:
    arrays = [record.response for record in exchanges.records("gemini") if record.framing == "json-array"]
    assert arrays
    for chunks in arrays:
        framed = transcripts.raw([(None, chunk) for chunk in chunks])
        assert sdk_folding.gemini(json.dumps(chunks).encode()) == sdk_folding.gemini(framed)
    with pytest.raises(sdk_folding.FoldError, match="not JSON"):
        sdk_folding.gemini(b"data: {\n\n")


@pytest.mark.parametrize("dialect", exchanges.DIALECTS)
def test_faults_and_empty_streams_do_not_fold(dialect: str) -> None:
    faults: dict[str, tuple[str | None, Json]] = {
        "anthropic": ("error", {"type": "error", "error": {"type": "overloaded_error", "message": "m"}}),
        "openai-chat": (None, {"error": {"message": "m", "type": "t", "param": None, "code": None}}),
        "openai-responses": ("error", {"type": "error", "code": None, "message": "m", "param": None}),
        "gemini": (None, {"error": {"code": 503, "message": "m", "status": "UNAVAILABLE"}}),
    }
    with pytest.raises(sdk_folding.FoldError):
        FOLDS[dialect](transcripts.raw([faults[dialect]]))
    if dialect != "gemini":
        with pytest.raises(sdk_folding.FoldError):
            FOLDS[dialect](b"")


def test_the_folds_cannot_send() -> None:
    for client in (sdk_folding._openai(), sdk_folding._anthropic()):
        with pytest.raises(RuntimeError, match="never send"):
            client._client.send(httpx2.Request("GET", "http://judges.invalid"))
