"""Responses requests are read: every item and setting. Round trips within Responses are tested too."""

from __future__ import annotations

import pytest
from msgspec import Raw

from dragoman.canon import Choice, Format, Opaque, Request, Settings, Text, Tool, ToolCall, ToolResult, Turn
from dragoman.errors import WireError
from tests.unit.dialects.openai_responses.helpers import extra_fields, losses_of, new_context, read, round_trip


def test_instructions_and_a_string_are_two_turns() -> None:
    request = read({"model": "m", "instructions": "Be brief.", "input": "Hi"})
    assert request == Request(
        (
            Turn("system", (Text("Be brief.", at=("instructions",)),), at=("instructions",)),
            Turn("user", (Text("Hi", at=("input",)),), at=("input",)),
        ),
        "m",
        settings=request.settings,
    )
    body = {"model": "m", "instructions": "Be brief.", "input": "Hi"}
    assert round_trip(body) == body


def test_a_step_is_one_turn_and_its_outputs_are_one_turn() -> None:
    context = new_context(target="anthropic")
    request = read(
        {
            "model": "m",
            "input": [
                {"role": "user", "content": "weather?"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Looking."}]},
                {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'},
                {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "*** begin"},
                {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
                {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "ok"}]},
                {"role": "developer", "content": "go on"},
            ],
        },
        context,
    )
    assert request.turns == (
        Turn("user", (Text("weather?", at=("input", 0, "content")),), at=("input", 0)),
        Turn(
            "assistant",
            (
                Text("Looking.", at=("input", 1, "content", 0)),
                ToolCall("c1", "f", '{"a": 1}', at=("input", 2)),
                ToolCall("c2", "patch", "*** begin", True, at=("input", 3)),
            ),
            at=("input", 1),
        ),
        Turn(
            "tool",
            (
                ToolResult("c1", (Text("sunny", at=("input", 4, "output")),), at=("input", 4)),
                ToolResult("c2", (Text("ok", at=("input", 5, "output", 0)),), custom=True, at=("input", 5)),
            ),
            at=("input", 4),
        ),
        Turn("developer", (Text("go on", at=("input", 6, "content")),), at=("input", 6)),
    )
    assert losses_of(context) == []
    assert context.kept == []


def test_everything_survives_a_round_trip() -> None:
    body = {
        "model": "gpt-5.4",
        "input": [
            {"type": "message", "role": "system", "content": "s", "id": "msg_0", "status": "completed"},
            {
                "type": "message",
                "role": "user",
                "content": [
                    {
                        "type": "input_text",
                        "text": "look",
                        "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "30m"},
                    },
                    {"type": "input_image", "image_url": "data:image/png;base64,QUJD", "detail": "low"},
                    {"type": "input_image", "file_id": "file_1"},
                    {"type": "input_file", "filename": "a.png", "file_data": "data:image/png;base64,QUJD"},
                    {"type": "input_file", "filename": "b.pdf", "file_data": "QUJD"},
                    {"type": "input_file", "file_url": "https://example.com/c.pdf"},
                    {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "mp3"}},
                    {"type": "input_hologram", "rays": [1]},
                ],
            },
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}],
                "encrypted_content": "gAAA",
            },
            {
                "type": "message",
                "role": "assistant",
                "id": "msg_1",
                "status": "completed",
                "phase": "commentary",
                "content": [
                    {"type": "output_text", "text": "one", "annotations": [], "logprobs": []},
                    {"type": "refusal", "refusal": "no"},
                ],
            },
            {"type": "message", "role": "assistant", "content": "two"},
            {
                "type": "web_search_call",
                "id": "ws_1",
                "status": "completed",
                "action": {"type": "search", "query": "q"},
            },
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "c1",
                "name": "get",
                "namespace": "crm",
                "arguments": "",
                "status": "completed",
                "caller": {"type": "direct"},
                "async": False,
            },
            {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_image", "file_id": "f"}]},
            {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "x"}]},
            {"type": "item_reference", "id": "msg_9"},
            {"type": "compaction_trigger"},
        ],
        "tools": [
            {"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": None, "defer_loading": False},
            {"type": "tool_search"},
            {
                "type": "namespace",
                "name": "crm",
                "description": "customers",
                "tools": [
                    {"type": "function", "name": "get", "parameters": None, "strict": True, "defer_loading": True},
                    {"type": "custom", "name": "note", "format": {"type": "text"}},
                ],
            },
        ],
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "mcp", "server_label": "s"}]},
        "parallel_tool_calls": False,
        "reasoning": {"effort": "high", "summary": "detailed", "context": "all_turns"},
        "text": {"format": {"type": "text"}, "verbosity": "low"},
        "include": ["reasoning.encrypted_content", "message.output_text.logprobs"],
        "top_logprobs": 2,
        "temperature": 1,
        "metadata": {"k": "v"},
        "user": "u",
        "safety_identifier": "s",
        "prompt_cache_key": "key",
        "service_tier": "flex",
        "max_output_tokens": 9,
        "store": True,
        "previous_response_id": "resp_0",
        "truncation": "auto",
        "stream": True,
        "stream_options": {"include_obfuscation": False},
        "brand_new": {"x": 1},
    }
    assert round_trip(body) == body


