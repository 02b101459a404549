"""Ollama requests are written from other dialects: roles, images, ordered results, choices, thinking, settings."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

from dragoman.canon import (
    Choice,
    Format,
    HostedTool,
    Media,
    Opaque,
    Reasoning,
    Request,
    Seal,
    Settings,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
)
from dragoman.facts.profile import Profile
from tests.unit.dialects.ollama.helpers import write

F = ToolCall("call_f", "f", '{"x": 1}', at=("c", 0))
G = ToolCall("call_g", "g", "", at=("c", 1))
USER = Turn("user", (Text("Hi"),))
CALLS_TURN = Turn("assistant", (F, G), at=("c",))
TOOLS = (
    Tool("f", "F", '{"type":"object","properties":{}}', at=("tools", 0)),
    Tool("g", at=("tools", 1)),
)


def messages(*turns: Turn, **options: Any) -> tuple[Any, Any]:
    body, lost = write(Request(turns, "m"), **options)
    return body["messages"], lost


def test_the_smallest_request() -> None:
    assert write(Request((USER,), "m")) == (
        {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": False},
        [],
    )
    body, lost = write(Request((USER,), stream=True))
    assert (body["model"], body["stream"], lost) == ("unspecified", True, [("model.invented", "")])


def test_a_step_with_calls_and_results_in_the_order_of_the_calls() -> None:
    results = Turn("tool", (ToolResult("call_g", (Text("2"),)), ToolResult("call_f", (Text("1"),))))
    written, lost = messages(USER, CALLS_TURN, results)
    assert written[1:] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "call_f", "function": {"name": "f", "arguments": {"x": 1}}},
                {"id": "call_g", "function": {"name": "g", "arguments": {}}},
            ],
        },
        {"role": "tool", "content": "1", "tool_name": "f", "tool_call_id": "call_f"},
        {"role": "tool", "content": "2", "tool_name": "g", "tool_call_id": "call_g"},
    ]
    assert lost == []


MISSING = "Error: no result was recorded for this call."
ONE = Turn("tool", (ToolResult("call_f", (Text("1"),)),))
TWO = Turn("tool", (ToolResult("call_g", (Text("2"),)),))


@pytest.mark.parametrize(
    ("turns", "contents", "places"),
    [
        ((TWO,), [MISSING, "2"], ["/c/0"]),
        ((ONE,), ["1", MISSING], ["/c/1"]),
        ((ONE, USER), ["1", MISSING, "Hi"], ["/c/1"]),
        ((), [MISSING, MISSING], ["/c/0", "/c/1"]),
        ((USER,), [MISSING, MISSING, "Hi"], ["/c/0", "/c/1"]),
        ((Turn("assistant", (Text("Hm"),)), USER), [MISSING, MISSING, "Hm", "Hi"], ["/c/0", "/c/1"]),
        ((TWO, ONE), ["1", "2"], []),
    ],
)
def test_a_call_without_a_result_gets_one_in_any_step(
    turns: tuple[Turn, ...], contents: list[str], places: list[str]
) -> None:
    written, lost = messages(CALLS_TURN, *turns)
    assert [one["content"] for one in written[1:]] == contents
    assert lost == [("result.invented", place) for place in places]


def test_an_open_call_of_an_ollama_client_stays_open() -> None:
    assert len(messages(CALLS_TURN, source="ollama")[0]) == 1


def test_duplicate_results_and_results_without_a_call() -> None:
    results = (
        ToolResult("call_f", (Text("1"),)),
        ToolResult("call_f", (Text("again"),), at=("r", 1)),
        ToolResult("call_z", (Text("of whom"),), at=("r", 2)),
    )
    written, lost = messages(CALLS_TURN, Turn("tool", results))
    assert written[1:] == [
        {"role": "tool", "content": "1", "tool_name": "f", "tool_call_id": "call_f"},
        {"role": "tool", "content": MISSING, "tool_name": "g", "tool_call_id": "call_g"},
        {"role": "tool", "content": "of whom", "tool_name": "unknown_tool", "tool_call_id": "call_z"},
    ]
    assert lost == [("result.duplicate", "/r/1"), ("result.invented", "/c/1"), ("call.name.invented", "/r/2")]


def test_parts_of_results() -> None:
    image = Media("image", "image/png", "AAAA", at=("r", "image"))
    sound = Media("audio", "audio/wav", "AAAA", at=("r", "sound"))
    first = ToolResult("call_f", (Text("a"), Text("b"), image), at=("r", 0))
    second = ToolResult("call_g", (Text("no"),), is_error=True, structured=True, at=("r", 1))
    written, lost = messages(CALLS_TURN, Turn("tool", (first, second, ToolResult("call_z", (sound,), "z"))))
    assert written[1:] == [
        {
            "role": "tool",
            "content": "a\nb\n[tool call call_f returned image/png, attached below]",
            "tool_name": "f",
            "tool_call_id": "call_f",
        },
        {"role": "tool", "content": "Error: no", "tool_name": "g", "tool_call_id": "call_g"},
        {
            "role": "tool",
            "content": "Binary content of type audio/wav was processed.",
            "tool_name": "z",
            "tool_call_id": "call_z",
        },
        {"role": "user", "content": "[returned by tool call call_f]", "images": ["AAAA"]},
    ]
    assert lost == [
        ("result.media.moved", "/r/image"),
        ("result.texts.joined", "/r/0"),
        ("result.error.as_text", "/r/1"),
        ("result.structured.as_text", "/r/1"),
        ("media.dropped", "/r/sound"),
    ]
    written, lost = messages(
        Turn("assistant", (F,)), Turn("tool", (ToolResult("call_f", (image,)),)), binary="summarise"
    )
    assert written[1]["content"] == "Binary content of type image/png was processed."
    assert lost == [("media.summarised", "/r/image")]


def test_texts_images_and_parts_that_ollama_cannot_show() -> None:
    parts = (
        Media("image", "image/png", "AAAA", name="a.png", detail="low", at=("p", 0)),
        Text("one", cache="", at=("p", 1)),
        Text("two", refusal=True, at=("p", 2)),
        Media("image", "", url="https://example.com/a.png", at=("p", 3)),
        Opaque("gemini", "x", Raw(b"{}"), at=("p", 4)),
    )
    written, lost = messages(Turn("user", parts, name="ada", at=("p",)))
    assert written == [
        {
            "role": "user",
            "content": "one\ntwo\n[image attached here could not be sent: https://example.com/a.png]",
            "images": ["AAAA"],
        }
    ]
    assert lost == [
        ("name.dropped", "/p"),
        ("media.name.dropped", "/p/0"),
        ("media.detail.dropped", "/p/0"),
        ("cache.dropped", "/p/1"),
        ("order.approximated", "/p/1"),
        ("refusal.as_text", "/p/2"),
        ("media.dropped", "/p/3"),
        ("part.dropped", "/p/4"),
    ]


def test_an_image_between_texts_keeps_its_place() -> None:
    one, two = Media("image", "image/png", "AAAA"), Media("image", "image/png", "BBBB")
    written, lost = messages(Turn("user", (Text("a"), one, Text("b"), Text("c"), two)), USER)
    assert written == [
        {"role": "user", "content": "a", "images": ["AAAA"]},
        {"role": "user", "content": "b\nc", "images": ["BBBB"]},
        {"role": "user", "content": "Hi"},
    ]
    assert lost == []


def test_system_turns_keep_their_place_and_have_only_text() -> None:
    image = Media("image", "image/png", "AAAA", at=("s", 1))
    written, lost = messages(Turn("developer", (Text("a"), image)), USER, Turn("system", (Text("b"),)))
    assert [(one["role"], one["content"]) for one in written] == [("system", "a"), ("user", "Hi"), ("system", "b")]
    assert lost == [("system.media.dropped", "/s/1")]


def test_parts_of_an_assistant_turn() -> None:
    parts = (
        Text("a"),
        Reasoning("hm", seal=Seal("anthropic", "c2ln"), at=("p", 1)),
        F,
        Text("b", at=("p", 3)),
        Opaque("anthropic", "server_tool_use", Raw(b"{}"), at=("p", 4)),
    )
    written, lost = messages(Turn("assistant", parts), ONE)
    assert written[:-1] == [
        {
            "role": "assistant",
            "content": "ab",
            "thinking": "hm",
            "tool_calls": [{"id": "call_f", "function": {"name": "f", "arguments": {"x": 1}}}],
        }
    ]
    assert lost == [
        ("seal.dropped", "/p/1"),
        ("order.approximated", "/p/1"),
        ("hosted.dropped", "/p/4"),
    ]


def test_turns_that_become_empty_are_left_out() -> None:
    foreign = Turn("assistant", (Opaque("anthropic", "x", Raw(b"{}"), at=("a", 0)),), at=("a",))
    written, lost = messages(foreign, Turn("user", (Text(""),), at=("b",)), USER)
    assert written == [{"role": "user", "content": "Hi"}]
    assert lost == [("hosted.dropped", "/a/0"), ("turn.dropped", "/a"), ("turn.dropped", "/b")]


@pytest.mark.parametrize(
    ("call", "arguments", "code"),
    [
        (ToolCall("call_f", "f", '{"x": ', at=("c",)), {"__raw": '{"x": '}, "arguments.invalid"),
        (ToolCall("call_f", "f", "[1]", at=("c",)), {"__raw": "[1]"}, "arguments.invalid"),
        (ToolCall("call_f", "f", "free text", True, at=("c",)), {"input": "free text"}, "call.custom.wrapped"),
    ],
)
def test_arguments_that_are_no_object_never_become_an_empty_object(call: ToolCall, arguments: Any, code: str) -> None:
    written, lost = messages(Turn("assistant", (call,)), ONE)
    assert written[0]["tool_calls"][0]["function"]["arguments"] == arguments
    assert lost == [(code, "/c")]


def choose(choice: Choice) -> tuple[list[str], Any]:
    body, lost = write(Request((USER,), "m", TOOLS, choice))
    return [tool["function"]["name"] for tool in body.get("tools", ())], lost


def test_choices() -> None:
    at = ("tool_choice",)
    both = ["f", "g"]
    assert choose(Choice("auto", at=at)) == (both, [])
    assert choose(Choice("required", at=at)) == (both, [("choice.dropped", "/tool_choice")])
    assert choose(Choice("none", at=at)) == (
        [],
        [("choice.none.by_omission", path) for path in ("/tools/0", "/tools/1", "/tool_choice")],
    )
    filtered = [("choice.by_filter", "/tools/1"), ("choice.by_filter", "/tool_choice")]
    assert choose(Choice("auto", ("f",), at=at)) == (["f"], filtered)
    assert choose(Choice("one", ("f",), at=at)) == (["f"], [*filtered, ("choice.dropped", "/tool_choice")])
    assert choose(Choice("auto", ("f", "g"), at=at)) == (both, [])
    assert choose(Choice("one", ("h",), at=at)) == (both, [("choice.dropped", "/tool_choice")])


def test_a_choice_without_tools_and_hosted_tools() -> None:
    at = ("tool_choice",)
    assert write(Request((USER,), "m", (), Choice("required", at=at)))[1] == [("choice.dropped", "/tool_choice")]
    hosted = HostedTool("anthropic", "web_search", Raw(b"{}"), at=("tools", 0))
    body, lost = write(Request((USER,), "m", (hosted,)))
    assert "tools" not in body
    assert lost == [("tool.hosted.dropped", "/tools/0")]


def settings(profile: Profile | None = None, **fields: Any) -> tuple[dict[str, Any], Any]:
    at = {name: (name,) for name in Settings.__struct_fields__}
    body, lost = write(Request((USER,), "m", TOOLS, settings=Settings(**fields, at=at)), profile=profile)
    return {name: value for name, value in body.items() if name not in ("model", "messages", "tools", "stream")}, lost


def test_settings() -> None:
    written, lost = settings(
        max_tokens=9,
        temperature=0.5,
        top_p=0.25,
        top_k=40.0,
        stop=("a", "b"),
        seed=7,
        presence_penalty=0.5,
        frequency_penalty=1.5,
        logprobs=True,
        top_logprobs=3,
    )
    assert written == {
        "options": {
            "num_predict": 9,
            "temperature": 0.5,
            "top_p": 0.25,
            "seed": 7,
            "presence_penalty": 0.5,
            "frequency_penalty": 1.5,
            "top_k": 40,
            "stop": ["a", "b"],
        },
        "logprobs": True,
        "top_logprobs": 3,
    }
    assert lost == []


def test_settings_without_a_place() -> None:
    _, lost = settings(
        top_k=40.5,
        n=2,
        parallel=False,
        verbosity="low",
        user="ada",
        metadata={"a": "b"},
        tier="flex",
        cache_key="k",
        cache="5m",
    )
    assert lost == [
        ("sampling.clamped", "/top_k"),
        ("parallel.unenforced", "/parallel"),
        ("n.dropped", "/n"),
        ("verbosity.dropped", "/verbosity"),
        ("user.dropped", "/user"),
        ("metadata.dropped", "/metadata"),
        ("cache.dropped", "/cache_key"),
        ("cache.dropped", "/cache"),
        ("tier.dropped", "/tier"),
    ]
    assert settings(n=1, parallel=True, metadata={}, tier="auto") == ({}, [])


def test_formats() -> None:
    assert settings(format=Format("json")) == ({"format": "json"}, [])
    schema = '{"type": "object", "maxProperties": 3}'
    assert settings(format=Format("schema", schema)) == ({"format": {"type": "object", "maxProperties": 3}}, [])
    _, lost = settings(format=Format("schema", schema, "answer", strict=True))
    assert lost == [("format.detail.dropped", "/format")]


EFFORT = [("effort.approximated", "/effort")]
BUDGET = [("effort.approximated", "/budget")]
NO_LEVELS = Profile(efforts=("low", "medium", "high"), thinking_off=False)
NO_THINKING = Profile(thinks=False)


@pytest.mark.parametrize(
    ("wish", "profile", "think", "lost"),
    [
        ({"effort": "none"}, None, False, []),
        ({"effort": "minimal"}, None, "low", EFFORT),
        ({"effort": "high"}, None, "high", []),
        ({"effort": "xhigh"}, None, "high", EFFORT),
        ({"effort": "max"}, None, "max", []),
        ({"effort": "odd"}, None, None, [("effort.dropped", "/effort")]),
        ({"budget": 0}, None, False, []),
        ({"budget": -1}, None, True, []),
        ({"budget": 9000}, None, "medium", BUDGET),
        ({"thoughts": True}, None, True, []),
        ({"thoughts": False}, None, None, [("thoughts.dropped", "/thoughts")]),
        ({"thoughts": False, "effort": "none"}, None, False, []),
        ({"effort": "none"}, NO_LEVELS, "low", EFFORT),
        ({"effort": "max"}, NO_LEVELS, "high", EFFORT),
        ({"thoughts": True}, NO_LEVELS, None, []),
        ({"effort": "none"}, NO_THINKING, None, []),
        ({"effort": "high"}, NO_THINKING, None, [("effort.dropped", "/effort")]),
        (
            {"budget": 9, "thoughts": True},
            NO_THINKING,
            None,
            [("effort.dropped", "/budget"), ("thoughts.dropped", "/thoughts")],
        ),
    ],
)
def test_thinking(wish: Any, profile: Profile | None, think: Any, lost: Any) -> None:
    written, found = settings(profile, **wish)
    assert written == ({} if think is None else {"think": think})
    assert found == lost
