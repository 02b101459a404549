"""Programs that an upstream ran, and tools of MCP servers that an upstream called: in answers, streams and
histories."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import dragoman
from tests.oracles.body_verdict import check_response
from tests.oracles.grammar import check_stream
from tests.pairs.helpers import DIALECTS, MODELS, codes, losses_of, to

MESSAGES, RESPONSES, GEMINI = "anthropic", "openai-responses", "gemini"
HAVE_CODE = (MESSAGES, RESPONSES, GEMINI, "code-assist")

CODE, OUTPUT = "print(2**20)\n", "1048576\n"
ASKED, GAVE = {"message": "hello"}, "Echo: hello"

BLOCKS: dict[str, list[dict[str, Any]]] = {
    "code": [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {"code": CODE}},
        {
            "type": "code_execution_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": {
                "type": "code_execution_result",
                "stdout": OUTPUT,
                "stderr": "",
                "return_code": 0,
                "content": [],
            },
        },
    ],
    "mcp": [
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "echo", "server_name": "srv", "input": ASKED},
        {
            "type": "mcp_tool_result",
            "tool_use_id": "mcptoolu_1",
            "is_error": False,
            "content": [{"type": "text", "text": GAVE, "citations": None}],
        },
    ],
}
ITEMS: dict[str, dict[str, Any]] = {
    "code": {
        "id": "ci_1",
        "type": "code_interpreter_call",
        "status": "completed",
        "code": CODE,
        "container_id": "cntr_1",
        "outputs": [{"type": "logs", "logs": OUTPUT}],
    },
    "mcp": {
        "id": "mcp_1",
        "type": "mcp_call",
        "status": "completed",
        "approval_request_id": None,
        "arguments": '{"message":"hello"}',
        "error": None,
        "name": "echo",
        "output": GAVE,
        "server_label": "srv",
    },
}
PARTS = [
    {"executableCode": {"language": "PYTHON", "code": CODE}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": OUTPUT}},
]


def _answer(source: str, kind: str = "code") -> dict[str, Any]:
    """Return a whole answer with one tool use and a text after it."""
    if source == MESSAGES:
        usage = {"input_tokens": 1, "output_tokens": 1}
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "end_turn"}
        return {**head, "content": [*BLOCKS[kind], {"type": "text", "text": "Done."}], "usage": usage}
    if source == RESPONSES:
        content = [{"type": "output_text", "text": "Done.", "annotations": []}]
        message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}
        head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", "status": "completed"}
        return {**head, "output": [ITEMS[kind], message]}
    candidate = {"content": {"role": "model", "parts": [*PARTS, {"text": "Done."}]}, "finishReason": "STOP", "index": 0}
    whole = {"candidates": [candidate], "modelVersion": "gemini", "responseId": "r1"}
    return {"response": whole} if source == "code-assist" else whole


def _content(target: str, answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the content of an answer without ids."""
    if target == MESSAGES:
        return [
            {name: value for name, value in one.items() if name not in ("id", "tool_use_id", "caller")}
            for one in answer["content"]
        ]
    if target == RESPONSES:
        return [{**one, "id": ""} for one in answer["output"]]
    inner = answer.get("response", answer)
    found = []
    for part in inner["candidates"][0]["content"]["parts"]:
        name = next(iter(part))
        found.append(
            {name: {k: v for k, v in part[name].items() if k != "id"} if isinstance(part[name], dict) else part[name]}
        )
    return found


def _without_ids(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in one.items() if name not in ("id", "tool_use_id")} for one in blocks]


SOURCES = (MESSAGES, RESPONSES, GEMINI)
RUN_PAIRS = [(a, b) for a in SOURCES for b in HAVE_CODE if a != b]
MCP_PAIRS = [(MESSAGES, RESPONSES), (RESPONSES, MESSAGES)]
HISTORIES = [("code", a, b) for a in SOURCES for b in DIALECTS if a != b and (a, b) != (GEMINI, "code-assist")]
HISTORIES += [("mcp", a, b) for a in (MESSAGES, RESPONSES) for b in DIALECTS if a != b]


