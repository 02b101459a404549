"""Bodies that upstreams send in place of a stream: a whole answer becomes a stream, an error or a page becomes a
fault."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman.canon import Response, Stop, Text, ToolCall, Usage
from dragoman.canon.fold_and_unfold import fold
from dragoman.context import Context
from dragoman.dialects import get
from tests.oracles.grammar import check_stream
from tests.pairs.helpers import PAIRS

RESPONSE = Response(
    (Text("Look."), ToolCall("call_a", "read", '{"path":1}')), Stop("tool_calls"), "resp_1", "m", 1, Usage(3, 4)
)
ERRORS: dict[str, Any] = {
    "anthropic": {"type": "error", "error": {"type": "overloaded_error", "message": "Busy!"}},
    "code-assist": {"error": {"code": 503, "message": "Busy!", "status": "UNAVAILABLE"}},
    "gemini": {"error": {"code": 503, "message": "Busy!", "status": "UNAVAILABLE"}},
    "ollama": {"error": "Busy!"},
    "openai-chat": {"error": {"message": "Busy!", "type": "server_error", "param": None, "code": "overloaded"}},
    "openai-responses": {"error": {"message": "Busy!", "type": "server_error", "param": None, "code": None}},
    "openrouter": {"error": {"code": 503, "message": "Busy!"}},
}
PAGE = b"<html>\n<head><title>502 Bad Gateway</title></head>\n<body></body>\n</html>\n"


def _framed(body: bytes) -> dict[str, bytes]:
    """Return the forms in which an upstream sends a document in place of frames."""
    spread = json.dumps(json.loads(body), indent=2).encode()
    return {"one line": body, "several lines": spread, "a line end": body + b"\n", "a frame": b"data: %b\n\n" % body}


def _translated(source: str, target: str, raw: bytes, size: int = 7) -> tuple[bytes, dragoman.StreamTranslator]:
    stream = dragoman.StreamTranslator(source=source, target=target, created=5)
    out = b"".join([stream.feed(raw[i : i + size]) for i in range(0, len(raw), size)]) + stream.close()
    assert check_stream(target, out, extensions=True) == [], out
    return out, stream


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_whole_answer_becomes_a_stream_with_the_same_content(source: str, target: str) -> None:
    body = get(source).write_response(RESPONSE, Context(source, source, created=5))
    framed = _framed(body)
    if source == "ollama":
        del framed["a frame"]  # Ollama has lines, not frames
    for way, raw in framed.items():
        out, stream = _translated(source, target, raw)
        assert stream.fault is None, way
        reader = get(target).reader(Context(target, target))
        back = fold([*reader.feed(out), *reader.close()])
        assert isinstance(back, Response), way
        assert (back.stop.reason, back.usage and back.usage.input) == ("tool_calls", 3), way
        texts = [part.text for part in back.parts if isinstance(part, Text)]
        calls = [(part.name, part.input) for part in back.parts if isinstance(part, ToolCall)]
        assert (texts, calls) == (["Look."], [("read", {"path": 1})]), way


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_an_error_becomes_a_fault_with_its_message(source: str, target: str) -> None:
    body = json.dumps(ERRORS[source]).encode()
    ways = {**_framed(body), "a list": b"[%b]" % body}
    if source == "ollama":
        del ways["a frame"]
    for way, raw in ways.items():
        out, stream = _translated(source, target, raw)
        assert stream.fault is not None and stream.fault.message == "Busy!", way
        assert b"Busy!" in out, way


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (PAGE, "502 Bad Gateway"),
        (b"upstream connect error or disconnect", "upstream connect error"),
        (b'{"detail":"Not Found"}', "Not Found"),
        (b'{"message":"no such route","code":404}\n', "no such route"),
        (b"", "ended before the answer did"),
        (b"\r\n\r\n", "ended before the answer did"),
        (b"null", "null"),
    ],
    ids=["page", "words", "detail", "message", "nothing", "blank", "null"],
)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_any_other_body_is_a_fault_that_quotes_it(source: str, target: str, raw: bytes, words: str) -> None:
    out, stream = _translated(source, target, raw)
    assert stream.fault is not None and words in stream.fault.message
    assert out == _translated(source, target, raw, 1 << 20)[0]


@pytest.mark.parametrize("target", ["anthropic", "gemini", "openai-responses"])
def test_an_error_among_the_frames_is_a_fault_not_a_normal_end(target: str) -> None:
    start = b'data: {"id":"c1","choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}]}\n\n'
    for error in (
        b'{"error":{"message":"Busy!","code":503}}\n\ndata: [DONE]\n\n',
        b'data: {"object":"error","message":"Busy!","type":"overloaded","code":503}\n\ndata: [DONE]\n\n',
        b'event: error\ndata: {"message":"Busy!"}\n\ndata: [DONE]\n\n',
    ):
        stream = _translated("openai-chat", target, start + error)[1]
        assert stream.fault is not None and stream.fault.message == "Busy!"


def test_a_field_of_a_whole_answer_that_the_stream_cannot_carry_is_reported() -> None:
    body = json.loads(get("openai-chat").write_response(RESPONSE, Context("openai-chat", "openai-chat", created=5)))
    raw = json.dumps({**body, "brand_new": {"x": 1}}).encode()
    stream = _translated("openai-chat", "openrouter", raw)[1]
    assert "/brand_new" in [loss.path for loss in stream.losses]
