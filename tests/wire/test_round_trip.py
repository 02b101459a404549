"""A to B to A equals A minus the reported losses, for every recorded request, answer and stream; and it settles."""

from __future__ import annotations

import msgspec
import pytest

import dragoman
from dragoman import Loss, Translation
from dragoman.canon import Fault, Request, Response
from dragoman.canon.fold import fold
from dragoman.dialects import get
from tests.wire.cases import CREATED, DIALECTS, PAIRS, Case, cases, crossing, events, settle
from tests.wire.roundtrip import request_differences, response_differences

BROKEN = ("bad_tool_call", "error")


def request_there_and_back(case: Case, other: str) -> tuple[Translation, Translation]:
    model = case.model or "some-model"
    there = dragoman.translate_request(case.body, source=case.dialect, target=other, model=model)
    back = dragoman.translate_request(there.body, source=other, target=case.dialect, model=there.model)
    return there, back


def read(dialect: str, body: bytes) -> Request:
    return get(dialect).read_request(body, crossing(dialect, dialect))


def answer(dialect: str, body: bytes) -> Response:
    return get(dialect).read_response(body, crossing(dialect, dialect))


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_requests_come_back_but_for_the_losses(source: str, target: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(source, "request"):
        there, back = request_there_and_back(case, target)
        wrong = request_differences(
            read(source, case.body), read(target, there.body), read(source, back.body), there.losses, back.losses
        )
        if wrong:
            failures[case.id] = "; ".join(wrong[:3])
    settle(f"round trip request {source} by {target}", failures)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_responses_come_back_but_for_the_losses(source: str, target: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(source, "response"):
        there = dragoman.translate_response(case.body, source=source, target=target, created=CREATED)
        back = dragoman.translate_response(there.body, source=target, target=source, created=CREATED)
        wrong = response_differences(
            answer(source, case.body), answer(target, there.body), answer(source, back.body), there.losses, back.losses
        )
        if wrong:
            failures[case.id] = "; ".join(wrong[:3])
    settle(f"round trip response {source} by {target}", failures)


def stream(source: str, target: str, raw: bytes) -> tuple[bytes, tuple[Loss, ...]]:
    translator = dragoman.StreamTranslator(source=source, target=target, created=CREATED)
    out = translator.feed(raw) + translator.close()
    return out, translator.losses


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_streams_come_back_but_for_the_losses(source: str, target: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(source, "stream"):
        there, out_losses = stream(source, target, case.body)
        back, back_losses = stream(target, source, there)
        first, middle, last = fold(events(source, case.body)), fold(events(target, there)), fold(events(source, back))
        if isinstance(first, Fault):
            wrong = [] if isinstance(last, Fault) and last.message == first.message else [f"{first} became {last}"]
        elif isinstance(middle, Fault) or isinstance(last, Fault):
            # An answer that broke down in the middle is a fault where no word for it exists.
            wrong = [] if first.stop.reason in BROKEN else [f"became a fault: {middle}, {last}"]
        else:
            wrong = response_differences(first, middle, last, out_losses, back_losses)
        if wrong:
            failures[case.id] = "; ".join(wrong[:3])
    settle(f"round trip stream {source} by {target}", failures)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_stream_and_its_whole_answer_translate_to_the_same(source: str, target: str) -> None:
    failures: dict[str, str] = {}
    for case in cases(source, "stream"):
        told = fold(events(source, case.body))
        if isinstance(told, Fault):
            continue
        streamed = fold(events(target, stream(source, target, case.body)[0]))
        if isinstance(streamed, Fault) and told.stop.reason in BROKEN:
            continue
        under = crossing(source, target)
        whole = answer(target, get(target).write_response(told, under))
        assert isinstance(streamed, Response), case.id
        # A stream can keep an order that a whole answer has no place for.
        order = [loss for loss in under.losses.all() if loss.code == "order.approximated"]
        wrong = response_differences(whole, whole, streamed, order, ())
        if wrong:
            failures[case.id] = "; ".join(wrong[:3])
    settle(f"stream as whole {source} to {target}", failures)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_requests_settle_after_one_hop(source: str, target: str) -> None:
    """After A to B to A nothing changes any more: the next journey comes back with the same request."""
    failures: dict[str, str] = {}
    for case in cases(source, "request"):
        there, back = request_there_and_back(case, target)
        model = there.model
        again = dragoman.translate_request(back.body, source=source, target=target, model=model)
        last = dragoman.translate_request(again.body, source=target, target=source, model=model)
        middle = read(target, again.body)
        wrong = request_differences(read(source, back.body), middle, read(source, last.body), (), ())
        if wrong:
            failures[case.id] = "; ".join(wrong[:3])
    settle(f"settles request {source} by {target}", failures)


# The comparison itself must be able to fail: nothing below depends on records.

LONG_WAY = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "text", "text": "Twice."}]},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at": "a", "n": 1}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "seen"},
        {"role": "user", "content": "Go on."},
    ],
    "model": "m",
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "look",
                "description": "Looks.",
                "parameters": {"type": "object", "properties": {"at": {"type": "string"}}},
            },
        }
    ],
    "tool_choice": "required",
    "temperature": 0.5,
    "stop": ["END"],
    "parallel_tool_calls": False,
}


