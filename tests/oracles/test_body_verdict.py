"""Tests of the judges of single bodies: they accept real traffic, reject broken bodies, and name the place."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from tests.oracles import body_verdict, exchanges, gemini, rejected_recordings, schema_sources, sdk_types
from tests.oracles.json_schema import Judge

Json = Any


def dump(value: Json) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize("dialect", exchanges.DIALECTS)
def test_real_requests_are_legal(dialect: str) -> None:
    bodies = {record.id: record.request for record in exchanges.records(dialect) if record.real and record.request}
    refused = {name for name, body in bodies.items() if body_verdict.check_request(dialect, dump(body))}
    assert len(bodies) > exchanges.least(150, 15)
    assert exchanges.surprises(refused, rejected_recordings.rejected(dialect, "request")) == []


@pytest.mark.parametrize("dialect", exchanges.DIALECTS)
def test_real_answers_are_legal(dialect: str) -> None:
    bodies = {
        record.id: record.response
        for record in exchanges.records(dialect)
        if record.real and isinstance(record.response, dict)
    }
    refused = {name for name, body in bodies.items() if body_verdict.check_response(dialect, dump(body))}
    assert len(bodies) > exchanges.least(100, 10)
    assert exchanges.surprises(refused, rejected_recordings.rejected(dialect, "response")) == []


@pytest.mark.parametrize("dialect", exchanges.DIALECTS)
def test_real_faults_are_legal(dialect: str) -> None:
    faults = {
        record.id: record.response
        for record in exchanges.records(dialect)
        if record.own_host and record.status is not None and record.status >= 400
    }
    assert len(faults) > exchanges.least(5, 1)
    refused = {name for name, body in faults.items() if body_verdict.check_fault(dialect, dump(body))}
    assert exchanges.surprises(refused, rejected_recordings.rejected(dialect, "fault")) == []


@pytest.mark.parametrize("dialect", exchanges.DIALECTS)
def test_a_fault_is_not_a_legal_answer(dialect: str) -> None:
    fault = next(record for record in exchanges.records(dialect) if record.own_host and (record.status or 0) >= 400)
    assert body_verdict.check_response(dialect, dump(fault.response))


def test_schemas_of_sdk_types_agree_with_the_validation_of_the_sdk() -> None:
    from anthropic.types.beta import BetaMessage
    from openai.types.chat import ChatCompletion
    from openai.types.responses import Response

    for dialect, kind in (("openai-chat", ChatCompletion), ("openai-responses", Response), ("anthropic", BetaMessage)):
        adapter: TypeAdapter[Any] = TypeAdapter(kind)
        judge = Judge(sdk_types.stated(kind))
        for record in exchanges.records(dialect):
            if not isinstance(record.response, dict):
                continue
            try:
                adapter.validate_json(dump(record.response), strict=True)
                accepted = True
            except ValidationError:
                accepted = False
            assert judge.accepts(record.response) == accepted, record.id


CHAT_REQUEST: Json = {
    "model": "gpt-5.2",
    "messages": [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "sunny"},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    "tool_choice": "auto",
}
CHAT_RESPONSE: Json = {
    "id": "c1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
}
RESPONSES_REQUEST: Json = {
    "model": "gpt-5.4",
    "instructions": "Be brief.",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Weather?"}]},
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": "sunny"}]},
    ],
    "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": False}],
    "tool_choice": {"type": "function", "name": "f"},
}
RESPONSES_RESPONSE: Json = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "status": "completed",
    "output": [
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "Hi", "annotations": []}],
        },
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"},
    ],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "usage": {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 3,
    },
}
ANTHROPIC_REQUEST: Json = {
    "model": "claude-opus-5",
    "max_tokens": 100,
    "system": "Be brief.",
    "messages": [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "sunny"}]},
    ],
    "tools": [{"name": "f", "input_schema": {"type": "object"}}],
    "tool_choice": {"type": "auto"},
}
ANTHROPIC_RESPONSE: Json = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-5",
    "content": [
        {"type": "thinking", "thinking": "Need f", "signature": "EqQB"},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 2},
}
GEMINI_REQUEST: Json = {
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "contents": [
        {"role": "user", "parts": [{"text": "Weather?"}]},
        {
            "role": "model",
            "parts": [{"functionCall": {"name": "f", "args": {"a_b": None}}, "thoughtSignature": "c2ln"}],
        },
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "sunny"}}}]},
    ],
    "tools": [
        {
            "functionDeclarations": [
                {"name": "f", "parameters": {"type": "OBJECT", "properties": {"a_b": {"type": "STRING"}}}}
            ]
        }
    ],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
    "generationConfig": {"maxOutputTokens": 10, "thinkingConfig": {"thinkingLevel": "LOW"}},
}
GEMINI_RESPONSE: Json = {
    "candidates": [
        {
            "index": 0,
            "content": {"role": "model", "parts": [{"functionCall": {"id": "a1", "name": "f", "args": {}}}]},
            "finishReason": "STOP",
        }
    ],
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3},
    "modelVersion": "m",
    "responseId": "r1",
}
LEGAL: dict[tuple[str, str], Json] = {
    ("openai-chat", "request"): CHAT_REQUEST,
    ("openai-chat", "response"): CHAT_RESPONSE,
    ("openai-responses", "request"): RESPONSES_REQUEST,
    ("openai-responses", "response"): RESPONSES_RESPONSE,
    ("anthropic", "request"): ANTHROPIC_REQUEST,
    ("anthropic", "response"): ANTHROPIC_RESPONSE,
    ("gemini", "request"): GEMINI_REQUEST,
    ("gemini", "response"): GEMINI_RESPONSE,
}
CHECKS: dict[str, Callable[[str, bytes], list[str]]] = {
    "request": body_verdict.check_request,
    "response": body_verdict.check_response,
}


@pytest.mark.parametrize(("dialect", "kind"), LEGAL)
def test_a_legal_body_has_no_findings(dialect: str, kind: str) -> None:
    assert CHECKS[kind](dialect, dump(LEGAL[dialect, kind])) == []


GONE = object()
# dialect, kind, pointer of the change, new value or GONE, pointer that a finding must name.
BROKEN: list[tuple[str, str, str, Json, str]] = [
    ("openai-chat", "request", "/model", GONE, "(root)"),
    ("openai-chat", "request", "/messages", GONE, "(root)"),
    ("openai-chat", "request", "/max_output_tokens", 5, "(root)"),
    ("openai-chat", "request", "/messages/1/role", "human", "/messages/1"),
    ("openai-chat", "request", "/messages/1/content/0/type", "input_text", "/messages/1/content/0"),
    (
        "openai-chat",
        "request",
        "/messages/2/tool_calls/0/function/arguments",
        {},
        "/messages/2/tool_calls/0/function/arguments",
    ),
    ("openai-chat", "request", "/messages/2/tool_calls/0/id", GONE, "/messages/2/tool_calls/0"),
    ("openai-chat", "request", "/messages/2/reasoning_content", "hm", "/messages/2"),
    ("openai-chat", "request", "/messages/3/tool_call_id", GONE, "/messages/3"),
    (
        "openai-chat",
        "request",
        "/messages/3/content",
        [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}],
        "/messages/3/content/0",
    ),
    ("openai-chat", "request", "/tools/0", {"type": "function", "name": "f"}, "/tools/0"),
    ("openai-chat", "request", "/tool_choice", {"type": "any"}, "/tool_choice"),
    ("openai-chat", "response", "/choices/0/finish_reason", "tool_use", "/choices/0/finish_reason"),
    ("openai-chat", "response", "/choices/0/finish_reason", GONE, "/choices/0"),
    ("openai-chat", "response", "/choices/0/message/role", "model", "/choices/0/message/role"),
    ("openai-chat", "response", "/choices/0/message/tool_calls/0/type", GONE, "/choices/0/message/tool_calls/0"),
    ("openai-chat", "response", "/created", "now", "/created"),
    ("openai-chat", "response", "/usage/input_tokens", 1, "/usage"),
    ("openai-chat", "response", "/object", "chat.completion.chunk", "/object"),
    ("openai-responses", "request", "/messages", [], "(root)"),
    ("openai-responses", "request", "/input/0/content/0/type", "text", "/input/0/content/0"),
    ("openai-responses", "request", "/input/1/arguments", {}, "/input/1/arguments"),
    ("openai-responses", "request", "/input/1/call_id", GONE, "/input/1"),
    ("openai-responses", "request", "/input/1/type", "tool_use", "/input/1"),
    ("openai-responses", "request", "/input/2/output", {"ok": True}, "/input/2/output"),
    ("openai-responses", "request", "/tools/0", {"type": "function", "function": {"name": "f"}}, "/tools/0"),
    ("openai-responses", "request", "/tool_choice", {"type": "function", "function": {"name": "f"}}, "/tool_choice"),
    ("openai-responses", "request", "/max_output_tokens", "5", "/max_output_tokens"),
    ("openai-responses", "response", "/output", GONE, "(root)"),
    ("openai-responses", "response", "/status", "stop", "/status"),
    ("openai-responses", "response", "/output/0/content/0/type", "text", "/output/0/content/0"),
    ("openai-responses", "response", "/output/1/arguments", {}, "/output/1/arguments"),
    ("openai-responses", "response", "/output/1/call_id", GONE, "/output/1"),
    ("openai-responses", "response", "/usage/total_tokens", GONE, "/usage"),
    ("openai-responses", "response", "/choices", [], "(root)"),
    ("anthropic", "request", "/max_tokens", GONE, "(root)"),
    ("anthropic", "request", "/messages/0/role", "tool", "/messages/0/role"),
    ("anthropic", "request", "/messages/1/content/0/input", "{}", "/messages/1/content/0/input"),
    ("anthropic", "request", "/messages/1/content/0/id", "call.1", "/messages/1/content/0/id"),
    ("anthropic", "request", "/messages/1/content/0/type", "function_call", "/messages/1/content/0"),
    ("anthropic", "request", "/messages/2/content/0/tool_use_id", GONE, "/messages/2/content/0"),
    ("anthropic", "request", "/messages/2/content/0/status", "ok", "/messages/2/content/0"),
    ("anthropic", "request", "/messages/0/content", [{"type": "text", "text": ""}], "/messages/0/content/0/text"),
    ("anthropic", "request", "/tools/0/input_schema/type", "array", "/tools/0/input_schema/type"),
    ("anthropic", "request", "/tools/0/input_schema", GONE, "/tools/0"),
    ("anthropic", "request", "/tool_choice", "auto", "/tool_choice"),
    ("anthropic", "request", "/tool_choice/type", "required", "/tool_choice"),
    ("anthropic", "request", "/stop", ["x"], "(root)"),
    ("anthropic", "response", "/content/0/signature", GONE, "/content/0"),
    ("anthropic", "response", "/content/1/input", "{}", "/content/1/input"),
    ("anthropic", "response", "/content/1/type", "tool_result", "/content/1"),
    ("anthropic", "response", "/stop_reason", "stop", "/stop_reason"),
    ("anthropic", "response", "/usage/output_tokens", GONE, "/usage"),
    ("anthropic", "response", "/role", "user", "/role"),
    ("anthropic", "response", "/created", 1, "(root)"),
    ("gemini", "request", "/contents", GONE, "/contents"),
    ("gemini", "request", "/contents", [], "/contents"),
    ("gemini", "request", "/config", {}, "(root)"),
    ("gemini", "request", "/contents/0/role", "assistant", "/contents/0/role"),
    ("gemini", "request", "/contents/0/parts", [], "/contents/0/parts"),
    (
        "gemini",
        "request",
        "/contents/0/parts/0/inlineData",
        {"mimeType": "image/png", "data": "AA=="},
        "/contents/0/parts/0",
    ),
    ("gemini", "request", "/contents/0/parts/0/text", GONE, "/contents/0/parts/0"),
    ("gemini", "request", "/contents/1/parts/0/functionCall/args", "{}", "/contents/1/parts/0/functionCall/args"),
    ("gemini", "request", "/contents/1/parts/0/functionCall/name", GONE, "/contents/1/parts/0/functionCall"),
    (
        "gemini",
        "request",
        "/contents/2/parts/0/functionResponse/response",
        "sunny",
        "/contents/2/parts/0/functionResponse/response",
    ),
    ("gemini", "request", "/contents/2/parts/0/functionResponse/name", GONE, "/contents/2/parts/0/functionResponse"),
    ("gemini", "request", "/tools/0/functionDeclarations/0/name", GONE, "/tools/0/functionDeclarations/0"),
    (
        "gemini",
        "request",
        "/tools/0/functionDeclarations/0/parametersJsonSchema",
        {},
        "/tools/0/functionDeclarations/0",
    ),
    (
        "gemini",
        "request",
        "/tools/0/functionDeclarations/0/parameters/$defs",
        {},
        "/tools/0/functionDeclarations/0/parameters",
    ),
    (
        "gemini",
        "request",
        "/toolConfig/functionCallingConfig/mode",
        "REQUIRED",
        "/toolConfig/functionCallingConfig/mode",
    ),
    ("gemini", "request", "/generationConfig/max_tokens", 5, "/generationConfig"),
    ("gemini", "request", "/generationConfig/max_output_tokens", 5, "/generationConfig/maxOutputTokens"),
    ("gemini", "response", "/candidates/0/finishReason", "stop", "/candidates/0/finishReason"),
    ("gemini", "response", "/candidates/0/content/parts/0/text", "Hi", "/candidates/0/content/parts/0"),
    ("gemini", "response", "/candidates/0/finish_reason", "STOP", "/candidates/0"),
    (
        "gemini",
        "response",
        "/candidates/0/content/parts/0/functionCall/name",
        GONE,
        "/candidates/0/content/parts/0/functionCall",
    ),
    ("gemini", "response", "/candidates", {}, "/candidates"),
    ("gemini", "response", "/usageMetadata/promptTokenCount", "1", "/usageMetadata/promptTokenCount"),
]


def changed(body: Json, where: str, value: Json) -> Json:
    """A copy of the body with one place set, added or taken out."""
    body = copy.deepcopy(body)
    *path, last = [int(step) if step.isdigit() else step for step in where.split("/")[1:]]
    holder = body
    for step in path:
        holder = holder[step]
    if value is GONE:
        del holder[last]
    else:
        holder[last] = value
    return body


@pytest.mark.parametrize(("dialect", "kind", "where", "value", "named"), BROKEN)
def test_a_finding_names_the_broken_place(dialect: str, kind: str, where: str, value: Json, named: str) -> None:
    found = CHECKS[kind](dialect, dump(changed(LEGAL[dialect, kind], where, value)))
    assert found
    places = [line.partition(":")[0] for line in found]
    # The types of an SDK may give a less precise place: the object around it.
    assert named in places or (
        not schema_sources.are_published() and any(named.startswith(place) for place in places)
    ), found


@pytest.mark.parametrize(("dialect", "kind"), LEGAL)
@pytest.mark.parametrize("other", exchanges.DIALECTS)
def test_bodies_of_other_dialects_are_rejected(dialect: str, kind: str, other: str) -> None:
    if other != dialect:
        assert CHECKS[kind](dialect, dump(LEGAL[other, kind]))


@pytest.mark.parametrize("dialect", exchanges.DIALECTS)
@pytest.mark.parametrize(
    ("body", "text_of_finding"),
    [
        (b"", "not JSON"),
        (b'{"model":', "not JSON"),
        (b"\xff", "not UTF-8"),
        (b'{"a":1,"a":2}', "repeated keys"),
        (b'{"a":NaN}', "NaN"),
        (b'{"a":1e999}', "beyond"),
        (b'{"a":"\\ud800"}', "lone surrogate"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (b"[" * 100_000, "nested too deep"),
        (b"[]", ""),
        (b'"text"', ""),
    ],
)
def test_bytes_without_a_legal_body_are_findings(dialect: str, body: bytes, text_of_finding: str) -> None:
    for check in (
        body_verdict.check_request,
        body_verdict.check_response,
        body_verdict.check_event,
        body_verdict.check_fault,
    ):
        found = check(dialect, body)
        assert found and text_of_finding in found[0]


def test_gemini_requests_may_be_snake_case_and_answers_may_not() -> None:
    snake = {
        "system_instruction": {"parts": [{"text": "Be brief."}]},
        "contents": GEMINI_REQUEST["contents"],
        "generation_config": {"max_output_tokens": 10, "thinking_config": {"include_thoughts": True}},
        "tools": [{"function_declarations": [{"name": "f", "parameters_json_schema": {"$defs": {}}}]}],
        "safety_settings": None,
    }
    assert body_verdict.check_request("gemini", dump(snake)) == []
    answer = changed(changed(GEMINI_RESPONSE, "/usageMetadata", GONE), "/usage_metadata", {})
    assert body_verdict.check_response("gemini", dump(answer))


def test_gemini_names_of_users_are_never_rewritten() -> None:
    value, found = gemini.camel_cased(GEMINI_REQUEST, "GenerateContentRequest")
    assert found == []
    assert value["contents"][1]["parts"][0]["functionCall"]["args"] == {"a_b": None}
    assert list(value["tools"][0]["functionDeclarations"][0]["parameters"]["properties"]) == ["a_b"]


def test_reasoning_fields_of_compatible_servers_are_legal_only_with_extensions() -> None:
    answer = changed(CHAT_RESPONSE, "/choices/0/message/reasoning_content", "hm")
    assert body_verdict.check_response("openai-chat", dump(answer))
    assert body_verdict.check_response("openai-chat", dump(answer), extensions=True) == []
    request = changed(CHAT_REQUEST, "/messages/2/reasoning_details", [])
    assert body_verdict.check_request("openai-chat", dump(request), extensions=True) == []


EVENTS: list[tuple[str, Json, bool]] = [
    ("anthropic", {"type": "ping"}, True),
    ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, True),
    ("anthropic", {"type": "error", "error": {"message": "Overloaded"}}, False),
    ("anthropic", {"type": "error", "error": "Overloaded"}, False),
    ("anthropic", {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}}, True),
    ("anthropic", {"type": "content_block_delta", "index": 0, "delta": {"type": "text", "text": "a"}}, False),
    ("anthropic", {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "a"}}, False),
    ("anthropic", {"type": "message_stopped"}, False),
    ("openai-chat", {"error": {"message": "m", "type": "server_error", "param": None, "code": None}}, True),
    ("openai-chat", {"error": "m"}, False),
    ("openai-chat", {"type": "error", "message": "m"}, False),
    ("openai-responses", {"type": "error", "code": None, "message": "m", "param": None, "sequence_number": 3}, True),
    ("openai-responses", {"type": "error", "error": {"message": "m"}}, False),
    ("openai-responses", {"type": "response.done", "sequence_number": 3}, False),
    ("openai-responses", {"type": "response.refusal.delta", "sequence_number": 3, "delta": "a"}, False),
    ("gemini", {"error": {"code": 503, "message": "m", "status": "UNAVAILABLE"}}, True),
    ("gemini", {"error": {"code": "503", "message": "m"}}, False),
    ("gemini", {"promptFeedback": {"blockReason": "SAFETY"}}, True),
    ("gemini", {"promptFeedback": {"blockReason": "RUDE"}}, False),
]


@pytest.mark.parametrize(("dialect", "event", "legal"), EVENTS)
def test_single_events_and_faults_in_streams(dialect: str, event: Json, legal: bool) -> None:
    assert (body_verdict.check_event(dialect, dump(event)) == []) is legal


@pytest.mark.parametrize("kind", ["function", "custom"])
def test_streamed_calls_of_both_kinds_are_legal(kind: str) -> None:
    call = {"index": 0, "id": "call_1", "type": kind, kind: {"name": "f"}}
    chunk = {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [call]}, "finish_reason": None}],
    }
    assert body_verdict.check_event("openai-chat", dump(chunk)) == []
