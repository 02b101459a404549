"""Incomplete or contradicting frames: a value is translated, or there is a fault or a loss."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman.canon import Finish, PartDelta, PartEnd, PartStart, Start, Stop, ToolCall
from dragoman.context import Context
from dragoman.dialects import get
from tests.oracles.grammar import check_stream
from tests.regressions.cases import FOLDS, wire
from tests.regressions.wire_shapes import DONE, calling, candidate, chunk, events, item_call, piece, response

CREATED = {"type": "response.created", "response": response(status="in_progress")}
TOKEN = {"token": "a", "logprob": -0.5, "bytes": None, "top_logprobs": []}


def _translated(source: str, target: str, frames: list[Any]) -> tuple[bytes, dragoman.StreamTranslator]:
    stream = dragoman.StreamTranslator(source=source, target=target)
    out = stream.feed(wire(source, frames)) + stream.close()
    assert check_stream(target, out, extensions=True) == [], out
    return out, stream


def _losses(stream: dragoman.StreamTranslator) -> list[tuple[str, str]]:
    return [(loss.code, loss.path) for loss in stream.losses if loss.severity != "info"]


def test_a_call_without_a_name_is_a_fault() -> None:
    frames = [chunk({"content": "Hi"}), calling(piece(0, "{}", id="call_a")), chunk(finish="tool_calls"), DONE]
    stream = _translated("openai-chat", "anthropic", frames)[1]
    assert stream.fault is not None and "without a name" in stream.fault.message


def test_a_message_beside_its_deltas_is_not_written_twice() -> None:
    both = chunk({"content": "Hi"}, "stop")
    both["choices"][0]["message"] = {"role": "assistant", "content": "Hi"}
    out, stream = _translated("openai-chat", "anthropic", [both, DONE])
    assert FOLDS["anthropic"](out)["content"][0]["text"] == "Hi"
    assert ("field.dropped", "/choices/0/message") in [(loss.code, loss.path) for loss in stream.losses]


def test_log_probabilities_without_text_are_a_loss() -> None:
    for delta in ({}, None):
        late = chunk({}, None)
        late["choices"][0] |= {"delta": delta, "logprobs": {"content": [TOKEN], "refusal": None}}
        frames = [calling(piece(0, "{}", id="call_a", name="f")), late, chunk(finish="tool_calls"), DONE]
        assert _losses(_translated("openai-chat", "openai-responses", frames)[1]) == [
            ("field.dropped", "/choices/0/logprobs")
        ]


def test_invalid_log_probabilities_are_replaced_by_the_last_valid_ones() -> None:
    odd, last = {"chosenCandidates": 1}, {"chosenCandidates": [{"token": "b", "logProbability": -1.0}]}
    frames = [candidate({"text": "a"}), candidate({"text": "b"}, finish="STOP")]
    for frame, result in zip(frames, (odd, last), strict=True):
        frame["candidates"][0]["logprobsResult"] = result
    stream = dragoman.StreamTranslator(source="gemini", target="code-assist")
    out = stream.feed(wire("gemini", frames)) + stream.close()
    told = json.loads(out.decode().rstrip().rpartition("data: ")[2])["response"]["candidates"][0]
    assert told["logprobsResult"] == last


def _call(deltas: list[str], last: str) -> list[Any]:
    added = {"type": "response.output_item.added", "output_index": 0, "item": item_call("call_a", "f", "")}
    told = [
        {"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "fc_call_a", "delta": text}
        for text in deltas
    ]
    done = {"type": "response.output_item.done", "output_index": 0, "item": item_call("call_a", "f", last)}
    return events(CREATED, added, *told, done, {"type": "response.completed", "response": response()})


def test_the_final_item_of_a_call_may_have_other_white_space() -> None:
    out = _translated("openai-responses", "openai-chat", _call(['{"a":', "1}"], '{ "a" : 1 }'))[0]
    call = FOLDS["openai-chat"](out)["choices"][0]["message"]["tool_calls"][0]
    assert call["function"]["arguments"] == '{"a":1}'


def test_a_call_with_a_missing_piece_is_a_fault() -> None:
    stream = _translated("openai-responses", "openai-chat", _call(['{"a":', "}"], '{"a":1}'))[1]
    assert stream.fault is not None and "go on as they began" in stream.fault.message


def test_a_text_that_differs_from_its_deltas_is_reported() -> None:
    content = [{"type": "output_text", "text": "Hello", "annotations": [], "logprobs": []}]
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    frames = events(
        CREATED,
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Helo"},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response(item)},
    )
    out, stream = _translated("openai-responses", "openai-chat", frames)
    assert FOLDS["openai-chat"](out)["choices"][0]["message"]["content"] == "Helo"
    assert ("event.dropped", "/output/0/content/0") in _losses(stream)


def test_an_incomplete_call_in_a_failed_answer_keeps_the_failure_message() -> None:
    writer = get("anthropic").writer(Context("gemini", "anthropic"))
    steps = [Start("r1", "m"), PartStart(0, ToolCall("call_a", "f")), PartDelta(0, '{"a'), PartEnd(0)]
    out = b"".join([writer.send(event) for event in [*steps, Finish(Stop("error", detail="It broke."))]])
    assert check_stream("anthropic", out) == []
    assert json.loads(out.decode().rstrip().rpartition("data: ")[2])["error"]["message"] == "It broke."


@pytest.mark.parametrize("target", ["openai-chat", "openrouter"])
@pytest.mark.parametrize("words", [{"text": "c"}, None], ids=["text", "end alone"])
def test_a_candidate_that_the_upstream_left_out_is_a_choice_with_an_end(target: str, words: Any) -> None:
    first, last = candidate({"text": "a"}, finish="STOP"), candidate(words, finish="SAFETY")
    last["candidates"][0]["index"] = 2
    if words is None:
        del last["candidates"][0]["content"]
    out, stream = _translated("gemini", target, [first, last])
    assert dragoman.lint(out, dialect=target, kind="stream") == []
    assert _losses(stream) == [("answer.invented", "/candidates/1")]
    sent = [json.loads(line[6:]) for line in out.splitlines() if line.startswith(b"data: {")]
    choices = [choice for one in sent for choice in one["choices"]]
    assert [choice["finish_reason"] for choice in choices if choice["index"] == 1] == [None, "stop"]
    assert all("native_finish_reason" not in choice for choice in choices if choice["index"] == 1)