@pytest.mark.parametrize(("source", "target"), RUN_PAIRS)
def test_a_run_is_translated_in_an_answer(source: str, target: str) -> None:
    done = dragoman.translate_response(_answer(source), source=source, target=target)
    assert check_response(target, done.body) == []
    said = _content(target, done.json())
    if target == MESSAGES:
        assert said[:2] == _without_ids(BLOCKS["code"])
    elif target == RESPONSES:
        assert said[0] == {**ITEMS["code"], "id": "", "container_id": ""}
    else:
        assert said[:2] == PARTS
    assert "hosted.dropped" not in codes(done)


@pytest.mark.parametrize(("source", "target"), MCP_PAIRS)
def test_a_call_of_an_mcp_server_is_translated_in_an_answer(source: str, target: str) -> None:
    done = dragoman.translate_response(_answer(source, "mcp"), source=source, target=target)
    assert check_response(target, done.body) == []
    said = _content(target, done.json())
    if target == MESSAGES:
        assert said[:2] == _without_ids(BLOCKS["mcp"])
        assert done.json()["stop_reason"] == "end_turn"
    else:
        assert said[0] == {**ITEMS["mcp"], "id": ""}
    assert codes(done) & {"hosted.dropped"} == set()
    assert dragoman.tool_calls(done.body, dialect=target) == []


@pytest.mark.parametrize(
    ("kind", "source", "target"), [("code", *pair) for pair in RUN_PAIRS] + [("mcp", *pair) for pair in MCP_PAIRS]
)
def test_a_stream_has_the_same_content_as_the_answer(kind: str, source: str, target: str) -> None:
    if source == GEMINI:
        wire = b"data: " + msgspec.json.encode(_answer(source)) + b"\r\n\r\n"
    elif source == RESPONSES:
        wire = _responses_stream(kind)
    else:
        wire = _messages_stream(kind)
    stream = dragoman.StreamTranslator(source=source, target=target)
    out = b"".join([stream.feed(wire[i : i + 7]) for i in range(0, len(wire), 7)]) + stream.close()
    assert check_stream(target, out) == []
    whole = dragoman.translate_response(_answer(source, kind), source=source, target=target)
    if target == RESPONSES:
        events = [msgspec.json.decode(line[6:]) for line in out.splitlines() if line.startswith(b"data: ")]
        assert _content(target, events[-1]["response"])[0] == _content(target, whole.json())[0]
        name = "response.code_interpreter_call_code.done" if kind == "code" else "response.mcp_call_arguments.done"
        assert name in [event["type"] for event in events]
    for words in (CODE, OUTPUT) if kind == "code" else (GAVE, "hello"):
        assert (
            msgspec.json.encode(words)[1:-1] in out
            or msgspec.json.encode(msgspec.json.encode(words).decode()[1:-1])[1:-1] in out
        )
    assert not {"hosted.dropped", "event.dropped"} & {loss.code for loss in stream.losses}


def _responses_stream(kind: str) -> bytes:
    item = ITEMS[kind]
    where = {"output_index": 0, "item_id": item["id"]}
    middle: list[dict[str, Any]] = [{"type": f"response.{item['type']}.in_progress", **where}]
    if kind == "code":
        middle.append({"type": "response.code_interpreter_call_code.delta", **where, "delta": CODE})
        middle.append({"type": "response.code_interpreter_call_code.done", **where, "code": CODE})
        middle.append({"type": "response.code_interpreter_call.interpreting", **where})
    else:
        middle.append({"type": "response.mcp_call_arguments.delta", **where, "delta": item["arguments"]})
        middle.append({"type": "response.mcp_call_arguments.done", **where, "arguments": item["arguments"]})
    events = [
        {"type": "response.created", "response": {"id": "resp_1", "model": "gpt-5", "created_at": 1}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "status": "in_progress"}},
        *middle,
        {"type": f"response.{item['type']}.completed", **where},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": _answer(RESPONSES, kind)},
    ]
    numbered = [{**event, "sequence_number": i} for i, event in enumerate(events)]
    return b"".join([b"data: " + msgspec.json.encode(event) + b"\n\n" for event in numbered])


