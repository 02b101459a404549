"""Declarations, calls and results: every scenario in every dialect and for every ordered pair of dialects."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman import tool_calls, tool_results, translate_request, translate_tools
from tests.contract.scenarios import (
    DIALECTS,
    SCENARIOS,
    answer,
    call_in_history,
    declaration,
    request,
    result_in_history,
    text,
)

PAIRS = [(source, target) for source in DIALECTS for target in DIALECTS if source != target]


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_declaration_is_translated(source: str, target: str, name: str) -> None:
    scenario = SCENARIOS[name]
    done = translate_tools(declaration(source, scenario), source=source, target=target)
    assert done.json() == declaration(target, scenario, written=True)
    assert done.losses == ()


@pytest.mark.parametrize("source", DIALECTS)
def test_a_declaration_may_be_in_the_field_of_the_documents(source: str) -> None:
    scenario = SCENARIOS["run_shell_command"]
    tools = {"tools": declaration(source, scenario)}
    body = {"config": tools} if source == "gemini" else tools
    target = "anthropic" if source != "anthropic" else "openai-chat"
    done = translate_tools(body, source=source, target=target)
    assert (done.json(), done.losses) == (declaration(target, scenario, written=True), ())


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_cycle_is_translated(source: str, target: str, name: str) -> None:
    scenario = SCENARIOS[name]
    done = translate_request(request(source, scenario), source=source, target=target, model="m")
    assert done.json() == request(target, scenario, written=True)
    assert done.losses == ()


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("whole", [True, False])
def test_a_call_is_found_in_an_answer_and_in_the_history(dialect: str, name: str, whole: bool) -> None:
    scenario = SCENARIOS[name]
    history = call_in_history(dialect, scenario)
    fragment: Any = history if dialect == "openai-responses" else history[0]
    (call,) = tool_calls(answer(dialect, scenario) if whole else fragment, dialect=dialect)
    assert (call.id, call.name, call.input) == (scenario.call_id, scenario.name, scenario.input)
    assert call.arguments == text(scenario.input)


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_result_is_in_the_place_of_the_dialect(dialect: str, name: str) -> None:
    scenario = SCENARIOS[name]
    done = tool_results(answer(dialect, scenario), {scenario.call_id: scenario.output}, dialect=dialect)
    assert done == call_in_history(dialect, scenario) + result_in_history(dialect, scenario)


@pytest.mark.parametrize(
    ("dialect", "made", "referred"),
    [
        ("anthropic", lambda c: c["content"][0]["id"], lambda r: r["content"][0]["tool_use_id"]),
        ("openai-responses", lambda c: c["call_id"], lambda r: r["call_id"]),
        ("openai-chat", lambda c: c["tool_calls"][0]["id"], lambda r: r["tool_call_id"]),
        ("gemini", lambda c: c["parts"][0]["functionCall"]["id"], lambda r: r["parts"][0]["functionResponse"]["id"]),
    ],
)
@pytest.mark.parametrize("source", DIALECTS)
def test_the_id_of_a_call_and_its_result_is_unchanged(source: str, dialect: str, made: Any, referred: Any) -> None:
    scenario = SCENARIOS["read_file"]
    body = translate_request(request(source, scenario), source=source, target=dialect, model="m").json()
    call, result = (body.get("messages") or body.get("input") or body.get("contents"))[-2:]
    assert made(call) == referred(result) == "rf_1"


@pytest.mark.parametrize("source", DIALECTS)
def test_the_system_prompt_is_in_the_place_of_the_dialect(source: str) -> None:
    scenario = SCENARIOS["run_shell_command"]
    prompt = "You are a helpful assistant."
    bodies = {
        target: translate_request(request(source, scenario), source=source, target=target, model="m").json()
        for target in DIALECTS
    }
    assert bodies["anthropic"]["system"] == prompt
    assert bodies["openai-responses"]["instructions"] == prompt
    assert bodies["openai-chat"]["messages"][0] == {"role": "system", "content": prompt}
    assert bodies["gemini"]["systemInstruction"]["parts"] == [{"text": prompt}]


def test_text_before_a_call_stays_before_the_call() -> None:
    content = [
        {"type": "text", "text": "Working on it..."},
        {"type": "tool_use", "id": "call_123", "name": "run_shell_command", "input": {"command": "ls -la"}},
    ]
    call_turn = {"role": "assistant", "content": content}
    (call,) = tool_calls(call_turn, dialect="anthropic")
    assert (call.id, call.name, call.arguments) == ("call_123", "run_shell_command", '{"command":"ls -la"}')
    assert tool_results(call_turn, ["done"], dialect="anthropic")[0] == call_turn
    assert tool_calls({"role": "assistant", "content": [content[0]]}, dialect="anthropic") == []


def test_web_search_can_become_the_function_of_the_documents() -> None:
    tools = [{"type": "web_search"}, {"type": "local_shell"}]
    done = translate_tools(tools, source="openai-responses", target="openai-chat", stand_ins=True)
    tool, shell = done.json()
    assert shell["function"]["name"] == "local_shell"
    assert tool["function"]["name"] == "google_web_search"
    assert list(tool["function"]["parameters"]["properties"]) == ["query"]
    assert tool["function"]["parameters"]["required"] == ["query"]
    assert [(loss.code, loss.path) for loss in done.losses] == [
        ("tool.hosted.as_function", "/tools/0"),
        ("tool.hosted.as_function", "/tools/1"),
    ]


@pytest.mark.parametrize("target", DIALECTS)
def test_a_tool_of_an_mcp_server_is_a_function(target: str) -> None:
    scenario = SCENARIOS["read_file"]._replace(name="files__read_file")
    done = translate_request(request("gemini", scenario), source="gemini", target=target, model="m")
    assert done.json() == request(target, scenario, written=target != "gemini")
    assert done.losses == ()
