"""OpenRouter requests are read: fields of OpenRouter, the reasoning object, and details as sealed thoughts."""

from __future__ import annotations

import msgspec
import pytest

from dragoman.canon.parts import HostedCall, HostedResult, Media, Opaque, Reasoning, Seal, Text, ToolCall, ToolResult
from dragoman.codec import packed_seals as seals
from tests.unit.dialects.openrouter.helpers import (
    ENCRYPTED,
    NAME,
    SIGNED,
    SUMMARY,
    call,
    chat_request,
    read,
    round_trip,
)

USER = {"role": "user", "content": "Hi"}


def sealed(detail: object, kind: str) -> Seal:
    return Seal(NAME, msgspec.json.encode(detail).decode(), kind)


def test_fields_of_openrouter_survive_a_round_trip_and_are_reported_elsewhere() -> None:
    own = {
        "models": ["a", "b"],
        "provider": {"order": ["x"]},
        "plugins": [{"id": "response-healing"}],
        "route": "fallback",
        "transforms": ["middle-out"],
        "usage": {"include": True},
        "top_a": 0.5,
        "min_p": 0.1,
        "repetition_penalty": 1.1,
        "session_id": "s",
    }
    body = chat_request(USER, **own)
    assert round_trip(body) == body
    for target in ("anthropic", "openai-chat"):
        reported = {path for code, path in read(body, target)[1] if code == "field.dropped"}
        assert reported == {f"/{name}" for name in own if name != "plugins"} | {"/plugins/0"}


@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "gemini"])
def test_a_plugin_that_is_switched_off_is_reported(target: str) -> None:
    plugins = [{"id": "web", "enabled": False, "max_results": 3}, {"id": "web"}, {"id": "moderation", "enabled": False}]
    request, losses = read(chat_request(USER, plugins=plugins), target)
    assert [tool.at for tool in request.tools] == [("plugins", 1)]
    off = [("field.dropped", "/plugins/0"), ("field.dropped", "/plugins/2")]
    assert [loss for loss in losses if loss[0] == "field.dropped"] == off


@pytest.mark.parametrize(
    ("reasoning", "effort", "budget", "thoughts"),
    [
        ({"effort": "high"}, "high", None, None),
        ({"max_tokens": 2000}, None, 2000, None),
        ({"effort": "low", "exclude": True}, "low", None, False),
        ({"exclude": False}, None, None, True),
        ({"summary": "auto"}, None, None, True),
        ({"enabled": True}, None, -1, None),
        ({"enabled": False}, "none", None, None),
        ({"enabled": True, "effort": "low"}, "low", None, None),
        ({"enabled": True, "effort": "gigantic"}, None, -1, None),
        ({"enabled": False, "effort": "gigantic"}, "none", None, None),
        ({"enabled": False, "max_tokens": 2000}, "none", None, None),
        ({"enabled": True, "effort": "none"}, "none", None, None),
    ],
)
def test_the_reasoning_object_has_effort_budget_and_visible_thoughts(
    reasoning: object, effort: str | None, budget: int | None, thoughts: bool | None
) -> None:
    body = chat_request(USER, reasoning=reasoning)
    settings = read(body)[0].settings
    assert (settings.effort, settings.budget, settings.thoughts) == (effort, budget, thoughts)
    assert round_trip(body) == body


def test_the_older_fields_for_thoughts_and_effort() -> None:
    body = chat_request(USER, include_reasoning=True, reasoning_effort="low")
    settings = read(body)[0].settings
    assert (settings.effort, settings.thoughts) == ("low", True)
    assert round_trip(body) == body


def test_each_detail_is_a_thought_with_the_whole_detail_as_seal() -> None:
    message = {
        "role": "assistant",
        "content": "So.",
        "reasoning": "Need fThought",
        "reasoning_details": [SIGNED, SUMMARY, ENCRYPTED],
        "tool_calls": [call()],
    }
    body = chat_request(USER, message, {"role": "tool", "tool_call_id": "call_1", "content": "r"})
    at = ("messages", 1, "reasoning_details")
    assert read(body)[0].turns[1].parts == (
        Reasoning("Need f", seal=sealed(SIGNED, "reasoning.text"), at=(*at, 0)),
        Reasoning("Thought", seal=sealed(SUMMARY, "reasoning.summary"), at=(*at, 1)),
        Reasoning("", seal=sealed(ENCRYPTED, "reasoning.encrypted"), at=(*at, 2)),
        Text("So.", at=("messages", 1, "content")),
        ToolCall("call_1", "f", "{}", at=("messages", 1, "tool_calls", 0)),
    )
    assert round_trip(body) == body


