"""Binary results: summarised where the documents require it, and attached next to the result for Gemini."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dragoman import Media, Text, ToolCall, ToolResult, tool_results, translate_request

NOTE = "Binary content of type image/png was processed."
IMAGE = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
REQUEST: dict[str, Any] = {
    "contents": [
        {"role": "user", "parts": [{"text": "What does it show?"}]},
        {
            "role": "model",
            "parts": [{"functionCall": {"id": "rf_img_1", "name": "read_file", "args": {"absolute_path": "/a.png"}}}],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "rf_img_1", "name": "read_file", "response": {"output": NOTE}}},
                IMAGE,
            ],
        },
    ]
}
CLAUDE: dict[str, Any] = {
    "model": "m",
    "max_tokens": 99,
    "messages": [
        {"role": "user", "content": "What does it show?"},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "rf_img_1", "name": "read_file", "input": {"absolute_path": "/a.png"}}
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "rf_img_1",
                    "content": [
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
                    ],
                }
            ],
        },
    ],
}


@pytest.mark.parametrize(
    ("target", "result"),
    [
        ("openai-chat", {"role": "tool", "tool_call_id": "rf_img_1", "content": NOTE}),
        ("openai-responses", {"type": "function_call_output", "call_id": "rf_img_1", "output": NOTE}),
    ],
)
def test_summarised_results_are_text_only(target: str, result: dict[str, Any]) -> None:
    done = translate_request(CLAUDE, source="anthropic", target=target, binary="summarise")
    assert (done.json().get("messages") or done.json()["input"])[-1] == result
    assert "aGk=" not in done.body.decode()
    assert [(loss.code, loss.path) for loss in done.losses] == [("media.summarised", "/messages/2/content/0/content/0")]


def test_summarised_results_of_gemini_are_text_only() -> None:
    done = translate_request(CLAUDE, source="anthropic", target="gemini", model="gemini-3-pro", binary="summarise")
    (part,) = done.json()["contents"][-1]["parts"]
    assert part["functionResponse"]["response"] == {"output": NOTE}
    assert "aGk=" not in done.body.decode()


def test_for_gemini_the_bytes_are_attached_next_to_the_result() -> None:
    same = translate_request(REQUEST, source="gemini", target="gemini")
    assert same.json() == REQUEST
    done = translate_request(CLAUDE, source="anthropic", target="gemini", model="gemini-2.5-pro")
    parts = done.json()["contents"][-1]["parts"]
    assert [list(part) for part in parts] == [["functionResponse"], ["inlineData"]]
    assert parts[1] == IMAGE
    assert (parts[0]["functionResponse"]["id"], parts[0]["functionResponse"]["name"]) == ("rf_img_1", "read_file")


@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "openai-responses"])
def test_bytes_next_to_a_result_of_gemini_are_kept_in_other_dialects(target: str) -> None:
    done = translate_request(REQUEST, source="gemini", target=target, model="m")
    assert NOTE in done.body.decode()
    assert "aGk=" in done.body.decode()


def test_a_client_can_return_an_image_from_a_tool() -> None:
    result = ToolResult("rf_img_1", (Text(NOTE), Media("image", "image/png", "aGk=")))
    call = ToolCall("rf_img_1", "read_file", '{"absolute_path":"/a.png"}')
    _, result_turn = tool_results([call], [result], dialect="anthropic")
    assert result_turn["content"][0]["content"] == [
        {"type": "text", "text": NOTE},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
    ]


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "gemini", "code-assist", "ollama", "openrouter"])
def test_the_note_about_a_picture_is_not_written_twice(target: str) -> None:
    announced: Any = copy.deepcopy(CLAUDE)
    announced["messages"][2]["content"][0]["content"].insert(0, {"type": "text", "text": NOTE})
    done = translate_request(announced, source="anthropic", target=target, binary="summarise")
    assert done.body.count(NOTE.encode()) == 1
    assert "media.summarised" in [loss.code for loss in done.losses]
