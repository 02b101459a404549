"""An upstream that refuses the gateway's key: the status and the message for the client."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.canon.events import Fault
from dragoman.dialects import get
from dragoman.errors import ConfigError
from dragoman.gateway.exchange.upstream_key_faults import key_missing, key_refused, refuses_key
from dragoman.transport.upstream_record_and_environment import Upstream

from ..helpers import (
    DIALECTS,
    Received,
    ScriptedUpstream,
    failing,
    gateway_to,
    message_of,
    path_of,
    request_body,
    run,
    streaming,
    whole,
)

STATUS = {"anthropic": 424}  # 400 for all other dialects
OURS: dict[str, Any] = {"upstream": {"auth": "auto", "key_env": "THEIR_KEY"}, "environment": {"THEIR_KEY": "sk-ours-1"}}
REFUSED = b'{"error": {"message": "Incorrect API key provided: sk-ours-1.", "code": "invalid_api_key"}}'


def received_by(scripted: ScriptedUpstream, client: str, *, stream: bool = False, **settings: Any) -> Received:
    async def scenario() -> Received:
        async with gateway_to(scripted, **settings) as front:
            return await front.ask(
                path_of(client, stream=stream), request_body(client, stream=stream), {"authorization": "Bearer theirs"}
            )

    received: Received = run(scenario())
    return received


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("client", DIALECTS)
@pytest.mark.parametrize("source", DIALECTS)
def test_a_refused_key_of_the_gateway_is_no_login_fault_of_the_client(source: str, client: str, stream: bool) -> None:
    scripted = ScriptedUpstream(failing(401, body=b"" if source == "ollama" else REFUSED), dialect=source)
    received = received_by(scripted, client, stream=stream, route={"retries": 3}, **OURS)
    message = message_of(client, received.body)
    assert received.status == STATUS.get(client, 400)
    assert message.startswith("Upstream 'a' refused the key in THEIR_KEY (status 401")
    assert message.endswith("Set THEIR_KEY to a valid key, and start the gateway again.")
    assert "sk-ours-1" not in message
    assert len(scripted.seen) == 1
    assert "www-authenticate" not in received.headers


@pytest.mark.parametrize("client", DIALECTS)
def test_a_refused_key_of_the_client_is_a_login_fault(client: str) -> None:
    passed: dict[str, Any] = {**OURS, "route": {"client_key": True}}
    assert received_by(ScriptedUpstream(failing(401, body=REFUSED)), client, **passed).status == 401
    passed = {"upstream": {"auth": "client"}}
    received = received_by(ScriptedUpstream(failing(401, body=REFUSED)), client, **passed)
    assert received.status == 401 and "Incorrect API key provided" in message_of(client, received.body)


@pytest.mark.parametrize("client", DIALECTS)
def test_a_missing_key_of_the_gateway_is_no_login_fault_of_the_client(client: str) -> None:
    scripted = ScriptedUpstream(whole("openai-chat"))
    received = received_by(scripted, client, upstream={"auth": "auto", "key_env": "THEIR_KEY"})
    assert received.status == STATUS.get(client, 400)
    message = message_of(client, received.body)
    assert message.startswith("Upstream 'a' was not used") and "THEIR_KEY is empty" in message
    assert scripted.seen == []


def test_the_fault_of_a_missing_key_names_the_setting() -> None:
    received = received_by(ScriptedUpstream(failing(401)), "anthropic")
    message = message_of("anthropic", received.body)
    assert received.status == 424
    assert message.startswith("Upstream 'a' needs a key, and the gateway has none for it (status 401: no luck).")
    assert "upstreams.a.key_env" in message
    fault = key_refused(Fault("auth", "no", 401), "g", Upstream("gemini", project="p"))
    assert fault.message.startswith("Upstream 'g' refused the Google credentials (status 401: no)")


def test_a_key_fault_inside_a_good_status_is_a_key_fault() -> None:
    error = b'{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}'
    event = b"event: error\ndata: " + error + b"\n\n"
    received = received_by(
        ScriptedUpstream(streaming([event]), dialect="anthropic"), "openai-chat", stream=True, **OURS
    )
    assert (received.status, received.json()["error"]["code"]) == (400, "upstream_key_refused")


def refusal(source: str, message: str, reason: str = "", **more: Any) -> bytes:
    """The body of a 403 in a dialect. `reason` is a field of Google."""
    error: dict[str, Any] = {"message": message, **more}
    if source == "gemini":
        error |= {"code": 403, "status": "PERMISSION_DENIED", "details": [{"reason": reason}] if reason else []}
    return json.dumps({"type": "error", "error": error} if source == "anthropic" else {"error": error}).encode()


ABOUT_KEYS = [
    ("gemini", refusal("gemini", "Your API key was reported as leaked. Please use another API key.")),
    ("gemini", refusal("gemini", "Method doesn't allow unregistered callers (callers without established identity).")),
    ("gemini", refusal("gemini", "Requests to this API method are blocked.", "API_KEY_SERVICE_BLOCKED")),
    ("gemini", refusal("gemini", "Permission denied: Consumer 'api_key:x' is no more.", "CONSUMER_SUSPENDED")),
    ("anthropic", refusal("anthropic", "OAuth token has been revoked. Please obtain a new token.")),
    ("anthropic", refusal("anthropic", "This organization has been disabled.", type="permission_error")),
    ("openrouter", refusal("openrouter", "Key limit exceeded (total limit). Manage it at openrouter.ai.", code=403)),
    ("openai-chat", refusal("openai-chat", "You have insufficient permissions. Missing scopes: model.request.")),
    ("openai-chat", b'{"error": "API key is currently blocked: xai-1", "code": "The caller has no permission"}'),
    ("openai-chat", refusal("openai-chat", "Authentication error", code=10000)),
]
"""Answers of providers with status 403, as their documentation and issue trackers have them (2026-11)."""
ABOUT_REQUESTS = [
    ("openrouter", refusal("openrouter", "Your chosen model requires moderation; your input was flagged.", code=403)),
    ("openai-chat", refusal("openai-chat", "Country, region, or territory not supported", type="request_forbidden")),
    ("openai-chat", refusal("openai-chat", "Project `p` does not have access to model `m`", code="model_not_found")),
    ("openai-chat", refusal("openai-chat", "The model `m` is blocked at the organization level.")),
    ("anthropic", refusal("anthropic", "Request not allowed", type="forbidden")),
    ("anthropic", refusal("anthropic", "Your API key does not have permission to use the specified resource.")),
    ("gemini", refusal("gemini", "The caller does not have permission")),
    ("openai-chat", b"{}"),
    ("openai-chat", refusal("openai-chat", "Your content was flagged: missing API key in the request")),
]


@pytest.mark.parametrize(("source", "sent"), ABOUT_KEYS)
def test_a_403_with_a_key_message_is_a_key_fault(source: str, sent: bytes) -> None:
    assert refuses_key(get(source).read_fault(sent, 403, {}), sent)
    received = received_by(ScriptedUpstream(failing(403, body=sent), dialect=source), "anthropic", **OURS)
    assert received.status == 424 and "refused the key in THEIR_KEY (status 403" in message_of(
        "anthropic", received.body
    )


@pytest.mark.parametrize(("source", "sent"), ABOUT_REQUESTS)
def test_any_other_403_is_a_refusal_of_that_request(source: str, sent: bytes) -> None:
    assert not refuses_key(get(source).read_fault(sent, 403, {}), sent)
    received = received_by(ScriptedUpstream(failing(403, body=sent), dialect=source), "anthropic", **OURS)
    assert received.status in (403, 404) and "THEIR_KEY" not in received.body.decode()


def test_a_400_is_a_key_fault_only_with_a_known_beginning() -> None:
    xai = b'{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xai-1."}'
    assert refuses_key(get("openai-chat").read_fault(xai, 400, {}), xai)
    other = b'{"error":{"message":"messages[0]: a text about an Incorrect API key provided"}}'
    assert not refuses_key(get("openai-chat").read_fault(other, 400, {}), other)


def test_only_the_beginning_of_a_long_text_is_searched() -> None:
    words = "api key " * 200_000
    assert not refuses_key(Fault("permission", words, 403), words.encode())


def test_a_refused_key_is_no_fault_if_another_upstream_answers() -> None:
    async def scenario() -> list[Any]:
        first, second = ScriptedUpstream(failing(401)), ScriptedUpstream(whole("openai-chat"))
        async with gateway_to(first, second, **OURS) as front:
            received = await front.generate("anthropic")
            exchange = await front.exchange(received)
            return [received.status, exchange["tries"][0]["message"][:40]]

    assert run(scenario()) == [200, "Upstream 'a' refused the key in THEIR_KE"]


@pytest.mark.parametrize("client", ["anthropic", "openai-responses"])
def test_a_refused_key_at_a_token_count_is_no_login_fault(client: str) -> None:
    path = {"anthropic": "/v1/messages/count_tokens", "openai-responses": "/v1/responses/input_tokens"}[client]

    async def scenario() -> Received:
        async with gateway_to(ScriptedUpstream(failing(401), dialect="anthropic"), **OURS) as front:
            return await front.ask(path, request_body(client))

    received = run(scenario())
    assert received.status == STATUS.get(client, 400)
    assert "refused the key in THEIR_KEY" in message_of(client, received.body)


def test_a_refused_key_at_a_code_assist_session_call_is_no_login_fault() -> None:
    async def scenario() -> Received:
        async with gateway_to(ScriptedUpstream(failing(401), dialect="code-assist"), **OURS) as front:
            return await front.ask("/v1internal:loadCodeAssist", b"{}")

    received = run(scenario())
    assert received.status == 400 and b"refused the key in THEIR_KEY" in received.body


def test_the_fault_of_a_missing_key_contains_advice() -> None:
    message = key_missing("a", ConfigError("key", "", problem="the variable K is empty")).message
    assert message.startswith(
        "Upstream 'a' was not used, because the gateway has no key for it: the variable K is empty."
    )
