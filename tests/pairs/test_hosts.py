"""Hosts that differ from OpenAI get no refused field, each change is reported, and their thoughts come back."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest

import dragoman
from dragoman.dialects import names as dialects
from dragoman.facts import hosts, profiles
from dragoman.facts.host import Host
from dragoman.fast import forget

NAMES = [row.names[0] for row in hosts.rows() if row.names and "openai-chat" in row.dialects]
PNG = "iVBORw0KGgoAAAANSUhEUg=="

EVERYTHING: dict[str, Any] = {
    "model": "some-model",
    "messages": [
        {"role": "developer", "content": "Be brief."},
        {
            "role": "user",
            "name": "bob",
            "content": [
                {"type": "text", "text": "What is it?", "prompt_cache_breakpoint": {"mode": "explicit"}},
                {"type": "text", "text": "Say.", "cache_control": {"type": "ephemeral"}},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
                {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"}},
            ],
        },
        {
            "role": "assistant",
            "content": "Look:",
            "annotations": [{"type": "url_citation", "url_citation": {"url": "https://example.com", "title": "t"}}],
            "audio": {"id": "a1"},
            "reasoning_content": "Need f.",
            "reasoning_details": [{"type": "reasoning.text", "text": "Need f."}],
            "tool_calls": [
                {
                    "id": "call_first",
                    "type": "function",
                    "function": {"name": "f", "arguments": "{}"},
                    "extra_content": {"google": {"thought_signature": "c2ln"}},
                },
                {"id": "call_second", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_first", "content": "ok"},
        {"role": "tool", "tool_call_id": "call_second", "content": "ok"},
        {"role": "assistant", "content": None, "refusal": "No."},
        {"role": "user", "content": "Go on."},
    ],
    "tools": [
        {"type": "function", "function": {"name": "f", "strict": True, "parameters": {"type": "object"}}},
        {"type": "function", "function": {"name": "g", "parameters": {"type": "object", "properties": {}}}},
        {"type": "custom", "custom": {"name": "patch"}},
    ],
    "tool_choice": {
        "type": "allowed_tools",
        "allowed_tools": {
            "mode": "required",
            "tools": [{"type": "function", "function": {"name": "f"}}, {"type": "custom", "custom": {"name": "patch"}}],
        },
    },
    "parallel_tool_calls": False,
    "stream": True,
    "stream_options": {"include_usage": True},
    "max_completion_tokens": 100,
    "temperature": 0.5,
    "top_p": 0.9,
    "top_k": 5,
    "stop": ["x"],
    "seed": 7,
    "n": 2,
    "presence_penalty": 0.1,
    "frequency_penalty": 0.1,
    "reasoning_effort": "high",
    "verbosity": "low",
    "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}},
    "logprobs": True,
    "top_logprobs": 2,
    "prompt_cache_key": "k",
    "metadata": {"a": "b"},
    "user": "u",
    "safety_identifier": "s",
    "service_tier": "flex",
    "prompt_cache_options": {"mode": "implicit"},
    "prompt_cache_retention": "24h",
    "modalities": ["text", "audio"],
    "audio": {"format": "wav", "voice": "alloy"},
    "prediction": {"type": "content", "content": "x"},
    "logit_bias": {"1": 1},
    "store": True,
    "moderation": {"model": "m"},
    "web_search_options": {},
}


def facts(name: str) -> Host:
    found = hosts.lookup(name, "openai-chat")
    assert found is not None
    return found


def sent(body: Any, source: str, host: str | None, **more: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the document that is sent to the host, and the losses: place -> code."""
    done = dragoman.translate_request(body, source=source, target="openai-chat", host=host, **more)
    return done.json(), {loss.path: loss.code for loss in done.losses}


