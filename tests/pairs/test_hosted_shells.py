"""Shells that the upstream runs itself: Anthropic's `bash_code_execution` and the shell of Responses in a container."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import dragoman
from tests.oracles.body_verdict import check_response
from tests.oracles.grammar import check_stream
from tests.pairs.helpers import codes, losses_of, to

Json = Any
MESSAGES, RESPONSES, OPENROUTER = "anthropic", "openai-responses", "openrouter"
CONTAINER = {"type": "shell", "environment": {"type": "container_auto"}}
EXECUTION = {"type": "code_execution_20250825", "name": "code_execution"}


def _blocks(code: int = 2) -> list[Json]:
    content = {"stdout": "a\n", "stderr": "No b.\n", "return_code": code, "content": []}
    return [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "bash_code_execution", "input": {"command": "ls a b"}},
        {
            "type": "bash_code_execution_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": {"type": "bash_code_execution_result", **content},
        },
    ]


def _items() -> list[Json]:
    outcome = {"type": "exit", "exit_code": 2}
    return [
        {
            "id": "sh_1",
            "type": "shell_call",
            "status": "completed",
            "action": {"commands": ["ls a b"], "max_output_length": None, "timeout_ms": None},
            "call_id": "call_1",
            "environment": {"type": "container_reference", "container_id": "cntr_1"},
        },
        {
            "id": "sho_1",
            "type": "shell_call_output",
            "status": "completed",
            "call_id": "call_1",
            "max_output_length": None,
            "output": [{"stdout": "a\n", "stderr": "No b.\n", "outcome": outcome}],
        },
    ]


def _message(content: list[Json]) -> Json:
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "end_turn"}
    return {**head, "content": content, "usage": {"input_tokens": 1, "output_tokens": 1}}


def _response(output: list[Json]) -> Json:
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5.4", "status": "completed"}
    return {**head, "output": output}


def _without_ids(items: list[Json]) -> list[Json]:
    return [{name: value for name, value in item.items() if name not in ("id", "call_id")} for item in items]


def test_from_messages_to_responses() -> None:
    done = dragoman.translate_response(_message(_blocks()), source=MESSAGES, target=RESPONSES)
    assert check_response(RESPONSES, done.body) == []
    ran, wrote = done.json()["output"]
    wanted = _items()
    wanted[0]["environment"]["container_id"] = ""
    assert _without_ids([ran, wrote]) == _without_ids(wanted)
    assert ran["call_id"] == wrote["call_id"]
    assert "hosted.dropped" not in codes(done)
    assert dragoman.tool_calls(done.body, dialect=RESPONSES) == [], "the container is the upstream's"


def test_from_responses_to_messages() -> None:
    done = dragoman.translate_response(_response(_items()), source=RESPONSES, target=MESSAGES)
    assert check_response(MESSAGES, done.body) == []
    use, result = done.json()["content"]
    assert (use["name"], use["input"]) == ("bash_code_execution", {"command": "ls a b"})
    assert result["content"] == _blocks()[1]["content"]
    assert use["id"] == result["tool_use_id"]


def test_commands_that_timed_out_have_no_exit_code() -> None:
    output = [
        {"stdout": "a\n", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
        {"stdout": "b\n", "stderr": "", "outcome": {"type": "timeout"}},
    ]
    items = _items()
    items[1]["output"] = output
    done = dragoman.translate_response(_response(items), source=RESPONSES, target=MESSAGES)
    content = done.json()["content"][1]["content"]
    assert content["return_code"] != 0
    assert "a\nb\n" in (content["stdout"], content["stderr"])


@pytest.mark.parametrize(
    ("tools", "kind"),
    [
        ([{"type": "code_interpreter", "container": {"type": "auto"}}], "code_interpreter_call"),
        ([CONTAINER], "shell_call"),
    ],
)
def test_a_client_gets_the_form_of_the_tool_it_declared(tools: list[Json], kind: str) -> None:
    asked = to(MESSAGES, {"model": "gpt-5.4", "input": "Go.", "tools": tools}, RESPONSES)
    done = dragoman.translate_response(_message(_blocks()), source=MESSAGES, target=RESPONSES, answers=asked)
    assert done.json()["output"][0]["type"] == kind
    assert "No b." in done.body.decode()


def _messages_stream() -> bytes:
    call, result = _blocks()
    asked = {"type": "input_json_delta", "partial_json": '{"command": "ls a b"}'}
    events: list[Json] = [
        {"type": "message_start", "message": {**_message([]), "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {**call, "input": {}}},
        {"type": "content_block_delta", "index": 0, "delta": asked},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": result},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return b"".join([b"event: %b\ndata: %b\n\n" % (one["type"].encode(), msgspec.json.encode(one)) for one in events])


def test_a_stream_has_the_commands_and_their_output() -> None:
    stream = dragoman.StreamTranslator(source=MESSAGES, target=RESPONSES)
    out = stream.feed(_messages_stream()) + stream.close()
    assert check_stream(RESPONSES, out) == []
    events = [msgspec.json.decode(line[6:]) for line in out.splitlines() if line.startswith(b"data: ")]
    kinds = [event["type"] for event in events if "shell" in event["type"]]
    assert kinds == [
        "response.shell_call_command.added",
        "response.shell_call_command.delta",
        "response.shell_call_command.done",
        "response.shell_call_output_content.delta",
        "response.shell_call_output_content.done",
    ]
    added = [event["item"] for event in events if event["type"] == "response.output_item.added"]
    assert (added[0]["action"]["commands"], added[1]["output"]) == ([], [])
    whole = dragoman.translate_response(_message(_blocks()), source=MESSAGES, target=RESPONSES).json()
    assert _without_ids(events[-1]["response"]["output"]) == _without_ids(whole["output"])


@pytest.mark.parametrize(
    ("declared", "model", "offered"),
    [
        (EXECUTION, "gpt-5.4", CONTAINER),
        ({**EXECUTION, "type": "code_execution_20260120"}, "gpt-5.2", CONTAINER),
        (EXECUTION, "gpt-4.1", {"type": "code_interpreter", "container": {"type": "auto"}}),
        (
            {**EXECUTION, "type": "code_execution_20250522"},
            "gpt-5.4",
            {"type": "code_interpreter", "container": {"type": "auto"}},
        ),
    ],
)
def test_code_execution_of_messages_is_a_shell_if_the_model_accepts_one(
    declared: Json, model: str, offered: Json
) -> None:
    history = [{"role": "user", "content": "Go."}]
    body = {"model": "claude-sonnet-5", "max_tokens": 64, "messages": history, "tools": [declared]}
    assert to(RESPONSES, body, MESSAGES, model=model).json()["tools"] == [offered]


def test_a_shell_in_a_container_is_code_execution_of_messages() -> None:
    limited = {**CONTAINER["environment"], "memory_limit": "4g"}  # type: ignore[dict-item]
    body = {"model": "gpt-5.4", "input": "Go.", "tools": [{**CONTAINER, "environment": limited}]}
    done = to(MESSAGES, body, RESPONSES)
    assert done.json()["tools"] == [EXECUTION]
    assert ("tool.hosted.option.dropped", "/tools/0/environment/memory_limit") in losses_of(done)


def test_a_shell_of_the_client_stays_a_function() -> None:
    body = {"model": "gpt-5.4", "input": "Go.", "tools": [{"type": "shell", "environment": {"type": "local"}}]}
    (tool,) = to(MESSAGES, body, RESPONSES).json()["tools"]
    assert (tool["name"], "input_schema" in tool) == ("shell", True)
    own = {"type": "function", "name": "shell", "parameters": {"type": "object", "properties": {}}, "strict": False}
    taken = to(MESSAGES, {**body, "tools": [own, {"type": "shell"}]}, RESPONSES)
    assert [tool["name"] for tool in taken.json()["tools"]] == ["shell"]
    assert ("tool.hosted.dropped", "/tools/1") in losses_of(taken)


def _history(items: list[Json]) -> Json:
    return {
        "model": "gpt-5.4",
        "input": [{"role": "user", "content": "Go."}, *items, {"role": "user", "content": "And?"}],
    }


def test_a_run_written_for_a_client_comes_back_as_text_or_is_dropped() -> None:
    given = dragoman.translate_response(_message(_blocks()), source=MESSAGES, target=RESPONSES).json()["output"]
    text = to(MESSAGES, _history(given), RESPONSES).body.decode()
    assert "ls a b" in text and "exit code 2" in text and "No b." in text
    returned = dragoman.translate_request(_history(given), source=RESPONSES, target=RESPONSES, model="gpt-5.4")
    assert "shell_call" not in returned.body.decode()
    assert "hosted.dropped" in codes(returned)


@pytest.mark.parametrize(("source", "answer"), [(MESSAGES, _message(_blocks())), (RESPONSES, _response(_items()))])
def test_a_client_of_openrouter_sees_the_run_in_its_details(source: str, answer: Json) -> None:
    done = dragoman.translate_response(answer, source=source, target=OPENROUTER)
    assert check_response(OPENROUTER, done.body) == []
    message = done.json()["choices"][0]["message"]
    (detail,) = message["reasoning_details"]
    assert detail["type"] == "reasoning.server_tool_call"
    assert msgspec.json.decode(detail["arguments"])["code"] == "ls a b"
    assert msgspec.json.decode(detail["result"]) == {"stdout": "a\n", "stderr": "No b.\n", "exit_code": 2}
    assert "hosted.dropped" not in codes(done)
    asked = [{"role": "user", "content": "Go."}, message, {"role": "user", "content": "And?"}]
    other = RESPONSES if source == MESSAGES else MESSAGES
    back = to(other, {"model": "openai/gpt-5", "messages": asked}, OPENROUTER)
    assert "it failed with exit code 2" in back.body.decode() and "No b." in back.body.decode()
    returned = dragoman.translate_request(
        {"model": "openai/gpt-5", "messages": asked}, source=OPENROUTER, target=OPENROUTER, model="openai/gpt-5"
    )
    assert "server_tool_call" not in returned.body.decode()


def test_an_editor_and_an_mcp_server_for_a_client_of_openrouter() -> None:
    asked = {"command": "create", "path": "a.py", "file_text": "x = 1"}
    content = [
        {"type": "server_tool_use", "id": "srvtoolu_2", "name": "text_editor_code_execution", "input": asked},
        {
            "type": "text_editor_code_execution_tool_result",
            "tool_use_id": "srvtoolu_2",
            "content": {"type": "text_editor_code_execution_create_result", "is_file_update": False},
        },
        {
            "type": "mcp_tool_use",
            "id": "mcptoolu_1",
            "name": "echo",
            "server_name": "srv",
            "input": {"message": "hello"},
        },
        {
            "type": "mcp_tool_result",
            "tool_use_id": "mcptoolu_1",
            "is_error": False,
            "content": [{"type": "text", "text": "Echo: hello"}],
        },
        {"type": "text", "text": "Done."},
    ]
    done = dragoman.translate_response(_message(content), source=MESSAGES, target=OPENROUTER)
    message = done.json()["choices"][0]["message"]
    editor, mcp = message["reasoning_details"]
    assert msgspec.json.decode(editor["arguments"]) == asked
    assert (editor["tool_name"], mcp["tool_name"]) == ("text_editor_code_execution", "srv/echo")
    assert (mcp["arguments"], mcp["result"]) == ('{"message":"hello"}', "Echo: hello")
    back = to(
        MESSAGES,
        {
            "model": "openai/gpt-5",
            "messages": [{"role": "user", "content": "Go."}, message, {"role": "user", "content": "And?"}],
        },
        OPENROUTER,
    )
    text = back.body.decode()
    assert "x = 1" in text and "[the tool echo of the MCP server srv was called]" in text