def test_unknown_details_are_written_back_in_order() -> None:
    tool = {"type": "reasoning.server_tool_call", "tool_name": "t", "arguments": "{}", "result": "r"}
    body = chat_request(
        USER, {"role": "assistant", "content": "a", "reasoning_details": [{"type": "x", "y": 1}, SIGNED, tool]}
    )
    kinds = [type(part) for part in read(body)[0].turns[1].parts]
    assert kinds == [Opaque, Reasoning, HostedCall, HostedResult, Text]
    assert round_trip(body) == body


@pytest.mark.parametrize("details", [None, "x", 7, {"a": 1}, [7, "x", None], []])
def test_malformed_details_raise_no_error(details: object) -> None:
    body = chat_request(USER, {"role": "assistant", "content": "a", "reasoning_details": details})
    written = round_trip(body)["messages"][1].get("reasoning_details") or None
    assert written == (details or None)


def test_a_message_with_only_details_is_kept() -> None:
    body = chat_request(USER, {"role": "assistant", "content": None, "reasoning_details": [ENCRYPTED]}, USER)
    assert round_trip(body) == body


def test_thoughts_only_in_the_field_reasoning_are_written_back_there() -> None:
    body = chat_request(USER, {"role": "assistant", "reasoning": "Hm.", "content": "a"})
    thought = read(body)[0].turns[1].parts[0]
    assert isinstance(thought, Reasoning)
    assert (thought.text, thought.seal) == ("Hm.", None)
    assert round_trip(body) == body


def test_reasoning_that_differs_from_its_details_is_reported() -> None:
    message = {"role": "assistant", "content": "a", "reasoning": "other", "reasoning_details": [SIGNED]}
    body = chat_request(USER, message)
    assert ("field.dropped", "/messages/1/reasoning") in read(body)[1]
    assert round_trip(body) == body


def test_packed_seals_are_unpacked_onto_thoughts_and_calls() -> None:
    thought, on_call = Seal("anthropic", "sig", "", "claude"), Seal("gemini", "g3")
    details = [
        {
            "type": "reasoning.text",
            "text": "T",
            "signature": seals.pack(thought),
            "format": "unknown",
            "index": 0,
        },
        {
            "type": "reasoning.encrypted",
            "data": seals.pack(on_call),
            "id": "call_1",
            "format": "unknown",
            "index": 1,
        },
    ]
    body = chat_request(USER, {"role": "assistant", "reasoning_details": details, "tool_calls": [call()]})
    parts = read(body)[0].turns[1].parts
    assert parts == (
        Reasoning("T", seal=thought, at=("messages", 1, "reasoning_details", 0)),
        ToolCall("call_1", "f", "{}", seal=on_call, at=("messages", 1, "tool_calls", 0)),
    )
    # Packed seals are never sent to OpenRouter.
    assert "reasoning_details" not in round_trip(body)["messages"][1]


def test_cache_marks_of_parts_tools_and_the_whole() -> None:
    mark = {"type": "ephemeral", "ttl": "1h"}
    tool = {"type": "function", "function": {"name": "f"}, "cache_control": mark}
    part = {"type": "text", "text": "Hi", "cache_control": mark}
    body = chat_request({"role": "user", "content": [part]}, tools=[tool], cache_control=mark)
    request, lost = read(body)
    assert request.turns[0].parts[0].cache == "1h"
    assert request.tools[0].cache == "1h"  # type: ignore[union-attr]
    assert request.settings.cache == "1h"
    assert lost == []
    assert round_trip(body) == body


def test_images_and_media_in_results() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    body = chat_request(
        USER,
        {"role": "assistant", "content": "a", "images": [picture], "tool_calls": [call()]},
        {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "r"}, picture]},
    )
    turns = read(body)[0].turns
    assert turns[1].parts[-1] == Media("image", "image/png", "AAAA", at=("messages", 1, "images", 0))
    result = turns[2].parts[0]
    assert isinstance(result, ToolResult)
    assert isinstance(result.parts[1], Media)
    assert round_trip(body) == body


def test_unknown_fields_are_lost_in_chat_and_kept_in_openrouter() -> None:
    body = chat_request({**USER, "x": 1}, y=2, reasoning={"effort": "low", "z": 3})
    assert round_trip(body) == body
    assert {path for _, path in read(body, "openai-chat")[1]} == {"/messages/0/x", "/y", "/reasoning/z"}
