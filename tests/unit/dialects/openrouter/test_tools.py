"""Tools of OpenRouter: its server tools, cache marks, deferred loading, choices."""

from __future__ import annotations

import dragoman
from dragoman.canon.tools import Choice, HostedTool, Tool
from dragoman.codec import jsontext
from dragoman.crossing import Crossing
from dragoman.dialects.openrouter import DIALECT
from tests.unit.dialects.openrouter.desk import CHAT, NAME, again, asked, losses, read

SEARCH = {"type": "openrouter:web_search", "parameters": {"max_uses": 1}}
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
USER = {"role": "user", "content": "Hi"}


def test_server_tools_are_its_own() -> None:
    request, _ = read(asked(USER, tools=[SEARCH, FUNCTION]), target="ollama")
    assert request.tools[0] == HostedTool(NAME, "openrouter:web_search", jsontext.raw(SEARCH), ("tools", 0))
    assert again(asked(USER, tools=[SEARCH, FUNCTION]))["tools"] == [SEARCH, FUNCTION]


def test_deferred_tools_are_deferred_everywhere() -> None:
    late = {**FUNCTION, "defer_loading": True}
    inside = {"type": "function", "function": {**FUNCTION["function"], "name": "g", "defer_loading": True}}  # type: ignore[dict-item]
    request, lost = read(asked(USER, tools=[late, inside]))
    assert [tool.deferred for tool in request.tools if isinstance(tool, Tool)] == [True, True]
    assert lost == []
    assert again(asked(USER, tools=[late, inside]))["tools"] == [late, inside]
    crossing = Crossing("anthropic", NAME)
    written = jsontext.decode(DIALECT.write_tools((Tool("f", deferred=True),), crossing))
    assert written == [{"type": "function", "function": {"name": "f"}, "defer_loading": True}]
    assert losses(crossing, "anthropic") == []


def test_a_choice_of_a_server_tool_comes_back_and_is_lost_elsewhere() -> None:
    body = asked(USER, tools=[SEARCH], tool_choice={"type": "openrouter:datetime"})
    request, lost = read(body, CHAT)
    assert request.choice == Choice(
        "auto", extra={NAME: {"tool_choice": jsontext.raw(body["tool_choice"])}}, at=("tool_choice",)
    )
    assert ("choice.dropped", "/tool_choice") in lost
    assert again(body) == body


def test_a_choice_of_a_server_tool_that_others_have_is_kept_for_them() -> None:
    body = asked(USER, tools=[SEARCH], tool_choice={"type": "openrouter:web_search"})
    request, lost = read(body, CHAT)
    assert request.choice == Choice("one", ("openrouter:web_search",), at=("tool_choice",), hosted=True)
    assert "choice.dropped" not in [code for code, _ in lost]
    assert again(body) == body


def test_declarations_alone() -> None:
    tools = dragoman.translate_tools([FUNCTION], source=NAME, target="anthropic").json()
    assert [tool["name"] for tool in tools] == ["f"]
    back = dragoman.translate_tools(tools, source="anthropic", target=NAME)
    assert back.json() == [FUNCTION]
