"""A choice of some of the tools (`allowed_tools`).

The target gets the choice or a shorter list of tools. The choice never names a tool that is not declared."""

from __future__ import annotations

from typing import Any

import pytest

import dragoman
from tests.pairs.helpers import codes, losses_of, to

SCHEMA = {"type": "object", "properties": {}}
SEARCH = {"type": "web_search"}
FILES = {"type": "file_search", "vector_store_ids": ["v"]}
WIKI = {"type": "mcp", "server_label": "wiki", "server_url": "https://mcp.example/mcp", "require_approval": "never"}


def _flat(name: str) -> dict[str, Any]:
    return {"type": "function", "name": name, "parameters": SCHEMA, "strict": False}


def _responses(tools: list[Any], allowed: list[Any], mode: str = "required") -> dict[str, Any]:
    choice = {"type": "allowed_tools", "mode": mode, "tools": allowed}
    return {"model": "gpt-5.5", "input": "Hi", "tools": tools, "tool_choice": choice}


def _names(tools: list[Any]) -> list[str]:
    """Return the names of functions and the types of other tools."""
    found: list[str] = []
    for tool in tools:
        if "functionDeclarations" in tool:
            found += [one["name"] for one in tool["functionDeclarations"]]
        else:
            found.append(
                tool.get("name") or tool.get("function", {}).get("name") or tool.get("type") or next(iter(tool))
            )
    return found


def _sent(body: Any, target: str, **options: Any) -> tuple[list[str], Any, dragoman.Translation]:
    """Return the names of the declared tools, the choice among them, and the translation."""
    done = to(target, body, "openai-responses", **options)
    out = done.json().get("request", done.json())
    choice = out.get("tool_choice", out.get("toolConfig", {}).get("functionCallingConfig"))
    return _names(out.get("tools", [])), choice, done


F = {"type": "function", "name": "f"}


@pytest.mark.parametrize("mode", ["auto", "required"])
def test_a_subset_is_translated_between_responses_and_chat(mode: str) -> None:
    body = _responses([_flat("f"), _flat("g")], [F], mode)
    names, choice, done = _sent(body, "openai-chat")
    allowed = {"mode": mode, "tools": [{"type": "function", "function": {"name": "f"}}]}
    assert (names, choice) == (["f", "g"], {"type": "allowed_tools", "allowed_tools": allowed})
    assert not [code for code in codes(done) if code.startswith("choice.")]
    back = to("openai-responses", done.json(), "openai-chat")
    assert back.json()["tool_choice"] == body["tool_choice"]
    assert not [code for code in codes(back) if code.startswith("choice.")]


@pytest.mark.parametrize(
    "choice",
    [
        {"type": "allowed_tools", "mode": "required", "tools": [F]},
        {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [F]}},
        {
            "type": "allowed_tools",
            "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "f"}}]},
        },
    ],
)
@pytest.mark.parametrize("source", ["openai-chat", "openai-responses"])
def test_responses_and_chat_read_the_form_of_each_other(source: str, choice: Any) -> None:
    if source == "openai-chat":
        function = {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}
        body: dict[str, Any] = {
            "model": "gpt-4.1",
            "messages": [{"role": "user", "content": "Hi"}],
            "tools": [function],
        }
    else:
        body = {"model": "gpt-5.5", "input": "Hi", "tools": [_flat("f")]}
    done = to("gemini", {**body, "tool_choice": choice}, source)
    config = {"mode": "ANY", "allowedFunctionNames": ["f"]}
    assert done.json()["toolConfig"]["functionCallingConfig"] == config
    assert not [code for code in codes(done) if code.startswith(("choice.", "field."))]


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "gemini", "code-assist", "ollama", "openrouter"])
def test_a_subset_without_sent_tools_makes_no_choice(target: str) -> None:
    names, choice, done = _sent(_responses([FILES, _flat("f")], [{"type": "file_search"}]), target)
    free = {"openai-chat": "auto", "openrouter": "auto", "anthropic": {"type": "auto"}, "ollama": None}
    assert (names, choice) == (["f"], free.get(target, {"mode": "AUTO"}))
    assert ("choice.dropped", "/tool_choice") in losses_of(done)


