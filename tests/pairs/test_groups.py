"""Namespaces, tools added in mid-session, deferred tools and the search for them: all pairs, also in streams."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman.canon import HostedTool, Tool, ToolCall, ToolResult
from tests.oracles.grammar import check_stream
from tests.pairs.helpers import (
    DIALECTS,
    answer,
    calls_of,
    codes,
    folded,
    losses_of,
    read,
    read_answer,
    streamed,
    to,
)

RESPONSES, MESSAGES = "openai-responses", "anthropic"
FROM_RESPONSES = [name for name in DIALECTS if name != RESPONSES]
FROM_MESSAGES = [name for name in DIALECTS if name != MESSAGES]
NOTHING = {"type": "object", "properties": {}}


def _function(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "function", "name": name, "parameters": NOTHING, "strict": False, **more}


def _namespace(name: str, *tools: Any) -> dict[str, Any]:
    return {"type": "namespace", "name": name, "description": f"The tools of {name}.", "tools": list(tools)}


CRM = _namespace("crm", _function("get"), {"type": "custom", "name": "note"})
ERP = _namespace("erp", _function("get"))


def _session(steps: int, *tools: Any, items: tuple[Any, ...] = ()) -> dict[str, Any]:
    turns: list[Any] = [*items, {"role": "user", "content": "Go."}]
    for i in range(steps):
        turns += [
            {"type": "function_call", "call_id": f"call_a{i}", "name": "get", "namespace": "crm", "arguments": "{}"},
            {"type": "custom_tool_call", "call_id": f"call_b{i}", "name": "note", "namespace": "crm", "input": "x\n"},
            {"type": "function_call", "call_id": f"call_c{i}", "name": "get", "namespace": "erp", "arguments": "{}"},
            {"type": "function_call", "call_id": f"call_d{i}", "name": "get", "arguments": "{}"},
            {"type": "function_call_output", "call_id": f"call_a{i}", "output": "1"},
            {"type": "custom_tool_call_output", "call_id": f"call_b{i}", "output": "2"},
            {"type": "function_call_output", "call_id": f"call_c{i}", "output": "3"},
            {"type": "function_call_output", "call_id": f"call_d{i}", "output": "4"},
        ]
    return {"model": "gpt-5", "input": turns, **({"tools": list(tools)} if tools else {})}


@pytest.mark.parametrize("target", FROM_RESPONSES)
def test_tools_of_namespaces_have_distinct_names_in_every_turn(target: str) -> None:
    done = to(target, _session(2, CRM, ERP, _function("get")), RESPONSES)
    there = read(done.body, target)
    names = [tool.name for tool in there.tools if isinstance(tool, Tool)]
    assert names == ["crm__get", "crm__note", "erp__get", "get"]
    calls = [part for turn in there.turns for part in turn.parts if isinstance(part, ToolCall)]
    assert [call.name for call in calls] == names * 2
    results = [part for turn in there.turns for part in turn.parts if isinstance(part, ToolResult)]
    assert [result.call_id for result in results] == [call.id for call in calls]
    assert "tool.namespace.prefixed" in codes(done)
    told = [tool.name for tool in there.tools if isinstance(tool, Tool) and "The tools of" in tool.description]
    assert told == ["crm__get", "erp__get"]
    assert "field.dropped" not in codes(done)


@pytest.mark.parametrize("target", FROM_RESPONSES)
def test_calls_come_back_with_their_namespace(target: str) -> None:
    done = to(target, _session(1, CRM, ERP, _function("get")), RESPONSES)
    custom = target == "openai-chat"
    request = (
        ToolCall("call_1", "erp__get", "{}"),
        ToolCall("call_2", "crm__note", "y" if custom else '{"input":"y"}', custom),
        ToolCall("call_3", "get", "{}"),
    )
    back = dragoman.translate_response(answer(target, *request), source=target, target=RESPONSES, answers=done)
    found = calls_of(read_answer(back.body, RESPONSES))
    assert [(call.namespace, call.name, call.custom, call.arguments) for call in found] == [
        ("erp", "get", False, "{}"),
        ("crm", "note", True, "y"),
        ("", "get", False, "{}"),
    ]
    body = streamed(target, request[0], ["{}"])
    stream = dragoman.StreamTranslator(source=target, target=RESPONSES, answers=done)
    (call,) = calls_of(folded(stream.feed(body) + stream.close(), RESPONSES))
    assert (call.namespace, call.name, call.arguments) == ("erp", "get", "{}")


@pytest.mark.parametrize("target", FROM_RESPONSES)
def test_a_client_may_send_all_its_tools_as_items(target: str) -> None:
    added = {"type": "additional_tools", "role": "developer", "tools": [CRM, _function("get")]}
    later = {"type": "additional_tools", "role": "developer", "tools": [ERP, {"type": "web_search"}, CRM]}
    body = _session(1, items=(added, later))
    done = to(target, body, RESPONSES)
    there = read(done.body, target)
    names = {tool.name for tool in there.tools if isinstance(tool, Tool)}
    assert names >= {"crm__get", "crm__note", "get", "erp__get"}
    assert len([tool for tool in there.tools if isinstance(tool, Tool)]) == len(names)
    assert "tool.merged" in codes(done)
    assert b"additional_tools" not in done.body
    declared = to(target, _session(1, CRM, _function("get"), ERP, {"type": "web_search"}), RESPONSES)
    assert declared.json() == done.json()


def _deferring(source: str, search: bool = True) -> dict[str, Any]:
    if source == RESPONSES:
        tools = [_function("now"), _function("later", defer_loading=True)]
        body: dict[str, Any] = {"model": "gpt-5.4", "input": "Go.", "tools": tools}
        return {**body, "tools": [*tools, {"type": "tool_search"}]} if search else body
    tools = [
        {"name": "now", "input_schema": NOTHING},
        {"name": "later", "input_schema": NOTHING, "defer_loading": True},
    ]
    if search:
        tools.append({"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"})
    return {
        "model": "claude-sonnet-5",
        "max_tokens": 64,
        "messages": [{"role": "user", "content": "Go."}],
        "tools": tools,
    }


@pytest.mark.parametrize(
    ("source", "target"),
    [(RESPONSES, name) for name in FROM_RESPONSES] + [(MESSAGES, name) for name in FROM_MESSAGES],
)
def test_deferred_tools_are_found_by_the_target_or_sent_in_full(source: str, target: str) -> None:
    done = to(target, _deferring(source), source)
    there = {tool.name: tool for tool in read(done.body, target).tools if isinstance(tool, Tool)}
    searches = [tool.kind for tool in read(done.body, target).tools if isinstance(tool, HostedTool)]
    assert there.keys() == {"now", "later"}
    if target in (RESPONSES, MESSAGES):
        assert there["later"].deferred and not there["now"].deferred
        assert searches == ["tool_search" if target == RESPONSES else "tool_search_tool_bm25_20251119"]
        assert "tool.deferred.expanded" not in codes(done)
    elif target == "openrouter":
        assert done.json()["tools"][1]["defer_loading"] is True
        assert done.json()["deferred_tools"] == {
            "protocol": "v1",
            "profile": "portable",
            "search": {"type": "bm25"},
            "validation": "runtime",
        }
        assert not {"tool.hosted.dropped", "tool.deferred.expanded"} & codes(done)
    else:
        assert not there["later"].deferred and searches == []
        assert {"tool.deferred.expanded", "tool.hosted.dropped"} <= codes(done)


@pytest.mark.parametrize(
    ("source", "target", "model"),
    [(RESPONSES, MESSAGES, "claude-3-5-haiku-latest"), (MESSAGES, RESPONSES, "gpt-4.1")],
)
def test_models_that_cannot_search_get_all_tools(source: str, target: str, model: str) -> None:
    for search in (True, False):
        done = to(target, _deferring(source, search), source, model=model)
        tools = read(done.body, target).tools
        assert [tool.name for tool in tools if isinstance(tool, Tool) and not tool.deferred] == ["now", "later"]
        assert len(tools) == 2
        assert "tool.deferred.expanded" in codes(done)
    unsearched = to(target, _deferring(source, search=False), source)
    assert not any(tool.deferred for tool in read(unsearched.body, target).tools if isinstance(tool, Tool))


@pytest.mark.parametrize("target", FROM_RESPONSES)
def test_found_tools_are_declared_and_the_search_is_reported(target: str) -> None:
    call = {"type": "tool_search_call", "call_id": None, "execution": "server", "arguments": {"paths": ["crm"]}}
    found = {"type": "tool_search_output", "call_id": None, "execution": "server", "tools": [CRM, ERP]}
    body = _session(1, _function("get"))
    body["input"][1:1] = [call, found]
    done = to(target, body, RESPONSES)
    names = {tool.name for tool in read(done.body, target).tools if isinstance(tool, Tool)}
    assert names == {"get", "crm__get", "crm__note", "erp__get"}
    assert {path for code, path in losses_of(done) if code == "hosted.dropped"} == {"/input/1", "/input/2"}


@pytest.mark.parametrize("target", FROM_MESSAGES)
def test_a_tool_added_in_mid_session_is_declared_from_the_start(target: str) -> None:
    definition = {"name": "new", "description": "New.", "input_schema": NOTHING}
    added = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": definition}}
    added_twice = {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "old"}}
    removed = {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "old"}}
    body = {
        "model": "claude-opus-5",
        "max_tokens": 64,
        "tools": [{"name": "old", "input_schema": NOTHING}],
        "messages": [
            {"role": "user", "content": "Go."},
            {"role": "system", "content": [added, added_twice, removed]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "new", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "1"}]},
        ],
    }
    done = to(target, body, MESSAGES)
    assert [tool.name for tool in read(done.body, target).tools if isinstance(tool, Tool)] == ["old", "new"]
    paths = {path for code, path in losses_of(done) if code == "tool.merged"}
    assert paths == {"/messages/1/content/0", "/messages/1/content/1"}
    assert "/messages/1/content/2" in {path for _, path in losses_of(done)}
    assert b"tool_addition" not in done.body and b"tool_removal" not in done.body


@pytest.mark.parametrize("target", FROM_MESSAGES)
def test_tools_found_by_a_client_search_are_described_in_text(target: str) -> None:
    found = [{"type": "tool_reference", "tool_name": "later"}]
    body = _deferring(MESSAGES, search=False)
    body["messages"] += [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "now", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": found}]},
    ]
    done = to(target, body, MESSAGES)
    results = [part for turn in read(done.body, target).turns for part in turn.parts if isinstance(part, ToolResult)]
    assert [part.text for part in results[0].parts if hasattr(part, "text")] == ["The tool later is available."]
    assert ("part.as_text", "/messages/2/content/0/content/0") in losses_of(done)


@pytest.mark.parametrize("target", FROM_MESSAGES)
def test_calls_of_a_toolset_stay_calls(target: str) -> None:
    body = {
        "model": "claude-opus-5",
        "max_tokens": 64,
        "tools": [{"name": "click", "input_schema": NOTHING}],
        "messages": [
            {"role": "user", "content": "Go."},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "toolu_1", "name": "click", "input": {}, "toolset_name": "browser"}
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "1", "toolset_name": "browser"}
                ],
            },
        ],
    }
    done = to(target, body, MESSAGES)
    there = read(done.body, target)
    assert [part.name for turn in there.turns for part in turn.parts if isinstance(part, ToolCall)] == ["click"]
    assert b"toolset_name" not in done.body
    assert {path for code, path in losses_of(done) if code == "field.dropped"} == {
        "/messages/1/content/0/toolset_name",
        "/messages/2/content/0/toolset_name",
    }


SEARCH = {
    "type": "tool_search",
    "execution": "client",
    "description": "Finds tools.",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}


@pytest.mark.parametrize("target", FROM_RESPONSES)
def test_a_client_search_is_sent_as_a_function_and_comes_back_as_a_search(target: str) -> None:
    body = {"model": "gpt-5.4", "input": "Go.", "tools": [SEARCH, _function("now")]}
    done = to(target, body, RESPONSES)
    tools = {tool.name: tool for tool in read(done.body, target).tools if isinstance(tool, Tool)}
    assert tools.keys() == {"tool_search", "now"} and tools["tool_search"].description == "Finds tools."
    assert ("tool.hosted.as_function", "/tools/0") in losses_of(done) and done.stand_ins == {}
    call = ToolCall("call_1", "tool_search", '{"query":"crm"}')
    back = dragoman.translate_response(answer(target, call), source=target, target=RESPONSES, answers=done)
    (item,) = back.json()["output"]
    told = {"type": "tool_search_call", "call_id": "call_1", "execution": "client", "arguments": {"query": "crm"}}
    assert item == {**told, "id": item["id"], "status": "completed"}
    stream = dragoman.StreamTranslator(source=target, target=RESPONSES, answers=done)
    sent = stream.feed(streamed(target, call, ['{"que', 'ry":"crm"}'])) + stream.close()
    assert check_stream(RESPONSES, sent) == []
    frames = [json.loads(line[6:]) for line in sent.decode().splitlines() if line.startswith("data: {")]
    (item,) = [frame["item"] for frame in frames if frame["type"] == "response.output_item.done"]
    assert item == {**told, "id": item["id"], "status": "completed"}
    assert not [frame for frame in frames if "arguments.delta" in frame["type"]]
    # The next turn: the found tools are declared, and the search has its result.
    found = {
        "type": "tool_search_output",
        "call_id": "call_1",
        "execution": "client",
        "tools": [CRM, _function("late")],
    }
    later = to(target, {**body, "input": [{"role": "user", "content": "Go."}, item, found]}, RESPONSES)
    there = read(later.body, target)
    names = [tool.name for tool in there.tools if isinstance(tool, Tool)]
    assert names == ["tool_search", "now", "crm__get", "crm__note", "late"]
    (request,) = [part for turn in there.turns for part in turn.parts if isinstance(part, ToolCall)]
    (result,) = [part for turn in there.turns for part in turn.parts if isinstance(part, ToolResult)]
    assert (request.name, request.input) == ("tool_search", {"query": "crm"})
    assert result.call_id == request.id
    assert "crm__get, crm__note, late" in str(result.parts)
