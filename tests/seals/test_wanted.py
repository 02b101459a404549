"""Unsealed thoughts that a host wants back, through clients that remove thoughts."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman import MemoryVault, StreamTranslator, dialects
from tests.seals.continuing_clients import Client

HOST = "api.deepseek.com"
MODEL = "deepseek-reasoner"
TOOLS = [{"functionDeclarations": [{"name": "look", "parametersJsonSchema": {"type": "object"}}]}]
ASKED = {"role": "user", "parts": [{"text": "what is there?"}]}
CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
ANSWER: dict[str, Any] = {
    "id": "a",
    "object": "chat.completion",
    "created": 1,
    "model": MODEL,
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "", "reasoning_content": "I look first.", "tool_calls": [CALL]},
            "finish_reason": "tool_calls",
        }
    ],
}


def translate(contents: list[Any], client: str) -> dragoman.Translation:
    body: dict[str, Any] = {"contents": contents, "tools": TOOLS}
    if client == "code-assist":
        body = {"model": MODEL, "request": body}
    return dragoman.translate_request(body, source=client, target="openai-chat", model=MODEL, host=HOST)


def stripped(parts: list[Any]) -> list[Any]:
    """The parts that Gemini CLI keeps of an answer."""
    return [part for part in parts if not part.get("thought")]


def next_request(parts: list[Any], client: str) -> Any:
    result = {"functionResponse": {"id": "call_1", "name": "look", "response": {"output": "a tree"}}}
    contents = [ASKED, {"role": "model", "parts": stripped(parts)}, {"role": "user", "parts": [result]}]
    return json.loads(translate(contents, client).body)


def parts_of(body: bytes, client: str) -> list[Any]:
    answer = json.loads(body)
    answer = answer["response"] if client == "code-assist" else answer
    parts: list[Any] = answer["candidates"][0]["content"]["parts"]
    return parts


@pytest.mark.parametrize("client", ["gemini", "code-assist"])
def test_a_thought_comes_back_with_the_next_call(client: str) -> None:
    first = translate([ASKED], client)
    translated = dragoman.translate_response(ANSWER, source="openai-chat", target=client, answers=first)
    message = next_request(parts_of(translated.body, client), client)["messages"][1]
    assert message["reasoning_content"] == "I look first."
    assert message["tool_calls"][0]["function"]["name"] == "look"


@pytest.mark.parametrize("client", ["gemini", "code-assist"])
def test_a_thought_of_a_stream_comes_back_with_the_next_call(client: str) -> None:
    deltas: list[Any] = [
        {"role": "assistant", "content": None, "reasoning_content": "I look"},
        {"reasoning_content": " first."},
        {"tool_calls": [{"index": 0, **CALL}]},
    ]
    head = {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    stream = StreamTranslator(source="openai-chat", target=client, answers=translate([ASKED], client))
    out = b"".join([stream.feed(b"data: " + json.dumps(chunk).encode() + b"\n\n") for chunk in chunks])
    out += stream.feed(b"data: [DONE]\n\n") + stream.close()
    frames = [frame[6:] for frame in out.replace(b"\r\n", b"\n").split(b"\n\n") if frame.startswith(b"data: {")]
    parts = [part for frame in frames for part in parts_of(frame, client)]
    assert next_request(parts, client)["messages"][1]["reasoning_content"] == "I look first."


def test_a_thought_is_not_doubled_for_a_client_that_keeps_thoughts() -> None:
    translated = dragoman.translate_response(
        ANSWER, source="openai-chat", target="gemini", answers=translate([ASKED], "gemini")
    )
    parts = parts_of(translated.body, "gemini")
    assert [part.get("text") for part in parts if part.get("thought")] == ["I look first."]
    result = {"functionResponse": {"id": "call_1", "name": "look", "response": {"output": "a tree"}}}
    second = translate([ASKED, {"role": "model", "parts": parts}, {"role": "user", "parts": [result]}], "gemini")
    assert json.loads(second.body)["messages"][1]["reasoning_content"] == "I look first."


def test_another_host_does_not_get_the_thought() -> None:
    translated = dragoman.translate_response(
        ANSWER, source="openai-chat", target="gemini", answers=translate([ASKED], "gemini")
    )
    contents = [ASKED, {"role": "model", "parts": stripped(parts_of(translated.body, "gemini"))}]
    body = {"contents": contents, "tools": TOOLS}
    other = dragoman.translate_request(
        body, source="gemini", target="openai-chat", model="gpt-4o", host="api.openai.com"
    )
    assert b"I look first" not in other.body


def test_an_answer_without_a_call_carries_no_hidden_thought() -> None:
    answer = json.loads(json.dumps(ANSWER))
    answer["choices"][0]["message"] = {"role": "assistant", "content": "A tree.", "reasoning_content": "I know."}
    translated = dragoman.translate_response(
        answer, source="openai-chat", target="gemini", answers=translate([ASKED], "gemini")
    )
    assert parts_of(translated.body, "gemini") == [{"text": "I know.", "thought": True}, {"text": "A tree."}]


def test_the_vault_keeps_the_thought() -> None:
    vault = MemoryVault()
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    messages_so_far: list[Any] = [{"role": "user", "content": "what is there?"}]
    body = {"model": MODEL, "messages": messages_so_far, "tools": tools}

    def sent(body: dict[str, Any]) -> dragoman.Translation:
        return dragoman.translate_request(body, source="ollama", target="openai-chat", vault=vault, host=HOST)

    translated = dragoman.translate_response(
        ANSWER, source="openai-chat", target="ollama", answers=sent(body), seals="auto", vault=vault
    )
    message = json.loads(translated.body)["message"]
    message.pop("thinking", None)
    messages_so_far += [message, {"role": "tool", "tool_name": "look", "content": "a tree", "tool_call_id": "call_1"}]
    assert json.loads(sent(body).body)["messages"][1]["reasoning_content"] == "I look first."


CLIENTS = [name for name in dialects.names() if name != "openai-chat"]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_thought_comes_back_in_the_id_of_the_next_call(client: str, streamed: bool) -> None:
    call = {**CALL, "function": {"name": "weather", "arguments": "{}"}}
    message = {"role": "assistant", "content": "", "reasoning_content": "I look first.", "tool_calls": [call]}
    person = Client(client, MODEL)
    person.say("what is there?")

    def sent() -> dragoman.Translation:
        body = person.request(stream=streamed)
        return dragoman.translate_request(body, source=client, target="openai-chat", model=MODEL, host=HOST, seals="id")

    head = {"id": "a", "created": 1, "model": MODEL}
    if streamed:
        deltas = [
            {"role": "assistant", "reasoning_content": "I look"},
            {"reasoning_content": " first."},
            {"tool_calls": [{"index": 0, **call}]},
        ]
        chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
        translated = StreamTranslator(source="openai-chat", target=client, answers=sent(), seals="id")
        out = b"".join([translated.feed(b"data: " + json.dumps(chunk).encode() + b"\n\n") for chunk in chunks])
        out += translated.feed(b"data: [DONE]\n\n") + translated.close()
    else:
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        answer = {**head, "object": "chat.completion", "choices": [choice]}
        out = dragoman.translate_response(answer, source="openai-chat", target=client, answers=sent(), seals="id").body
    person.append_answer(person.gathered(out, streamed=streamed))
    messages = json.loads(sent().body)["messages"]
    assert messages[1]["reasoning_content"] == "I look first."
    assert messages[1]["tool_calls"][0]["id"] == messages[2]["tool_call_id"] == "call_1"


PROXY = "llm.company.example"


@pytest.mark.parametrize("host", [PROXY, None])
@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_an_unknown_host_gets_its_thoughts_back(client: str, field: str, streamed: bool, host: str | None) -> None:
    call = {**CALL, "function": {"name": "weather", "arguments": "{}"}}
    message = {"role": "assistant", "content": "", field: "I look first.", "tool_calls": [call]}
    person, vault = Client(client, MODEL), MemoryVault()
    person.say("what is there?")

    def sent(model: str = MODEL, to: str | None = host) -> dragoman.Translation:
        body = person.request(stream=streamed)
        return dragoman.translate_request(body, source=client, target="openai-chat", model=model, host=to, vault=vault)

    head = {"id": "a", "created": 1, "model": MODEL}
    if streamed:
        deltas = [{"role": "assistant", field: "I look"}, {field: " first."}, {"tool_calls": [{"index": 0, **call}]}]
        chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
        translated = StreamTranslator(source="openai-chat", target=client, answers=sent(), vault=vault)
        out = b"".join([translated.feed(b"data: " + json.dumps(chunk).encode() + b"\n\n") for chunk in chunks])
        out += translated.feed(b"data: [DONE]\n\n") + translated.close()
    else:
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        answer = {**head, "object": "chat.completion", "choices": [choice]}
        out = dragoman.translate_response(answer, source="openai-chat", target=client, answers=sent(), vault=vault).body
    person.append_answer(person.gathered(out, streamed=streamed))
    found = json.loads(sent().body)["messages"][1]
    assert found[field] == "I look first."
    other = "reasoning" if field == "reasoning_content" else "reasoning_content"
    assert other not in found
    assert b"I look first" not in sent(model="gpt-4o").body
    if host is not None:
        assert b"I look first" not in sent(to="other.example").body
    assert b"I look first" not in sent(to="api.groq.com").body
