"""Edge cases of Google's dialects: wrong types of values, undeclared names, counts without their switch."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman import StreamTranslator

ASKED = [{"role": "user", "parts": [{"text": "hi"}]}]
CITED = {"type": "char_location", "cited_text": "x", "document_index": 0, "document_title": ["x"]}
CITED |= {"start_char_index": 0, "end_char_index": 1}


def codes(translation: Any) -> list[tuple[str, str]]:
    return [(loss.code, loss.path) for loss in translation.losses]


def test_a_count_that_is_not_a_number_passes_between_google_dialects() -> None:
    usage = {"promptTokenCount": 3, "toolUsePromptTokenCount": {}, "candidatesTokenCount": 1, "totalTokenCount": 4}
    candidate = {"content": {"role": "model", "parts": [{"text": "a"}]}, "finishReason": "STOP", "index": 0}
    body = {"candidates": [candidate], "usageMetadata": usage}
    out = dragoman.translate_response(body, source="gemini", target="code-assist")
    assert json.loads(out.body)["response"]["usageMetadata"] == usage


@pytest.mark.parametrize("target", ["gemini", "code-assist"])
def test_a_title_that_is_not_a_text_is_reported(target: str) -> None:
    block = {"type": "text", "text": "a", "citations": [CITED]}
    body: dict[str, Any] = {"id": "m", "type": "message", "role": "assistant", "model": "c", "content": [block]}
    body |= {"stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    out = dragoman.translate_response(body, source="anthropic", target=target)
    assert b'"text":"a"' in out.body
    assert ("field.dropped", "/content/0/citations/0/document_title") in codes(out)
    stream = StreamTranslator(source="anthropic", target=target)
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**body, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "", "citations": []}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": CITED}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    sent = b"".join([stream.feed(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode()) for one in events])
    assert b'"text":"a"' in sent + stream.close()


@pytest.mark.parametrize(("mode", "names", "left"), [("one", ["g"], None), ("some", ["f", "g"], ["f"])])
def test_a_choice_of_a_tool_that_is_not_declared(mode: str, names: list[str], left: list[str] | None) -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    refs = [{"type": "function", "function": {"name": name}} for name in names]
    allowed = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": refs}}
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": tools}
    body["tool_choice"] = refs[0] if mode == "one" else allowed
    out = dragoman.translate_request(body, source="openai-chat", target="gemini", model="gemini-2.5-pro")
    config = json.loads(out.body)["toolConfig"]["functionCallingConfig"]
    assert config.get("allowedFunctionNames") == left
    assert config["mode"] == ("ANY" if left else "AUTO")
    assert "choice.dropped" in [code for code, _ in codes(out)]
    assert not [found.rule for found in dragoman.lint(out.body, dialect="gemini") if found.rule == "GEM-011"]


@pytest.mark.parametrize("switch", [None, False])
def test_a_log_probability_count_without_its_switch(switch: bool | None) -> None:
    config: dict[str, Any] = {"logprobs": 3} | ({} if switch is None else {"responseLogprobs": switch})
    gemini = {"contents": ASKED, "generationConfig": config}
    ollama = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "top_logprobs": 3}
    ollama |= {} if switch is None else {"logprobs": switch}
    for body, source, path in ((gemini, "gemini", "/generationConfig/logprobs"), (ollama, "ollama", "/top_logprobs")):
        out = dragoman.translate_request(body, source=source, target="openai-chat", model="gpt-4o")
        assert "top_logprobs" not in json.loads(out.body)
        assert ("logprobs.dropped", path) in codes(out)


def test_log_probabilities_with_their_switch_are_requested() -> None:
    body = {"contents": ASKED, "generationConfig": {"responseLogprobs": True, "logprobs": 3}}
    out = dragoman.translate_request(body, source="gemini", target="openai-chat", model="gpt-4o")
    request = json.loads(out.body)
    assert (request["logprobs"], request["top_logprobs"]) == (True, 3)


def test_the_name_of_a_video_is_reported() -> None:
    film = {"fileData": {"mimeType": "video/mp4", "fileUri": "https://a/b.mp4", "displayName": "holiday.mp4"}}
    body = {"contents": [{"role": "user", "parts": [film]}]}
    out = dragoman.translate_request(body, source="gemini", target="openrouter", model="google/gemini-2.5-pro")
    assert "holiday.mp4" not in out.body.decode()
    assert [loss.code for loss in out.losses if "holiday.mp4" in loss.detail] == ["media.name.dropped"]


@pytest.mark.parametrize(("source", "target"), [("gemini", "code-assist"), ("code-assist", "gemini")])
def test_unknown_fields_of_a_content_with_an_unknown_role_stay(source: str, target: str) -> None:
    odd = {"role": "narrator", "parts": [{"text": "x", "weird": 2}], "odd": 1}
    body = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}, odd]}
    sent = {"model": "gemini-2.5-flash", "request": body} if source == "code-assist" else body
    done = dragoman.translate_request(sent, source=source, target=target, model="gemini-2.5-flash")
    assert done.json().get("request", done.json())["contents"][1] == odd
    assert [loss.code for loss in done.losses if loss.code != "id.invented"] == []
