"""Sealed uses of hosted tools: only their own upstream can read them, so they go back to that upstream unchanged."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from tests.oracles.body_verdict import check_response
from tests.oracles.grammar import check_stream

MESSAGES, RESPONSES, GEMINI = "anthropic", "openai-responses", "gemini"
CLAUDE, FLASH = "claude-sonnet-5", "gemini-3-flash"

SEARCH = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "harbour fees"}},
    {
        "type": "web_search_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": [
            {
                "type": "web_search_result",
                "url": "https://fees.example/1",
                "title": "Fees",
                "encrypted_content": "c2VhbGVkIHBhZ2U=",
                "page_age": "2 days",
            }
        ],
    },
]
TOOL_PARTS = [
    {
        "toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["harbour fees"]}, "id": "t1"},
        "thoughtSignature": "c2lnbmVkIGNhbGw=",
    },
    {
        "toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "response": {"found": 1}, "id": "t1"},
        "thoughtSignature": "c2lnbmVkIHJlc3VsdA==",
    },
]
CODE_PARTS = [
    {"executableCode": {"language": "PYTHON", "code": "print(7)", "id": "c1"}, "thoughtSignature": "c2lnbmVkIGNvZGU="},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "7", "id": "c1"}},
]
BLOCKS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "search": (MESSAGES, SEARCH),
    "tool parts": (GEMINI, TOOL_PARTS),
    "code parts": (GEMINI, CODE_PARTS),
}
CLIENTS = (MESSAGES, RESPONSES, GEMINI, "code-assist", "openai-chat", "openrouter")
PAIRS = [
    (kind, client)
    for kind, (upstream, _) in BLOCKS.items()
    for client in CLIENTS
    if client != upstream and {upstream, client} != {GEMINI, "code-assist"}
]
TEXTS = ("I look.", "Twelve crowns.")


def _upstream(kind: str) -> tuple[str, str]:
    return (MESSAGES, CLAUDE) if BLOCKS[kind][0] == MESSAGES else (GEMINI, FLASH)


def _content(kind: str) -> list[dict[str, Any]]:
    before, after = [{"type": "text", "text": words} if kind == "search" else {"text": words} for words in TEXTS]
    return [before, *BLOCKS[kind][1], after]


def _answer(kind: str) -> dict[str, Any]:
    upstream, model = _upstream(kind)
    if upstream == MESSAGES:
        usage = {"input_tokens": 1, "output_tokens": 1}
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "stop_reason": "end_turn"}
        return {**head, "content": _content(kind), "usage": usage}
    candidate = {"content": {"role": "model", "parts": _content(kind)}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "modelVersion": model, "responseId": "r1"}


def _next(client: str, answer: dict[str, Any]) -> dict[str, Any]:
    """Return the request that a client sends after an answer."""
    if client == MESSAGES:
        turns = [{"role": "assistant", "content": answer["content"]}, {"role": "user", "content": "Go on"}]
        return {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}, *turns]}
    if client == RESPONSES:
        user_message = {"type": "message", "role": "user", "content": "Go on"}
        return {"model": "m", "input": [{**user_message, "content": "Hi"}, *answer["output"], user_message]}
    if client in (GEMINI, "code-assist"):
        inner = answer.get("response", answer)["candidates"][0]["content"]
        asked = [{"role": "user", "parts": [{"text": "Hi"}]}, inner, {"role": "user", "parts": [{"text": "Go on"}]}]
        return {"contents": asked} if client == GEMINI else {"model": "m", "request": {"contents": asked}}
    turns = [answer["choices"][0]["message"], {"role": "user", "content": "Go on"}]
    return {"model": "m", "messages": [{"role": "user", "content": "Hi"}, *turns]}


def _sent(upstream: str, body: bytes) -> list[dict[str, Any]]:
    """Return the turn of the assistant that an upstream gets."""
    request = json.loads(body)
    if upstream == MESSAGES:
        return next(turn["content"] for turn in request["messages"] if turn["role"] == "assistant")
    return next(turn["parts"] for turn in request["contents"] if turn["role"] == "model")


@pytest.mark.parametrize(("kind", "client"), PAIRS)
def test_a_sealed_tool_use_goes_back_unchanged(kind: str, client: str) -> None:
    upstream, model = _upstream(kind)
    done = dragoman.translate_response(_answer(kind), source=upstream, target=client)
    assert check_response(client, done.body, extensions=True) == []
    assert not [loss for loss in done.losses if loss.code == "seal.dropped"]
    asked = dragoman.translate_request(_next(client, done.json()), source=client, target=upstream, model=model)
    assert _sent(upstream, asked.body) == _content(kind)


@pytest.mark.parametrize(("kind", "client"), PAIRS)
def test_another_model_gets_the_tool_use_as_text_without_a_seal(kind: str, client: str) -> None:
    upstream, _ = _upstream(kind)
    other = "claude-opus-4-1" if upstream == MESSAGES else "gemini-2.5-flash"
    done = dragoman.translate_response(_answer(kind), source=upstream, target=client).json()
    asked = dragoman.translate_request(_next(client, done), source=client, target=upstream, model=other)
    text = asked.body.decode()
    assert "ZHJhZ29tYW46" not in text
    assert not [seal for seal in ("c2VhbGVk", "c2lnbmVk") if seal in text]
    assert [loss.code for loss in asked.losses if loss.code == "seal.dropped"]


@pytest.mark.parametrize(("kind", "client"), PAIRS)
def test_a_stream_carries_the_same_seal(kind: str, client: str) -> None:
    upstream, _ = _upstream(kind)
    frames: list[dict[str, Any]] = []
    if upstream == MESSAGES:
        answer = _answer(kind)
        frames.append({"type": "message_start", "message": {**answer, "content": [], "stop_reason": None}})
        for i, block in enumerate(answer["content"]):
            start = {**block, "text": ""} if block["type"] == "text" else block
            frames.append({"type": "content_block_start", "index": i, "content_block": start})
            if block["type"] == "text":
                delta = {"type": "text_delta", "text": block["text"]}
                frames.append({"type": "content_block_delta", "index": i, "delta": delta})
            frames.append({"type": "content_block_stop", "index": i})
        frames.append({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}})
        frames.append({"type": "message_stop"})
    else:
        frames.append(_answer(kind))
    named = [(f"event: {frame['type']}\n" if "type" in frame else "", json.dumps(frame)) for frame in frames]
    body = "".join([f"{event}data: {data}\n\n" for event, data in named]).encode()
    stream = dragoman.StreamTranslator(source=upstream, target=client)
    out = stream.feed(body) + stream.close()
    assert check_stream(client, out, extensions=True) == []
    whole = dragoman.translate_response(_answer(kind), source=upstream, target=client)
    assert _packed(out) == _packed(whole.body) != []


def _packed(body: bytes) -> list[str]:
    """Return the tool uses that are packed in a document."""
    from bench.facts.compare import unpacked

    return sorted({words for words in ("c2VhbGVk", "c2lnbmVk") if words in unpacked(body.decode())})


CITED = {
    "type": "web_search_result_location",
    "url": "https://fees.example/1",
    "title": "Fees",
    "cited_text": "12 kr",
    "encrypted_index": "c2VhbGVkIGluZGV4",
}
CITING = [
    {"type": "text", "text": "I look."},
    *SEARCH,
    {"type": "text", "text": "It costs "},
    {"type": "text", "text": "twelve crowns", "citations": [CITED]},
    {"type": "text", "text": " a day."},
]


@pytest.mark.parametrize("client", [GEMINI, "code-assist", "openai-chat", "openrouter"])
@pytest.mark.parametrize("streamed", [False, True])
def test_sealed_citations_go_back_unchanged(client: str, streamed: bool) -> None:
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": CLAUDE, "stop_reason": "end_turn"}
    answer = {**head, "content": CITING, "usage": {"input_tokens": 1, "output_tokens": 1}}
    if streamed:
        stream = dragoman.StreamTranslator(source=MESSAGES, target=client)
        out = stream.feed(_frames(answer)) + stream.close()
        assert check_stream(client, out, extensions=True) == []
        shown = _folded(client, out)
    else:
        shown = dragoman.translate_response(answer, source=MESSAGES, target=client).json()
    asked = dragoman.translate_request(_next(client, shown), source=client, target=MESSAGES, model=CLAUDE)
    assert _sent(MESSAGES, asked.body) == CITING


def _frames(answer: dict[str, Any]) -> bytes:
    frames: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**answer, "content": [], "stop_reason": None}}
    ]
    for i, block in enumerate(answer["content"]):
        start = {"type": "text", "text": ""} if block["type"] == "text" else block
        frames.append({"type": "content_block_start", "index": i, "content_block": start})
        deltas = [{"type": "citations_delta", "citation": cited} for cited in block.get("citations", ())]
        deltas += [{"type": "text_delta", "text": block["text"]}] if block["type"] == "text" else []
        frames += [{"type": "content_block_delta", "index": i, "delta": delta} for delta in deltas]
        frames.append({"type": "content_block_stop", "index": i})
    frames.append({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}})
    frames.append({"type": "message_stop"})
    return "".join([f"event: {frame['type']}\ndata: {json.dumps(frame)}\n\n" for frame in frames]).encode()


def _folded(client: str, stream: bytes) -> dict[str, Any]:
    """Return the answer that a client builds from a stream."""
    found = [json.loads(line[6:]) for line in stream.decode().splitlines() if line.startswith("data: {")]
    if client in (GEMINI, "code-assist"):
        inner = [frame.get("response", frame)["candidates"][0]["content"]["parts"] for frame in found]
        return {"candidates": [{"content": {"role": "model", "parts": [part for parts in inner for part in parts]}}]}
    deltas = [choice["delta"] for frame in found for choice in frame["choices"]]
    message = {"role": "assistant", "content": "".join([delta.get("content") or "" for delta in deltas])}
    details = [detail for delta in deltas for detail in delta.get("reasoning_details", ())]
    return {"choices": [{"message": {**message, "reasoning_details": details}}]}


THOUGHT = {"type": "thinking", "thinking": "The fees stand on a page.", "signature": "c2lnbmVkIHRob3VnaHQ="}


@pytest.mark.parametrize("client", [RESPONSES, GEMINI, "openai-chat", "openrouter"])
@pytest.mark.parametrize("content", [[THOUGHT, *SEARCH], [{"type": "text", "text": "I look."}, THOUGHT, *SEARCH]])
def test_a_thought_stays_before_the_search_that_followed_it(client: str, content: list[dict[str, Any]]) -> None:
    content = [*content, {"type": "text", "text": "Twelve crowns."}]
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": CLAUDE, "stop_reason": "end_turn"}
    answer = {**head, "content": content, "usage": {"input_tokens": 1, "output_tokens": 1}}
    shown = dragoman.translate_response(answer, source=MESSAGES, target=client).json()
    asked = dragoman.translate_request(_next(client, shown), source=client, target=MESSAGES, model=CLAUDE)
    assert _sent(MESSAGES, asked.body) == content
