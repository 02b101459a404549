"""The sound of Chat answers: its transcript is the text of the answer everywhere else."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import dragoman
from dragoman.canon import Response, Text
from dragoman.canon.fold import fold
from dragoman.crossing import Crossing
from dragoman.dialects import get

WAV = "UklGRgAA"
SOUND = {"id": "audio_1", "data": WAV, "expires_at": 1729268602, "transcript": "Hello there."}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def _answer(**message: Any) -> dict[str, Any]:
    whole = {"role": "assistant", "content": None, "refusal": None, **message}
    choice = {"index": 0, "message": whole, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}
    return {"id": "r1", "object": "chat.completion", "created": 7, "model": "gpt-audio", "choices": [choice]}


def _to(target: str, **message: Any) -> dragoman.Translation:
    return dragoman.translate_response(_answer(**message), source="openai-chat", target=target)


@pytest.mark.parametrize("target", ["anthropic", "openai-responses", "ollama"])
def test_the_transcript_is_the_text(target: str) -> None:
    done = _to(target, audio=SOUND)
    assert b"Hello there." in done.body and WAV.encode() not in done.body
    lost = {loss.path: (loss.code, loss.severity) for loss in done.losses if loss.path.startswith("/choices")}
    assert lost == {
        "/choices/0/message/audio/data": ("media.summarised", "warning"),
        "/choices/0/message/audio/id": ("field.dropped", "info"),
        "/choices/0/message/audio/expires_at": ("field.dropped", "info"),
    }


def test_answers_of_gemini_hold_the_sound_too() -> None:
    parts = _to("gemini", audio=SOUND).json()["candidates"][0]["content"]["parts"]
    assert parts == [{"text": "Hello there."}, {"inlineData": {"mimeType": "audio/wav", "data": WAV}}]


@pytest.mark.parametrize(
    ("data", "mime"),
    [(WAV, "audio/wav"), ("SUQzBAAA", "audio/mpeg"), ("T2dnUwAC", "audio/ogg"), ("AAAA", "audio/L16;rate=24000")],
)
def test_the_type_of_the_sound_is_read_from_its_beginning(data: str, mime: str) -> None:
    parts = _to("gemini", audio={"id": "a", "data": data, "transcript": ""}).json()["candidates"][0]["content"]["parts"]
    assert parts == [{"inlineData": {"mimeType": mime, "data": data}}]


def test_a_sound_without_words_is_not_an_empty_answer() -> None:
    done = _to("anthropic", audio={"id": "a", "data": WAV, "transcript": ""})
    assert done.json()["content"][0]["text"] == "[audio/wav attached here could not be sent]"
    assert "media.dropped" in {loss.code for loss in done.losses}


def test_words_stand_before_calls() -> None:
    content = _to("anthropic", audio=SOUND, tool_calls=[CALL]).json()["content"]
    assert [block["type"] for block in content] == ["text", "tool_use"]


def test_kin_keep_the_field() -> None:
    done = _to("openrouter", audio=SOUND)
    assert done.json()["choices"][0]["message"]["audio"] == SOUND
    assert done.losses == ()


def test_an_empty_field_says_nothing() -> None:
    done = _to("anthropic", content="Hi.", audio={"id": "", "data": "", "expires_at": 0, "transcript": ""})
    assert [block["text"] for block in done.json()["content"]] == ["Hi."]
    assert not [loss for loss in done.losses if loss.path.startswith("/choices/0/message/audio/")]


@pytest.mark.parametrize("target", ["anthropic", "gemini", "openai-responses", "ollama", "openrouter"])
def test_pieces_of_the_transcript_are_streamed_as_text(target: str) -> None:
    deltas: list[dict[str, Any]] = [
        {"role": "assistant", "audio": {"id": "audio_1", "transcript": "Hel"}},
        {"audio": {"transcript": "lo"}},
        {"audio": {"data": "AAAA"}},
        {"audio": {"expires_at": 1729268602}},
    ]
    frames = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    frames.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    head = {"id": "r1", "object": "chat.completion.chunk", "created": 7, "model": "m"}
    wire = b"".join([b"data: " + msgspec.json.encode({**head, "choices": [frame]}) + b"\n\n" for frame in frames])
    stream = dragoman.StreamTranslator(source="openai-chat", target=target)
    out = stream.feed(wire + b"data: [DONE]\n\n") + stream.close()
    assert b'"Hel"' in out and b'"lo"' in out
    assert ("media.summarised", "/choices/0/delta/audio/data") in {(loss.code, loss.path) for loss in stream.losses}


@pytest.mark.parametrize(("target", "text"), [("openai-chat", "Hello"), ("openrouter", "")])
def test_a_stream_of_kin_has_the_words_for_every_other_dialect(target: str, text: str) -> None:
    """Within OpenRouter the field stays what it is, as in a whole answer."""
    delta = {"role": "assistant", "audio": {"id": "audio_1", "transcript": "Hello"}}
    frames = [{"index": 0, "delta": delta}, {"index": 0, "delta": {}, "finish_reason": "stop"}]
    head = {"id": "r1", "object": "chat.completion.chunk", "created": 7, "model": "m"}
    wire = b"".join([b"data: " + msgspec.json.encode({**head, "choices": [frame]}) + b"\n\n" for frame in frames])
    reader = get("openrouter").reader(Crossing("openrouter", target))
    answer = fold([*reader.feed(wire + b"data: [DONE]\n\n"), *reader.close()])
    assert isinstance(answer, Response)
    assert "".join([part.text for part in answer.parts if isinstance(part, Text)]) == text


def test_the_words_of_an_earlier_answer_stay_in_the_history() -> None:
    spoken = {"role": "assistant", "content": None, "audio": SOUND}
    messages = [{"role": "user", "content": "Hi"}, spoken, {"role": "user", "content": "Go on"}]
    done = dragoman.translate_request(
        {"model": "gpt-audio", "messages": messages}, source="openai-chat", target="gemini", model="gemini-2.5-pro"
    )
    assert done.json()["contents"][1] == {"role": "model", "parts": [{"text": "Hello there."}]}
    assert ("media.summarised", "/messages/1/audio/data") in {(loss.code, loss.path) for loss in done.losses}
    named = [messages[0], {**spoken, "audio": {"id": "audio_1"}}, messages[2]]
    only = dragoman.translate_request(
        {"model": "gpt-audio", "messages": named}, source="openai-chat", target="gemini", model="gemini-2.5-pro"
    )
    assert ("field.dropped", "/messages/1/audio") in {(loss.code, loss.path) for loss in only.losses}