def _messages_stream(kind: str) -> bytes:
    call, result = BLOCKS[kind]
    message = {**_answer(MESSAGES, kind), "content": [], "stop_reason": None}
    asked = {"type": "input_json_delta", "partial_json": msgspec.json.encode(call["input"]).decode()}
    events = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {**call, "input": {}}},
        {"type": "content_block_delta", "index": 0, "delta": asked},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": result},
        {"type": "content_block_stop", "index": 1},
        {"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "text_delta", "text": "Done."}},
        {"type": "content_block_stop", "index": 2},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return b"".join(
        [b"event: %b\ndata: %b\n\n" % (event["type"].encode(), msgspec.json.encode(event)) for event in events]  # type: ignore[attr-defined]
    )


def _history(client: str, answer: dict[str, Any]) -> dict[str, Any]:
    """Return a request in which a client sends back the answer."""
    if client == MESSAGES:
        turns = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": answer["content"]}]
        return {"model": "m", "max_tokens": 64, "messages": [*turns, {"role": "user", "content": "And now?"}]}
    if client == RESPONSES:
        said = [{"role": "user", "content": "Go."}, *answer["output"], {"role": "user", "content": "And now?"}]
        return {"model": "m", "input": said}
    asked = {"role": "user", "parts": [{"text": "Go."}]}
    return {"contents": [asked, answer["candidates"][0]["content"], {"role": "user", "parts": [{"text": "And now?"}]}]}


@pytest.mark.parametrize(("kind", "source", "target"), HISTORIES)
def test_runs_of_another_upstream_are_text_in_a_history(kind: str, source: str, target: str) -> None:
    done = to(target, _history(source, _answer(source, kind)), source)
    text = done.body.decode()
    for words in (CODE, OUTPUT) if kind == "code" else ("echo", "srv", GAVE):
        assert msgspec.json.encode(words).decode()[1:-1] in text
    assert "part.as_text" in codes(done) and "hosted.dropped" not in codes(done)
    for own in ("server_tool_use", "mcp_tool_use", "code_interpreter_call", "mcp_call", "executableCode"):
        assert f'"{own}"' not in text


@pytest.mark.parametrize("client", [MESSAGES, RESPONSES, GEMINI])
def test_parts_written_for_a_client_never_reach_an_upstream_of_its_dialect(client: str) -> None:
    source = RESPONSES if client != RESPONSES else MESSAGES
    given = dragoman.translate_response(_answer(source), source=source, target=client)
    back = dragoman.translate_request(
        _history(client, given.json()), source=client, target=client, model=MODELS[client]
    )
    for own in ("server_tool_use", "code_interpreter_call", "executableCode", "ZHJhZ29tYW46"):
        assert own not in back.body.decode()
    assert "hosted.dropped" in codes(back)


def test_runs_of_a_shell_and_an_editor_are_translated() -> None:
    content = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "bash_code_execution", "input": {"command": "ls"}},
        {
            "type": "bash_code_execution_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": {
                "type": "bash_code_execution_result",
                "stdout": "a\n",
                "stderr": "warned",
                "return_code": 2,
                "content": [{"type": "bash_code_execution_output", "file_id": "file_1"}],
            },
        },
        {
            "type": "server_tool_use",
            "id": "srvtoolu_2",
            "name": "text_editor_code_execution",
            "input": {"command": "view", "path": "notes/a"},
        },
        {
            "type": "text_editor_code_execution_tool_result",
            "tool_use_id": "srvtoolu_2",
            "content": {"type": "text_editor_code_execution_view_result", "file_type": "text", "content": "Hello"},
        },
    ]
    done = dragoman.translate_response({**_answer(MESSAGES), "content": content}, source=MESSAGES, target=RESPONSES)
    ran, wrote, second = done.json()["output"]
    assert (ran["type"], ran["action"]["commands"]) == ("shell_call", ["ls"])
    outcome = {"type": "exit", "exit_code": 2}
    assert wrote["output"] == [{"stdout": "a\n", "stderr": "warned", "outcome": outcome}]
    assert second["code"] == '{"command":"view","path":"notes/a"}'
    assert second["outputs"] == [{"type": "logs", "logs": "Hello"}]
    assert ("hosted.mapped", "/content/1") in losses_of(done)
    back = dragoman.translate_response(done.body, source=RESPONSES, target=GEMINI).json()
    outcomes = [one["codeExecutionResult"]["outcome"] for one in back["candidates"][0]["content"]["parts"][1::2]]
    assert outcomes == ["OUTCOME_FAILED", "OUTCOME_OK"]


