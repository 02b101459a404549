"""Code Assist answers: the envelope around a Gemini answer, with its ids and credits."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import dragoman
from dragoman import WireError
from dragoman.canon.parts import Seal, Text, ToolCall
from dragoman.canon.response import Response, Stop, Usage
from dragoman.context import Context
from dragoman.dialects.code_assist import DIALECT

from .helpers import NAME, SEAL, answer_round_trip, read_answer, write_answer

CALL = {"functionCall": {"id": "a1", "name": "f", "args": {"x": 1}}, "thoughtSignature": SEAL}
INNER: dict[str, Any] = {
    "candidates": [{"content": {"parts": [{"text": "Hi"}, CALL], "role": "model"}, "finishReason": "STOP", "index": 0}],
    "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7},
    "modelVersion": "m",
}
FULL = {
    "response": {**INNER, "responseId": "r1", "automaticFunctionCallingHistory": [{"role": "user"}]},
    "traceId": "t1",
    "consumedCredits": [{"creditType": "GOOGLE_ONE_AI", "creditAmount": "3"}],
    "remainingCredits": [],
    "newer": 1,
}


def test_an_answer_is_read_out_of_its_envelope() -> None:
    response, lost = read_answer({"response": INNER, "traceId": "t1"})
    assert response == Response(
        (
            Text("Hi", at=("candidates", 0, "content", "parts", 0)),
            ToolCall("a1", "f", '{"x":1}', seal=Seal("gemini", SEAL), at=("candidates", 0, "content", "parts", 1)),
        ),
        Stop("tool_calls"),
        "t1",
        "m",
        None,
        Usage(3, 4),
    )
    assert lost == []


def test_the_id_inside_comes_before_the_trace() -> None:
    response, lost = read_answer(FULL)
    assert response.id == "r1"
    assert sorted(lost) == [
        ("field.dropped", "/consumedCredits"),
        ("field.dropped", "/newer"),
        ("field.dropped", "/remainingCredits"),
        ("field.dropped", "/response/automaticFunctionCallingHistory"),
        ("field.dropped", "/traceId"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        FULL,
        {"response": INNER},
        {"response": INNER, "traceId": "t1"},
        {"response": {**INNER, "responseId": "r1"}},
        {"response": {"candidates": [], "modelVersion": "m"}, "traceId": "t1"} | {"response": {"modelVersion": "m"}},
        {"response": {"promptFeedback": {"blockReason": "SAFETY"}}, "traceId": "t1"},
    ],
)
def test_within_the_dialect_everything_survives_a_round_trip(body: Any) -> None:
    assert answer_round_trip(body) == body


def test_an_envelope_without_an_answer_has_no_candidates() -> None:
    response, lost = read_answer({"traceId": "t1"})
    assert (response, lost) == (Response((), Stop("unknown"), "t1"), [])


def test_a_stored_part_of_an_answer_is_read_too() -> None:
    for body in (INNER, INNER["candidates"][0]["content"]):
        response, _ = read_answer(body)
        assert [type(part) for part in response.parts] == [Text, ToolCall]


@pytest.mark.parametrize(
    ("body", "path"),
    [(b"{}", "/response"), (b'{"response":null}', "/response"), (b'{"x":1}', "/response"), (b"7", ""), (b"{", "")],
)
def test_a_document_that_is_no_answer_is_refused(body: bytes, path: str) -> None:
    with pytest.raises(WireError) as caught:
        DIALECT.read_response(body, Context(NAME, "openai-chat"))
    assert (caught.value.dialect, caught.value.path) == (NAME, path)


def test_an_answer_is_written_into_an_envelope() -> None:
    body, lost = write_answer(Response((Text("Hi"),), Stop("stop"), "r1", "m", None, Usage(3, 4)))
    assert body == {
        "response": {
            "candidates": [
                {"content": {"parts": [{"text": "Hi"}], "role": "model"}, "finishReason": "STOP", "index": 0}
            ],
            "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7},
            "modelVersion": "m",
        },
        "traceId": "r1",
    }
    assert lost == []


def test_answers_are_translated_between_gemini_and_code_assist() -> None:
    there = dragoman.translate_response({**INNER, "responseId": "r1"}, source="gemini", target=NAME)
    assert (there.json(), there.losses) == ({"response": INNER, "traceId": "r1"}, ())
    back = dragoman.translate_response(there.body, source=NAME, target="gemini")
    assert (back.json(), back.losses) == ({**INNER, "responseId": "r1"}, ())


def test_losses_of_an_answer_have_paths_in_the_envelope() -> None:
    inner = {**INNER, "candidates": [{**INNER["candidates"][0], "avgLogprobs": -1, "newer": 2}]}
    done = dragoman.translate_response({"response": inner}, source=NAME, target="anthropic")
    lost = [(loss.path, loss.severity) for loss in done.losses if loss.code == "field.dropped"]
    assert sorted(lost) == [
        ("/response/candidates/0/avgLogprobs", "info"),
        ("/response/candidates/0/newer", "warning"),
    ]


def test_the_continuation_has_the_seal_and_no_thoughts() -> None:
    thought = {"text": "Hm", "thought": True}
    inner = {"candidates": [{"content": {"parts": [thought, CALL], "role": "model"}, "finishReason": "STOP"}]}
    turns = dragoman.tool_results(msgspec.json.encode({"response": inner}), {"a1": {"output": "ok"}}, dialect=NAME)
    assert turns == [
        {"role": "model", "parts": [CALL]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "a1", "name": "f", "response": {"output": "ok"}}}],
        },
    ]


def test_a_continuation_of_calls_alone() -> None:
    call = ToolCall("a1", "f", '{"x":1}', seal=Seal("gemini", SEAL))
    turns = dragoman.tool_results([call], ["ok"], dialect=NAME)
    assert turns[0] == {"role": "model", "parts": [CALL]}
