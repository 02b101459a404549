"""Corresponding parts of two answers, if one answer or both are streams."""

from __future__ import annotations

import json

import pytest

from dragoman.dialects import names
from dragoman.gateway.exchange.corresponding_frames import AnswerSide, frames, join_answers
from dragoman.translate import StreamTranslator, translate_response

WORDS = ("It is ", "dry ", "in Paris.")
CALL = {"name": "get_weather", "args": {"city": "Brest"}}


def _gemini(*parts: dict[str, object], **more: object) -> dict[str, object]:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0, **more}
    return {"candidates": [candidate], "modelVersion": "gemini-3-pro", "responseId": "r1"}


FRAMES = [*[_gemini({"text": one}) for one in WORDS], _gemini({"functionCall": CALL}, finishReason="STOP")]
STREAM = b": a comment\n\n" + b"".join([b"data: " + json.dumps(one).encode() + b"\n\n" for one in FRAMES])


@pytest.mark.parametrize("target", names())
def test_frames_with_the_same_characters_are_joined(target: str) -> None:
    translator = StreamTranslator(source="gemini", target=target)
    written = translator.feed(STREAM) + translator.close()
    found = join_answers(AnswerSide(target, written, True), AnswerSide("gemini", STREAM, True))
    assert [row["what"] for row in found] == ["text", "call"]
    text, call = found
    assert [one for one in text["to"] if one[1] < one[2]] == [[0, 0, 6], [1, 6, 10], [2, 10, 19]]
    assert {one[0] for one in call["to"]} == {3}
    spans = [one[1:] for one in text["from"] if one[1] < one[2]]
    assert spans == [[0, 6], [6, 10], [10, 19]]
    shown = [one for one in frames(written) if one.lstrip().startswith((b"{", b"data:", b"event:"))]
    for word, (number, _, _) in zip(WORDS, [one for one in text["from"] if one[1] < one[2]], strict=True):
        assert word.strip().encode() in shown[number]


def test_a_whole_answer_is_joined_with_the_frames_of_a_stream() -> None:
    parts = [{"text": "".join(WORDS)}, {"functionCall": CALL}]
    whole = translate_response(_gemini(*parts, finishReason="STOP"), source="gemini", target="anthropic").body
    found = join_answers(AnswerSide("anthropic", whole, False), AnswerSide("gemini", STREAM, True))
    assert [(row["from"], row["what"]) for row in found] == [("/content/0", "text"), ("/content/1", "call")]


def test_an_unreadable_answer_has_no_corresponding_frames() -> None:
    assert join_answers(None, AnswerSide("gemini", STREAM, True)) == []
    assert join_answers(AnswerSide("gemini", b"data: {broken\n\n", True), AnswerSide("gemini", STREAM, True)) == []
