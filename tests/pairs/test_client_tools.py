"""Tools that OpenAI defines and the client runs: local shell, shell, apply patch.

Other models get them as functions. The client gets the items of Responses, in histories, answers and streams."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman.canon import Tool, ToolCall, ToolResult
from tests.pairs.helpers import DIALECTS, answer, calls_of, codes, folded, losses_of, read, read_answer, streamed, to

SOURCE = "openai-responses"
OTHERS = [name for name in DIALECTS if name != SOURCE]

LOCAL_CALL = {
    "type": "local_shell_call",
    "id": "lsh_1",
    "call_id": "call_1",
    "action": {"type": "exec", "command": ["ls", "-la"], "env": {"A": "b"}, "working_directory": "/root"},
    "status": "completed",
}
SHELL_CALL = {
    "type": "shell_call",
    "id": "sh_1",
    "call_id": "call_1",
    "action": {"commands": ["ls", "pwd"], "timeout_ms": 500, "max_output_length": None},
    "status": "completed",
    "environment": {"type": "local"},
}
PATCH_CALL = {
    "type": "apply_patch_call",
    "id": "apc_1",
    "call_id": "call_1",
    "operation": {"type": "update_file", "path": "a.txt", "diff": "@@\n-x\n+y"},
    "status": "completed",
}
WROTE = [{"stdout": "a.txt", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]

# tool -> call, arguments of the function, output, text of the output, and whether the output is a failure
CASES: dict[str, tuple[Any, Any, Any, str, bool]] = {
    "local_shell": (
        LOCAL_CALL,
        {"command": ["ls", "-la"], "env": {"A": "b"}, "working_directory": "/root"},
        {"type": "local_shell_call_output", "id": "lsh_1", "output": "a.txt"},
        "a.txt",
        False,
    ),
    "shell": (
        SHELL_CALL,
        {"commands": ["ls", "pwd"], "timeout_ms": 500, "max_output_length": None},
        {"type": "shell_call_output", "call_id": "call_1", "output": WROTE},
        json.dumps(WROTE, separators=(",", ":")),
        False,
    ),
    "apply_patch": (
        PATCH_CALL,
        {"type": "update_file", "path": "a.txt", "diff": "@@\n-x\n+y"},
        {"type": "apply_patch_call_output", "call_id": "call_1", "status": "failed", "output": "no such line"},
        "no such line",
        True,
    ),
}


def _request(name: str, *items: Any) -> dict[str, Any]:
    hello = {"type": "message", "role": "user", "content": "Hi"}
    return {"model": "gpt-5.5", "input": [hello, *items], "tools": [{"type": name}]}


@pytest.mark.parametrize("target", OTHERS)
@pytest.mark.parametrize("name", CASES)
def test_another_model_gets_a_function_with_its_calls_and_results(name: str, target: str) -> None:
    call, arguments, output, text, failed = CASES[name]
    done = to(target, _request(name, call, output), SOURCE)
    there = read(done.body, target)
    (offered,) = there.tools
    assert isinstance(offered, Tool) and offered.name == name
    assert all(f'"{argument}"' in str(offered.schema) for argument in arguments)
    parts = [part for turn in there.turns for part in turn.parts]
    (called,) = [part for part in parts if isinstance(part, ToolCall)]
    assert (called.name, called.input) == (name, arguments)
    (result,) = [part for part in parts if isinstance(part, ToolResult)]
    assert result.call_id == called.id
    result_text = "".join([getattr(part, "text", "") for part in result.parts])
    assert result_text.removeprefix("Error: ") == text
    assert result.is_error or result_text.startswith("Error") or not failed
    assert not [code for code in codes(done) if code in ("tool.hosted.dropped", "hosted.dropped", "result.orphaned")]
    assert [loss.severity for loss in done.losses if loss.code == "tool.hosted.as_function"] == ["info", "info"]


@pytest.mark.parametrize("target", OTHERS)
@pytest.mark.parametrize("name", CASES)
def test_a_call_of_the_function_is_an_item_for_the_client(name: str, target: str) -> None:
    call, arguments, *_ = CASES[name]
    done = to(target, _request(name), SOURCE)
    text = json.dumps(arguments)
    made = ToolCall("call_1", name, text)
    whole = dragoman.translate_response(answer(target, made), source=target, target=SOURCE, answers=done).json()
    translator = dragoman.StreamTranslator(source=target, target=SOURCE, answers=done)
    out = translator.feed(streamed(target, made, [text[:5], text[5:]])) + translator.close()
    events = [json.loads(line[6:]) for line in out.decode().splitlines() if line.startswith("data: {")]
    (added,) = [event["item"] for event in events if event["type"] == "response.output_item.added"]
    (ended,) = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    holder = "operation" if name == "apply_patch" else "action"
    for item in (whole["output"][-1], added, ended, events[-1]["response"]["output"][-1]):
        assert item.pop("id").startswith(call["id"].partition("_")[0] + "_")
        assert isinstance(item.pop("call_id"), str)
        assert item == {name: value for name, value in call.items() if name not in ("id", "call_id")}
        assert item[holder] == call[holder]


@pytest.mark.parametrize("target", OTHERS)
@pytest.mark.parametrize("name", CASES)
def test_a_call_in_an_answer_is_a_call_for_any_client(name: str, target: str) -> None:
    call, arguments, *_ = CASES[name]
    body = {"object": "response", "id": "resp_1", "model": "gpt-5.5", "status": "completed", "output": [call]}
    back = dragoman.translate_response(body, source=SOURCE, target=target)
    assert [(one.name, one.input) for one in calls_of(read_answer(back.body, target))] == [(name, arguments)]
    assert "hosted.dropped" not in codes(back)


def test_a_shell_in_a_container_is_run_by_the_upstream() -> None:
    container = {"type": "container_reference", "container_id": "cntr_1"}
    call = {**SHELL_CALL, "environment": container}
    output = {"type": "shell_call_output", "call_id": "call_1", "output": WROTE}
    body = {**_request("shell", call, output), "tools": [{"type": "shell", "environment": {"type": "container_auto"}}]}
    done = to("openai-chat", body, SOURCE)
    assert "tools" not in done.json() and "tool.hosted.as_function" not in codes(done)
    assert not [one for one in done.json()["messages"] if one["role"] == "tool" or "tool_calls" in one]
    assert ("tool.hosted.dropped", "/tools/0") in losses_of(done)
    assert {"/input/1", "/input/2"} <= {path for _, path in losses_of(done)}


def test_a_function_with_the_name_of_a_tool_keeps_its_name() -> None:
    own = {"type": "function", "name": "shell", "parameters": {"type": "object", "properties": {}}, "strict": False}
    done = to("anthropic", {**_request("shell"), "tools": [{"type": "local_shell"}, own]}, SOURCE)
    made = ToolCall("call_1", "shell", "{}")
    back = dragoman.translate_response(answer("anthropic", made), source="anthropic", target=SOURCE, answers=done)
    assert back.json()["output"][-1]["type"] == "function_call"


def test_incomplete_arguments_make_an_incomplete_call() -> None:
    done = to("openai-chat", _request("local_shell"), SOURCE)
    made = ToolCall("call_1", "local_shell", '{"command": ["l')
    back = dragoman.translate_response(answer("openai-chat", made), source="openai-chat", target=SOURCE, answers=done)
    (item,) = back.json()["output"]
    assert (item["type"], item["status"], item["action"]["__raw"]) == (
        "local_shell_call",
        "incomplete",
        '{"command": ["l',
    )
    assert back.json()["status"] == "incomplete"


@pytest.mark.parametrize("name", ["shell", "apply_patch"])
def test_a_forced_tool_is_forced_as_the_function(name: str) -> None:
    done = to("openai-chat", {**_request(name), "tool_choice": {"type": name}}, SOURCE)
    assert done.json()["tool_choice"] == {"type": "function", "function": {"name": name}}


@pytest.mark.parametrize("target", OTHERS)
def test_the_pieces_of_a_streamed_item_are_no_loss(target: str) -> None:
    began = {**PATCH_CALL, "status": "in_progress", "operation": {**PATCH_CALL["operation"], "diff": ""}}
    response = {"object": "response", "id": "resp_1", "model": "gpt-5.5", "created_at": 1, "output": []}
    where = {"output_index": 0, "item_id": "apc_1"}
    diff = PATCH_CALL["operation"]["diff"]
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**response, "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": began},
        {"type": "response.apply_patch_call_operation_diff.delta", **where, "delta": diff},
        {"type": "response.apply_patch_call_operation_diff.done", **where, "diff": diff},
        {"type": "response.output_item.done", "output_index": 0, "item": PATCH_CALL},
        {"type": "response.completed", "response": {**response, "status": "completed", "output": [PATCH_CALL]}},
    ]
    stream = dragoman.StreamTranslator(source=SOURCE, target=target)
    out = b""
    for number, event in enumerate(events):
        data = json.dumps({**event, "sequence_number": number})
        out += stream.feed(f"event: {event['type']}\ndata: {data}\n\n".encode())
    out += stream.close()
    (call,) = calls_of(folded(out, target))
    assert (call.name, call.input) == ("apply_patch", PATCH_CALL["operation"])
    assert "event.dropped" not in {loss.code for loss in stream.losses}


def test_the_output_of_a_container_is_not_a_client_result() -> None:
    container = {"type": "container_reference", "container_id": "cntr_1"}
    output = {"type": "shell_call_output", "id": "sho_1", "call_id": "call_1", "output": WROTE, "status": "completed"}
    items = [{**SHELL_CALL, "environment": container}, output]
    body = {"object": "response", "id": "resp_1", "model": "gpt-5.5", "status": "completed", "output": items}
    back = dragoman.translate_response(body, source=SOURCE, target="openai-chat")
    assert not {"tool.hosted.as_function", "result.structured.as_text"} & codes(back)


def test_the_limit_of_an_output_is_reported() -> None:
    output = {"type": "shell_call_output", "call_id": "call_1", "output": WROTE, "max_output_length": 2418}
    for target in OTHERS:
        assert ("field.dropped", "/input/2/max_output_length") in losses_of(
            to(target, _request("shell", SHELL_CALL, output), SOURCE)
        )
    output["max_output_length"] = None
    assert "field.dropped" not in {
        code
        for code, path in losses_of(to("gemini", _request("shell", SHELL_CALL, output), SOURCE))
        if "max_output_length" in path
    }


def test_further_fields_of_an_environment_are_reported() -> None:
    call = {**SHELL_CALL, "environment": {"type": "local", "skills": [{"name": "a", "path": "b"}]}}
    place = ("field.dropped", "/input/1/environment/skills")
    assert place in losses_of(to("anthropic", _request("shell", call), SOURCE))
    assert place not in losses_of(to("anthropic", _request("shell", SHELL_CALL), SOURCE))


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "gemini", "code-assist", "ollama", "openrouter"])
def test_computer_use_is_a_function_that_names_the_screen_size(target: str) -> None:
    tool = {"name": "computer", "display_width_px": 1024, "display_height_px": 768}
    body: dict[str, Any] = {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "q"}]}

    def done(kind: str, **more: Any) -> dragoman.Translation:
        body_with_tool = {**body, "tools": [{"type": kind, **tool, **more}]}
        return to(target, body_with_tool, "anthropic")

    later = done("computer_20250124")
    assert b"1024 by 768 pixels" in later.body and b'"scroll"' in later.body and b'"zoom"' not in later.body
    assert {loss.code for loss in later.losses if loss.path.startswith("/tools")} == {"tool.hosted.as_function"}
    assert b'"zoom"' in done("computer_20251124", enable_zoom=True).body
    assert b'"scroll"' not in done("computer_20241022").body
