"""Requests of OpenRouter, read: its own fields, the reasoning object, details as sealed thoughts."""

from __future__ import annotations

import msgspec
import pytest

from dragoman.canon.parts import HostedCall, HostedResult, Media, Opaque, Reasoning, Seal, Text, ToolCall, ToolResult
from dragoman.codec import packed_seals as seals
from tests.unit.dialects.openrouter.helpers import ENCRYPTED, NAME, SIGNED, SUMMARY, again, asked, call, read

USER = {"role": "user", "content": "Hi"}


def sealed(detail: object, kind: str) -> Seal:
    return Seal(NAME, msgspec.json.encode(detail).decode(), kind)


def test_own_fields_come_back_and_are_reported_elsewhere() -> None:
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
    body = asked(USER, **own)
    assert again(body) == body
    for target in ("anthropic", "openai-chat"):
        reported = {path for code, path in read(body, target)[1] if code == "field.dropped"}
        assert reported == {f"/{name}" for name in own if name != "plugins"} | {"/plugins/0"}


@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "gemini"])
def test_a_plugin_that_is_switched_off_is_reported(target: str) -> None:
    plugins = [{"id": "web", "enabled": False, "max_results": 3}, {"id": "web"}, {"id": "moderation", "enabled": False}]
    request, losses = read(asked(USER, plugins=plugins), target)
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
def test_the_reasoning_object_is_effort_budget_and_the_wish_to_see_thoughts(
    reasoning: object, effort: str | None, budget: int | None, thoughts: bool | None
) -> None:
    body = asked(USER, reasoning=reasoning)
    settings = read(body)[0].settings
    assert (settings.effort, settings.budget, settings.thoughts) == (effort, budget, thoughts)
    assert again(body) == body


def test_the_old_wish_for_thoughts_and_the_shorthand_for_effort() -> None:
    body = asked(USER, include_reasoning=True, reasoning_effort="low")
    settings = read(body)[0].settings
    assert (settings.effort, settings.thoughts) == ("low", True)
    assert again(body) == body


def test_each_detail_is_a_thought_sealed_with_the_whole_of_it() -> None:
    message = {
        "role": "assistant",
        "content": "So.",
        "reasoning": "Need fThought",
        "reasoning_details": [SIGNED, SUMMARY, ENCRYPTED],
        "tool_calls": [call()],
    }
    body = asked(USER, message, {"role": "tool", "tool_call_id": "call_1", "content": "r"})
    at = ("messages", 1, "reasoning_details")
    assert read(body)[0].turns[1].parts == (
        Reasoning("Need f", seal=sealed(SIGNED, "reasoning.text"), at=(*at, 0)),
        Reasoning("Thought", seal=sealed(SUMMARY, "reasoning.summary"), at=(*at, 1)),
        Reasoning("", seal=sealed(ENCRYPTED, "reasoning.encrypted"), at=(*at, 2)),
        Text("So.", at=("messages", 1, "content")),
        ToolCall("call_1", "f", "{}", at=("messages", 1, "tool_calls", 0)),
    )
    assert again(body) == body


def test_details_that_nobody_knows_come_back_in_their_order() -> None:
    tool = {"type": "reasoning.server_tool_call", "tool_name": "t", "arguments": "{}", "result": "r"}
    body = asked(
        USER, {"role": "assistant", "content": "a", "reasoning_details": [{"type": "x", "y": 1}, SIGNED, tool]}
    )
    kinds = [type(part) for part in read(body)[0].turns[1].parts]
    assert kinds == [Opaque, Reasoning, HostedCall, HostedResult, Text]
    assert again(body) == body


@pytest.mark.parametrize("details", [None, "x", 7, {"a": 1}, [7, "x", None], []])
def test_details_of_a_wrong_shape_are_no_harm(details: object) -> None:
    body = asked(USER, {"role": "assistant", "content": "a", "reasoning_details": details})
    written = again(body)["messages"][1].get("reasoning_details") or None
    assert written == (details or None)


def test_a_message_of_nothing_but_details_is_a_message() -> None:
    body = asked(USER, {"role": "assistant", "content": None, "reasoning_details": [ENCRYPTED]}, USER)
    assert again(body) == body


def test_thoughts_in_the_field_reasoning_alone_go_back_there() -> None:
    body = asked(USER, {"role": "assistant", "reasoning": "Hm.", "content": "a"})
    thought = read(body)[0].turns[1].parts[0]
    assert isinstance(thought, Reasoning)
    assert (thought.text, thought.seal) == ("Hm.", None)
    assert again(body) == body


def test_reasoning_that_differs_from_its_details_is_reported() -> None:
    message = {"role": "assistant", "content": "a", "reasoning": "other", "reasoning_details": [SIGNED]}
    body = asked(USER, message)
    assert ("field.dropped", "/messages/1/reasoning") in read(body)[1]
    assert again(body) == body


def test_packed_seals_are_unpacked_and_those_of_calls_put_on_them() -> None:
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
    body = asked(USER, {"role": "assistant", "reasoning_details": details, "tool_calls": [call()]})
    parts = read(body)[0].turns[1].parts
    assert parts == (
        Reasoning("T", seal=thought, at=("messages", 1, "reasoning_details", 0)),
        ToolCall("call_1", "f", "{}", seal=on_call, at=("messages", 1, "tool_calls", 0)),
    )
    # OpenRouter itself never sees them.
    assert "reasoning_details" not in again(body)["messages"][1]


def test_cache_marks_of_parts_tools_and_the_whole() -> None:
    mark = {"type": "ephemeral", "ttl": "1h"}
    tool = {"type": "function", "function": {"name": "f"}, "cache_control": mark}
    part = {"type": "text", "text": "Hi", "cache_control": mark}
    body = asked({"role": "user", "content": [part]}, tools=[tool], cache_control=mark)
    request, lost = read(body)
    assert request.turns[0].parts[0].cache == "1h"
    assert request.tools[0].cache == "1h"  # type: ignore[union-attr]
    assert request.settings.cache == "1h"
    assert lost == []
    assert again(body) == body


def test_images_and_media_in_results() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    body = asked(
        USER,
        {"role": "assistant", "content": "a", "images": [picture], "tool_calls": [call()]},
        {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "r"}, picture]},
    )
    turns = read(body)[0].turns
    assert turns[1].parts[-1] == Media("image", "image/png", "AAAA", at=("messages", 1, "images", 0))
    result = turns[2].parts[0]
    assert isinstance(result, ToolResult)
    assert isinstance(result.parts[1], Media)
    assert again(body) == body


def test_unknown_fields_are_lost_to_chat_and_come_back_here() -> None:
    body = asked({**USER, "x": 1}, y=2, reasoning={"effort": "low", "z": 3})
    assert again(body) == body
    assert {path for _, path in read(body, "openai-chat")[1]} == {"/messages/0/x", "/y", "/reasoning/z"}
