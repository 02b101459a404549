"""The judge of the Code Assist envelope can fail, and wrapped documents can be unwrapped again."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from tests.oracles import body_verdict, code_assist, exchanges, grammar
from tests.oracles.transcripts import fences, page

Json = Any

REQUEST: Json = {
    "model": "gemini-3-pro",
    "project": "p",
    "user_prompt_id": "1",
    "request": {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "systemInstruction": {"role": "user", "parts": [{"text": "s"}]},
        "generationConfig": {"temperature": 1},
        "session_id": "s",
    },
    "enabled_credit_types": ["GOOGLE_ONE_AI"],
}
ANSWER: Json = {
    "response": {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": "m",
    },
    "traceId": "t",
    "consumedCredits": [{"creditType": "GOOGLE_ONE_AI", "creditAmount": "1"}],
}


def dump(value: Json) -> bytes:
    return json.dumps(value).encode()


def changed(body: Json, where: str, value: Json) -> Json:
    body = json.loads(json.dumps(body))
    *path, last = [int(step) if step.isdigit() else step for step in where.split("/")[1:]]
    holder = body
    for step in path:
        holder = holder[step]
    holder[last] = value
    return body


def test_legal_bodies_have_no_findings() -> None:
    assert body_verdict.check_request("code-assist", dump(REQUEST)) == []
    assert body_verdict.check_response("code-assist", dump(ANSWER)) == []
    assert (
        body_verdict.check_event("code-assist", dump({"error": {"code": 1, "message": "m", "status": "INTERNAL"}}))
        == []
    )


@pytest.mark.parametrize(
    ("where", "value", "rule"),
    [
        ("/contents", [], "GCA-001"),
        ("/model", "models/gemini-3-pro", "GCA-003"),
        ("/model", "", "GCA-003"),
        ("/request", None, "GCA-001"),
        ("/request/sessionId", "s", "GCA-002"),
        ("/request/generation_config", {}, "GCA-002"),
        ("/request/store", True, "GCA-002"),
        ("/request/systemInstruction", {"text": "s"}, "GCA-004"),
        ("/request/generationConfig/imageConfig", {}, "GCA-005"),
        ("/request/contents/0/parts/0", {"text": "a", "thought": True}, "GCA-006"),
        ("/request/contents/0/role", "assistant", "/request/contents/0/role"),
    ],
)
def test_a_broken_request_is_found(where: str, value: Json, rule: str) -> None:
    found = body_verdict.check_request("code-assist", dump(changed(REQUEST, where, value)))
    assert [line for line in found if rule in line], found


@pytest.mark.parametrize(
    ("where", "value", "words"),
    [
        ("/response", None, "GCA-S01"),
        ("/candidates", [], "/candidates"),
        ("/traceId", 7, "/traceId"),
        ("/response/candidates/0/finishReason", "stop", "/response/candidates/0/finishReason"),
    ],
)
def test_a_broken_answer_is_found(where: str, value: Json, words: str) -> None:
    body = dump(changed(ANSWER, where, value))
    for found in (body_verdict.check_response("code-assist", body), body_verdict.check_event("code-assist", body)):
        assert [line for line in found if words in line], found


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"{}", dump(ANSWER["response"]), dump(REQUEST["request"])])
def test_a_document_without_an_envelope_is_found(body: bytes) -> None:
    assert body_verdict.check_request("code-assist", body)
    assert body_verdict.check_response("code-assist", body)


def test_streams_are_judged_by_frame_and_as_a_whole() -> None:
    legal = b"data: " + dump(ANSWER) + b"\r\n\r\n"
    assert grammar.check_stream("code-assist", legal) == []
    assert grammar.check_stream("code-assist", legal + legal) == [
        "event 1: GEM-S01 candidate 0 goes on after its finishReason"
    ]
    assert grammar.check_stream("code-assist", b"data: " + dump(ANSWER["response"]) + b"\r\n\r\n")


def test_the_transcript_of_the_page_is_legal() -> None:
    found = [body for (dialect, _), body in fences(page()).items() if dialect == "code-assist"]
    assert found
    for text in found:
        assert grammar.check_stream("code-assist", text.replace("\n", "\n\n").encode()) == []


def test_wrapped_gemini_records_unwrap_to_the_same_documents() -> None:
    plain = exchanges.wrapped_ones()
    wrapped = exchanges.records("code-assist")
    assert [item.id.partition("-")[2] for item in plain] == [item.id.removeprefix("code-assist-") for item in wrapped]
    for before, after in zip(plain, wrapped, strict=True):
        if before.request is not None and after.request is not None:
            assert {**before.request, "session_id": after.request["request"]["session_id"]} == after.request["request"]
            assert exchanges.model_of(after) == after.request["model"]
        if isinstance(before.response, dict) and "error" not in before.response:
            assert after.response["response"] == before.response
        if before.stream is not None:
            inside = code_assist.unwrap_stream(after.raw)
            assert _chunks(inside) == [
                {"responseId": mine["responseId"], **chunk}
                for mine, chunk in zip(_chunks(inside), _chunks(before.raw), strict=True)
            ]


def _chunks(raw: bytes) -> list[Json]:
    return [msgspec.json.decode(line[6:]) for line in raw.splitlines() if line.startswith(b"data: {")]


def test_places_are_converted_to_the_inner_document() -> None:
    paths = ["/request", "/request/contents/0", "/response/candidates/0", "/project", "", "/requests/1"]
    assert [code_assist.inside(path) for path in paths] == [
        "",
        "/contents/0",
        "/candidates/0",
        "/project",
        "",
        "/requests/1",
    ]
