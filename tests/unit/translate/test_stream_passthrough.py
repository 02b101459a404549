"""Streams within one dialect: whole frames are sent unchanged, and a stream without its end gets one fault."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest
from bench.streams import frames

import dragoman
from dragoman.canon.events import Fault
from dragoman.context import Context
from dragoman.dialect import Dialect
from dragoman.dialects import get, names
from dragoman.errors import WireError
from dragoman.translate import stream_passthrough
from dragoman.translate.stream_passthrough import PassThrough
from tests.oracles.stream_end import ended

DIALECTS = names()
LATE = Fault("timeout", "the upstream fell silent", 504)
HOSTILE = (
    'message_stop [DONE] "done":true "finishReason":"STOP" "finish_reason":"stop" response.completed error\n\n\r\n'
)
"""Text of a model that has every word in it by which a stream ends."""


def frames_of(dialect: str) -> list[bytes]:
    return [frame if isinstance(frame, bytes) else frame.encode() for frame in frames(dialect)]


def sse(*values: Any) -> list[bytes]:
    return [b"data: %b\n\n" % (value if isinstance(value, bytes) else json.dumps(value).encode()) for value in values]


def passed(
    dialect: str, raw: bytes, size: int = 10_000, fault: Fault | None = None
) -> tuple[bytes, bytes, PassThrough]:
    """The bytes sent while the stream is fed, the bytes sent by `close`, and the used `PassThrough`."""
    passing = PassThrough(dialect)
    out = b"".join([passing.feed(raw[at : at + size]) for at in range(0, len(raw), size)])
    return out, passing.close(fault), passing


def faults(dialect: str, rest: bytes) -> list[Fault]:
    """The faults in the bytes that end a stream, as a client of the dialect reads them."""
    reader = get(dialect).reader(Context(dialect, dialect))
    return [event for event in [*reader.feed(rest), *reader.close()] if isinstance(event, Fault)]


def with_line_ends(raw: bytes, line_end: bytes) -> bytes:
    return raw.replace(b"\r\n", b"\n").replace(b"\n", line_end)


LINE_ENDS = {"LF": b"\n", "CRLF": b"\r\n", "CR": b"\r"}
FRAMED = [(name, end) for name in DIALECTS for end in LINE_ENDS if end == "LF" or get(name).framing == "sse"]


@pytest.mark.parametrize(("dialect", "line_end"), FRAMED)
def test_a_stream_gets_one_fault_only_if_its_end_is_missing(dialect: str, line_end: str) -> None:
    pieces = [with_line_ends(piece, LINE_ENDS[line_end]) for piece in frames_of(dialect)]
    for count in range(1, len(pieces) + 1):
        raw = b"".join(pieces[:count])
        out, rest, passing = passed(dialect, raw)
        if ended(dialect, raw):
            assert (out + rest, passing.fault) == (raw, None), count
        else:
            assert out == raw, count
            assert passing.fault is not None, count
            assert len(faults(dialect, rest)) == 1, count


@pytest.mark.parametrize(("dialect", "line_end"), FRAMED)
def test_half_a_frame_is_never_sent_wherever_the_bytes_are_cut(dialect: str, line_end: str) -> None:
    pieces = [with_line_ends(piece, LINE_ENDS[line_end]) for piece in frames_of(dialect)]
    raw = b"".join(pieces)
    ends, at = {0}, 0
    for piece in pieces:
        at += len(piece)
        ends.add(at)
    dice = random.Random(dialect + line_end)
    for _ in range(60):
        at = dice.randrange(1, len(raw))
        out, rest, passing = passed(dialect, raw[:at], dice.choice((1, 3, 17, 400)))
        if passing.fault is None:
            assert ended(dialect, raw[:at]) and raw[:at].startswith(out + rest), at
        else:
            # A cut can divide the two bytes of a blank line.
            assert len(out) in ends or len(out) + 1 in ends, at
            assert len(faults(dialect, rest)) == 1, at


CALL = {"name": "f", "args": {"finishReason": "STOP", "done": True, "type": "message_stop", "error": {"message": "x"}}}
TRICKS: dict[str, list[bytes]] = {
    "anthropic": sse(
        {"type": "message_start", "message": {"id": "m", "content": [], "usage": {}}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": HOSTILE}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "x", "input": {"type": "message_stop"}}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "error": None},
    ),
    "openai-chat": sse(
        {"choices": [{"index": 0, "delta": {"content": HOSTILE}, "finish_reason": None}], "error": None},
        {"choices": [{"index": 0, "delta": {"content": "[DONE]", "finish_reason": "stop"}, "finish_reason": ""}]},
        {"choices": [], "usage": {"finish_reason": "stop"}},
    ),
    "openai-responses": sse(
        {"type": "response.created", "response": {"id": "r", "status": "completed", "error": None}},
        {"type": "response.output_text.delta", "delta": HOSTILE},
        {"type": "response.output_item.done", "item": {"type": "response.completed", "error": {"message": "tool"}}},
    )
    + [b'event: response.output_text.done\ndata: {"type":"response.output_text.done","text":"error"}\n\n'],
    "gemini": sse(
        {"candidates": [{"content": {"parts": [{"text": HOSTILE}]}}], "promptFeedback": {"safetyRatings": []}},
        {"candidates": [{"content": {"parts": [{"functionCall": CALL}]}, "finishReason": None}], "error": None},
    ),
    "ollama": [
        json.dumps({"message": {"content": HOSTILE}, "done": False}).encode() + b"\n",
        json.dumps({"message": {"tool_calls": [{"function": CALL}]}, "done": False, "error": ""}).encode() + b"\n",
    ],
}
TRICKS["openrouter"] = [b": OPENROUTER PROCESSING\n\n", *TRICKS["openai-chat"]]
TRICKS["code-assist"] = [b'data: {"response":%b}\n\n' % frame[6:-2] for frame in TRICKS["gemini"]]
ENDS: dict[str, list[bytes]] = {
    "anthropic": [
        b'event: message_stop\ndata: {"type":"message_stop"}\n\n',
        b'data: { "a" : 1, "type" : "message_stop" }\n\n',
        b"data: {}\nevent: message_stop\n\n",
        b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n',
    ],
    "openai-chat": [
        b"data: [DONE]\n\n",
        b"data:[DONE] \n\n",
        b'data: {"choices":[{"delta":{},"finish_reason" : "stop"}]}\n\n',
        b'data: {"choices":[{"finish_reason":"length","index":0}]}\n\ndata: {"choices":[],"usage":{}}\n\n',
        b'data: {"error":{"message":"busy"}}\n\n',
        b'data: {"error":{"message":"busy"}}\n\ndata: [DONE]\n\n',
    ],
    "openai-responses": [
        b'event: response.completed\ndata: {"type":"response.completed","response":{"error":null}}\n\n',
        b'data: {"response": {}, "type": "response.incomplete"}\n\ndata: [DONE]\n\n',
        b'data: {"type":"response.failed","response":{"error":{"message":"x"}}}\n\n',
        b'data: {"type":"error","message":"busy"}\n\n',
    ],
    "gemini": [
        b'data: {"candidates": [{"finishReason": "STOP"}]}\n\n',
        b'data: {"candidates":[{"index":0,"finishReason":2}]}\n\ndata: {"usageMetadata": {}}\n\n',
        b'data: {"promptFeedback": {"blockReason": "SAFETY"}}\n\n',
        b'data: {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}\n\n',
    ],
    "ollama": [
        b'{"message":{"content":""},"done" : true}\n',
        b'{"done":true,"done_reason":"stop"}\n',
        b'{"error":"busy"}\n',
    ],
}
ENDS["openrouter"] = [*ENDS["openai-chat"], b"data: [DONE]\n\n: bye\n\n"]
ENDS["code-assist"] = [
    re.sub(rb"data: (\{(?!\"error).*\})", rb'data: {"response": \1}', frame) for frame in ENDS["gemini"]
]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_end_markers_inside_texts_and_arguments_are_no_end(dialect: str) -> None:
    for size in (1, 50, 10_000):
        raw = b"".join(TRICKS[dialect])
        out, rest, passing = passed(dialect, raw, size)
        assert out == raw
        assert len(faults(dialect, rest)) == 1
        assert passing.fault is not None and "ended before the answer did" in passing.fault.message


@pytest.mark.parametrize(("dialect", "last"), [(dialect, last) for dialect in DIALECTS for last in ENDS[dialect]])
def test_every_spelling_of_an_end_is_recognised(dialect: str, last: bytes) -> None:
    for raw in (b"".join([*TRICKS[dialect], last]), b"".join([*TRICKS[dialect], last.rstrip()])):
        for size in (1, 50, 10_000):
            out, rest, passing = passed(dialect, raw, size)
            assert out + rest == raw
            assert (passing.fault is not None) == (b'"busy"' in last or b"response.failed" in last)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_bytes_after_the_end_are_not_sent(dialect: str) -> None:
    """The connection breaks after the end of the answer: Content-Length was too large, or an extra frame was cut."""
    raw = b"".join([*TRICKS[dialect], ENDS[dialect][0]])
    for more in (b"", b'data: {"cho', b'{"mess'):
        out, rest, passing = passed(dialect, raw + more, fault=LATE)
        assert out + rest == raw
        assert passing.fault is None
        assert passing.note == LATE.message


def test_an_end_without_its_blank_line_is_accepted_if_the_connection_breaks() -> None:
    out, rest, passing = passed("openai-chat", b'data: {"choices":[]}\n\ndata: [DONE]\n', fault=LATE)
    assert out + rest == b'data: {"choices":[]}\n\ndata: [DONE]\n'
    assert passing.fault is None


def choice(number: int, finish: str | None = None, text: str = "word") -> dict[str, Any]:
    return {"choices": [{"index": number, "delta": {"content": text}, "finish_reason": finish}]}


def candidate(number: int, finish: str | None = None, text: str = "word") -> dict[str, Any]:
    answer = {"index": number, "content": {"parts": [{"text": text}]}}
    return {"candidates": [answer | ({"finishReason": finish} if finish else {})]}


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("order", ["beside", "after", "before"])
@pytest.mark.parametrize("dialect", ["openai-chat", "openrouter", "gemini", "code-assist"])
def test_every_answer_of_a_stream_has_to_end(dialect: str, order: str, compact: bool) -> None:
    """The answers are interleaved, or the second follows the first, or the first follows the second."""
    make = choice if dialect in ("openai-chat", "openrouter") else candidate
    if order == "beside":
        values = [make(number % 2) for number in range(120)] + [make(0, "stop")] + [make(1)] * 90 + [make(1, "stop")]
    else:
        first, second = (0, 1) if order == "after" else (1, 0)
        values = [*[make(first)] * 90, make(first, "stop"), *[make(second)] * 90, make(second, "stop")]
    if compact:  # a text that looks like a chunk with other spacing
        values.insert(0, make(0, text='"index": 1, "finish_reason": "stop"'))
    values += [{"usage": {}}] * 3
    if dialect == "code-assist":
        values = [{"response": value} for value in values]
    separators = (",", ":") if compact else None
    pieces = [b"data: %b\n\n" % json.dumps(value, separators=separators).encode() for value in values]
    for size in (1, 10_000):
        assert passed(dialect, b"".join(pieces), size)[2].fault is None
        assert passed(dialect, b"".join(pieces[:-4]), size)[2].fault is not None
        assert passed(dialect, b"".join(pieces[:40]), size)[2].fault is not None
    translator = dragoman.StreamTranslator(source=dialect, target=dialect)
    out = [translator.feed(piece) for piece in pieces]
    assert b"".join(out) + translator.close() == b"".join(pieces)
    assert translator.fault is None


def test_a_large_frame_is_not_kept() -> None:
    passing = PassThrough("openai-chat")
    large = sse(choice(0, text="x" * 100_000))[0]
    for _ in range(50):
        assert passing.feed(large) == large
    assert (
        sum(map(len, [*passing._before, *passing._recent]))
        < 2 * stream_passthrough.RECENT * stream_passthrough.MAX_RECENT
    )
    passing.feed(b"data: [DONE]\n\n")
    assert (passing.close(), passing.fault) == (b"", None)


# The stream as one JSON array.


def array(*values: Any) -> bytes:
    return b"[" + b",\r\n".join([json.dumps(value, indent=1).encode() for value in values]) + b"\n]\n"


def wrapped(dialect: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"response": value} if dialect == "code-assist" else value


@pytest.mark.parametrize("dialect", ["gemini", "code-assist"])
@pytest.mark.parametrize("size", [1, 30, 10_000])
def test_an_array_is_passed_through_and_its_end_is_recognised(dialect: str, size: int) -> None:
    values = [wrapped(dialect, candidate(0, text=HOSTILE)) for _ in range(3)]
    raw = array(*values, wrapped(dialect, candidate(0, "STOP")))
    out, rest, passing = passed(dialect, raw, size)
    assert (out + rest, passing.fault) == (raw, None)
    for at in range(1, len(raw), 7):
        out, rest, passing = passed(dialect, raw[:at], size)
        members = json.loads(out + rest)
        assert ("error" in members[-1]) == (passing.fault is not None)
        assert (passing.fault is None) == (at > raw.rindex(b"}"))


def test_an_array_becomes_events_if_the_client_requests_events() -> None:
    passing = PassThrough("gemini", as_events=True)
    out = passing.feed(array(candidate(0), candidate(0, "STOP"))) + passing.close()
    assert out.count(b"data: {") == 2
    assert passing.fault is None
    assert faults("gemini", out) == []


# Bodies that are no stream.


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("size", [1, 10_000])
def test_a_page_or_an_error_instead_of_a_stream_is_a_fault_and_is_not_sent(dialect: str, size: int) -> None:
    for body in (b"<html>\n\n<p>sorry</p>\n\n", b'{\n\n"error": {"message": "sorry"}\n\n}', b"sorry\n\n", b""):
        out, rest, passing = passed(dialect, body, size)
        assert out == b""
        assert passing.fault is not None
        assert body in (b"",) or "sorry" in passing.fault.message
        assert len(faults(dialect, rest)) == 1


@pytest.mark.parametrize("dialect", ["openai-chat", "openrouter"])
def test_comments_before_an_error_do_not_hide_it(dialect: str) -> None:
    passing = PassThrough(dialect)
    assert passing.feed(b": OPENROUTER PROCESSING\n\n") == b""
    passing.feed(b'data: {"error":{"message":"busy","code":503}}\n\n')
    assert passing.fault is not None
    assert passing.fault.message == "busy"


def test_only_a_bounded_number_of_comments_is_held() -> None:
    passing = PassThrough("openrouter")
    out = b"".join([passing.feed(b": OPENROUTER PROCESSING\n\n") for _ in range(500)])
    assert out


def test_a_frame_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_passthrough, "MAX_FRAME", 1000)
    for start in (b"data: ", b"<html>"):
        passing = PassThrough("openai-chat")
        with pytest.raises(WireError):
            for _ in range(20):
                passing.feed(start + b"x" * 100)


def test_a_half_character_does_not_hide_the_end() -> None:
    last = rb'data: {"type":"response.completed","response":{"output_text":"\ud83d"}}' + b"\n\n"
    raw = b'data: {"type":"response.created"}\n\n' + last
    assert passed("openai-responses", raw)[2].fault is None
    raw = b'data: {"type":"response.created"}\n\n' + last.replace(rb"\ud83d", b"\xf0\x9f")
    assert passed("openai-responses", raw)[2].fault is None


@pytest.mark.parametrize("size", [1, 60, 100_000])
def test_a_failed_response_is_a_fault_and_is_sent_unchanged(size: int) -> None:
    created = b'data: {"type":"response.created","response":{"id":"r","error":null}}\n\n'
    failed = (
        b'data: {"type":"response.failed","response":{"id":"r","error":{"code":"server_error","message":"no"}}}\n\n'
    )
    passing = PassThrough("openai-responses")
    raw = created + failed
    out = b"".join([passing.feed(raw[i : i + size]) for i in range(0, len(raw), size)]) + passing.close()
    assert out == raw
    assert passing.fault is not None
    assert passing.fault.message == "no"


# A dialect without a function that finds the end.


@pytest.mark.parametrize("dialect", DIALECTS)
def test_without_an_end_function_the_reader_of_the_dialect_finds_the_end(
    dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = get(dialect)
    bare = Dialect(**{name: getattr(known, name) for name in known.__struct_fields__} | {"stream_end": None})
    monkeypatch.setattr(stream_passthrough, "get", lambda name: bare)
    raw = b"".join(frames_of(dialect))
    assert passed(dialect, raw, 300)[2].fault is None
    _, rest, passing = passed(dialect, b"".join(frames_of(dialect)[:60]), 300)
    assert passing.fault is not None
    assert len(faults(dialect, rest)) == 1
    assert passed(dialect, b"".join([*TRICKS[dialect], ENDS[dialect][-1]]), 300)[0]
