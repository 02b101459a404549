"""Uses of hosted tools that only one dialect has: a translated history has their text, but not their ids and seals."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman
from dragoman.codec.hosted_calls_as_text import text_in

TARGETS = ["openai-chat", "openai-responses", "anthropic", "gemini", "code-assist", "ollama", "openrouter"]
PIXEL = "iVBORw0KGgo="


def responses(*items: dict[str, Any]) -> dict[str, Any]:
    return {"model": "m", "input": [{"role": "user", "content": "q"}, *items, {"role": "user", "content": "next"}]}


def messages(*blocks: dict[str, Any]) -> dict[str, Any]:
    turns = [{"role": "user", "content": "q"}, {"role": "assistant", "content": [*blocks]}]
    return {"model": "m", "max_tokens": 99, "messages": [*turns, {"role": "user", "content": "next"}]}


def contents(*parts: dict[str, Any]) -> dict[str, Any]:
    turns = [{"role": "user", "parts": [{"text": "q"}]}, {"role": "model", "parts": [*parts]}]
    return {"contents": [*turns, {"role": "user", "parts": [{"text": "next"}]}]}


FILES = {
    "type": "file_search_call",
    "id": "fs_1",
    "status": "completed",
    "queries": ["what it is"],
    "results": [{"file_id": "f1", "filename": "a.txt", "text": "a thing"}],
}
COMPUTER = {
    "type": "computer_call",
    "id": "cu_1",
    "call_id": "c1",
    "status": "completed",
    "action": {"type": "click", "x": 17, "y": 4},
}
SCREEN = {
    "type": "computer_call_output",
    "call_id": "c1",
    "output": {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PIXEL}"},
}
ADVISOR = (
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "advisor", "input": {}},
    {
        "type": "advisor_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": {"type": "advisor_result", "text": "plan B"},
    },
)
MAPS = (
    {"toolCall": {"id": "t1", "toolType": "GOOGLE_MAPS", "args": {"query": "pizza"}}, "thoughtSignature": "AAAA"},
    {"toolResponse": {"id": "t1", "toolType": "GOOGLE_MAPS", "response": {"places": ["Luigi"]}}},
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("source", "document", "words"),
    [
        ("openai-responses", responses(FILES), ("file_search", "what it is", "a.txt", "a thing")),
        ("openai-responses", responses(COMPUTER, SCREEN), ("computer", "click", "17")),
        ("anthropic", messages(*ADVISOR), ("advisor", "plan B")),
        ("gemini", contents(*MAPS), ("google_maps", "pizza", "Luigi")),
    ],
)
def test_the_text_of_a_use_is_translated(
    source: str, document: dict[str, Any], words: tuple[str, ...], target: str
) -> None:
    if source == target or {source, target} == {"gemini", "code-assist"}:
        pytest.skip("the target dialect has the same use")
    translation = dragoman.translate_request(document, source=source, target=target, model="m")
    text = translation.body.decode()
    assert [word for word in words if word not in text] == []
    assert "srvtoolu_1" not in text
    assert "AAAA" not in text
    assert PIXEL not in text
    assert "part.as_text" in {loss.code for loss in translation.losses}
    assert "hosted.dropped" not in {loss.code for loss in translation.losses}


def test_a_dropped_screenshot_is_reported() -> None:
    document = responses(COMPUTER, SCREEN)
    translation = dragoman.translate_request(document, source="openai-responses", target="anthropic", model="m")
    assert ("media.dropped", "/input/2/output") in {(loss.code, loss.path) for loss in translation.losses}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"type": "a", "id": "1"}, ""),
        ({"type": "a", "text": "b"}, "b"),
        ([{"type": "text", "text": "b"}], "b"),
        ({"content": {"type": "x_result", "text": "b", "encrypted_content": "c"}}, "b"),
        ({"action": {"type": "wait"}, "ms": 3}, '{"action":{"type":"wait"},"ms":3}'),
        ({"action": {"type": "wait"}}, "wait"),
        ("b", "b"),
        (None, ""),
        (7, "7"),
    ],
)
def test_the_text_in_a_value(value: Any, words: str) -> None:
    assert text_in(value) == words