def test_state_on_the_server_is_one_error_for_other_dialects() -> None:
    context = new_context(target="gemini")
    request = read(
        {
            "model": "m",
            "input": [{"type": "item_reference", "id": "msg_1"}, {"role": "user", "content": "on"}],
            "previous_response_id": "resp_1",
            "conversation": {"id": "conv_1"},
            "prompt": {"id": "pmpt_1"},
        },
        context,
    )
    assert losses_of(context) == [
        ("state.dropped", "/input/0"),
        ("state.dropped", "/previous_response_id"),
        ("state.dropped", "/conversation"),
        ("state.dropped", "/prompt"),
    ]
    assert context.kept == []
    assert [turn.role for turn in request.turns] == ["user"]


def test_an_item_may_be_only_an_id() -> None:
    body = {"model": "m", "input": [{"id": "msg_1"}, {"role": "user", "content": "on"}]}
    assert round_trip(body)["input"][0] == {"id": "msg_1"}


def test_tools_added_during_a_conversation_are_declared_at_its_start() -> None:
    context = new_context(target="gemini")
    request = read(
        {
            "model": "m",
            "input": [
                {"role": "user", "content": "x"},
                {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "late"}]},
                {"type": "tool_search_output", "call_id": "s", "tools": [{"type": "function", "name": "early"}]},
            ],
            "tools": [{"type": "function", "name": "early"}],
        },
        context,
    )
    assert [(tool.name, tool.at) for tool in request.tools if isinstance(tool, Tool)] == [
        ("early", ("tools", 0)),
        ("late", ("input", 1, "tools", 0)),
    ]
    assert losses_of(context) == [("tool.merged", "/input/1/tools/0")]
    assert [part.kind for turn in request.turns for part in turn.parts if isinstance(part, Opaque)] == [
        "tool_search_output"
    ]


def test_fields_of_the_server_are_kept_for_responses_and_reported_for_others() -> None:
    call = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c",
        "name": "f",
        "arguments": "{}",
        "status": "completed",
    }
    context = new_context(target="anthropic")
    request = read({"model": "m", "input": [call]}, context)
    assert request.turns[0].parts == (ToolCall("c", "f", "{}", at=("input", 0)),)
    assert context.kept == [(("input", 0), {"id": Raw(b'"fc_1"')})]
    request = read({"model": "m", "input": [call]}, new_context())
    expected = extra_fields(status="completed", id="fc_1")
    assert request.turns[0].parts == (ToolCall("c", "f", "{}", extra=expected, at=("input", 0)),)


def test_a_field_of_another_kind_of_item_is_not_lost() -> None:
    context = new_context(target="anthropic")
    read(
        {
            "model": "m",
            "input": [
                {"role": "user", "content": "x", "summary": [], "call_id": "c"},
                {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "content": "?"},
                {"type": "function_call_output", "call_id": "c", "output": "", "arguments": "!"},
                {"role": "user", "content": [{"type": "input_text", "text": "t", "file_id": "f"}]},
            ],
        },
        context,
    )
    assert context.kept == [
        (("input", 0), {"call_id": Raw(b'"c"'), "summary": Raw(b"[]")}),
        (("input", 1), {"content": Raw(b'"?"')}),
        (("input", 2), {"arguments": Raw(b'"!"')}),
        (("input", 3, "content", 0), {"file_id": Raw(b'"f"')}),
    ]