def unwanted(document: dict[str, Any], host: Host) -> list[str]:
    """Return the fields of a request that the host refuses."""
    parts = [
        part
        for message in document["messages"]
        if isinstance(message.get("content"), list)
        for part in message["content"]
    ]
    found = []
    for name, fact in host.fields.items():
        if fact is True:
            continue
        place, _, last = name.partition(".")
        if place == "messages[]":
            found += [name for message in document["messages"] if message["role"] != "tool" and last in message]
        elif place == "content[]":
            found += [name for part in parts if part["type"] == last or last in part]
        elif place == "tools[]":
            found += [name for tool in document.get("tools", ()) if tool["type"] == last or last in tool["function"]]
        elif place in ("response_format", "tool_choice") and last:
            value = document.get(place)
            found += [name] if isinstance(value, dict) and value["type"] == last else []
        elif name in document:
            found.append(name)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_request_with_every_field_is_sent_without_refused_fields(name: str) -> None:
    host = facts(name)
    document, losses = sent(EVERYTHING, "openai-chat", name)
    assert unwanted(document, host) == []
    for message in document["messages"]:
        assert message["role"] not in host.roles
        for call in message.get("tool_calls", ()):
            assert re.fullmatch(host.id_pattern or ".+", call["id"])
            assert name == "google" or "extra_content" not in call
        if not host.echo or host.reasoning == "thinking":
            assert "reasoning_content" not in message and "reasoning" not in message
    for field, fact in host.fields.items():
        if fact is False and field in EVERYTHING:
            assert f"/{field}" in losses, (field, losses)
        elif isinstance(fact, str) and field in EVERYTHING:
            assert document[fact] == EVERYTHING[field]
    if not host.echo:
        assert losses["/messages/2/reasoning_content"] == "reasoning.dropped"
    if host.fields.get("messages[].name") is False:
        assert losses["/messages/1/name"] == "name.dropped"
    for place, field in ((2, "image_url"), (3, "input_audio"), (4, "file")):
        if host.fields.get(f"content[].{field}") is False:
            assert losses[f"/messages/1/content/{place}"] == "media.dropped"


@pytest.mark.parametrize("source", [name for name in dialects() if name != "openai-chat"])
@pytest.mark.parametrize("name", NAMES)
def test_a_translated_request_is_sent_without_refused_fields(source: str, name: str) -> None:
    # The request with every field, translated from its own dialect into another one.
    body = dragoman.translate_request(EVERYTHING, source="openai-chat", target=source).body
    document, _ = sent(body, source, name, model="some-model")
    host = facts(name)
    assert unwanted(document, host) == []
    ids = [call["id"] for message in document["messages"] for call in message.get("tool_calls", ())]
    answered = [message["tool_call_id"] for message in document["messages"] if message["role"] == "tool"]
    assert ids == answered
    assert all(re.fullmatch(host.id_pattern or ".+", one) for one in ids)


def test_a_request_that_fits_the_host_passes_byte_by_byte() -> None:
    body = b'{ "model": "mistral-small-latest", "max_tokens": 5, "messages": [{"role": "user", "content": "Hi"}] }'
    for host in ("mistral", "api.mistral.ai", "nobody.example.com"):
        done = dragoman.translate_request(body, source="openai-chat", target="openai-chat", host=host)
        assert (done.body, done.losses) == (body, ())


def test_a_request_written_for_one_host_is_not_reused_for_another() -> None:
    forget()
    body = {
        "model": "m",
        "max_tokens": 10,
        "messages": [
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "toolu_0123456789", "name": "f", "input": {}}],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_0123456789", "content": "ok"}]},
        ],
        "tools": [{"name": "f", "input_schema": {"type": "object"}}],
    }
    plain = [sent(body, "anthropic", None)[0]["messages"][1]["tool_calls"][0]["id"] for _ in range(3)]
    mistral = [sent(body, "anthropic", "mistral")[0]["messages"][1]["tool_calls"][0]["id"] for _ in range(3)]
    translated_id = sent(body, "anthropic", None)[0]["messages"][1]["tool_calls"][0]["id"]
    assert {*plain, translated_id} == {"toolu_0123456789"}
    assert len(set(mistral)) == 1 and re.fullmatch("[a-zA-Z0-9]{9}", mistral[0])


