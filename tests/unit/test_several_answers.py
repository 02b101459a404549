"""Several answers to one request are distinguished by their numbers, in whatever order they are sent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman import StreamTranslator, translate_response
from dragoman.canon.events import Fault
from dragoman.canon.fold_and_unfold import fold
from dragoman.canon.parts import Text
from dragoman.context import Context
from dragoman.dialects import get, names

SEVERAL = ("openai-chat", "openrouter", "gemini", "code-assist")


def _chat(number: int, text: str, finish: str | None = None) -> bytes:
    choice = {"index": number, "delta": {"content": text} if text else {}, "finish_reason": finish}
    chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: %b\n\n" % json.dumps(chunk).encode()


def _gemini(number: int, text: str, finish: str | None = None) -> bytes:
    candidate: dict[str, Any] = {"index": number, "content": {"role": "model", "parts": [{"text": text}]}}
    if finish:
        candidate["finishReason"] = {"stop": "STOP", "length": "MAX_TOKENS"}[finish]
    return b"data: %b\n\n" % json.dumps({"candidates": [candidate], "modelVersion": "m", "responseId": "x"}).encode()


def _frames(source: str) -> list[bytes]:
    """A stream in which the second answer begins first and ends first."""
    made = _gemini if source == "gemini" else _chat
    pieces = [(1, "one a", None), (0, "zero a", None), (1, " one b", None), (0, " zero b", None)]
    frames = [made(*one) for one in pieces] + [made(1, "", "length"), made(0, "", "stop")]
    return frames if source == "gemini" else [*frames, b"data: [DONE]\n\n"]


def _texts(stream: bytes, dialect: str) -> list[tuple[str, str]]:
    reader = get(dialect).reader(Context(dialect, "test"))
    response = fold([*reader.feed(stream), *reader.close()])
    assert not isinstance(response, Fault)
    answers = [(response.parts, response.stop), *[(other.parts, other.stop) for other in response.alternatives]]
    return [("".join(part.text for part in parts if isinstance(part, Text)), stop.reason) for parts, stop in answers]


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("target", names())
@pytest.mark.parametrize("source", ["openai-chat", "openrouter", "gemini"])
def test_streams(source: str, target: str, together: bool) -> None:
    frames = _frames(source)
    translator = StreamTranslator(source=source, target=target)
    out = b"".join([translator.feed(piece) for piece in ([b"".join(frames)] if together else frames)])
    out += translator.close()
    found = _texts(out, target)
    assert found[0] == ("zero a zero b", "stop")
    if target in SEVERAL:
        assert found[1:] == [("one a one b", "length")]
        return
    assert len(found) == 1
    dropped = [loss.path for loss in translator.losses if loss.code == "answer.dropped"]
    assert dropped == ["/candidates/1" if source == "gemini" else "/choices/1"]


def test_without_a_first_answer_ollama_gets_the_next_answer() -> None:
    translator = StreamTranslator(source="openai-chat", target="ollama")
    frames = [_chat(2, "two"), _chat(1, "one"), _chat(2, "", "stop"), _chat(1, "", "length"), b"data: [DONE]\n\n"]
    out = b"".join([translator.feed(frame) for frame in frames]) + translator.close()
    assert _texts(out, "ollama") == [("one", "length")]


@pytest.mark.parametrize("target", names())
@pytest.mark.parametrize("source", ["openai-chat", "gemini"])
def test_whole_answers(source: str, target: str) -> None:
    if source == "gemini":
        listed = [
            {"index": number, "content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}
            for number, text in ((1, "one"), (0, "zero"))
        ]
        document: dict[str, Any] = {"candidates": listed, "modelVersion": "m", "responseId": "x"}
    else:
        choices = [
            {"index": number, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            for number, text in ((1, "one"), (0, "zero"))
        ]
        document = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": choices}
    out = translate_response(document, source=source, target=target)
    if source == target:
        assert out.json() == document
        return
    response = get(target).read_response(out.body, Context(target, "test"))
    texts = [part.text for part in response.parts if isinstance(part, Text)]
    assert texts == ["zero"]
    assert len(response.alternatives) == (1 if target in SEVERAL else 0)
