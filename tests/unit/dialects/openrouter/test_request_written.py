"""OpenRouter requests are written from other dialects."""

from __future__ import annotations

import pytest

from dragoman.canon.parts import Media, Reasoning, Seal, Text, ToolCall, ToolResult
from dragoman.canon.request import Request, Settings
from dragoman.canon.tools import Choice, HostedTool, Tool
from dragoman.canon.turns import Turn
from dragoman.codec import json_text
from dragoman.facts.profile import Profile
from tests.unit.dialects.openrouter.helpers import CHAT, NAME, SIGNED, write

USER = Turn("user", (Text("Hi"),))


def own_seal(detail: object = SIGNED, kind: str = "reasoning.text") -> Seal:
    return Seal(NAME, json_text.encode(detail).decode(), kind)


@pytest.mark.parametrize(
    ("settings", "reasoning"),
    [
        (Settings(effort="high"), {"effort": "high"}),
        (Settings(budget=2000), {"max_tokens": 2000}),
        (Settings(budget=0), {"effort": "none"}),
        (Settings(budget=-1), {"enabled": True}),
        (Settings(thoughts=False), {"exclude": True}),
        (Settings(effort="low", thoughts=True), {"effort": "low", "exclude": False}),
    ],
)
def test_effort_and_budget(settings: Settings, reasoning: object) -> None:
    body, lost = write(Request((USER,), "m", settings=settings))
    assert body["reasoning"] == reasoning
    assert "reasoning_effort" not in body
    assert lost == []


def test_sampling_that_chat_does_not_have() -> None:
    body, lost = write(Request((USER,), "m", settings=Settings(top_k=40.0, temperature=0.5, n=2, cache="")))
    assert (body["top_k"], body["temperature"], body["cache_control"]) == (40, 0.5, {"type": "ephemeral"})
    assert "n" not in body
    assert lost == [("n.dropped", "")]


def test_only_details_of_openrouter_are_sent_back() -> None:
    foreign = Reasoning("T", seal=Seal("anthropic", "sig"), at=("a",))
    mine = Reasoning("Need f", seal=own_seal(), at=("b",))
    turn = Turn("assistant", (foreign, mine, ToolCall("c1", "f", "{}", seal=Seal("gemini", "g"), at=("c",))))
    body, lost = write(Request((USER, turn, Turn("tool", (ToolResult("c1", (Text("r"),)),))), "m"))
    assert body["messages"][1] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        "reasoning_details": [SIGNED],
    }
    assert lost == [("seal.dropped", "/a"), ("seal.dropped", "/c"), ("reasoning.dropped", "/a")]


def test_a_detail_of_another_family_is_not_sent() -> None:
    turn = Turn("assistant", (Reasoning("Need f", seal=own_seal(), at=("b",)), Text("a")))
    body, lost = write(Request((USER, turn), "m"), profile=Profile(seal_formats=("openai-", "unknown")))
    assert body["messages"][1] == {"role": "assistant", "content": "a", "reasoning": "Need f"}
    assert lost == [("seal.dropped", "/b")]


@pytest.mark.parametrize("data", ["x", "[1]", '{"type":"other"}', '{"type":"reasoning.text"'])
def test_a_seal_that_is_no_detail_is_never_written(data: str) -> None:
    turn = Turn("assistant", (Reasoning("t", seal=Seal(NAME, data), at=("b",)), Text("a")))
    body, lost = write(Request((USER, turn), "m"))
    assert body["messages"][1] == {"role": "assistant", "content": "a", "reasoning": "t"}
    assert lost == [("seal.dropped", "/b")]


def test_thoughts_without_a_signature_are_not_sent_to_claude() -> None:
    turn = Turn("assistant", (Reasoning("t", at=("b",)), Text("a")))
    body, lost = write(Request((USER, turn), "m"), profile=Profile(seal_formats=("anthropic-", "unknown")))
    assert body["messages"][1] == {"role": "assistant", "content": "a"}
    assert lost == [("reasoning.dropped", "/b")]