QUESTION: dict[str, Any] = {
    "model": "deepseek-v4-flash",
    "max_tokens": 1000,
    "messages": [{"role": "user", "content": "Hi"}],
    "tools": [{"name": "f", "input_schema": {"type": "object", "properties": {}}}],
}
ANSWER: dict[str, Any] = {
    "id": "x",
    "object": "chat.completion",
    "created": 1,
    "model": "deepseek-v4-flash",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": "",
                "reasoning_content": "I need f.",
                "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            },
        }
    ],
}


def continued(client: str, first: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Return the client's next request."""
    said = copy.deepcopy(first)
    if client == "anthropic":
        result: dict[str, Any] = {"type": "tool_result", "tool_use_id": "call_1", "content": "ok"}
        said["messages"] += [
            {"role": "assistant", "content": answer["content"]},
            {"role": "user", "content": [result]},
        ]
    elif client == "openai-responses":
        said["input"] = [*said["input"], *answer["output"]]
        said["input"].append({"type": "function_call_output", "call_id": "call_1", "output": "ok"})
    elif client in ("gemini", "code-assist"):
        inner, told = (said, answer) if client == "gemini" else (said["request"], answer["response"])
        result = {"functionResponse": {"id": "call_1", "name": "f", "response": {"output": "ok"}}}
        inner["contents"] += [told["candidates"][0]["content"], {"role": "user", "parts": [result]}]
    elif client == "ollama":
        said["messages"] += [answer["message"], {"role": "tool", "tool_name": "f", "content": "ok"}]
    else:
        result = {"role": "tool", "tool_call_id": "call_1", "content": "ok"}
        said["messages"] += [answer["choices"][0]["message"], result]
    return said


@pytest.mark.parametrize("client", dialects())
def test_thoughts_go_back_only_to_the_host_that_made_them(client: str) -> None:
    model = "deepseek-v4-flash"
    first = dragoman.translate_request(QUESTION, source="anthropic", target=client).json()
    asked = dragoman.translate_request(first, source=client, target="openai-chat", model=model, host="api.deepseek.com")
    told = dragoman.translate_response(ANSWER, source="openai-chat", target=client, answers=asked).json()
    following = continued(client, first, told)
    home, losses = sent(following, client, "deepseek", model=model)
    thinking = [message for message in home["messages"] if message["role"] == "assistant"][-1]
    assert thinking["reasoning_content"] == "I need f."
    assert not {"reasoning.dropped", "seal.dropped", "reasoning.invented"} & set(losses.values())
    for other in ("openai", "groq", "google"):
        document, losses = sent(following, client, other, model="other")
        assert "I need f." not in json.dumps(document)
        assert "reasoning.dropped" in losses.values()


def test_thoughts_from_a_stream_go_back_to_their_host() -> None:
    asked = dragoman.translate_request(QUESTION, source="anthropic", target="openai-chat", host="deepseek")
    stream = dragoman.StreamTranslator(source="openai-chat", target="anthropic", answers=asked)
    message = ANSWER["choices"][0]["message"]
    call = {"index": 0, **message["tool_calls"][0]}
    deltas = [
        {"role": "assistant", "reasoning_content": "I need "},
        {"reasoning_content": "f."},
        {"tool_calls": [call]},
    ]
    chunks = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    chunks.append({"index": 0, "delta": {}, "finish_reason": "tool_calls"})
    frames = [json.dumps({"id": "c", "object": "chat.completion.chunk", "choices": [chunk]}) for chunk in chunks]
    out = b"".join([stream.feed(f"data: {frame}\n\n".encode()) for frame in (*frames, "[DONE]")]) + stream.close()
    events = [json.loads(line[6:]) for line in out.decode().splitlines() if line.startswith("data: ")]
    told = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    signature = next(delta["signature"] for delta in told if "signature" in delta)
    said = "".join([delta.get("thinking", "") for delta in told])
    content = [
        {"type": "thinking", "thinking": said, "signature": signature},
        {"type": "tool_use", "id": "call_1", "name": "f", "input": {}},
    ]
    following = continued("anthropic", QUESTION, {"content": content})
    assert sent(following, "anthropic", "deepseek")[0]["messages"][1]["reasoning_content"] == "I need f."
    assert "I need f." not in json.dumps(sent(following, "anthropic", "xai")[0])


def test_a_host_that_requires_thoughts_gets_an_empty_one_for_a_foreign_one() -> None:
    thinking = {"type": "thinking", "thinking": "Claude's own.", "signature": "EqQB"}
    call = {"type": "tool_use", "id": "call_1", "name": "f", "input": {}}
    body = {**QUESTION, "messages": [*QUESTION["messages"], {"role": "assistant", "content": [thinking, call]}]}
    document, losses = sent(body, "anthropic", "deepseek")
    assert document["messages"][1]["reasoning_content"] == ""
    assert losses["/messages/1"] == "reasoning.invented"
    assert "Claude's own." not in json.dumps(document)
    quiet, losses = sent({**body, "thinking": {"type": "disabled"}}, "anthropic", "deepseek")
    assert quiet["thinking"] == {"type": "disabled"} and "reasoning_effort" not in quiet
    assert "reasoning_content" not in quiet["messages"][1]
    assert "reasoning.invented" not in losses.values()


@pytest.mark.parametrize(
    ("host", "model", "thinking", "weakened"),
    [
        ("deepseek", "deepseek-v4-flash", None, True),
        ("deepseek", "deepseek-v4-flash", {"type": "disabled"}, False),
        ("deepseek", "deepseek-chat", None, False),
        ("moonshot", "kimi-k2.6", None, True),
        ("dashscope", "qwen-max", None, False),
        ("dashscope", "qwen-max", {"type": "enabled", "budget_tokens": 2000}, True),
        ("doubleword", "Qwen/Qwen3.5-9B", None, False),
    ],
)
def test_a_forced_choice_is_weakened_where_it_is_refused_while_thinking(
    host: str, model: str, thinking: Any, weakened: bool
) -> None:
    body = {**QUESTION, "model": model, "tool_choice": {"type": "tool", "name": "f"}}
    if thinking is not None:
        body["thinking"] = thinking
    document, losses = sent(body, "anthropic", host)
    assert (losses.get("/tool_choice") == "choice.weakened") is weakened
    if weakened:
        assert document["tool_choice"] == "auto"
        assert document["messages"][0] == {
            "role": "system",
            "content": "You must call the tool `f` in your next answer.",
        }
    else:
        assert document["tool_choice"] == {"type": "function", "function": {"name": "f"}}


def test_a_custom_tool_is_wrapped_for_the_host_and_unwrapped_in_its_answer() -> None:
    body = {
        "model": "deepseek-v4-flash",
        "messages": [{"role": "user", "content": "Patch."}],
        "tools": [{"type": "custom", "custom": {"name": "patch", "description": "Patches."}}],
    }
    asked = dragoman.translate_request(body, source="openai-chat", target="openai-chat", host="deepseek")
    assert asked.json()["tools"][0]["function"]["name"] == "patch"
    answer = copy.deepcopy(ANSWER)
    function = answer["choices"][0]["message"]["tool_calls"][0]["function"]
    function |= {"name": "patch", "arguments": '{"input":"*** Begin"}'}
    told = dragoman.translate_response(answer, source="openai-chat", target="openai-chat", answers=asked).json()
    message = told["choices"][0]["message"]
    assert message["tool_calls"][0]["custom"] == {"name": "patch", "input": "*** Begin"}
    assert message["reasoning_content"] == "I need f."
    stream = dragoman.StreamTranslator(source="openai-chat", target="openai-chat", answers=asked)
    delta = {"index": 0, "id": "call_1", "type": "function", "function": function}
    chunks: list[dict[str, Any]] = [
        {"delta": {"role": "assistant", "tool_calls": [delta]}, "finish_reason": None},
        {"delta": {}, "finish_reason": "tool_calls"},
    ]
    frames = b"".join(
        [
            b"data: "
            + json.dumps({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, **chunk}]}).encode()
            + b"\n\n"
            for chunk in chunks
        ]
    )
    out = (stream.feed(frames + b"data: [DONE]\n\n") + stream.close()).decode()
    assert '"type":"custom"' in out and "*** Begin" in out and '\\"input\\"' not in out