SHELL: list[dict[str, Any]] = [
    {
        "id": "sh_1",
        "type": "shell_call",
        "status": "completed",
        "action": {"commands": ["ls", "pwd"], "max_output_length": None, "timeout_ms": None},
        "call_id": "call_1",
        "environment": {"type": "container_reference", "container_id": "cntr_1"},
    },
    {
        "id": "sho_1",
        "type": "shell_call_output",
        "status": "completed",
        "call_id": "call_1",
        "output": [{"outcome": {"type": "exit", "exit_code": 1}, "stdout": "a\n", "stderr": "No."}],
    },
]


def test_a_shell_in_a_container_is_run_by_the_server() -> None:
    done = dragoman.translate_response({**_answer(RESPONSES), "output": SHELL}, source=RESPONSES, target=MESSAGES)
    assert check_response(MESSAGES, done.body) == []
    use, result = done.json()["content"]
    assert (use["name"], use["input"]) == ("bash_code_execution", {"command": "ls\npwd"})
    content = result["content"]
    assert (content["return_code"], content["stdout"], content["stderr"]) == (1, "a\n", "No.")
    assert "hosted.dropped" not in codes(done)
    translated_parts = to(GEMINI, _history(RESPONSES, {"output": SHELL}), RESPONSES).json()["contents"][1]["parts"]
    assert translated_parts == [
        {"text": "[bash code was run]\nls\npwd\n[it failed with exit code 1]\na\nNo.\n[end of the result]"}
    ]


def test_a_shell_of_the_client_is_not_a_run_of_the_server() -> None:
    local = [{name: value for name, value in SHELL[0].items() if name != "environment"}]
    done = dragoman.translate_response({**_answer(RESPONSES), "output": local}, source=RESPONSES, target=MESSAGES)
    assert b"bash_code_execution" not in done.body


def test_a_failed_call_of_an_mcp_server_is_marked_as_failed() -> None:
    item = {
        **ITEMS["mcp"],
        "status": "failed",
        "output": None,
        "error": {"type": "http_error", "code": 500, "message": "No."},
    }
    answer = {**_answer(RESPONSES), "output": [item]}
    block = dragoman.translate_response(answer, source=RESPONSES, target=MESSAGES).json()["content"][1]
    assert block["is_error"] is True and block["content"][0]["text"] == "http_error 500: No."


def test_the_error_of_an_mcp_server_has_the_published_form() -> None:
    """`MCPToolExecutionError` in the schema of 2026-08."""
    call, result = BLOCKS["mcp"]
    failed = {**result, "is_error": True, "content": [{"type": "text", "text": "No."}]}
    answer = {**_answer(MESSAGES), "content": [call, failed]}
    done = dragoman.translate_response(answer, source=MESSAGES, target=RESPONSES)
    (item,) = [item for item in done.json()["output"] if item["type"] == "mcp_call"]
    assert item["output"] is None
    assert item["error"] == {"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": "No."}]}
    back = dragoman.translate_response(done.body, source=RESPONSES, target=MESSAGES).json()["content"]
    (block,) = [block for block in back if block["type"] == "mcp_tool_result"]
    assert block["is_error"] is True
    assert block["content"] == [{"type": "text", "text": "No.", "citations": None}]


