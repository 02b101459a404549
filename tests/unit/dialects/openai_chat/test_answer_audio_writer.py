"""Audio in Gemini answers, written for clients of Chat and OpenRouter."""

from __future__ import annotations

import base64
import io
import wave
from typing import Any

import msgspec
import pytest

import dragoman
from tests.oracles import body_verdict, published_schemas

SAMPLES = b"\x01\x00\x02\x00\x03\x00\x04\x00"
RAW = base64.b64encode(SAMPLES).decode()
MIME = "audio/L16;codec=pcm;rate=24000"
REQUEST = {"model": "m", "modalities": ["text", "audio"], "messages": [{"role": "user", "content": "Say hello"}]}


def _answer(*parts: Any) -> dict[str, Any]:
    content = {"role": "model", "parts": list(parts)}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}


def _sound(data: str = RAW, mime: str = MIME) -> dict[str, Any]:
    return {"inlineData": {"mimeType": mime, "data": data}}


def _translated(target: str, *parts: Any, wished: str = "") -> dragoman.Translation:
    """The translated Gemini answer. `wished` is the audio format in the client's request."""
    request_translation = None
    if wished:
        request = {**REQUEST, "audio": {"voice": "alloy", "format": wished}}
        request_translation = dragoman.translate_request(
            request, source=target, target="gemini", model="gemini-2.5-flash"
        )
    return dragoman.translate_response(
        _answer(*parts), source="gemini", target=target, created=7, answers=request_translation
    )


def _message(done: dragoman.Translation) -> Any:
    return done.json()["choices"][0]["message"]


def _lost(done: dragoman.Translation) -> list[str]:
    return [loss.code for loss in done.losses if loss.code.startswith("media.")]


@pytest.mark.parametrize("target", ["openai-chat", "openrouter"])
def test_sound_is_written_into_the_audio_field(target: str) -> None:
    done = _translated(target, {"text": "Hello"}, _sound())
    message = _message(done)
    assert message["content"] == "Hello"
    assert message["audio"].pop("id").startswith("audio_")
    assert message["audio"] == {"data": RAW, "expires_at": 7, "transcript": ""}
    assert _lost(done) == ["media.retyped"]


@pytest.mark.parametrize("target", ["openai-chat", "openrouter"])
def test_the_published_schema_accepts_the_sound(target: str) -> None:
    done = _translated(target, {"text": "Hello"}, _sound())
    assert not published_schemas.findings(target, "answer", done.json())
    assert not body_verdict.check_response(target, done.body)
    assert not [found for frame in _streamed(target)[0] for found in published_schemas.findings(target, "event", frame)]


def test_the_id_of_a_sound_is_the_same_each_time() -> None:
    one, two = [_message(_translated("openai-chat", _sound()))["audio"]["id"] for _ in range(2)]
    other = _message(_translated("openai-chat", _sound("AAAA")))["audio"]["id"]
    assert one == two != other


def test_raw_samples_are_written_in_the_requested_format() -> None:
    done = _translated("openai-chat", _sound(), wished="pcm16")
    assert _message(done)["audio"]["data"] == RAW
    assert _lost(done) == []


@pytest.mark.parametrize(("wished", "lost"), [("wav", []), ("mp3", ["media.retyped"])])
def test_raw_samples_become_a_file_if_the_client_requested_a_file(wished: str, lost: list[str]) -> None:
    done = _translated("openai-chat", _sound(mime="audio/L16;rate=16000"), wished=wished)
    with wave.open(io.BytesIO(base64.b64decode(_message(done)["audio"]["data"]))) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 16000)
        assert file.readframes(9) == SAMPLES
    assert _lost(done) == lost


def test_samples_of_another_rate_are_reported() -> None:
    done = _translated("openai-chat", _sound(mime="audio/L16;rate=16000"), wished="pcm16")
    assert _lost(done) == ["media.retyped"]


def test_samples_of_several_parts_are_one_sound() -> None:
    done = _translated("openai-chat", _sound(), _sound(), wished="pcm16")
    assert base64.b64decode(_message(done)["audio"]["data"]) == SAMPLES * 2
    assert _lost(done) == []


def test_a_message_has_one_file() -> None:
    done = _translated("openai-chat", _sound("UklGRgAA", "audio/wav"), _sound("UklGRgBB", "audio/wav"), wished="wav")
    assert _message(done)["audio"]["data"] == "UklGRgAA"
    assert _lost(done) == ["media.dropped"]


def test_broken_base64_is_written_unchanged() -> None:
    done = _translated("openai-chat", _sound("AA!"), wished="wav")
    assert _message(done)["audio"]["data"] == "AA!"


def _streamed(target: str) -> tuple[list[dict[str, Any]], tuple[dragoman.Loss, ...]]:
    """The frames of a stream with sound in two pieces, and the losses."""
    stream = dragoman.StreamTranslator(source="gemini", target=target, created=7)
    chunks = [_answer(_sound()), _answer({"text": "Hi"}), _answer(_sound("AAAA"))]
    for chunk in chunks[:-1]:
        del chunk["candidates"][0]["finishReason"]
    wire = b"".join([b"data: " + msgspec.json.encode(chunk) + b"\r\n\r\n" for chunk in chunks])
    lines = (stream.feed(wire) + stream.close()).split(b"\n")
    return [msgspec.json.decode(line[6:]) for line in lines if line.startswith(b"data: {")], stream.losses


@pytest.mark.parametrize("target", ["openai-chat", "openrouter"])
def test_pieces_of_the_sound_are_streamed(target: str) -> None:
    frames, losses = _streamed(target)
    deltas = [choice["delta"] for frame in frames for choice in frame["choices"]]
    sounds = [delta["audio"] for delta in deltas if "audio" in delta]
    assert sounds[0].pop("id").startswith("audio_")
    assert sounds == [{"data": RAW}, {"data": "AAAA"}, {"expires_at": 7}]
    assert "".join([delta.get("content") or "" for delta in deltas]) == "Hi"
    assert [loss.code for loss in losses if loss.code.startswith("media.")] == ["media.retyped"]
