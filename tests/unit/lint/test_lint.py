"""`lint` and `lint_conversation`: accepted documents, the order of findings, and refused documents."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from dragoman import ConfigError, Finding, WireError, lint, lint_conversation
from dragoman.lint.runner import all_rules, rules_for

USER = {"role": "user", "content": "Hi"}
CHUNK = {"choices": [{"index": 0, "delta": {"role": "assistant"}, "finish_reason": "stop"}]}


def chat(**fields: Any) -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": [USER], **fields}


def test_a_finding_has_a_rule_a_severity_a_path_a_message_and_a_fix() -> None:
    assert lint(chat(stream_options={}), dialect="openai-chat") == [
        Finding("OAC-016", "error", "/stream_options", "stream_options needs stream: true", "leave it out")
    ]


def test_findings_have_the_order_of_the_document() -> None:
    first = {"temperature": 9, **chat(stop=list("abcde"))}
    last = {**chat(stop=list("abcde")), "temperature": 9}
    assert [one.path for one in lint(first, dialect="openai-chat")] == ["/temperature", "/stop"]
    assert [one.path for one in lint(last, dialect="openai-chat")] == ["/stop", "/temperature"]
    # Findings about absent fields come after findings about present fields.
    assert lint({"temperature": 9}, dialect="openai-chat")[0].path == "/temperature"


def test_the_document_may_be_text_bytes_or_decoded() -> None:
    body = msgspec.json.encode(chat(temperature=9))
    found = lint(body, dialect="openai-chat")
    assert len(found) == 1
    assert found == lint(body.decode(), dialect="openai-chat") == lint(chat(temperature=9), dialect="openai-chat")


def test_the_model_is_taken_from_the_document_or_named() -> None:
    assert lint(chat(temperature=0.5), dialect="openai-chat") == []
    named = lint(chat(temperature=0.5), dialect="openai-chat", model="o3")
    assert [one.rule for one in named] == ["OAC-015"]
    assert lint(chat(temperature=0.5, model="o3"), dialect="openai-chat") == named


def test_tools_are_a_list_or_an_object_with_the_list() -> None:
    tools = [{"type": "function", "function": {"name": "a b"}}]
    alone = lint(tools, dialect="openai-chat", kind="tools")
    assert [one.path for one in alone] == ["/0/function/name"]
    assert lint({"tools": tools}, dialect="openai-chat", kind="tools") == alone


def test_a_stream_is_given_as_bytes_or_as_frames() -> None:
    frames = [CHUNK, "[DONE]", CHUNK]
    raw = b"".join([b"data: %b\n\n" % (f.encode() if isinstance(f, str) else msgspec.json.encode(f)) for f in frames])
    found = lint(raw, dialect="openai-chat", kind="stream")
    assert {one.rule for one in found} == {"OAC-S01", "OAC-S03"}
    assert found == lint(frames, dialect="openai-chat", kind="stream")


def test_a_frame_that_is_no_json_is_a_finding() -> None:
    found = lint(b"data: {]\n\ndata: [DONE]\n\n", dialect="openai-chat", kind="stream")
    assert found == [Finding("ALL-S01", "error", "/0", "a frame must be a JSON object; this is not JSON")]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"{", "request"),
        (b"[]", "request"),
        (b"7", "tools"),
        (b"\xff", "request"),
        (b"[1", "stream"),
        ("\ud800", "request"),
    ],
)
def test_a_body_that_is_no_document_is_a_wire_error(body: Any, kind: Any) -> None:
    with pytest.raises(WireError):
        lint(body, dialect="openai-chat", kind=kind)


def test_unknown_names_are_config_errors() -> None:
    with pytest.raises(ConfigError):
        lint(chat(), dialect="klingon")
    kind: Any = "poem"
    with pytest.raises(ConfigError):
        lint(chat(), dialect="openai-chat", kind=kind)


def test_a_request_can_be_given_with_its_answer() -> None:
    assert lint({"choices": []}, dialect="openai-chat", kind="response", request=chat()) == []
    with pytest.raises(WireError):
        lint({"choices": []}, dialect="openai-chat", kind="response", request=b"{")


def test_a_conversation_finds_items_that_the_next_request_left_out() -> None:
    reason = {"type": "reasoning", "id": "rs_1", "summary": []}
    call = {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "f", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "a", "output": "ok"}
    ask = {"model": "o3", "input": [USER]}
    answer = {"output": [reason, call]}
    for replayed, paths in (([reason, call], []), ([call], ["/2/input/1"])):
        next_request = {"model": "o3", "input": [USER, *replayed, result]}
        found = lint_conversation(
            [("request", ask), ("response", answer), ("request", next_request)], dialect="openai-responses"
        )
        assert [(one.rule, one.path) for one in found] == [("OAR-008", path) for path in paths]


def test_a_conversation_checks_the_answer_of_a_stream() -> None:
    item = {"type": "message", "id": "msg_1", "role": "assistant", "phase": "commentary", "status": "completed"}
    content = [{"type": "output_text", "text": "Hi", "annotations": []}]
    at = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    response = {"id": "resp_1", "object": "response", "model": "m", "status": "completed", "output": []}
    events = [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.content_part.added", **at, "part": {**content[0], "text": ""}},
        {"type": "response.output_text.delta", **at, "delta": "Hi"},
        {"type": "response.output_text.done", **at, "text": "Hi"},
        {"type": "response.content_part.done", **at, "part": content[0]},
        {"type": "response.output_item.done", "output_index": 0, "item": {**item, "content": content}},
        {"type": "response.completed", "response": response},
    ]
    next_request = {"model": "m", "input": [{"role": "assistant", "id": "msg_1", "content": content}, USER]}
    ask = ("request", {"model": "m", "input": "Hi"})
    documents: list[Any] = [ask, ("stream", events), ("request", next_request)]
    found = lint_conversation(documents, dialect="openai-responses")
    assert [(one.rule, one.path) for one in found] == [("OAR-018", "/2/input/0")]
    # A fault and a broken stream are no answer.
    for broken in ([events[0], {"type": "error", "message": "gone"}], events[:-1]):
        found = lint_conversation([ask, ("stream", broken), ("request", next_request)], dialect="openai-responses")
        assert "OAR-018" not in {one.rule for one in found}


def test_the_rules_of_a_dialect_include_the_common_and_the_seed_rules() -> None:
    ids = {one.id for one in rules_for("openai-chat")}
    assert {"ALL-S01", "OAC-001", "OAC-S03", "SEED-021"} <= ids
    assert not {one for one in ids if one.startswith(("OAR", "ANT"))}
    rules = all_rules()
    assert list(rules) == sorted(rules)
    assert {"anthropic", "gemini", "openai-chat", "openai-responses"} <= set(rules["ALL-S01"][1])
    assert "openai-chat" in rules["OAC-001"][1] and "openai-responses" not in rules["OAC-001"][1]


def test_mcp_is_linted_although_it_is_no_dialect() -> None:
    tool = {"name": "a b", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
    assert [(one.rule, one.path) for one in lint([tool], dialect="mcp", kind="tools")] == [("MCP-001", "/0/name")]
    assert lint({"tools": [tool]}, dialect="mcp", kind="tools") == lint([tool], dialect="mcp", kind="tools")
    assert lint({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, dialect="mcp") == []
    result = {"jsonrpc": "2.0", "id": 1, "result": {"resultType": "input_required"}}
    assert [one.rule for one in lint(result, dialect="mcp", kind="response")] == ["MCP-008"]
    assert {rule for rule, (_, names) in all_rules().items() if names == ("mcp",)} == {
        f"MCP-{number:03}" for number in range(1, 11)
    }
    with pytest.raises(ConfigError):
        lint(b"data: {}\n\n", dialect="mcp", kind="stream")
    with pytest.raises(WireError):
        lint(b"[", dialect="mcp")


DECLARED = [{"name": "read_file", "input_schema": {"type": "object", "properties": {"file_path": {"type": "string"}}}}]


def test_a_rule_set_is_off_unless_it_is_requested() -> None:
    assert lint(DECLARED, dialect="anthropic", kind="tools") == []
    (found,) = lint(DECLARED, dialect="anthropic", kind="tools", rule_sets=("seeds",))
    assert (found.rule, found.severity, found.fix) == ("SEED-041", "warning", "call it absolute_path")
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}], "tools": DECLARED}
    documents: list[Any] = [("request", body)]
    assert [one.path for one in lint_conversation(documents, dialect="anthropic", rule_sets=["seeds"])] == [
        "/0/tools/0/input_schema/properties/file_path"
    ]
    assert lint_conversation(documents, dialect="anthropic") == []


def test_a_rule_set_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"unknown rule set 'seed'; did you mean seeds\? \(valid: seeds\)"):
        lint(DECLARED, dialect="anthropic", kind="tools", rule_sets=("seed",))
