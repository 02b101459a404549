"""Half characters in streams: two halves in two deltas are joined; a single half becomes U+FFFD and is a loss."""

from __future__ import annotations

import json

import pytest

from dragoman import StreamTranslator, translate_response
from dragoman.canon.events import Fault, PartDelta
from dragoman.canon.fold_and_unfold import fold, unfold
from dragoman.canon.parts import Text, ToolCall
from dragoman.canon.response import Response, Stop, Usage
from dragoman.context import Context
from dragoman.dialects import get, names

PAIRS = [(source, target) for source in names() for target in names() if source != target]


def _stream(dialect: str, deltas: list[str], *, call: bool = False) -> bytes:
    """A stream of the dialect with these deltas. `@h` and `@l` are the two halves of one character."""
    part = ToolCall("call_1", "f", "") if call else Text("")
    events = unfold(Response((part,), Stop("tool_calls" if call else "stop"), "r", "m", 1, Usage(1, 1)))
    begin = next(i for i, event in enumerate(events) if type(event).__name__ == "PartStart") + 1
    events[begin:begin] = [PartDelta(0, text) for text in deltas]
    writer = get(dialect).writer(Context("test", dialect))
    out = b"".join([writer.send(event) for event in events]) + writer.close()
    return out.replace(b"@h", rb"\ud83d").replace(b"@l", rb"\ude00")


def _translated(stream: bytes, source: str, target: str, size: int = 0) -> tuple[Response, StreamTranslator]:
    translator = StreamTranslator(source=source, target=target)
    pieces = [stream[i : i + size] for i in range(0, len(stream), size)] if size else stream.splitlines(keepends=True)
    out = b"".join([translator.feed(piece) for piece in pieces]) + translator.close()
    assert translator.fault is None
    reader = get(target).reader(Context(target, "test"))
    response = fold([*reader.feed(out), *reader.close()])
    assert not isinstance(response, Fault)
    return response, translator


def _text(response: Response) -> str:
    return "".join([part.text for part in response.parts if isinstance(part, Text)])


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_pair_in_two_deltas_is_joined(source: str, target: str) -> None:
    for deltas in (
        ["smile @h", "@l end"],
        ["a", "smile @h", "@l", " end"],
        ["@h", "@l@h", "@l"],
        ["one", "two @h", "@l"],
    ):
        whole = "".join(deltas).replace("@h@l", "\U0001f600")
        for size in (0, 7):
            response, translator = _translated(_stream(source, deltas), source, target, size)
            assert _text(response) == whole
            assert not {loss.code for loss in translator.losses} & {"character.replaced", "event.dropped"}


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_half_without_its_other_half_is_replaced(source: str, target: str) -> None:
    for deltas in (["cut @h", " goes on"], ["cut", " off @h"], ["@l late"], ["in @h the middle"]):
        response, translator = _translated(_stream(source, deltas), source, target)
        assert _text(response) == "".join(deltas).replace("@h", "\ufffd").replace("@l", "\ufffd")
        lost = [loss for loss in translator.losses if loss.code == "character.replaced"]
        assert len(lost) == 1
        assert lost[0].path or source == "ollama"


@pytest.mark.parametrize("source", names())
def test_within_one_dialect_the_bytes_are_unchanged(source: str) -> None:
    stream = _stream(source, ["cut @h", " goes on"])
    translator = StreamTranslator(source=source, target=source)
    out = b"".join([translator.feed(line) for line in stream.splitlines(keepends=True)]) + translator.close()
    assert out == stream
    assert translator.fault is None


@pytest.mark.parametrize("target", names())
@pytest.mark.parametrize("source", ["openai-chat", "openai-responses", "anthropic", "openrouter"])
def test_arguments_with_half_a_character_make_a_whole_call(source: str, target: str) -> None:
    """The escape is in the text of the arguments. Without the replacement no client could decode the arguments."""
    stream = _stream(source, ['{"a": "x ', "\\ud8", '3d"}'], call=True)
    if source == target:
        return
    response, translator = _translated(stream, source, target)
    (call,) = [part for part in response.parts if isinstance(part, ToolCall)]
    assert json.loads(call.arguments) == {"a": "x \ufffd"}
    assert "character.replaced" in [loss.code for loss in translator.losses]
    assert response.stop.reason == "tool_calls"


def test_private_characters_of_the_frame_itself_are_kept() -> None:
    frame = {"id": "x", "object": "chat.completion.chunk", "model": "m"}
    choice = {"index": 0, "delta": {"content": "\U0010d83d \ud83d"}, "finish_reason": "stop"}
    stream = b"data: %b\n\ndata: [DONE]\n\n" % json.dumps({**frame, "choices": [choice]}).encode()
    response, _ = _translated(stream, "openai-chat", "gemini")
    assert _text(response).endswith("\ufffd")


def test_a_whole_answer_instead_of_a_stream() -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "x \ud83d"}, "finish_reason": "stop"}
    body = json.dumps({"id": "x", "object": "chat.completion", "model": "m", "choices": [choice]}).encode()
    response, translator = _translated(body, "openai-chat", "anthropic")
    assert _text(response) == "x \ufffd"
    assert "character.replaced" in [loss.code for loss in translator.losses]
    assert translate_response(body, source="openai-chat", target="anthropic").losses
