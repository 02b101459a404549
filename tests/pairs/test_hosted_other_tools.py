"""Uses of tools without an equivalent in the client's dialect: in answers, in streams, and in the next request."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from tests.oracles.body_verdict import check_response
from tests.oracles.grammar import check_stream

MESSAGES, RESPONSES, GEMINI = "anthropic", "openai-responses", "gemini"

FILES = {
    "id": "fs_1",
    "type": "file_search_call",
    "status": "completed",
    "queries": ["harbour fees"],
    "results": [{"file_id": "file-1", "filename": "fees.pdf", "score": 0.9, "text": "Twelve crowns."}],
}
MCP = {
    "id": "mcp_1",
    "type": "mcp_call",
    "status": "completed",
    "approval_request_id": None,
    "arguments": '{"port":"north"}',
    "error": None,
    "name": "ask_port",
    "output": "Open until nine.",
    "server_label": "harbour",
}
LISTED = {
    "id": "mcpl_1",
    "type": "mcp_list_tools",
    "server_label": "harbour",
    "tools": [{"name": "ask_port", "description": "Asks a port.", "input_schema": {"type": "object"}}],
}
ADVISED = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "advisor", "input": {"question": "Which port?"}},
    {
        "type": "advisor_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": {"type": "advisor_result", "text": "Take the north port."},
    },
]
MAPS = [
    {"toolCall": {"toolType": "GOOGLE_MAPS", "args": {"query": "north port"}, "id": "m1"}},
    {"toolResponse": {"toolType": "GOOGLE_MAPS", "response": {"place": "North Quay 4"}, "id": "m1"}},
]
USES: dict[str, tuple[str, list[dict[str, Any]], list[str]]] = {
    "files": (RESPONSES, [FILES], ["harbour fees", "fees.pdf", "Twelve crowns."]),
    "mcp": (RESPONSES, [MCP], ["north", "ask_port", "Open until nine.", "harbour"]),
    "listing": (RESPONSES, [LISTED], ["harbour", "ask_port", "Asks a port."]),
    "advisor": (MESSAGES, ADVISED, ["advisor", "Which port?", "Take the north port."]),
    "maps": (GEMINI, MAPS, ["google_maps", "north port", "North Quay 4"]),
}
PAIRS = [
    (kind, target)
    for kind, (source, _, _) in USES.items()
    for target in (MESSAGES, RESPONSES, GEMINI, "code-assist", "openai-chat", "openrouter")
    if target != source and {source, target} != {GEMINI, "code-assist"}
]


def _answer(kind: str) -> tuple[str, dict[str, Any]]:
    source, use, _ = USES[kind]
    if source == MESSAGES:
        usage = {"input_tokens": 1, "output_tokens": 1}
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "end_turn"}
        return source, {**head, "content": [*use, {"type": "text", "text": "Done."}], "usage": usage}
    if source == RESPONSES:
        content = [{"type": "output_text", "text": "Done.", "annotations": []}]
        message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}
        head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", "status": "completed"}
        return source, {**head, "output": [*use, message]}
    content = {"role": "model", "parts": [*use, {"text": "Done."}]}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    return source, {"candidates": [candidate], "modelVersion": "gemini", "responseId": "r1"}


def _stream(kind: str) -> tuple[str, bytes]:
    source, answer = _answer(kind)
    frames: list[dict[str, Any]] = []
    if source == MESSAGES:
        frames.append({"type": "message_start", "message": {**answer, "content": [], "stop_reason": None}})
        for i, block in enumerate(answer["content"]):
            frames.append({"type": "content_block_start", "index": i, "content_block": block})
            frames.append({"type": "content_block_stop", "index": i})
        frames.append({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}})
        frames.append({"type": "message_stop"})
    elif source == RESPONSES:
        frames.append({"type": "response.created", "response": {**answer, "status": "in_progress", "output": []}})
        for i, item in enumerate(answer["output"]):
            frames.append({"type": "response.output_item.added", "output_index": i, "item": item})
            frames.append({"type": "response.output_item.done", "output_index": i, "item": item})
        frames.append({"type": "response.completed", "response": answer})
        frames = [{**frame, "sequence_number": i} for i, frame in enumerate(frames)]
    else:
        frames.append(answer)
    named = [(f"event: {frame['type']}\n" if "type" in frame else "", json.dumps(frame)) for frame in frames]
    return source, "".join([f"{event}data: {data}\n\n" for event, data in named]).encode()


def _plain(body: bytes) -> str:
    """Return an answer with its JSON texts decoded."""
    return body.decode().replace("\\", "")


@pytest.mark.parametrize(("kind", "target"), PAIRS)
def test_every_text_of_a_tool_use_is_in_the_answer(kind: str, target: str) -> None:
    source, answer = _answer(kind)
    done = dragoman.translate_response(answer, source=source, target=target)
    assert check_response(target, done.body, extensions=True) == []
    assert [words for words in USES[kind][2] if words not in _plain(done.body)] == []
    assert not [loss for loss in done.losses if loss.code == "hosted.dropped"]


@pytest.mark.parametrize(("kind", "target"), PAIRS)
def test_every_text_of_a_tool_use_is_in_the_stream(kind: str, target: str) -> None:
    source, body = _stream(kind)
    stream = dragoman.StreamTranslator(source=source, target=target)
    out = stream.feed(body) + stream.close()
    assert check_stream(target, out, extensions=True) == []
    assert [words for words in USES[kind][2] if words not in _plain(out)] == []
    assert not [loss for loss in stream.losses if loss.code == "hosted.dropped"]


def _history(target: str, answer: dict[str, Any]) -> dict[str, Any]:
    """Return the next request of a client."""
    if target == MESSAGES:
        turns = [{"role": "assistant", "content": answer["content"]}, {"role": "user", "content": "Go on"}]
        return {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}, *turns]}
    if target == RESPONSES:
        user_message = {"type": "message", "role": "user", "content": "Go on"}
        return {"model": "m", "input": [{**user_message, "content": "Hi"}, *answer["output"], user_message]}
    if target in (GEMINI, "code-assist"):
        inner = answer.get("response", answer)["candidates"][0]["content"]
        asked = [{"role": "user", "parts": [{"text": "Hi"}]}, inner, {"role": "user", "parts": [{"text": "Go on"}]}]
        return {"contents": asked} if target == GEMINI else {"model": "m", "request": {"contents": asked}}
    turns = [answer["choices"][0]["message"], {"role": "user", "content": "Go on"}]
    return {"model": "m", "messages": [{"role": "user", "content": "Hi"}, *turns]}


@pytest.mark.parametrize(("kind", "target"), [(kind, target) for kind, target in PAIRS if target != "openrouter"])
def test_the_upstream_gets_the_tool_use_that_the_client_sends_back(kind: str, target: str) -> None:
    source, answer = _answer(kind)
    done = dragoman.translate_response(answer, source=source, target=target).json()
    asked = dragoman.translate_request(_history(target, done), source=target, target=source, model="m")
    text = _plain(asked.body)
    assert [words for words in USES[kind][2] if words not in text] == []
    assert "ZHJhZ29tYW46" not in text
    if kind != "mcp":
        assert "MCP server" not in text