@pytest.mark.parametrize("target", ["anthropic", "openrouter"])
def test_hosted_tools_of_a_subset_are_offered_and_others_are_not(target: str) -> None:
    search = {"anthropic": "web_search", "openrouter": "openrouter:web_search"}[target]
    any_of_them = {"anthropic": {"type": "any"}, "openrouter": "required"}[target]
    tools = [SEARCH, _flat("f"), _flat("g")]
    names, choice, done = _sent(_responses(tools, [{"type": "web_search_preview"}, F]), target)
    assert (names, choice) == ([search, "f"], any_of_them)
    assert "choice.dropped" not in codes(done)
    assert ("choice.by_filter", "/tools/2") in losses_of(done)
    names, choice, done = _sent(_responses(tools, [F]), target)
    assert (names, choice) == (["f"], any_of_them)
    assert ("choice.by_filter", "/tools/0") in losses_of(done)
    names, choice, done = _sent(_responses(tools, [{"type": "web_search"}]), target)
    assert (names, choice) == ([search], any_of_them)
    assert {("choice.by_filter", "/tools/1"), ("choice.by_filter", "/tools/2")} <= set(losses_of(done))


def test_a_subset_names_a_server_by_its_label() -> None:
    other = {**WIKI, "server_label": "other"}
    allowed = [{"type": "mcp", "server_label": "wiki"}, F]
    done = to("anthropic", _responses([WIKI, other, _flat("f")], allowed), "openai-responses")
    assert [one["name"] for one in done.json()["mcp_servers"]] == ["wiki"]
    assert ("choice.by_filter", "/tools/1") in losses_of(done)


def test_an_undeclared_tool_in_a_subset_is_reported() -> None:
    body = _responses([_flat("f"), _flat("g")], [F, {"type": "function", "name": "zz"}, {"type": "robot"}])
    for target in ("openai-chat", "anthropic", "gemini", "ollama", "openrouter"):
        names, _, done = _sent(body, target)
        assert "f" in names
        assert ("choice.dropped", "/tool_choice") in losses_of(done)


def test_hosted_tools_beside_a_subset_of_functions_stay_allowed() -> None:
    """The list of allowed functions in Gemini does not restrict its hosted tools."""
    tools = [{"googleSearch": {}}, {"functionDeclarations": [{"name": "f"}, {"name": "g"}]}]
    config = {"functionCallingConfig": {"mode": "VALIDATED", "allowedFunctionNames": ["f"]}}
    body = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "tools": tools, "toolConfig": config}
    done = to("openai-responses", body, "gemini")
    assert done.json()["tool_choice"] == {"type": "allowed_tools", "mode": "auto", "tools": [F, SEARCH]}
    assert "choice.dropped" not in codes(done)


@pytest.mark.parametrize("target", ["openai-chat", "gemini", "anthropic"])
def test_unknown_fields_are_reported_in_every_form(target: str) -> None:
    more = {"note": "words"}
    nested = {"type": "function", "function": {"name": "f", **more}, **more}
    forms: dict[str, tuple[dict[str, Any], set[str]]] = {
        "entries": (
            {"mode": "auto", "tools": [{**F, **more}, {**SEARCH, **more}]},
            {"/tool_choice/tools/0/note", "/tool_choice/tools/1/note"},
        ),
        "one tool of a server": (
            {"mode": "auto", "tools": [F, {"type": "mcp", "server_label": "wiki", "name": "ask"}]},
            {"/tool_choice/tools/1/name"},
        ),
        "the form of Chat": (
            {"allowed_tools": {"mode": "auto", "tools": [nested], **more}},
            {
                "/tool_choice/allowed_tools/note",
                "/tool_choice/allowed_tools/tools/0/note",
                "/tool_choice/allowed_tools/tools/0/function/note",
            },
        ),
    }
    for choice, places in forms.values():
        body = _responses([_flat("f"), SEARCH, WIKI], [])
        body["tool_choice"] = {"type": "allowed_tools", **choice}
        done = to(target, body, "openai-responses")
        assert {path for code, path in losses_of(done) if code == "field.dropped" and "choice" in path} == places


@pytest.mark.parametrize(
    ("tool", "choice", "place"),
    [
        (WIKI, {"type": "mcp", "server_label": "wiki", "name": "ask"}, "/tool_choice/name"),
        (SEARCH, {"type": "web_search", "note": "words"}, "/tool_choice/note"),
        ({"type": "shell"}, {"type": "shell", "note": "words"}, "/tool_choice/note"),
        (_flat("f"), {"type": "function", "function": {"name": "f", "note": "words"}}, "/tool_choice/function/note"),
    ],
)
def test_fields_of_a_choice_of_one_tool_are_reported(tool: Any, choice: Any, place: str) -> None:
    body = {"model": "gpt-5.5", "input": "Hi", "tools": [tool], "tool_choice": choice}
    done = to("anthropic", body, "openai-responses")
    assert [path for code, path in losses_of(done) if code == "field.dropped" and "choice" in path] == [place]