def test_a_namespace_equal_to_the_tool_name_is_ignored() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "namespace": "f", "arguments": "{}"}
    (found,) = read({"model": "m", "input": [call]}).turns[0].parts
    assert isinstance(found, ToolCall)
    assert (found.name, found.namespace) == ("f", "")
    assert round_trip({"model": "m", "input": [call]})["input"] == [call]
    call["namespace"] = "crm"
    expected = ToolCall("c", "f", "{}", namespace="crm", at=("input", 0))
    assert read({"model": "m", "input": [call]}).turns[0].parts == (expected,)


def test_outputs_without_a_call_id_are_matched_by_name() -> None:
    call = {"type": "function_call", "name": "f", "arguments": "{}"}
    request = read(
        {
            "model": "m",
            "input": [
                {**call, "call_id": "c1"},
                {**call, "call_id": "c2"},
                {"type": "function_call_output", "name": "f", "output": "1"},
                {"type": "function_call_output", "name": "f", "output": "2"},
                {"type": "function_call_output", "name": "g", "output": "3"},
            ],
        }
    )
    assert [part.call_id for part in request.turns[1].parts if isinstance(part, ToolResult)] == ["c1", "c2", ""]


def test_settings() -> None:
    request = read(
        {
            "model": "m",
            "input": "x",
            "max_output_tokens": 5,
            "temperature": 0.5,
            "top_p": 0.9,
            "parallel_tool_calls": False,
            "reasoning": {"effort": "low", "summary": "auto"},
            "text": {"format": {"type": "json_schema", "name": "n", "schema": {"a": 1}, "strict": True}},
            "include": ["message.output_text.logprobs"],
            "top_logprobs": 3,
            "safety_identifier": "u",
            "metadata": {"k": "v"},
            "service_tier": "auto",
            "prompt_cache_key": "c",
            "tool_choice": "required",
        }
    )
    assert request.settings == Settings(
        5,
        0.5,
        0.9,
        logprobs=True,
        top_logprobs=3,
        parallel=False,
        effort="low",
        thoughts=True,
        format=Format("schema", '{"a":1}', "n", strict=True, schema_at=("schema",)),
        user="u",
        metadata={"k": "v"},
        tier="auto",
        cache_key="c",
        at=request.settings.at,
    )
    assert request.choice == Choice("required", at=("tool_choice",))
    assert request.settings.at["user"] == ("safety_identifier",)


def test_bad_types_are_refused_with_their_path() -> None:
    with pytest.raises(WireError, match="at /input/0/call_id"):
        read({"model": "m", "input": [{"type": "function_call", "call_id": 7}]})


def test_rare_fields_survive_a_round_trip() -> None:
    for body in (
        {"model": "m", "instructions": "", "input": "x"},
        {"input": "x"},
        {"model": "m", "input": [{"type": "message", "role": "user", "content": "x", "name": "n"}]},
        {"model": "m", "prompt": {"id": "p"}},
        {"model": "m", "input": "x", "text": {"format": {"type": "lark", "x": 1}}},
        {
            "model": "m",
            "input": [{"type": "function_call_output", "call_id": "c", "output": "x", "async": True, "name": "n"}],
        },
    ):
        assert round_trip(body) == body


def test_fields_of_an_item_that_adds_tools_are_reported() -> None:
    context = new_context(target="gemini")
    item = {"type": "additional_tools", "role": "developer", "id": "at_1", "tools": None}
    assert read({"model": "m", "input": [item, {"role": "user", "content": "x"}]}, context).tools == ()
    assert context.kept == [(("input", 0), {"id": Raw(b'"at_1"')})]


def test_a_format_that_only_responses_has() -> None:
    context = new_context(target="gemini")
    assert read({"model": "m", "input": "x", "text": {"format": {"type": "lark"}}}, context).settings.format is None
    assert losses_of(context) == [("format.dropped", "/text/format")]
