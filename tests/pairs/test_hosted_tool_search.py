"""Searches for deferred tools that an upstream ran: in answers, streams and histories."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import dragoman
from tests.oracles.body_verdict import check_response
from tests.oracles.grammar import check_stream
from tests.pairs.helpers import DIALECTS, MODELS, codes, to

MESSAGES, RESPONSES = "anthropic", "openai-responses"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTIONS = [
    {"type": "function", "name": "now", "parameters": {"type": "object", "properties": {}}, "strict": False},
    {"type": "function", "name": "rate", "parameters": SCHEMA, "strict": False, "defer_loading": True},
]
REQUESTS: dict[str, dict[str, Any]] = {
    MESSAGES: {
        "model": MODELS[MESSAGES],
        "max_tokens": 64,
        "messages": [{"role": "user", "content": "Go."}],
        "tools": [
            {"name": "now", "input_schema": {"type": "object", "properties": {}}},
            {"name": "rate", "input_schema": SCHEMA, "defer_loading": True},
            {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
        ],
    },
    RESPONSES: {
        "model": MODELS[RESPONSES],
        "input": [{"role": "user", "content": "Go."}],
        "tools": [*FUNCTIONS, {"type": "tool_search"}],
    },
}
BLOCKS: list[dict[str, Any]] = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "tool_search_tool_bm25", "input": {"query": "exchange"}},
    {
        "type": "tool_search_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": {
            "type": "tool_search_tool_search_result",
            "tool_references": [{"type": "tool_reference", "tool_name": "rate"}],
        },
    },
    {"type": "tool_use", "id": "toolu_1", "name": "rate", "input": {"city": "Oslo"}},
]
ITEMS: list[dict[str, Any]] = [
    {
        "id": "tsc_1",
        "type": "tool_search_call",
        "status": "completed",
        "arguments": {"paths": ["rate"]},
        "call_id": None,
        "execution": "server",
    },
    {
        "id": "tso_1",
        "type": "tool_search_output",
        "status": "completed",
        "call_id": None,
        "execution": "server",
        "tools": [FUNCTIONS[1]],
    },
    {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "rate", "arguments": '{"city":"Oslo"}'},
]
ANSWERS: dict[str, dict[str, Any]] = {
    MESSAGES: {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": BLOCKS,
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    RESPONSES: {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5.4",
        "status": "completed",
        "output": ITEMS,
    },
}


def _answered(client: str) -> dragoman.Translation:
    """Return the answer of the other upstream in the form that this client gets."""
    upstream = RESPONSES if client == MESSAGES else MESSAGES
    asked = to(upstream, REQUESTS[client], client)
    done = dragoman.translate_response(ANSWERS[upstream], source=upstream, target=client, answers=asked)
    assert check_response(client, done.body) == []
    return done


def test_a_messages_client_gets_the_names_of_found_tools() -> None:
    done = _answered(MESSAGES)
    search, found, call = done.json()["content"]
    assert (search["name"], search["input"]) == ("tool_search_tool_bm25", {"query": "rate"})
    assert found["content"] == BLOCKS[1]["content"] and found["tool_use_id"] == search["id"]
    assert call["name"] == "rate" and done.json()["stop_reason"] == "tool_use"
    assert [one.name for one in dragoman.tool_calls(done.body, dialect=MESSAGES)] == ["rate"]
    assert "hosted.dropped" not in codes(done)


def test_a_responses_client_gets_the_declarations_of_found_tools() -> None:
    done = _answered(RESPONSES)
    search, found, call = done.json()["output"]
    assert (search["arguments"], search["execution"], search["call_id"]) == ({"queries": ["exchange"]}, "server", None)
    assert found["tools"] == [FUNCTIONS[1]]
    assert call["name"] == "rate"
    assert "hosted.dropped" not in codes(done)


def _history(client: str, content: list[dict[str, Any]]) -> dict[str, Any]:
    request = REQUESTS[client]
    if client == MESSAGES:
        result = {"type": "tool_result", "tool_use_id": content[2]["id"], "content": "1.1"}
        turns = [*request["messages"], {"role": "assistant", "content": content}, {"role": "user", "content": [result]}]
        return {**request, "messages": turns}
    output = {"type": "function_call_output", "call_id": content[2]["call_id"], "output": "1.1"}
    return {**request, "input": [*request["input"], *content, output]}


def test_a_search_is_sent_to_messages_in_its_native_form() -> None:
    done = to(MESSAGES, _history(RESPONSES, ITEMS), RESPONSES)
    use, found, call = done.json()["messages"][1]["content"]
    assert (use["type"], use["name"], use["input"]) == ("server_tool_use", "tool_search_tool_bm25", {"query": "rate"})
    assert found["content"] == BLOCKS[1]["content"] and found["tool_use_id"] == use["id"]
    assert call["type"] == "tool_use"
    assert "hosted.dropped" not in codes(done)


def test_a_search_is_sent_to_responses_as_a_client_search() -> None:
    done = to(RESPONSES, _history(MESSAGES, BLOCKS), MESSAGES)
    call, found = done.json()["input"][1:3]
    assert call == {
        "type": "tool_search_call",
        "arguments": {"queries": ["exchange"]},
        "call_id": "srvtoolu_1",
        "execution": "client",
        "status": "completed",
    }
    assert found["call_id"] == "srvtoolu_1" and found["tools"] == [FUNCTIONS[1]]
    assert "hosted.dropped" not in codes(done)


@pytest.mark.parametrize("client", [MESSAGES, RESPONSES])
def test_a_search_comes_back_to_its_upstream(client: str) -> None:
    upstream = RESPONSES if client == MESSAGES else MESSAGES
    given = _answered(client).json()
    back = to(upstream, _history(client, given["content" if client == MESSAGES else "output"]), client)
    if upstream == MESSAGES:
        assert back.json()["messages"][1]["content"][:2] == BLOCKS[:2]
    else:
        assert back.json()["input"][1]["call_id"] == "tsc_1" and back.json()["input"][2]["tools"] == [FUNCTIONS[1]]


@pytest.mark.parametrize("target", [name for name in DIALECTS if name not in (MESSAGES, RESPONSES)])
def test_a_search_is_dropped_where_all_tools_are_declared(target: str) -> None:
    done = to(target, _history(MESSAGES, BLOCKS), MESSAGES)
    dropped = [(loss.path, loss.severity) for loss in done.losses if loss.code == "hosted.dropped"]
    assert dropped == [("/messages/1/content/0", "info"), ("/messages/1/content/1", "info")]


def test_a_reference_to_an_undeclared_tool_is_never_sent() -> None:
    body = _history(RESPONSES, ITEMS)
    done = to(MESSAGES, {**body, "tools": body["tools"][:2]}, RESPONSES)  # no search tool is left
    assert b"tool_reference" not in done.body and "hosted.dropped" in codes(done)
    other = _history(MESSAGES, BLOCKS)
    without_search = to(RESPONSES, {**other, "tools": [other["tools"][0], other["tools"][2]]}, MESSAGES)
    assert b"tool_search_output" not in without_search.body


@pytest.mark.parametrize("client", [MESSAGES, RESPONSES])
def test_a_stream_has_the_same_content_as_the_answer(client: str) -> None:
    upstream = RESPONSES if client == MESSAGES else MESSAGES
    asked = to(upstream, REQUESTS[client], client)
    stream = dragoman.StreamTranslator(source=upstream, target=client, answers=asked)
    out = stream.feed(_stream(upstream)) + stream.close()
    assert check_stream(client, out) == []
    events = [msgspec.json.decode(line[6:]) for line in out.splitlines() if line.startswith(b"data: ")]
    if client == RESPONSES:
        whole = _answered(client).json()["output"]
        assert events[-1]["response"]["output"][:2] == whole[:2]
    else:
        blocks = [event["content_block"]["type"] for event in events if event["type"] == "content_block_start"]
        assert blocks == ["server_tool_use", "tool_search_tool_result", "tool_use"]
    assert "hosted.dropped" not in {loss.code for loss in stream.losses}


def _stream(upstream: str) -> bytes:
    events: list[dict[str, Any]] = []
    if upstream == RESPONSES:
        events = [{"type": "response.created", "response": {"id": "resp_1", "model": "m", "created_at": 1}}]
        for i, item in enumerate(ITEMS):
            events.append({"type": "response.output_item.added", "output_index": i, "item": item})
            events.append({"type": "response.output_item.done", "output_index": i, "item": item})
        events.append({"type": "response.completed", "response": ANSWERS[RESPONSES]})
        events = [{**event, "sequence_number": i} for i, event in enumerate(events)]
    else:
        events = [{"type": "message_start", "message": {**ANSWERS[MESSAGES], "content": [], "stop_reason": None}}]
        for i, block in enumerate(BLOCKS):
            asked = block.get("input")
            begun = {**block, "input": {}} if asked is not None else block
            events.append({"type": "content_block_start", "index": i, "content_block": begun})
            if asked is not None:
                piece = {"type": "input_json_delta", "partial_json": msgspec.json.encode(asked).decode()}
                events.append({"type": "content_block_delta", "index": i, "delta": piece})
            events.append({"type": "content_block_stop", "index": i})
        events.append({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}})
        events.append({"type": "message_stop"})
    return b"".join(
        [b"event: %b\ndata: %b\n\n" % (event["type"].encode(), msgspec.json.encode(event)) for event in events]
    )
