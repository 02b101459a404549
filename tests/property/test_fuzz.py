"""Any bytes give a value or a WireError: requests, answers, faults, tools and streams of every dialect."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dragoman
from dragoman import DragomanError, FaultError, WireError
from dragoman.canon import Event, Fault, Finish, Request, Response
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.dialects import names as dialects
from tests.property.law_for_each_dialect import each
from tests.property.strategies import requests, responses, values
from tests.property.test_laws import answer, write, written_stream
from tests.recorded.event_grammar import findings

Json = Any
DIALECTS = dialects()


def _events(dialect: str, raw: bytes) -> list[Event]:
    reader = get(dialect).reader(Context(dialect, dialect))
    return reader.feed(raw) + reader.close()


def read_all(dialect: str, body: bytes) -> None:
    """Call every reader of a dialect with these bytes."""
    speaker = get(dialect)
    readers: list[Callable[[], object]] = [
        lambda: speaker.read_request(body, Context(dialect, dialect)),
        lambda: speaker.read_response(body, Context(dialect, dialect)),
        lambda: speaker.read_tools(body, Context(dialect, dialect)),
        lambda: dragoman.tool_calls(body, dialect=dialect),
        lambda: dragoman.detect(body),
    ]
    for reader in readers:
        try:
            assert reader() is not None
        except WireError as error:
            assert str(error)
    # A fault is never refused: any body with an error status is read as its message.
    assert isinstance(speaker.read_fault(body, 500, {}), Fault)
    for raw in (body, b"data: " + body.replace(b"\n", b" ") + b"\n\n"):
        try:
            assert findings(_events(dialect, raw)) == []
        except WireError as error:
            assert str(error)


@given(body=st.binary(max_size=200))
@each("dialect", DIALECTS)
def test_any_bytes_give_a_value_or_a_wire_error(dialect: str, body: bytes) -> None:
    read_all(dialect, body)


@given(value=values)
@each("dialect", DIALECTS)
def test_any_json_gives_a_value_or_a_wire_error(dialect: str, value: Json) -> None:
    read_all(dialect, json.dumps(value).encode())


def places(value: Json, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value inside a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *[place for key, item in inner for place in places(item, (*at, key))]]


GONE = object()


def changed(value: Json, at: tuple[Any, ...], new: Json) -> Json:
    """The document with another value at one place, or without it."""
    if not at:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    if len(at) > 1 or new is not GONE:
        copy[at[0]] = changed(value[at[0]], at[1:], new)
    else:
        del copy[at[0]]
    return copy


odd = (
    st.just(GONE)
    | values
    | st.sampled_from([[], {}, "", -1, 10**30, 1e300, [[]], [{}], {"type": "x"}, [None], {"type": 5}, "\x00", True])
)


Change = tuple[int, Json]
"""A number that selects a place of a document, and the new value. The number is taken modulo the number of places."""


def changes(count: int) -> st.SearchStrategy[list[Change]]:
    return st.lists(st.tuples(st.integers(0, 2**16), odd), min_size=count, max_size=count)


def changed_once(document: Json, change: Change) -> Json:
    there = places(document)
    return changed(document, there[change[0] % len(there)], change[1])


@given(request=requests(), changes=changes(4))
@each("dialect", DIALECTS)
def test_a_request_with_one_odd_value_crosses_or_is_a_wire_error(
    dialect: str, request: Request, changes: list[Change]
) -> None:
    document = json.loads(write(dialect, request)[0])
    for change in changes:
        body = json.dumps(changed_once(document, change), default=str).encode()
        for target in DIALECTS:
            try:
                out = dragoman.translate_request(body, source=dialect, target=target)
            except WireError as error:
                assert str(error)
            else:
                assert target == dialect or isinstance(out.json(), dict)


@given(response=responses(several=True), changes=changes(4))
@each("dialect", DIALECTS)
def test_an_answer_with_one_odd_value_crosses_or_is_an_error_of_ours(
    dialect: str, response: Response, changes: list[Change]
) -> None:
    document = json.loads(answer(dialect, response)[0])
    for change in changes:
        body = json.dumps(changed_once(document, change), default=str).encode()
        for target in DIALECTS:
            try:
                out = dragoman.translate_response(body, source=dialect, target=target, created=5)
            except (WireError, FaultError) as error:  # a fault: the odd value made its only call unusable
                assert str(error)
            else:
                assert target == dialect or isinstance(out.json(), dict)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(response=responses(), data=st.data())
def test_a_stream_with_odd_frames_gives_legal_events(dialect: str, response: Response, data: st.DataObject) -> None:
    gap = b"\n" if get(dialect).framing == "ndjson" else b"\n\n"
    frames = written_stream(dialect, response)[0].split(gap)
    for _ in range(3):
        spot = data.draw(st.integers(0, len(frames) - 1), label="frame")
        deed = data.draw(st.sampled_from(["drop", "repeat", "swap", "cut", "odd"]), label="deed")
        raw = gap.join(_mangled(frames, spot, deed, data))
        events = _events(dialect, raw)
        # A call whose first piece is gone has no name.
        wrong = [text for text in findings(events) if "without id or name" not in text]
        assert not wrong, f"{deed} {spot}: {wrong}"
        assert isinstance(events[-1], Finish | Fault)
        for target in DIALECTS:
            stream = dragoman.StreamTranslator(source=dialect, target=target, created=5)
            assert isinstance(stream.feed(raw) + stream.close(), bytes)


def _mangled(frames: list[bytes], spot: int, deed: str, data: st.DataObject) -> list[bytes]:
    if deed == "drop":
        return frames[:spot] + frames[spot + 1 :]
    if deed == "repeat":
        return frames[: spot + 1] + frames[spot:]
    if deed == "swap":
        return frames[:spot] + frames[spot : spot + 2][::-1] + frames[spot + 2 :]
    if deed == "cut":
        return frames[:spot]
    head, mark, payload = frames[spot].rpartition(b"data: ")
    if not payload.startswith(b"{"):
        return frames
    document = json.loads(payload)
    at = data.draw(st.sampled_from(places(document)), label="place")
    new = json.dumps(changed(document, at, data.draw(odd, label="value")), default=str).encode()
    return [*frames[:spot], head + mark + new, *frames[spot + 1 :]]


@settings(max_examples=20)
@given(before=st.text(max_size=50), after=st.text(max_size=50), half=st.integers(0xD800, 0xDFFF).map(chr))
def test_lone_surrogates_are_replaced_and_reported(before: str, after: str, half: str) -> None:
    text = f"{before}{half}{after}"
    document = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]})
    done = dragoman.translate_request(document, source="openai-chat", target="anthropic", model="m")
    (message,) = done.json()["messages"]
    content = message["content"]
    written = content if isinstance(content, str) else "".join([block["text"] for block in content])
    assert written == f"{before}\ufffd{after}"
    assert [loss.path for loss in done.losses if loss.code == "character.replaced"] == ["/messages/0/content"]


@settings(max_examples=20)
@given(text=st.text(max_size=50))
def test_invalid_json_with_a_lone_surrogate_stays_a_wire_error(text: str) -> None:
    with pytest.raises(WireError):
        dragoman.translate_request(text + "\ud800", source="openai-chat", target="anthropic")


def test_all_errors_of_the_library_have_one_base_class() -> None:
    assert issubclass(WireError, DragomanError)