def _swap(body: bytes, old: str, new: str) -> bytes:
    text = body.decode()
    assert old in text, old
    return text.replace(old, new).encode()


MUTATIONS = {
    "a text of another spelling": ("Go on.", "Go on"),
    "a system text": ("Be brief.", "Be long."),
    "an argument": ('\\"n\\": 1', '\\"n\\": 2'),
    "a name of a call": ('"name":"look","arguments"', '"name":"seek","arguments"'),
    "an id": ("call_1", "call_2"),
    "a result": ('"seen"', '"unseen"'),
    "a description": ("Looks.", "Looks"),
    "a schema": ('"string"', '"number"'),
    "a choice": ('"required"', '"auto"'),
    "a setting": ("0.5", "0.6"),
    "a list in the settings": ('"END"', '"FIN"'),
    "parallel calls": ('"parallel_tool_calls":false', '"parallel_tool_calls":true'),
    "the model": ('"model":"m"', '"model":"n"'),
    "a new turn": ('"Go on."}', '"Go on."},{"role":"system","content":"x"}'),
    "a turn that is gone": (',{"role":"user","content":"Go on."}', ""),
}


@pytest.mark.parametrize("what", MUTATIONS)
def test_the_comparison_sees(what: str) -> None:
    body = msgspec.json.encode(LONG_WAY)
    first = read("openai-chat", body)
    assert request_differences(first, first, read("openai-chat", body), (), ()) == []
    changed = read("openai-chat", _swap(body, *MUTATIONS[what]))
    assert request_differences(first, first, changed, (), ())


def test_a_loss_explains_only_its_own_kind_at_its_own_place() -> None:
    body = msgspec.json.encode(LONG_WAY)
    first = read("openai-chat", body)
    changed = read("openai-chat", _swap(body, '"seen"', '"Error: seen"'))
    right = Loss("result.error.as_text", "approximated", "warning", "/messages/3")
    assert request_differences(first, first, changed, (right,), ()) == []
    assert request_differences(first, first, changed, (), (right,)) == []
    for wrong in (
        Loss("result.error.as_text", "approximated", "warning", "/messages/2"),
        Loss("cache.dropped", "dropped", "info", "/messages/3"),
        Loss("field.dropped", "dropped", "info", "/messages/3/x"),
    ):
        assert request_differences(first, first, changed, (wrong,), ())


def test_every_dialect_is_on_some_journey() -> None:
    assert {source for source, _ in PAIRS} == (set(DIALECTS) if len(DIALECTS) > 1 else set())
