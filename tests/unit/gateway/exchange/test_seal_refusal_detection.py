"""After an upstream refuses a seal, the request is sent once more without seals, and the client gets a loss report."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman.canon.events import Fault
from dragoman.gateway.exchange.seal_refusal_detection import refuses_seals
from tests.seals import sealing_upstreams

from ..helpers import Received, ScriptedUpstream, failing, gateway_to, path_of, run, whole

Json = Any

SIGNATURE = "c2lnbmF0dXJlLW9mLXRoZS1vcmlnaW4="
REFUSALS = {
    "anthropic": {
        "type": "error",
        "error": {
            "type": "invalid_request_error",
            "message": "messages.1.content.0: Invalid `signature` in `thinking` block",
        },
    },
    "gemini": {"error": {"code": 400, "message": "Thought signature is not valid.", "status": "INVALID_ARGUMENT"}},
    "openai-responses": {
        "error": {
            "message": "The encrypted content gAAA...DQ== could not be verified.",
            "type": "invalid_request_error",
            "param": None,
            "code": "invalid_encrypted_content",
        }
    },
    "openrouter": {
        "error": {
            "message": "Provider returned error",
            "code": 400,
            "metadata": {
                "raw": '{"message":"messages.7.content.2: Invalid `signature` in `thinking` block"}',
                "provider_name": "Amazon Bedrock",
            },
        }
    },
}
MODELS = {
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-3-pro-preview",
    "openai-responses": "gpt-5.2",
    "openrouter": "anthropic/claude-sonnet-4.5",
}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
THINKING = {"type": "thinking", "thinking": "Hm.", "signature": SIGNATURE}
HISTORIES: dict[str, Json] = {
    "anthropic": {
        "model": MODELS["anthropic"],
        "max_tokens": 9000,
        "thinking": {"type": "enabled", "budget_tokens": 2000},
        "messages": [
            {"role": "user", "content": "look"},
            {"role": "assistant", "content": [THINKING, CALL]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a tree"}]},
        ],
    },
    "gemini": {
        "contents": [
            {"role": "user", "parts": [{"text": "look"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "look"}, "thoughtSignature": SIGNATURE}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"output": "a tree"}}}]},
        ],
    },
    "openai-responses": {
        "model": MODELS["openai-responses"],
        "store": False,
        "input": [
            {"role": "user", "content": "look"},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": SIGNATURE},
            {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "a tree"},
        ],
    },
    "openrouter": {
        "model": MODELS["openrouter"],
        "messages": [
            {"role": "user", "content": "look"},
            {
                "role": "assistant",
                "content": "So.",
                "reasoning_details": [
                    {
                        "type": "reasoning.text",
                        "text": "Hm.",
                        "signature": SIGNATURE,
                        "format": "anthropic-claude-v1",
                        "index": 0,
                    }
                ],
            },
            {"role": "user", "content": "go on"},
        ],
    },
}


def refusing(dialect: str) -> Any:
    return failing(400, body=json.dumps(REFUSALS[dialect]).encode())


def exchange_with(scripted: ScriptedUpstream, client: str, body: bytes, **route: Any) -> tuple[Received, Json]:
    async def scenario() -> tuple[Received, Json]:
        async with gateway_to(scripted, route=route or None) as front:
            path = path_of(client).replace("/m:", f"/{MODELS['gemini']}:")
            received = await front.ask(path, body)
            return received, await front.exchange(received)

    found: tuple[Received, Json] = run(scenario())
    return found


@pytest.mark.parametrize("dialect", MODELS)
def test_within_one_dialect_seals_are_removed_from_the_bytes(dialect: str) -> None:
    scripted = ScriptedUpstream(refusing(dialect), whole(dialect), dialect=dialect)
    body = json.dumps(HISTORIES[dialect], indent=1).encode()
    received, exchange = exchange_with(scripted, dialect, body)
    first, second = [request.body for request in scripted.seen]
    assert received.status == 200
    assert SIGNATURE.encode() in first
    assert SIGNATURE.encode() not in second
    assert "seal.dropped" in received.headers["dragoman-losses"]
    assert [one["kind"] for one in exchange["tries"]][:1] == ["invalid_request"]
    lines = [line for line in body.splitlines() if line.strip() not in (b"", b"{", b"}", b"},", b"[", b"]", b"],")]
    left = [line for line in lines if line in second.splitlines()]
    assert len(left) > len(lines) / 3, "the bytes of the client are edited, not written again"


def test_gemini_gets_the_documented_placeholder_of_a_seal() -> None:
    scripted = ScriptedUpstream(refusing("gemini"), whole("gemini"), dialect="gemini")
    received, _ = exchange_with(scripted, "gemini", json.dumps(HISTORIES["gemini"]).encode())
    parts = json.loads(scripted.seen[1].body)["contents"][1]["parts"]
    assert [part["thoughtSignature"] for part in parts] == ["skip_thought_signature_validator"]
    assert "seal.dummy" in received.headers["dragoman-losses"]


def test_a_messages_request_without_thoughts_loses_its_thinking_budget() -> None:
    scripted = ScriptedUpstream(refusing("anthropic"), whole("anthropic"), dialect="anthropic")
    received, _ = exchange_with(scripted, "anthropic", json.dumps(HISTORIES["anthropic"]).encode())
    second = json.loads(scripted.seen[1].body)
    assert [block["type"] for block in second["messages"][1]["content"]] == ["tool_use"]
    assert "thinking" not in second
    assert "effort.dropped" in received.headers["dragoman-losses"]


@pytest.mark.parametrize("upstream", ["anthropic", "gemini", "openai-responses"])
def test_a_translated_request_is_sent_without_seals(upstream: str) -> None:
    script = sealing_upstreams.UPSTREAMS[upstream](48)
    answer = dragoman.translate_response(
        sealing_upstreams.body(script, 0), source=upstream, target="openai-chat", host="127.0.0.1"
    ).json()
    message = answer["choices"][0]["message"]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "20"} for call in message["tool_calls"]]
    question = {"role": "user", "content": "look"}
    body = json.dumps({"model": script.model, "messages": [question, message, *results]}).encode()
    scripted = ScriptedUpstream(refusing(upstream), whole(upstream), dialect=upstream)
    received, _ = exchange_with(scripted, "openai-chat", body)
    assert received.status == 200
    first, second = [json.loads(request.body) for request in scripted.seen]
    want = [piece[-1] for piece in sealing_upstreams.expected(script, 0) if piece[-1]]
    assert all(seal in json.dumps(first) for seal in want)
    assert not any(seal in json.dumps(second) for seal in want)
    assert ("skip_thought_signature_validator" in json.dumps(second)) is (upstream == "gemini")
    assert "seal.dropped" in received.headers["dragoman-losses"]


def test_a_refused_seal_causes_only_one_more_request() -> None:
    scripted = ScriptedUpstream(refusing("anthropic"), dialect="anthropic")
    received, _ = exchange_with(scripted, "anthropic", json.dumps(HISTORIES["anthropic"]).encode())
    assert received.status == 400
    assert len(scripted.seen) == 2


def test_a_request_without_seals_is_sent_once() -> None:
    scripted = ScriptedUpstream(refusing("anthropic"), dialect="anthropic")
    plain = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    received, _ = exchange_with(scripted, "anthropic", json.dumps(plain).encode())
    assert (received.status, len(scripted.seen)) == (400, 1)


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens: must be greater than thinking.budget_tokens",
        "The signature of your webhook is wrong",
        "messages: text content blocks must be non-empty",
        "input[0].content: encrypted files are not supported",
    ],
)
def test_other_refusals_are_not_retried(message: str) -> None:
    body = json.dumps({"error": {"message": message}}).encode()
    assert not refuses_seals(Fault("invalid_request", message, 400), body)


@pytest.mark.parametrize(
    "message",
    [
        "Function call is missing a thought_signature in functionCall parts.",
        "Unable to submit request because Thought signature is not valid..",
        "Corrupted thought signature.",
        "messages.7.content.2: Invalid signature in thinking block",
        "messages.647.content.0.thinking.signature: Field required",
        "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
        "The encrypted content for item rs_1 could not be verified. Reason: it could not be decrypted or parsed.",
    ],
)
def test_refusals_of_seals_are_detected_by_their_messages(message: str) -> None:
    assert refuses_seals(Fault("invalid_request", message, 400), None)
    assert not refuses_seals(Fault("rate_limit", message, 429), None)
