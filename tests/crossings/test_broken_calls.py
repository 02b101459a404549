"""Calls whose arguments break off, over all pairs: reported, never completed, never run, in answers and in streams."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman.canon import Fault, Finish, Response, Stop, StopReason, Text, ToolCall
from dragoman.canon.fold import fold, unfold
from dragoman.codec import jsontext
from dragoman.crossing import Crossing
from dragoman.dialects import get
from tests.crossings.desk import PAIRS
from tests.judges.grammar import check_stream
from tests.judges.official import check_response

CUT = '{"path": "/etc/pas'
WHOLE = ToolCall("call_a", "read", '{"path": "/etc"}')
BROKEN = ToolCall("call_b", "read", CUT)
ORDERS = {"last": (WHOLE, BROKEN), "first": (BROKEN, WHOLE)}
STOPS: tuple[StopReason, ...] = ("tool_calls", "length")


def _answer(dialect: str, stop: StopReason, order: str) -> bytes:
    response = Response((Text("Look."), *ORDERS[order]), Stop(stop), "resp_1", "m", 1)
    return get(dialect).write_response(response, Crossing(dialect, dialect, created=5))


def _stream(dialect: str, stop: StopReason, order: str) -> bytes:
    response = Response((Text("Look."), *ORDERS[order]), Stop(stop), "resp_1", "m", 1)
    writer = get(dialect).writer(Crossing(dialect, dialect, created=5))
    return b"".join([writer.send(event) for event in unfold(response)]) + writer.close()


def _codes(losses: tuple[dragoman.Loss, ...]) -> set[str]:
    return {loss.code for loss in losses}


def _read(dialect: str, body: bytes) -> Response:
    return get(dialect).read_response(body, Crossing(dialect, dialect))


def _arguments(response: Response, name: str) -> str:
    (call,) = [part for part in response.parts if isinstance(part, ToolCall) and part.id == name]
    return call.arguments


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_an_answer_with_half_a_call_was_cut(source: str, target: str, stop: StopReason, order: str) -> None:
    done = dragoman.translate_response(_answer(source, stop, order), source=source, target=target)
    assert check_response(target, done.body, extensions=True) == []
    back = _read(target, done.body)
    assert back.stop.reason == "length"
    assert _arguments(back, "call_a") == WHOLE.arguments
    assert _arguments(back, "call_b") == CUT
    assert "arguments.invalid" in _codes(done.losses)
    assert ("stop.approximated" in _codes(done.losses)) is (stop != "length")
    for loss in done.losses:
        assert loss.path or loss.code in ("id.invented", "usage.invented"), loss


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_stream_with_half_a_call_was_cut(source: str, target: str, stop: StopReason, order: str) -> None:
    raw = _stream(source, stop, order)
    stream = dragoman.StreamTranslator(source=source, target=target, created=5)
    out = stream.feed(raw) + stream.close()
    assert check_stream(target, out, extensions=True) == []
    reader = get(target).reader(Crossing(target, target))
    back = fold([*reader.feed(out), *reader.close()])
    if order == "first" and "anthropic" in (source, target):
        # Messages has no place for it: half a call may stand at the end, and only there.
        assert isinstance(back, Fault)
        return
    assert isinstance(back, Response)
    assert back.stop.reason == "length"
    assert _arguments(back, "call_b") == CUT
    assert "arguments.invalid" in _codes(stream.losses)


@pytest.mark.parametrize("target", ["openai-chat", "openrouter", "openai-responses", "gemini", "ollama"])
def test_arguments_that_are_whole_and_no_json_are_the_models_mistake(target: str) -> None:
    """The client can tell the model, so the call is told as it came, and the answer is not cut."""
    malformed = ToolCall("call_a", "read", "{'path': '/etc'}")
    body = get("anthropic").write_response(Response((), Stop("stop"), "m1", "m"), Crossing("anthropic", "anthropic"))
    answer = json.loads(body)
    use: Any = {"type": "tool_use", "id": "call_a", "name": "read", "input": {"__raw": malformed.arguments}}
    answer |= {"content": [use], "stop_reason": "tool_use"}
    done = dragoman.translate_response(answer, source="anthropic", target=target)
    back = _read(target, done.body)
    assert (back.stop.reason, _arguments(back, "call_a")) == ("tool_calls", malformed.arguments)
    found = [(loss.path, loss.detail) for loss in done.losses if loss.code == "arguments.invalid"]
    assert found == [("/content/0", "they are no JSON object")]


@pytest.mark.parametrize("stop", STOPS)
def test_half_a_patch_is_not_applied(stop: StopReason) -> None:
    """A free-text call travels wrapped; what comes back of a wrapper that breaks off is half a text."""
    tool = {"type": "custom", "name": "apply_patch", "description": "Patch.", "format": {"type": "text"}}
    asked = dragoman.translate_request(
        {"model": "m", "input": "Go.", "tools": [tool]}, source="openai-responses", target="openrouter"
    )
    half = ToolCall("call_a", "apply_patch", '{"input":"*** Begin')
    response = Response((half,), Stop(stop), "c1", "m", 1)
    under = Crossing("openrouter", "openrouter", created=5)
    writer = get("openrouter").writer(under)
    finish = Finish(Stop(stop))
    raw = b"".join([writer.send(event) for event in [*unfold(response)[:-1], finish]])
    raw = raw.replace(b'"finish_reason":"length"', b'"finish_reason":"%b"' % stop.encode())
    stream = dragoman.StreamTranslator(source="openrouter", target="openai-responses", answers=asked)
    out = stream.feed(raw) + stream.close()
    last = json.loads(out.decode().rstrip().rpartition("data: ")[2])["response"]
    assert last["status"] == "incomplete"
    assert [(item["type"], item["input"], item["status"]) for item in last["output"]] == [
        ("custom_tool_call", "*** Begin", "incomplete")
    ]


def test_what_breaks_off() -> None:
    text = '{"a": [1.5, -2, true, null, "x\\u00e9\\n"], "b": {"c": ""}}'
    for end in range(1, len(text)):
        assert jsontext.breaks_off(text[:end]), text[:end]
    for whole in (text, "", "  ", "null", "[1", '"a', "abc", "{'a': 1", '{"a":1}}', '{"a" 1}'):
        assert not jsontext.breaks_off(whole), whole
