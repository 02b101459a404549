"""The rehearsal as an upstream for coding agents: it accepts its own seals, and calls tools that an item adds."""

from __future__ import annotations

import asyncio

import msgspec

from dragoman import rehearsal
from dragoman.canon.parts import ToolCall
from dragoman.canon.request import Request
from dragoman.canon.response import Response
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.gateway.endpoints.endpoint_table import EndpointCall
from dragoman.gateway.exchange import rehearsal_upstream
from tests.pairs.agent_bodies import claude_code, codex_programs

MODEL = "rehearsal/rules"


def admitted(body: object, dialect: str, model: str) -> Request:
    request = rehearsal_upstream.admit(msgspec.json.encode(body), EndpointCall("generate", dialect), MODEL, model)
    assert isinstance(request, Request), request
    return request


def answered(request: Request) -> Response:
    response = rehearsal.answer(request).response()
    assert isinstance(response, Response), response
    return response


def test_claude_code_brings_thoughts_of_the_rehearsal_back() -> None:
    body = claude_code()
    body["messages"] = [{"role": "user", "content": "Run the command `cat notes.txt`"}]
    request = admitted(body, "anthropic", "claude-opus-4-8")
    context = Context("rehearsal", "anthropic", answers=request)
    answer = msgspec.json.decode(get("anthropic").write_response(answered(request), context))
    assert [block["type"] for block in answer["content"]] == ["thinking", "tool_use"]
    result = {"type": "tool_result", "tool_use_id": answer["content"][1]["id"], "content": "alpha"}
    body["messages"] += [
        {"role": "assistant", "content": answer["content"]},
        {"role": "user", "content": [result]},
    ]
    last = answered(admitted(body, "anthropic", "claude-opus-4-8"))
    assert last.stop.reason == "stop"


def test_tools_that_an_item_adds_are_called() -> None:
    body = codex_programs()
    prompt = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Sleep for duration_ms 5"}]}
    body["input"] = [*body["input"][:2], prompt]
    request = admitted(body, "openai-responses", "gpt-6.1-sol")
    calls = [part for part in answered(request).parts if isinstance(part, ToolCall)]
    assert [(call.namespace, call.name, call.arguments) for call in calls] == [("clock", "sleep", '{"duration_ms":5}')]


class KeptReply:
    """A reply that keeps its status and body."""

    def __init__(self) -> None:
        self.status, self.body = 0, b""

    def send(self, status: int, headers: object, body: bytes) -> None:
        self.status, self.body = status, body


def test_gemini_clients_may_bring_thoughts_back_without_a_seal() -> None:
    call = {"functionCall": {"name": "look", "args": {}}}
    body = {
        "contents": [
            {"role": "user", "parts": [{"text": "look"}]},
            {"role": "model", "parts": [{"text": "I look.", "thought": True}, call]},
            {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"output": "a tree"}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "look"}]}],
        "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
    }
    request, kept = admitted(body, "gemini", "gemini-2.5-pro"), KeptReply()
    where = EndpointCall("generate", "gemini", "gemini-2.5-pro")
    fault = asyncio.run(rehearsal_upstream.answer_rehearsal(request, where, "m", 1, kept, [], [], False))  # type: ignore[arg-type]
    assert fault is None
    assert kept.status == 200
    assert b"look answered: a tree" in kept.body


def test_code_assist_clients_bring_seals_of_the_rehearsal_back() -> None:
    inside = {
        "contents": [{"role": "user", "parts": [{"text": "look"}]}],
        "tools": [{"functionDeclarations": [{"name": "look"}]}],
        "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
    }
    body = {"model": "gemini-3-pro-preview", "request": inside}
    request = admitted(body, "code-assist", "gemini-3-pro-preview")
    context = Context("rehearsal", "code-assist", answers=request)
    answer = msgspec.json.decode(get("code-assist").write_response(answered(request), context))
    thought, called = answer["response"]["candidates"][0]["content"]["parts"]
    assert thought.pop("thought")  # a history has no thought at this place: the thought comes back as a text
    assert "thoughtSignature" in thought
    result = {"functionResponse": {"name": "look", "response": {"output": "a tree"}}}
    inside["contents"] += [{"role": "model", "parts": [thought, called]}, {"role": "user", "parts": [result]}]
    last = answered(admitted(body, "code-assist", "gemini-3-pro-preview"))
    assert last.stop.reason == "stop"
