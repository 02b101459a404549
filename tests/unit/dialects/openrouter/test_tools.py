"""OpenRouter tools: server tools, cache marks, deferred loading and choices."""

from __future__ import annotations

import pytest

import dragoman
from dragoman.canon.tools import Choice, HostedTool, Tool
from dragoman.codec import json_text
from dragoman.context import Context
from dragoman.dialects.openrouter import DIALECT
from tests.unit.dialects.documents_and_losses import losses
from tests.unit.dialects.openrouter.helpers import CHAT, NAME, chat_request, read, round_trip

SEARCH = {"type": "openrouter:web_search", "parameters": {"max_uses": 1}}
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
USER = {"role": "user", "content": "Hi"}


def test_server_tools_exist_only_in_openrouter() -> None:
    request, _ = read(chat_request(USER, tools=[SEARCH, FUNCTION]), target="ollama")
    assert request.tools[0] == HostedTool(NAME, "openrouter:web_search", json_text.raw(SEARCH), ("tools", 0))
    assert round_trip(chat_request(USER, tools=[SEARCH, FUNCTION]))["tools"] == [SEARCH, FUNCTION]


def test_deferred_tools_are_deferred_everywhere() -> None:
    late = {**FUNCTION, "defer_loading": True}
    inside = {"type": "function", "function": {**FUNCTION["function"], "name": "g", "defer_loading": True}}  # type: ignore[dict-item]
    request, lost = read(chat_request(USER, tools=[late, inside]))
    assert [tool.deferred for tool in request.tools if isinstance(tool, Tool)] == [True, True]
    assert lost == []
    assert round_trip(chat_request(USER, tools=[late, inside]))["tools"] == [late, inside]
    context = Context("anthropic", NAME)
    written = json_text.decode(DIALECT.write_tools((Tool("f", deferred=True),), context))
    assert written == [{"type": "function", "function": {"name": "f"}, "defer_loading": True}]
    assert losses(context) == []


CONTROL = {"protocol": "v1", "profile": "portable", "search": {"type": "bm25"}, "validation": "runtime"}
SEARCHED = {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}


def _declared(name: str, **more: object) -> dict[str, object]:
    return {"name": name, "input_schema": {"type": "object", "properties": {}}, **more}


def _to_openrouter(tools: list[dict[str, object]], **more: object) -> dragoman.Translation:
    body = {"model": "claude-sonnet-5", "max_tokens": 64, "messages": [USER], "tools": tools, **more}
    return dragoman.translate_request(body, source="anthropic", target=NAME)


def test_the_search_for_deferred_tools_is_a_field_of_the_request() -> None:
    done = _to_openrouter([SEARCHED, _declared("now"), _declared("later", defer_loading=True)])
    assert done.json()["deferred_tools"] == CONTROL
    assert [tool.get("defer_loading") for tool in done.json()["tools"]] == [None, True]
    back = dragoman.translate_request(done.body, source=NAME, target="anthropic", model="claude-sonnet-5")
    assert [tool.get("type") or tool.get("defer_loading") for tool in back.json()["tools"]] == [
        None,
        True,
        "tool_search_tool_bm25_20251119",
    ]
    assert {loss.code for loss in back.losses} == {"tool.hosted.mapped"}


@pytest.mark.parametrize(
    ("tools", "more"),
    [
        ([_declared("now"), _declared("later", defer_loading=True)], {}),
        ([SEARCHED, _declared("later", defer_loading=True)], {}),
        ([SEARCHED, _declared("now"), _declared("later", defer_loading=True)], {"tool_choice": {"type": "any"}}),
        ([SEARCHED, _declared("now")], {}),
    ],
    ids=["no search", "all deferred", "forced choice", "none deferred"],
)
def test_deferred_tools_without_a_usable_search_are_sent_in_full(
    tools: list[dict[str, object]], more: dict[str, object]
) -> None:
    done = _to_openrouter(tools, **more)
    assert "deferred_tools" not in done.json()
    assert not any("defer_loading" in tool for tool in done.json()["tools"])
    lost = {loss.code for loss in done.losses}
    assert ("tool.deferred.expanded" in lost) is any("defer_loading" in tool for tool in tools)
    assert ("tool.hosted.dropped" in lost) is (SEARCHED in tools)


def test_a_search_that_the_client_runs_is_no_hosted_tool() -> None:
    custom_search = {**CONTROL, "search": {"type": "custom", "tool_name": "find"}}
    request, lost = read(chat_request(USER, tools=[FUNCTION], deferred_tools=custom_search), target="anthropic")
    assert all(isinstance(tool, Tool) for tool in request.tools)
    assert ("field.dropped", "/deferred_tools") in lost
    assert (
        round_trip(chat_request(USER, tools=[FUNCTION], deferred_tools=custom_search))["deferred_tools"]
        == custom_search
    )


def test_declarations_alone_have_no_field_for_the_search() -> None:
    declared = [SEARCHED, _declared("now"), _declared("later", defer_loading=True)]
    done = dragoman.translate_tools(declared, source="anthropic", target=NAME)
    assert [tool.get("defer_loading") for tool in done.json()] == [None, None]
    assert {"tool.hosted.dropped", "tool.deferred.expanded"} <= {loss.code for loss in done.losses}


def test_a_choice_of_a_server_tool_is_kept_and_lost_in_other_dialects() -> None:
    body = chat_request(USER, tools=[SEARCH], tool_choice={"type": "openrouter:datetime"})
    request, lost = read(body, CHAT)
    assert request.choice == Choice(
        "auto", extra={NAME: {"tool_choice": json_text.raw(body["tool_choice"])}}, at=("tool_choice",)
    )
    assert ("choice.dropped", "/tool_choice") in lost
    assert round_trip(body) == body


def test_a_choice_of_a_common_server_tool_is_kept_for_other_dialects() -> None:
    body = chat_request(USER, tools=[SEARCH], tool_choice={"type": "openrouter:web_search"})
    request, lost = read(body, CHAT)
    assert request.choice == Choice("one", ("openrouter:web_search",), at=("tool_choice",), hosted=True)
    assert "choice.dropped" not in [code for code, _ in lost]
    assert round_trip(body) == body


def test_declarations_without_a_request() -> None:
    tools = dragoman.translate_tools([FUNCTION], source=NAME, target="anthropic").json()
    assert [tool["name"] for tool in tools] == ["f"]
    back = dragoman.translate_tools(tools, source="anthropic", target=NAME)
    assert back.json() == [FUNCTION]