def test_a_schema_is_described_in_text_if_the_host_accepts_only_json_mode() -> None:
    shape = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object", "title": "Weather"}}}
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "response_format": shape}
    document, losses = sent(body, "openai-chat", "deepseek")
    assert document["response_format"] == {"type": "json_object"}
    assert '"title":"Weather"' in document["messages"][0]["content"]
    assert losses == {"/response_format": "format.as_text"}


def test_host_facts_of_the_caller_are_used() -> None:
    row = {
        "names": ["house"],
        "facts": {"null_content": False, "text_lists": False, "fields": {"tools[].strict": False}},
        "source": "our own server",
        "date": "2026-11",
    }
    texts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    body = {
        "model": "m",
        "messages": [
            {"role": "user", "content": texts},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "strict": True}}],
    }
    with hosts.load([row]):
        document, losses = sent(body, "openai-chat", "house")
    assert [message["content"] for message in document["messages"]] == ["a\nb", "", "ok"]
    assert "strict" not in document["tools"][0]["function"]
    assert losses == {"/tools/0": "tool.strict.dropped"}


def test_requests_to_the_responses_endpoint_of_a_host_are_trimmed_too() -> None:
    body = {
        "model": "grok-4.3",
        "input": "Hi",
        "metadata": {"a": "b"},
        "reasoning": {"effort": "low", "summary": "auto"},
    }
    done = dragoman.translate_request(body, source="openai-responses", target="openai-responses", host="api.x.ai")
    assert done.json() == {"model": "grok-4.3", "input": "Hi", "reasoning": {"effort": "low"}}
    assert {(loss.code, loss.path) for loss in done.losses} == {
        ("metadata.dropped", "/metadata"),
        ("thoughts.dropped", "/reasoning/summary"),
    }
    clean = b'{"model": "grok-4.3", "input": "Hi"}'
    assert (
        dragoman.translate_request(clean, source="openai-responses", target="openai-responses", host="xai").body
        == clean
    )


