"""The agent's own requests: its headers, the ids of conversation and prompt, and the settings for Gemini 2.5."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any

import pytest

from dragoman.canon import Media, Request, Settings, Text, ToolCall, ToolResult, Turn
from dragoman.gateway.http.server import IncomingRequest, ReplyWriter, Server
from dragoman.runtime.models_of_upstreams import NetworkAccess, UpstreamModel
from dragoman.runtime.resumable_conversation import Session
from dragoman.transport.http_client import Pool
from dragoman.transport.http_client_interface import ConnectionLimits
from dragoman.transport.upstream_record_and_environment import Upstream
from tests.unit.agent.test_models_of_upstreams import Host, answer, request_with, with_model

ANSWER = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Fine."}]}, "finishReason": "STOP"}]}
ASSIST = (200, {}, {"response": ANSWER})
GEMINI = (200, {}, ANSWER)


def sent_request(dialect: str, answered: Any, request: Request, model: str, **more: Any) -> Any:
    host = Host(answered)
    with_model(host, lambda found: answer(found, request), model, dialect=dialect, stream="never", **more)
    return host.requests[-1]


def _session() -> Session:
    session = Session(id="sess-123", prompts=3)
    session.say("List directory")
    return session


def test_code_assist_gets_the_ids_of_the_conversation_and_the_prompt() -> None:
    sent = sent_request("code-assist", ASSIST, _session().request(), "gemini-2.5-pro", project="p")
    assert sent["user_prompt_id"] == "sess-123#turn-4"
    assert sent["request"]["session_id"] == "sess-123"


def test_no_other_dialect_gets_the_ids() -> None:
    assert "sess-123" not in str(sent_request("gemini", GEMINI, _session().request(), "gemini-2.5-pro"))


def test_code_assist_gets_gemini_clis_settings_for_models_with_a_budget() -> None:
    sent = sent_request(
        "code-assist", ASSIST, _session().request(Settings(thoughts=True)), "gemini-2.5-pro", project="p"
    )
    assert sent["request"]["generationConfig"] == {
        "temperature": 0,
        "topP": 1,
        "thinkingConfig": {"thinkingBudget": -1, "includeThoughts": True},
    }


@pytest.mark.parametrize(
    ("settings", "config"),
    [
        (Settings(thoughts=True), {"thinkingConfig": {"thinkingBudget": -1, "includeThoughts": True}}),
        (
            Settings(thoughts=True, budget=512, temperature=0.5),
            {"temperature": 0.5, "thinkingConfig": {"thinkingBudget": 512, "includeThoughts": True}},
        ),
    ],
)
def test_gemini_gets_only_the_budget_and_the_users_settings_win(settings: Settings, config: Any) -> None:
    assert (
        sent_request("gemini", GEMINI, _session().request(settings), "gemini-2.5-flash")["generationConfig"] == config
    )


def test_later_models_get_no_budget_and_no_sampling() -> None:
    request = _session().request(Settings(thoughts=True))
    sent = sent_request("code-assist", ASSIST, request, "gemini-3-pro-preview", project="p")
    assert sent["request"]["generationConfig"] == {"thinkingConfig": {"includeThoughts": True}}


@pytest.mark.parametrize("dialect", ["anthropic", "openai-chat", "openai-responses", "gemini", "ollama"])
def test_pictures_in_results_can_be_replaced_by_a_line_of_text(dialect: str) -> None:
    parts = (Text("Binary content of type image/png was processed."), Media("image", "image/png", data="aGk="))
    call, result = ToolCall("c1", "read_file", "{}"), ToolResult("c1", parts, "read_file")
    request = request_with(Turn("assistant", (call,)), Turn("tool", (result,)))
    for binary, carried in (("native", True), ("summarise", False)):
        host = Host((500, {}, {}))

        async def use(model: UpstreamModel, binary: Any = binary) -> Any:
            with_binary = UpstreamModel(model.name, model._upstream, "m", model._net, binary=binary)
            return await answer(with_binary, request)

        with_model(host, use, dialect=dialect, stream="never")
        sent = str(host.requests[-1])
        assert ("aGk=" in sent) is carried, sent
        assert sent.count("Binary content of type image/png was processed.") == 1 or carried


def _headers(upstream: dict[str, Any]) -> dict[str, str]:
    """The headers that arrive at an upstream."""
    arrived: list[dict[str, str]] = []

    async def handle(request: IncomingRequest, reply: ReplyWriter) -> None:
        arrived.append(dict(request.headers))
        reply.send(500, [], b"{}")

    async def inner() -> None:
        server = Server(handle)
        base = f"http://127.0.0.1:{await server.start('127.0.0.1', 0)}"
        net = NetworkAccess(Pool(ConnectionLimits()), {}, time.time)
        try:
            model = UpstreamModel("u/m", Upstream(base_url=base, auth="none", **upstream), "m", net)
            await asyncio.wait_for(answer(model, request_with()), 20)
        finally:
            net.client.close()
            await server.stop(1)

    asyncio.run(inner())
    return arrived[-1]


def test_the_user_agent_has_the_version_and_the_system() -> None:
    found = _headers({"dialect": "gemini"})
    assert re.fullmatch(r"dragoman/\d+\.\d+\.\d+\S* \(\w+; \w+\)", found["user-agent"])
    assert "x-gemini-api-privileged-user-id" not in found


def test_a_configured_header_is_added_or_replaces_ours() -> None:
    with_binary = {"X-Gemini-Api-Privileged-User-Id": "id-1", "User-Agent": "mine/1"}
    found = _headers({"dialect": "gemini", "headers": with_binary})
    assert (found["x-gemini-api-privileged-user-id"], found["user-agent"]) == ("id-1", "mine/1")


def test_openrouter_gets_the_name_of_the_program() -> None:
    found = _headers({"dialect": "openrouter"})
    assert "http-referer" not in found, "the project has no web page"
    assert (found["x-openrouter-title"], found["x-title"]) == ("dragoman", "dragoman")
    assert "x-title" not in _headers({"dialect": "openai-chat"})


def test_the_name_for_openrouter_can_be_configured() -> None:
    found = _headers({"dialect": "openrouter", "headers": {"X-Title": "Mine", "HTTP-Referer": "https://my.example"}})
    assert (found["x-openrouter-title"], found["x-title"]) == ("Mine", "Mine")
    assert found["http-referer"] == "https://my.example"
