"""The end and the content of a stream, read without the library's readers; the history that clients send back."""

from __future__ import annotations

from typing import Any

import pytest
from conformance.source.documents import DIALECTS, Call
from conformance.source.streams import begin, end, fault_frame, frames

from dragoman.conform.judging import suite_reader
from dragoman.conform.judging.client_history import next_request, with_response_and_outputs
from dragoman.conform.judging.independent_stream_reader import fold, frame_stream, frames_of, stream_ending
from dragoman.conform.judging.json_paths_and_exact_numbers import find_values

SUITE = suite_reader.load_suite(suite_reader.latest_suite())
A = Call("call_a", "get_weather", '{"city":"Paris"}')
CALLS = {
    "anthropic": "/content/[type=tool_use]/input/city",
    "code-assist": "/response/candidates/0/content/parts/*/functionCall/args/city",
    "gemini": "/candidates/0/content/parts/*/functionCall/args/city",
    "ollama": "/message/tool_calls/*/function/arguments/city",
    "openai-chat": "/choices/0/message/tool_calls/*/function/arguments",
    "openai-responses": "/output/[type=function_call]/arguments",
    "openrouter": "/choices/0/message/tool_calls/*/function/arguments",
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_stream_has_a_normal_end_a_fault_both_or_no_end(dialect: str) -> None:
    text, fault = begin(dialect, "Hello there."), fault_frame(dialect)
    assert stream_ending(dialect, frames(dialect, "Hello there.")) == "well"
    assert stream_ending(dialect, text) == "open"
    assert stream_ending(dialect, [*text, fault]) == "fault"
    assert stream_ending(dialect, [*text, *end(dialect, "Hello there."), fault]) == "both"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_folded_stream_has_its_texts_and_calls(dialect: str) -> None:
    sent = frames(dialect, "Hello there.", (A,))
    assert frames_of(dialect, frame_stream(dialect, sent)) == sent
    folded = fold(dialect, sent)
    found = find_values(folded, CALLS[dialect])
    assert [value.replace('{"city":"', "").replace('"}', "") for value in found] == ["Paris"]
    assert "Hello there." in str(folded)


def test_comments_are_ignored_and_broken_frames_are_found() -> None:
    data = frame_stream("openrouter", [": wait", {"a": 1}, "[DONE]"]) + b"data: {cut\n\n"
    assert data.startswith(b": wait\n\ndata: ")
    assert frames_of("openrouter", data) == [{"a": 1}, "[DONE]", None]
    assert frames_of("ollama", b'{"a":1}\n\n{cut\n') == [{"a": 1}, None]


def test_call_pieces_with_one_index_are_one_broken_call() -> None:
    both = (A, Call("call_b", "get_weather", '{"city":"Rome"}'))
    merged: list[Any] = []
    for frame in frames("openai-chat", "", both):
        if isinstance(frame, dict) and frame["choices"]:
            for piece in frame["choices"][0]["delta"].get("tool_calls", []):
                piece["index"] = 0
        merged.append(frame)
    calls = find_values(fold("openai-chat", merged), "/choices/0/message/tool_calls/*")
    assert len(calls) == 1
    assert calls[0]["function"]["name"] == "get_weatherget_weather"


def test_reasoning_details_are_joined_by_index() -> None:
    def chunk(detail: dict[str, Any]) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": {"reasoning_details": [detail]}}]}

    kind = {"type": "reasoning.text", "index": 0}
    found = fold(
        "openrouter", [chunk({**kind, "text": "a"}), chunk({**kind, "text": "b"}), chunk({**kind, "signature": "s"})]
    )
    assert found["choices"][0]["message"]["reasoning_details"] == [{**kind, "text": "ab", "signature": "s"}]


def test_arguments_that_are_not_json_stay_text() -> None:
    sent = [*begin("anthropic", "", (A._replace(args='{"city":"Par'),))]
    assert find_values(fold("anthropic", sent), "/content/0/input") == ['{"city":"Par']


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_client_appends_the_answer_and_the_results(dialect: str, strict: bool) -> None:
    plain = SUITE.plain[dialect]
    answer = fold(dialect, frames(dialect, "", (A,)))
    after = with_response_and_outputs(dialect, plain.request, answer, ["12 degrees"], strict)
    before, now = [find_values(one, _turns(dialect)) for one in (plain.request, after)]
    assert now[: len(before)] == before
    assert len(now) == len(before) + 2
    assert "get_weather" in str(now[-2])
    assert "12 degrees" in str(now[-1])
    if dialect == "ollama":
        assert ("call_a" in str(now)) is not strict


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_client_appends_the_next_user_message(dialect: str) -> None:
    plain = SUITE.plain[dialect]
    after = next_request(dialect, plain.request, plain.reply, {"say": "And tomorrow?"}, False)
    before, now = [find_values(one, _turns(dialect)) for one in (plain.request, after)]
    assert now[: len(before)] == before
    assert len(now) == len(before) + 2
    assert "And tomorrow?" in str(now[-1])
    assert next_request(dialect, plain.request, plain.reply, {}, False) == plain.request


def _turns(dialect: str) -> str:
    return {
        "code-assist": "/request/contents/*",
        "gemini": "/contents/*",
        "openai-responses": "/input/*",
    }.get(dialect, "/messages/*")


def test_a_strict_client_drops_undocumented_fields() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}, "extra_content": {"x": 1}}
    message = {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "Hm."}
    answer = {"choices": [{"message": message}]}
    request: dict[str, Any] = {"messages": []}
    strict = with_response_and_outputs("openai-chat", request, answer, ["1"], True)["messages"][0]
    assert "reasoning_content" not in strict
    assert "extra_content" not in strict["tool_calls"][0]
    assert with_response_and_outputs("openai-chat", request, answer, ["1"], False)["messages"][0] == message
    thought = {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": "Yes"}]}}]
    }
    contents = with_response_and_outputs("gemini", {"contents": []}, thought, [], True)["contents"]
    assert contents[0]["parts"] == [{"text": "Yes"}]


def test_a_responses_client_may_begin_with_a_text() -> None:
    items = with_response_and_outputs("openai-responses", {"input": "Hi"}, {"output": []}, [], False)["input"]
    assert items == [{"role": "user", "content": "Hi"}]