def test_an_answer_with_a_beta_block_has_the_fields_of_a_beta_message() -> None:
    """The schema of 2026-08 has `mcp_tool_use` in `BetaMessage` only, which requires these."""
    for kind, there in (("mcp", True), ("code", False)):
        answer = {**_answer(RESPONSES), "output": [ITEMS[kind]]}
        written = dragoman.translate_response(answer, source=RESPONSES, target=MESSAGES).json()
        assert ("context_management" in written) is there
        assert ({"iterations", "speed"} <= written["usage"].keys()) is there


def test_a_dropped_tool_list_of_a_server_is_only_an_info() -> None:
    listed = {"id": "mcpl_1", "type": "mcp_list_tools", "server_label": "srv", "tools": []}
    done = dragoman.translate_response({**_answer(RESPONSES), "output": [listed]}, source=RESPONSES, target=MESSAGES)
    assert [(loss.code, loss.severity) for loss in done.losses if loss.path == "/output/0"] == [
        ("hosted.mapped", "info")
    ]


@pytest.mark.parametrize("target", [MESSAGES, GEMINI, "openai-chat", "openrouter", "ollama"])
def test_a_question_for_approval_is_an_error_in_an_answer(target: str) -> None:
    asked = {"id": "mcpr_1", "type": "mcp_approval_request", "arguments": "{}", "name": "echo", "server_label": "srv"}
    done = dragoman.translate_response({**_answer(RESPONSES), "output": [asked]}, source=RESPONSES, target=target)
    (loss,) = [loss for loss in done.losses if loss.code == "hosted.dropped"]
    assert (loss.path, loss.severity) == ("/output/0", "error")
    assert "echo" in loss.detail and "srv" in loss.detail and "require_approval" in loss.detail


def test_approvals_of_a_history_are_reported() -> None:
    asked = {"id": "mcpr_1", "type": "mcp_approval_request", "arguments": "{}", "name": "echo", "server_label": "srv"}
    given = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": False}
    done = to(MESSAGES, _history(RESPONSES, {"output": [asked, given]}), RESPONSES)
    found = [loss for loss in done.losses if loss.code == "hosted.dropped"]
    assert [(loss.path, loss.severity) for loss in found] == [("/input/1", "warning"), ("/input/2", "warning")]
    assert "refused" in found[1].detail


@pytest.mark.parametrize(("target", "code"), [("openai-chat", "hosted.mapped"), ("ollama", "hosted.dropped")])
def test_dialects_without_such_tools_report_uses(target: str, code: str) -> None:
    done = dragoman.translate_response(_answer(MESSAGES), source=MESSAGES, target=target)
    assert {(code, "/content/0"), (code, "/content/1")} <= losses_of(done)
    assert dragoman.tool_calls(done.body, dialect=target) == []


@pytest.mark.parametrize("target", ["openai-chat", "openrouter", "gemini", "ollama"])
def test_the_age_of_a_page_is_in_the_text_of_a_search(target: str) -> None:
    page = {"type": "web_search_result", "url": "https://a.example", "title": "A", "encrypted_content": "AA"}
    used = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{**page, "page_age": "2 days"}]}
    said = {"role": "assistant", "content": [used, found, {"type": "text", "text": "So."}]}
    asked = {"role": "user", "content": "hi"}
    body = {"model": "m", "max_tokens": 9, "messages": [asked, said, asked]}
    done = dragoman.translate_request(body, source="anthropic", target=target, model="m")
    assert b"- A https://a.example (2 days)" in done.body
