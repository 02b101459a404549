"""Calls with incomplete arguments, over all pairs: reported, never completed, never run, in answers and in streams."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman.canon import Fault, Finish, Response, Stop, StopReason, Text, ToolCall
from dragoman.canon.fold_and_unfold import fold, unfold
from dragoman.codec import json_text
from dragoman.context import Context
from dragoman.dialects import get, names
from tests.oracles.body_verdict import check_response
from tests.oracles.grammar import check_stream
from tests.pairs.helpers import PAIRS

CUT = '{"path": "/etc/pas'
WHOLE = ToolCall("call_a", "read", '{"path": "/etc"}')
BROKEN = ToolCall("call_b", "read", CUT)
ORDERS = {"last": (WHOLE, BROKEN), "first": (BROKEN, WHOLE)}
STOPS: tuple[StopReason, ...] = ("tool_calls", "length")


def _answer(dialect: str, stop: StopReason, order: str) -> bytes:
    response = Response((Text("Look."), *ORDERS[order]), Stop(stop), "resp_1", "m", 1)
    return get(dialect).write_response(response, Context(dialect, dialect, created=5))


def _stream(dialect: str, stop: StopReason, order: str) -> bytes:
    response = Response((Text("Look."), *ORDERS[order]), Stop(stop), "resp_1", "m", 1)
    writer = get(dialect).writer(Context(dialect, dialect, created=5))
    return b"".join([writer.send(event) for event in unfold(response)]) + writer.close()


def _codes(losses: tuple[dragoman.Loss, ...]) -> set[str]:
    return {loss.code for loss in losses}


def _read(dialect: str, body: bytes) -> Response:
    return get(dialect).read_response(body, Context(dialect, dialect))


def _arguments(response: Response, name: str) -> str:
    (call,) = [part for part in response.parts if isinstance(part, ToolCall) and part.id == name]
    return call.arguments


ATOMIC = {name: get(name).broken_calls for name in names() if get(name).broken_calls != "text"}
TEXT = [pair for pair in PAIRS if pair[1] not in ATOMIC]
STREAMING = [name for name in names() if name == "anthropic" or name not in ATOMIC]
"""Dialects whose streams have arguments in pieces."""
ARGUMENTS = {"break off": CUT, "are no JSON": "{'path': '/etc'}", "are a list": '["/etc"]', "are words": "run it"}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize(("source", "target"), TEXT)
def test_an_answer_with_an_incomplete_call_has_the_stop_reason_length(
    source: str, target: str, stop: StopReason, order: str
) -> None:
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
@pytest.mark.parametrize(("source", "target"), [pair for pair in TEXT if pair[0] in STREAMING])
def test_a_stream_with_an_incomplete_call_has_the_stop_reason_length(
    source: str, target: str, stop: StopReason, order: str
) -> None:
    stream, back = _streamed(source, target, _stream(source, stop, order))
    if order == "first" and source == "anthropic":
        # In Messages an incomplete call may only be at the end.
        assert isinstance(back, Fault)
        return
    assert isinstance(back, Response)
    assert back.stop.reason == "length"
    assert _arguments(back, "call_b") == CUT
    assert "arguments.invalid" in _codes(stream.losses)


def _streamed(source: str, target: str, raw: bytes) -> tuple[dragoman.StreamTranslator, Response | Fault]:
    stream = dragoman.StreamTranslator(source=source, target=target, created=5)
    out = stream.feed(raw) + stream.close()
    assert check_stream(target, out, extensions=True) == []
    assert b"__raw" not in out
    reader = get(target).reader(Context(target, target))
    return stream, fold([*reader.feed(out), *reader.close()])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("source", [name for name in STREAMING if name != "anthropic"])
def test_a_messages_stream_may_have_an_incomplete_call_only_at_its_end(
    source: str, stop: StopReason, order: str
) -> None:
    stream, back = _streamed(source, "anthropic", _stream(source, stop, order))
    if order == "first":
        assert isinstance(back, Fault)
        return
    assert isinstance(back, Response)
    assert (back.stop.reason, _arguments(back, "call_b")) == ("length", CUT)
    assert "arguments.invalid" in _codes(stream.losses)


def _chat(arguments: str, finish: str, *, first: bool) -> dict[str, Any]:
    """Return a Chat answer with a complete call and a call with these arguments."""
    calls = [
        {"id": name, "type": "function", "function": {"name": "read", "arguments": text}}
        for name, text in (("call_a", WHOLE.arguments), ("call_b", arguments))
    ]
    message = {"role": "assistant", "content": "Look.", "tool_calls": calls[::-1] if first else calls}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion", "created": 5, "model": "m", "choices": [choice]}


def _chat_stream(answer: dict[str, Any]) -> bytes:
    (choice,) = answer["choices"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": "Look."}]
    deltas += [{"tool_calls": [{"index": i, **call}]} for i, call in enumerate(choice["message"]["tool_calls"])]
    chunks = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    chunks.append({"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]})
    framed = [f"data: {json.dumps({'id': 'c', 'model': 'm', 'choices': [chunk]})}\n\n" for chunk in chunks]
    return "".join([*framed, "data: [DONE]\n\n"]).encode()


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("finish", ["tool_calls", "stop", "length"])
@pytest.mark.parametrize("why", ARGUMENTS)
@pytest.mark.parametrize("target", ATOMIC)
def test_a_target_with_arguments_as_objects_gets_no_broken_call(
    target: str, why: str, finish: str, first: bool
) -> None:
    """The complete calls of the answer stay. The finish reason or a fault reports the broken call."""
    answer = _chat(ARGUMENTS[why], finish, first=first)
    kind = ATOMIC[target]
    if kind == "fault" and finish != "length":
        with pytest.raises(dragoman.FaultError) as caught:
            dragoman.translate_response(answer, source="openai-chat", target=target)
        assert "call.truncated" in _codes(caught.value.losses)
        return
    done = dragoman.translate_response(answer, source="openai-chat", target=target)
    assert b"__raw" not in done.body and b"call_b" not in done.body
    assert check_response(target, done.body, extensions=True) == []
    assert _arguments(_read(target, done.body), "call_a") == WHOLE.arguments
    assert "call.truncated" in _codes(done.losses)
    if kind == "word":
        assert (b"MALFORMED_FUNCTION_CALL" in done.body) is (finish != "length")
    if finish == "length":
        assert _read(target, done.body).stop.reason == "length"


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("finish", ["tool_calls", "stop", "length"])
@pytest.mark.parametrize("why", ARGUMENTS)
@pytest.mark.parametrize("target", [name for name in ATOMIC if name != "anthropic"])
def test_a_stream_with_arguments_as_objects_has_no_broken_call(target: str, why: str, finish: str, first: bool) -> None:
    raw = _chat_stream(_chat(ARGUMENTS[why], finish, first=first))
    stream, back = _streamed("openai-chat", target, raw)
    assert "call.truncated" in _codes(stream.losses)
    if ATOMIC[target] == "fault" and finish != "length":
        assert isinstance(back, Fault)
        assert stream.fault is not None
        return
    assert isinstance(back, Response)
    assert _arguments(back, "call_a") == WHOLE.arguments
    assert not [part for part in back.parts if isinstance(part, ToolCall) and part.id == "call_b"]
    assert (back.stop.reason == "length") is (finish == "length")


@pytest.mark.parametrize("finish", ["tool_calls", "length"])
def test_text_in_place_of_arguments_is_a_fault_in_a_messages_stream(finish: str) -> None:
    stream, back = _streamed("openai-chat", "anthropic", _chat_stream(_chat("run it", finish, first=False)))
    assert isinstance(back, Fault)
    assert stream.fault is not None
    assert "call.truncated" in _codes(stream.losses)


@pytest.mark.parametrize("target", ["openai-chat", "openrouter", "openai-responses"])
def test_complete_arguments_that_are_not_json_are_passed_unchanged(target: str) -> None:
    """The client can report the mistake to the model. So the call is passed unchanged, and the answer is not cut."""
    malformed = ToolCall("call_a", "read", "{'path': '/etc'}")
    body = get("anthropic").write_response(Response((), Stop("stop"), "m1", "m"), Context("anthropic", "anthropic"))
    answer = json.loads(body)
    use: Any = {"type": "tool_use", "id": "call_a", "name": "read", "input": {"__raw": malformed.arguments}}
    answer |= {"content": [use], "stop_reason": "tool_use"}
    done = dragoman.translate_response(answer, source="anthropic", target=target)
    back = _read(target, done.body)
    assert (back.stop.reason, _arguments(back, "call_a")) == ("tool_calls", malformed.arguments)
    found = [(loss.path, loss.detail) for loss in done.losses if loss.code == "arguments.invalid"]
    assert found == [("/content/0", "they are not a JSON object")]


@pytest.mark.parametrize("stop", STOPS)
def test_an_incomplete_patch_is_marked_incomplete(stop: StopReason) -> None:
    """A free-text call is sent wrapped in JSON. An incomplete wrapper gives an incomplete text."""
    tool = {"type": "custom", "name": "apply_patch", "description": "Patch.", "format": {"type": "text"}}
    request = dragoman.translate_request(
        {"model": "m", "input": "Go.", "tools": [tool]}, source="openai-responses", target="openrouter"
    )
    half = ToolCall("call_a", "apply_patch", '{"input":"*** Begin')
    response = Response((half,), Stop(stop), "c1", "m", 1)
    under = Context("openrouter", "openrouter", created=5)
    writer = get("openrouter").writer(under)
    finish = Finish(Stop(stop))
    raw = b"".join([writer.send(event) for event in [*unfold(response)[:-1], finish]])
    raw = raw.replace(b'"finish_reason":"length"', b'"finish_reason":"%b"' % stop.encode())
    stream = dragoman.StreamTranslator(source="openrouter", target="openai-responses", answers=request)
    out = stream.feed(raw) + stream.close()
    last = json.loads(out.decode().rstrip().rpartition("data: ")[2])["response"]
    assert last["status"] == "incomplete"
    assert [(item["type"], item["input"], item["status"]) for item in last["output"]] == [
        ("custom_tool_call", "*** Begin", "incomplete")
    ]


def test_incomplete_json_is_told_apart_from_invalid_json() -> None:
    text = '{"a": [1.5, -2, true, null, "x\\u00e9\\n"], "b": {"c": ""}}'
    for end in range(1, len(text)):
        assert json_text.breaks_off(text[:end]), text[:end]
    for whole in (text, "", "  ", "null", "[1", '"a', "abc", "{'a': 1", '{"a":1}}', '{"a" 1}'):
        assert not json_text.breaks_off(whole), whole
