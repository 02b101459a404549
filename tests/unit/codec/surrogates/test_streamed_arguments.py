"""Escapes of half characters in arguments that a stream sends in pieces."""

from __future__ import annotations

import json

import pytest

from dragoman import StreamTranslator
from dragoman.canon.events import PartDelta
from dragoman.canon.fold_and_unfold import fold, unfold
from dragoman.canon.parts import ToolCall
from dragoman.canon.response import Response, Stop, Usage
from dragoman.codec.surrogates.streamed_arguments import EscapedHalves
from dragoman.context import Context
from dragoman.dialects import get, names

HIGH, LOW = "\\ud83d", "\\ude00"
TEXTS = {
    f'{{"a":"x{HIGH}"}}': '{"a":"x\\ufffd"}',
    f'{{"a":"{LOW}y"}}': '{"a":"\\ufffdy"}',
    f'{{"a":"x{HIGH}{LOW}y"}}': f'{{"a":"x{HIGH}{LOW}y"}}',
    f'{{"a":"{HIGH}{HIGH}{LOW}"}}': f'{{"a":"\\ufffd{HIGH}{LOW}"}}',
    f'{{"a":"{HIGH}\\n{LOW}"}}': '{"a":"\\ufffd\\n\\ufffd"}',
    '{"a":"a path\\\\ud83d"}': '{"a":"a path\\\\ud83d"}',
    '{"a":"\\u00e4\\"\\\\"}': '{"a":"\\u00e4\\"\\\\"}',
}
STREAMS = ("openai-chat", "openrouter", "openai-responses", "anthropic")
"""Dialects with deltas of arguments."""
PAIRS = [(source, target) for source in STREAMS for target in names() if source != target]


@pytest.mark.parametrize(("text", "sound"), TEXTS.items())
def test_an_escape_may_be_cut_anywhere(text: str, sound: str) -> None:
    for first in range(len(text) + 1):
        for second in range(first, len(text) + 1):
            context = Context("openai-chat", "anthropic")
            halves = EscapedHalves(context)
            halves.begin(0, ("at",))
            pieces = [PartDelta(0, piece) for piece in (text[:first], text[first:second], text[second:])]
            sent = [halves.mended(piece) for piece in pieces]
            out = "".join([piece.text for piece in sent if piece is not None]) + halves.end(0)
            assert out == sound
            assert bool(context.losses.all()) == (sound != text)
            assert not halves.holding


@pytest.mark.parametrize(("broken", "sent"), [('{"a":"\\', '{"a":"\\'), (f'{{"a":"{HIGH}\\u', '{"a":"\\ufffd\\u')])
def test_arguments_that_end_inside_an_escape_are_sent_completely(broken: str, sent: str) -> None:
    halves = EscapedHalves(Context("openai-chat", "anthropic"))
    halves.begin(0, ())
    first = halves.mended(PartDelta(0, broken))
    assert first is not None
    assert halves.holding
    assert first.text + halves.end(0) == sent


def stream(dialect: str, pieces: list[str]) -> bytes:
    events = unfold(Response((ToolCall("call_1", "f", ""),), Stop("tool_calls"), "r", "m", 1, Usage(1, 1)))
    begin = next(i for i, event in enumerate(events) if type(event).__name__ == "PartStart") + 1
    events[begin:begin] = [PartDelta(0, text) for text in pieces]
    writer = get(dialect).writer(Context(dialect, dialect))
    return b"".join([writer.send(event) for event in events]) + writer.close()


@pytest.mark.parametrize(("source", "target"), PAIRS)
@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_clients_of_every_dialect_get_whole_characters(source: str, target: str, size: int) -> None:
    text = f'{{"a":"one {HIGH}{LOW} two {HIGH} three {LOW} four and some more words", "b": "c:\\\\ud83d"}}'
    body = stream(source, [text[i : i + size] for i in range(0, len(text), size)])
    frames = [frame + b"\n\n" for frame in body.split(b"\n\n")]
    for chunks in ([body], frames):
        translator = StreamTranslator(source=source, target=target, created=1)
        out = b"".join([translator.feed(chunk) for chunk in chunks]) + translator.close()
        reader = get(target).reader(Context(target, target))
        answer = fold([*reader.feed(out), *reader.close()])
        assert isinstance(answer, Response)
        call = answer.parts[0]
        assert isinstance(call, ToolCall)
        decoded = json.loads(call.arguments)
        assert decoded == {"a": "one \U0001f600 two \ufffd three \ufffd four and some more words", "b": "c:\\ud83d"}
        assert "character.replaced" in {loss.code for loss in translator.losses}