def test_media_stay_in_results_and_videos_and_documents_are_sent() -> None:
    result = ToolResult("c1", (Text("r"), Media("image", "image/png", "AAAA")))
    film = Media("video", "video/mp4", url="https://a.b/c.mp4")
    paper = Media("document", "application/pdf", url="https://a.b/c.pdf", name="c.pdf")
    turns = (Turn("user", (film, paper)), Turn("assistant", (ToolCall("c1", "f", "{}"),)), Turn("tool", (result,)))
    body, lost = write(Request(turns, "m"))
    assert body["messages"][0]["content"] == [
        {"type": "video_url", "video_url": {"url": "https://a.b/c.mp4"}},
        {"type": "file", "file": {"filename": "c.pdf", "file_data": "https://a.b/c.pdf"}},
    ]
    assert body["messages"][2]["content"] == [
        {"type": "text", "text": "r"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    assert lost == []


def test_media_in_results_are_summarised_on_request() -> None:
    result = ToolResult("c1", (Media("image", "image/png", "AAAA", at=("x",)),))
    turns = (USER, Turn("assistant", (ToolCall("c1", "f", "{}"),)), Turn("tool", (result,)))
    body, lost = write(Request(turns, "m"), binary="summarise")
    assert body["messages"][2]["content"] == "Binary content of type image/png was processed."
    assert lost == [("media.summarised", "/x")]


def test_cache_marks_have_the_form_of_anthropic() -> None:
    turns = (
        Turn("user", (Text("Hi", cache="12h", at=("u",)),)),
        Turn("assistant", (ToolCall("c1", "f", "{}"),)),
        Turn("tool", (ToolResult("c1", (Text("r"),), cache="5m"),)),
    )
    body, lost = write(Request(turns, "m", (Tool("f", cache=""),)))
    assert body["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert body["messages"][2]["content"][0]["cache_control"] == {"type": "ephemeral", "ttl": "5m"}
    assert body["tools"][0]["cache_control"] == {"type": "ephemeral"}
    assert lost == [("cache.approximated", "/u")]


def test_custom_tools_are_wrapped_and_subsets_are_filtered() -> None:
    tools = (
        Tool("c", custom=True, at=("t", 0)),
        Tool("d", at=("t", 1)),
        HostedTool("gemini", "googleSearch", json_text.raw({}), ("t", 2)),
    )
    turns = (
        USER,
        Turn("assistant", (ToolCall("c1", "c", "text", True, at=("x",)),)),
        Turn("tool", (ToolResult("c1", (Text("r"),)),)),
    )
    body, lost = write(Request(turns, "m", tools, Choice("required", ("c",), at=("ch",))))
    assert [tool["function"]["name"] for tool in body["tools"]] == ["c"]
    assert body["tool_choice"] == "required"
    assert body["messages"][1]["tool_calls"][0]["function"] == {"name": "c", "arguments": '{"input":"text"}'}
    assert {code for code, _ in lost} == {
        "choice.by_filter",
        "tool.custom.wrapped",
        "call.custom.wrapped",
        "tool.hosted.dropped",
    }


def test_fields_that_only_chat_has_are_left_out_and_reported() -> None:
    fields = {name: json_text.raw(1) for name in ("store", "web_search_options", "logit_bias")}
    body, lost = write(Request((USER,), "m", extra={CHAT: fields}), source=CHAT)
    assert body == {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "logit_bias": 1}
    assert lost == [("field.dropped", "/store"), ("field.dropped", "/web_search_options")]


def test_the_context_keeps_its_source_after_writing() -> None:
    from dragoman.context import Context
    from dragoman.dialects.openrouter import DIALECT

    for source in (CHAT, NAME, "anthropic"):
        context = Context(source, NAME)
        DIALECT.write_request(Request((USER,), "m"), context)
        assert context.source == source
