"""Audio in Chat answers: in other dialects its transcript is the text of the answer."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import dragoman

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


def test_gemini_answers_contain_the_audio_too() -> None:
    parts = _to("gemini", audio=SOUND).json()["candidates"][0]["content"]["parts"]
    assert parts == [{"text": "Hello there."}, {"inlineData": {"mimeType": "audio/wav", "data": WAV}}]


@pytest.mark.parametrize(
    ("data", "mime"),
    [(WAV, "audio/wav"), ("SUQzBAAA", "audio/mpeg"), ("T2dnUwAC", "audio/ogg"), ("AAAA", "audio/L16;rate=24000")],
)
def test_the_audio_type_is_read_from_the_first_bytes(data: str, mime: str) -> None:
    parts = _to("gemini", audio={"id": "a", "data": data, "transcript": ""}).json()["candidates"][0]["content"]["parts"]
    assert parts == [{"inlineData": {"mimeType": mime, "data": data}}]


def test_audio_without_a_transcript_is_no_empty_answer() -> None:
    done = _to("anthropic", audio={"id": "a", "data": WAV, "transcript": ""})
    assert done.json()["content"][0]["text"] == "[audio/wav attached here could not be sent]"
    assert "media.dropped" in {loss.code for loss in done.losses}


def test_the_transcript_is_written_before_calls() -> None:
    content = _to("anthropic", audio=SOUND, tool_calls=[CALL]).json()["content"]
    assert [block["type"] for block in content] == ["text", "tool_use"]


def test_openrouter_keeps_the_audio_field() -> None:
    done = _to("openrouter", audio=SOUND)
    assert done.json()["choices"][0]["message"]["audio"] == SOUND
    assert done.losses == ()


def test_an_empty_audio_field_is_ignored() -> None:
    done = _to("anthropic", content="Hi.", audio={"id": "", "data": "", "expires_at": 0, "transcript": ""})
    assert [block["text"] for block in done.json()["content"]] == ["Hi."]
    assert not [loss for loss in done.losses if loss.path.startswith("/choices/0/message/audio")]


DELTAS: list[dict[str, Any]] = [
    {"role": "assistant", "audio": {"id": "audio_1", "transcript": "Hel"}},
    {"audio": {"data": "AAAA"}},
    {"audio": {"transcript": "lo"}},
    {"audio": {"data": "BBBB"}},
    {"audio": {"expires_at": 1729268602}},
]


def _chunks(deltas: list[dict[str, Any]]) -> bytes:
    frames: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    frames.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    head = {"id": "r1", "object": "chat.completion.chunk", "created": 7, "model": "m"}
    lines = [b"data: " + msgspec.json.encode({**head, "choices": [frame]}) + b"\n\n" for frame in frames]
    return b"".join(lines) + b"data: [DONE]\n\n"


def _streamed(
    deltas: list[dict[str, Any]], target: str, source: str = "openai-chat"
) -> tuple[list[dict[str, Any]], dragoman.StreamTranslator]:
    """The translated frames of a stream of these deltas, as JSON, and the translator."""
    stream = dragoman.StreamTranslator(source=source, target=target)
    lines = (stream.feed(_chunks(deltas)) + stream.close()).split(b"\n")
    found = [line.removeprefix(b"data: ") for line in lines if line.startswith((b"data: {", b"{"))]
    return [msgspec.json.decode(line) for line in found], stream


@pytest.mark.parametrize("target", ["anthropic", "openai-responses", "ollama"])
def test_pieces_of_the_transcript_are_streamed_as_text(target: str) -> None:
    frames, stream = _streamed(DELTAS, target)
    out = msgspec.json.encode(frames)
    assert b'"Hel"' in out and b'"lo"' in out
    assert ("media.summarised", "/choices/0/delta/audio/data") in {(loss.code, loss.path) for loss in stream.losses}


@pytest.mark.parametrize("target", ["gemini", "code-assist"])
def test_pieces_of_audio_are_streamed_if_the_target_streams_audio(target: str) -> None:
    frames, stream = _streamed(DELTAS, target)
    candidates = [frame.get("response", frame)["candidates"][0] for frame in frames]
    parts = [part for candidate in candidates for part in candidate["content"]["parts"]]
    first, second = [{"inlineData": {"mimeType": "audio/L16;rate=24000", "data": data}} for data in ("AAAA", "BBBB")]
    assert [part for part in parts if part != {"text": ""}] == [{"text": "Hel"}, first, {"text": "lo"}, second]
    assert not [loss for loss in stream.losses if loss.code.startswith("media.")]


def test_a_later_piece_of_a_file_has_the_type_of_the_first() -> None:
    frames, _ = _streamed([{"audio": {"data": WAV}}, {"audio": {"data": "AAAA"}}], "gemini")
    parts = [part for frame in frames for part in frame["candidates"][0]["content"]["parts"]]
    assert [part["inlineData"]["mimeType"] for part in parts if "inlineData" in part] == ["audio/wav", "audio/wav"]


def test_audio_between_the_pieces_of_a_call_is_sent_after_the_call() -> None:
    def piece(text: str, **more: Any) -> dict[str, Any]:
        return {"tool_calls": [{"index": 0, "function": {"arguments": text, **more}, **({"id": "c1"} if more else {})}]}

    sounds: list[dict[str, Any]] = [{"audio": {"data": "AAAA"}}, {"audio": {"data": "BBBB", "transcript": "Hi"}}]
    frames, _ = _streamed([piece('{"a":', name="f"), *sounds, piece("1}")], "gemini")
    parts = [part for frame in frames for part in frame["candidates"][0]["content"]["parts"]]
    kinds = [next(iter(part)) for part in parts if part != {"text": ""}]
    assert kinds == ["functionCall", "inlineData", "text", "inlineData"]
    assert next(part["functionCall"]["args"] for part in parts if "functionCall" in part) == {"a": 1}


@pytest.mark.parametrize(("source", "target"), [("openai-chat", "openrouter"), ("openrouter", "openai-chat")])
def test_related_dialects_keep_the_audio_field_in_streams(source: str, target: str) -> None:
    frames, stream = _streamed(DELTAS, target, source)
    deltas = [choice["delta"] for frame in frames for choice in frame["choices"]]
    assert [delta["audio"] for delta in deltas if "audio" in delta] == [delta["audio"] for delta in DELTAS]
    assert not any(delta.get("content") for delta in deltas)
    assert stream.losses == ()


@pytest.mark.parametrize(("data", "mime"), [("//sQxAAA", "audio/mpeg"), ("//8AAAAA", "audio/L16;rate=24000")])
def test_loud_samples_are_not_mistaken_for_a_file(data: str, mime: str) -> None:
    parts = _to("gemini", audio={"id": "a", "data": data}).json()["candidates"][0]["content"]["parts"]
    assert parts == [{"inlineData": {"mimeType": mime, "data": data}}]


def test_the_transcript_of_an_earlier_answer_stays_in_the_history() -> None:
    audio_message = {"role": "assistant", "content": None, "audio": SOUND}
    messages = [{"role": "user", "content": "Hi"}, audio_message, {"role": "user", "content": "Go on"}]
    done = dragoman.translate_request(
        {"model": "gpt-audio", "messages": messages}, source="openai-chat", target="gemini", model="gemini-2.5-pro"
    )
    assert done.json()["contents"][1] == {"role": "model", "parts": [{"text": "Hello there."}]}
    assert ("media.summarised", "/messages/1/audio/data") in {(loss.code, loss.path) for loss in done.losses}
    named = [messages[0], {**audio_message, "audio": {"id": "audio_1"}}, messages[2]]
    only = dragoman.translate_request(
        {"model": "gpt-audio", "messages": named}, source="openai-chat", target="gemini", model="gemini-2.5-pro"
    )
    assert ("field.dropped", "/messages/1/audio") in {(loss.code, loss.path) for loss in only.losses}