@pytest.mark.parametrize(
    ("model", "field", "code"),
    [
        ("grok-4", "stop", "stop.dropped"),
        ("grok-4", "presence_penalty", "sampling.dropped"),
        ("gpt-5-mini", "stop", "stop.dropped"),
        ("gpt-4o-search-preview", "n", "n.dropped"),
        ("mistral-small-latest", "logprobs", "logprobs.dropped"),
    ],
)
def test_settings_that_a_model_refuses_are_left_out(model: str, field: str, code: str) -> None:
    config = {"stopSequences": ["x"], "presencePenalty": 0.5, "candidateCount": 2, "responseLogprobs": True}
    body = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "generationConfig": config}
    document, losses = sent(body, "gemini", None, model=model)
    assert field in profiles.lookup("openai-chat", model).refuses
    assert field not in document
    assert code in losses.values()


def test_a_model_without_a_system_role_gets_system_text_in_a_user_turn() -> None:
    body = {"model": "o1-mini", "max_tokens": 9, "system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}]}
    document, losses = sent(body, "anthropic", None)
    assert [message["role"] for message in document["messages"]] == ["user", "user"]
    assert losses["/system"] == "system.demoted"


def test_media_that_a_model_refuses_become_a_note() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    body = {**QUESTION, "messages": [{"role": "user", "content": [picture]}]}
    document, losses = sent(body, "anthropic", None)
    assert document["messages"][0]["content"][0]["type"] == "text"
    assert losses["/messages/0/content/0"] == "media.dropped"


def test_sampling_that_openrouter_ignores_is_left_out_and_reported() -> None:
    config = {"temperature": 0.5, "topP": 0.9, "topK": 5}
    body = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "generationConfig": config}
    for model, kept in (("anthropic/claude-opus-4.7", set()), ("anthropic/claude-haiku-4.5", {"temperature", "top_k"})):
        done = dragoman.translate_request(body, source="gemini", target="openrouter", model=model)
        assert {"temperature", "top_k"} & done.json().keys() == kept
        dropped = [loss.path for loss in done.losses if loss.code == "sampling.dropped"]
        assert ("/generationConfig/topK" in dropped) is not bool(kept)
