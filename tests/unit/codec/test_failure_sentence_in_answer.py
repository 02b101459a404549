"""An answer that failed is not shown as an empty success, neither whole nor in a stream."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman import StreamTranslator
from dragoman.canon.fold_and_unfold import fold
from dragoman.canon.parts import Text
from dragoman.canon.response import Response, Stop
from dragoman.codec.failure_sentence_in_answer import failure, with_failure
from dragoman.context import Context
from dragoman.dialects import get

GEMINI_MESSAGE = "Malformed function call: look("
PLAIN = {
    "MALFORMED_FUNCTION_CALL": "The model ended its answer with a tool call that cannot be used.",
    "UNEXPECTED_TOOL_CALL": "The model ended its answer with a tool call that cannot be used: UNEXPECTED_TOOL_CALL.",
    "OTHER": "The model's answer ended with an error.",
}
TARGETS = ("openai-chat", "anthropic", "openrouter", "ollama")


def answer(word: str, message: str, text: str) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": [{"text": text}] if text else []}}
    candidate |= {"finishReason": word, "index": 0}
    if message:
        candidate["finishMessage"] = message
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 0, "totalTokenCount": 1}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-pro", "responseId": "r"}


def text_of(response: Response) -> str:
    return "".join([part.text for part in response.parts if isinstance(part, Text)])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("word", list(PLAIN))
@pytest.mark.parametrize("message", [GEMINI_MESSAGE, ""])
@pytest.mark.parametrize("text", ["", "I look."])
def test_the_client_gets_the_reason_of_the_failure(target: str, word: str, message: str, text: str) -> None:
    body = answer(word, message, text)
    whole = dragoman.translate_response(body, source="gemini", target=target)
    shown = text_of(get(target).read_response(whole.body, Context(target, target)))
    stream = StreamTranslator(source="gemini", target=target)
    out = stream.feed(b"data: " + json.dumps(body).encode() + b"\r\n\r\n") + stream.close()
    reader = get(target).reader(Context(target, target))
    folded = fold([*reader.feed(out), *reader.close()])
    assert isinstance(folded, Response)
    assert text_of(folded) == shown
    if target == "openrouter" and word == "OTHER" and not message:
        assert shown == text  # the field `error` has the reason
        return
    assert shown.endswith(message or PLAIN[word])
    assert shown.startswith(text)
    for losses in (whole.losses, stream.losses):
        assert [loss.severity for loss in losses if loss.code == "stop.approximated"] == ["warning"]


@pytest.mark.parametrize("target", ["anthropic", "openai-responses", "gemini", "code-assist", "ollama"])
@pytest.mark.parametrize("called", [True, False])
def test_a_finish_reason_of_calls_without_a_call_is_reported(target: str, called: bool) -> None:
    """The client cannot detect this: in some dialects the word is the same with and without a call."""
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    assistant = {"role": "assistant", "content": "I look.", **({"tool_calls": [call]} if called else {})}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    body = {"id": "c", "created": 1, "model": "m", "usage": usage}
    choice = {"index": 0, "finish_reason": "tool_calls"}
    whole = dragoman.translate_response(
        {**body, "choices": [{**choice, "message": assistant}]}, source="openai-chat", target=target
    )
    stream = StreamTranslator(source="openai-chat", target=target)
    chunk = json.dumps({**body, "choices": [{**choice, "delta": assistant}]}).encode()
    stream.feed(b"data: " + chunk + b"\n\ndata: [DONE]\n\n")
    stream.close()
    for losses in (whole.losses, stream.losses):
        found = [(loss.severity, loss.path) for loss in losses if loss.code == "stop.approximated"]
        assert found == ([] if called else [("info", "/choices/0/finish_reason")])


def test_other_endings_add_no_text() -> None:
    assert failure(Stop("stop")) == ""
    assert failure(Stop("content_filter", detail="blocked")) == ""
    assert failure(Stop("error", extra={"openai-chat": {}}), "openai-chat") == ""
    assert failure(Stop("error", extra={"gemini": {}}), "openai-chat") == PLAIN["OTHER"]
    assert with_failure((), "") == ()
    assert with_failure((Text("a"),), "b", "\n\n") == (Text("a"), Text("\n\nb"))


_SAME = {
    "anthropic": {"STOP": "end_turn", "MAX_TOKENS": "max_tokens", "CONTINUATION": "pause_turn"},
    "openai-chat": {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "content_filter"},
    "openrouter": {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "content_filter"},
    "openai-responses": {"STOP": "completed", "MAX_TOKENS": "max_output_tokens", "SAFETY": "content_filter"},
    "ollama": {"STOP": "stop", "MAX_TOKENS": "length"},
}
"""Words that mean the same in Gemini and in another dialect."""
_EVERY = [
    "STOP",
    "MAX_TOKENS",
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MODEL_ARMOR",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "IMAGE_OTHER",
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MALFORMED_RESPONSE",
    "MISSING_THOUGHT_SIGNATURE",
    "CONTINUATION",
    "NO_IMAGE",
    "OTHER",
    "NEVER_SEEN",
]


@pytest.mark.parametrize("target", list(_SAME))
@pytest.mark.parametrize("word", _EVERY)
@pytest.mark.parametrize("message", ["", "Because of this."])
def test_every_finish_reason_is_written_or_reported_with_its_path(target: str, word: str, message: str) -> None:
    body = answer(word, message, "I look.")
    whole = dragoman.translate_response(body, source="gemini", target=target)
    stream = StreamTranslator(source="gemini", target=target)
    out = stream.feed(b"data: " + json.dumps(body).encode() + b"\r\n\r\n") + stream.close()
    for written, losses in ((whole.body, whole.losses), (out, stream.losses)):
        paths = {loss.path for loss in losses}
        same = _SAME[target].get(word)
        if same is not None:
            assert f'"{same}"'.encode() in written
            assert "/candidates/0/finishReason" not in paths
        else:
            assert "/candidates/0/finishReason" in paths
            if target == "openrouter" and word not in ("MALFORMED_FUNCTION_CALL", "CONTINUATION"):
                assert f'"native_finish_reason":"{word}"'.encode() in written
        assert not message or message.encode() in written or "/candidates/0/finishMessage" in paths


@pytest.mark.parametrize("word", ["eos", "abort", "sensitive", "network_error", "never_seen"])
def test_an_openrouter_finish_reason_is_reported_and_carried(word: str) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": word}
    body = {"id": "gen-1", "model": "m", "created": 1, "choices": [choice]}
    to_chat = dragoman.translate_response(body, source="openrouter", target="openai-chat")
    assert [loss.path for loss in to_chat.losses if loss.code == "stop.approximated"] == ["/choices/0/finish_reason"]
    back = dragoman.translate_response(body, source="openai-chat", target="openrouter")
    assert back.json()["choices"][0]["native_finish_reason"] == word
    assert [loss.path for loss in back.losses if loss.code == "stop.approximated"] == ["/choices/0/finish_reason"]


@pytest.mark.parametrize(
    ("source", "body", "path"),
    [
        ("anthropic", {"type": "message", "role": "assistant", "content": [], "stop_reason": "whim"}, "/stop_reason"),
        (
            "ollama",
            {"model": "m", "message": {"role": "assistant"}, "done": True, "done_reason": "whim"},
            "/done_reason",
        ),
        ("gemini", answer("whim", "", "I look."), "/candidates/0/finishReason"),
    ],
)
def test_an_unknown_finish_reason_is_reported_and_carried(source: str, body: dict[str, object], path: str) -> None:
    for target in ("openai-chat", "openai-responses", "openrouter"):
        out = dragoman.translate_response(body, source=source, target=target)
        assert path in {loss.path for loss in out.losses if loss.code == "stop.approximated"}
    assert out.json()["choices"][0]["native_finish_reason"] == "whim"
