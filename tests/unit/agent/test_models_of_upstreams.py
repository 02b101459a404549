"""Models of upstreams: their names, requests and answers. Seals and thoughts return to their origin only."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import Any

import msgspec
import pytest

from dragoman.canon import (
    Event,
    Fault,
    Loss,
    Reasoning,
    Request,
    Response,
    Seal,
    Settings,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
)
from dragoman.canon.fold_and_unfold import fold
from dragoman.errors import ConfigError, FaultError
from dragoman.facts.windows_and_prices import WindowAndPrices
from dragoman.gateway.http.server import IncomingRequest, ReplyWriter, Server
from dragoman.runtime.model_answer_to_run_events import SideQuestion, whole_answer
from dragoman.runtime.models_of_upstreams import NetworkAccess, RehearsalModel, UpstreamModel, Upstreams, usual_model
from dragoman.transport.http_client import Pool
from dragoman.transport.http_client_interface import ConnectionLimits
from dragoman.transport.upstream_record_and_environment import Upstream

Json = Any
ScriptedAnswer = tuple[int, Mapping[str, str], Json]
SCHEMA = '{"type":"object","properties":{}}'


class Host:
    """An upstream on loopback with scripted answers."""

    def __init__(self, *answers: ScriptedAnswer) -> None:
        self._answers = list(answers)
        self.requests: list[Json] = []
        self.paths: list[str] = []

    async def handle(self, request: IncomingRequest, reply: ReplyWriter) -> None:
        self.requests.append(json.loads(request.body or b"null"))
        self.paths.append(request.path)
        status, headers, body = self._answers[min(len(self.requests), len(self._answers)) - 1]
        reply.send(status, [("content-type", "application/json"), *headers.items()], json.dumps(body).encode())


def with_model(upstream_host: Host, use: Callable[[UpstreamModel], Any], model: str = "m", **upstream: Any) -> Any:
    """Run `use` with a model of that host. Returns the result of `use`."""

    async def inner() -> Any:
        server = Server(upstream_host.handle)
        base = f"http://127.0.0.1:{await server.start('127.0.0.1', 0)}"
        net = NetworkAccess(Pool(ConnectionLimits()), {}, time.time)
        fields = {"dialect": "openai-chat", "auth": "none", **upstream}
        try:
            found = UpstreamModel(f"up/{model}", Upstream(base_url=base, **fields), model, net)
            return await asyncio.wait_for(use(found), 20)
        finally:
            net.client.close()
            await server.stop(1)

    return asyncio.run(inner())


async def answer(model: UpstreamModel, request: Request, lost: list[Loss] | None = None) -> Response | Fault:
    events: list[Event] = []
    async with aclosing(model.ask(request, (lost if lost is not None else []).extend)) as stream:
        async for event in stream:
            events.append(event)
    return fold(events)


def request_with(*turns: Turn, tools: tuple[Tool, ...] = ()) -> Request:
    return Request((Turn("user", (Text("Hello"),)), *turns), tools=tools, stream=True)


def chat(**message: Json) -> ScriptedAnswer:
    end = "tool_calls" if "tool_calls" in message else "stop"
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": end}
    whole = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return 200, {}, whole


def chat_call(name: str) -> Json:
    return [{"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}}]


@pytest.mark.parametrize("stream", ["auto", "never"])
def test_an_answer_without_a_stream_is_read(stream: str) -> None:
    host = Host(chat(content="Good morning."))
    reply = with_model(host, lambda model: answer(model, request_with()), stream=stream)
    assert isinstance(reply, Response) and reply.parts[0].text == "Good morning."  # type: ignore[attr-defined]
    assert host.requests[0].get("stream", False) is (stream == "auto")


def test_a_renamed_tool_comes_back_under_its_own_name() -> None:
    tool = Tool("files.read", "Reads.", SCHEMA)
    host = Host(chat(content="..."))

    async def use(model: UpstreamModel) -> Any:
        await answer(model, request_with(tools=(tool,)))
        sent = host.requests[0]["tools"][0]["function"]["name"]
        host._answers = [chat(tool_calls=chat_call(sent))]
        return sent, await answer(model, request_with(tools=(tool,)))

    sent, reply = with_model(host, use)
    assert sent != "files.read"
    assert isinstance(reply, Response) and [part.name for part in reply.parts] == ["files.read"]  # type: ignore[attr-defined]


def test_two_calls_with_the_same_id_get_different_ids() -> None:
    calls = [*chat_call("look"), *chat_call("look")]
    reply = with_model(Host(chat(tool_calls=calls)), lambda model: answer(model, request_with(tools=(Tool("look"),))))
    assert isinstance(reply, Response)
    assert len({part.id for part in reply.parts if isinstance(part, ToolCall)}) == 2


def _after(reply: Response) -> tuple[Turn, Turn]:
    calls = [part for part in reply.parts if isinstance(part, ToolCall)]
    return Turn("assistant", reply.parts), Turn("tool", tuple([ToolResult(c.id, (Text("x"),), c.name) for c in calls]))


@pytest.mark.parametrize(("second", "comes_back"), [("deepseek", True), ("mistral", True), ("groq", False)])
def test_thoughts_are_sent_only_to_hosts_that_accept_them(second: str, comes_back: bool) -> None:
    thinking = Host(chat(reasoning_content="Hm.", tool_calls=chat_call("look")))
    request = request_with(tools=(Tool("look", "", SCHEMA),))
    reply = with_model(thinking, lambda model: answer(model, request), "deepseek-reasoner", host="deepseek")
    assert isinstance(reply, Response)
    assert reply.parts[0].seal == Seal("openai-chat", "", "", "deepseek-reasoner", "deepseek")
    host = Host(chat(content="Good."))
    lost: list[Loss] = []
    second_request = request_with(*_after(reply), tools=(Tool("look", "", SCHEMA),))
    with_model(host, lambda model: answer(model, second_request, lost), "deepseek-reasoner", host=second)
    sent = json.dumps(host.requests[0])
    assert ("Hm." in sent) is comes_back
    assert any(loss.code == "reasoning.dropped" for loss in lost) is not comes_back


def test_a_seal_of_another_model_is_dropped() -> None:
    thought = Reasoning("Hm.", seal=Seal("anthropic", "c2VhbA==", "", "claude-opus-4-1"))
    turns = (Turn("assistant", (thought, Text("So."))), Turn("user", (Text("And?"),)))
    whole = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": "end_turn"}
    for model, kept in (("claude-opus-4-1-20250805", True), ("claude-sonnet-4-5", False)):
        host = Host((200, {}, {**whole, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}))
        lost: list[Loss] = []
        with_model(host, lambda found, lost=lost: answer(found, request_with(*turns), lost), model, dialect="anthropic")  # type: ignore[misc]
        assert ("c2VhbA==" in json.dumps(host.requests[0])) is kept
        assert any(loss.code == "seal.dropped" for loss in lost) is not kept


def test_ollama_gets_no_think_option_for_shown_thoughts_alone() -> None:
    message = {"role": "assistant", "content": "Good morning."}
    reply = {
        "model": "m",
        "created_at": "2026-01-01T00:00:00Z",
        "message": message,
        "done": True,
        "done_reason": "stop",
    }
    for settings, think in [
        (Settings(thoughts=True), None),
        (Settings(thoughts=True, effort="high"), "high"),
        (Settings(effort="none"), False),
    ]:
        host = Host((200, {}, reply))
        request = msgspec.structs.replace(request_with(), settings=settings)
        with_model(host, lambda model, request=request: answer(model, request), dialect="ollama", stream="never")
        assert host.requests[-1].get("think") == think  # The first request reads the window.


def test_errors_of_the_upstream_become_faults() -> None:
    host = Host((429, {"retry-after": "7"}, {"error": {"message": "slowly", "type": "rate_limit"}}))
    reply = with_model(host, lambda model: answer(model, request_with()))
    assert isinstance(reply, Fault) and (reply.kind, reply.retry_after) == ("rate_limit", 7.0)
    reply = with_model(Host((307, {"location": "http://elsewhere/"}, {})), lambda model: answer(model, request_with()))
    assert isinstance(reply, Fault) and "redirect to http://elsewhere/" in reply.message
    reply = with_model(
        Host((200, {}, {"error": {"message": "broken", "type": "server_error"}})), lambda m: answer(m, request_with())
    )
    assert isinstance(reply, Fault) and reply.message == "broken"
    reply = with_model(Host((200, {}, ["nonsense"])), lambda model: answer(model, request_with()))
    assert isinstance(reply, Fault) and reply.kind == "upstream_bad"


@pytest.mark.parametrize(
    ("dialect", "families", "tool"),
    [
        ("gemini", {"web_search", "web_fetch"}, {"googleSearch": {}}),
        ("anthropic", {"web_search", "web_fetch"}, {"name": "web_search"}),
        ("openai-responses", {"web_search"}, {"type": "web_search"}),
        ("ollama", set(), None),
    ],
)
def test_a_side_question_can_use_the_upstreams_own_tools(dialect: str, families: set[str], tool: Json) -> None:
    host = Host((500, {}, {}))

    async def use(model: UpstreamModel) -> frozenset[str]:
        if tool is not None:
            with pytest.raises(FaultError):
                aside = SideQuestion(lambda request: whole_answer(model, request, []), list[Usage]().append)
                await aside("What is new?", hosted=("web_search",))
        return model.hosted

    assert with_model(host, use, dialect=dialect) == families
    if tool is not None:
        (sent,) = host.requests[0]["tools"]
        assert tool.items() <= sent.items()


def test_models_are_found_by_name() -> None:
    upstreams = {
        "openai": Upstream("openai-responses", key_env="K", models=("gpt-*",)),
        "mine": Upstream("ollama"),
    }
    found = Upstreams(upstreams, NetworkAccess(Pool(ConnectionLimits()), {}, time.time))
    assert found("gpt-5.1").name == "openai/gpt-5.1"
    assert found("mine/qwen3:8b").name == "mine/qwen3:8b"
    assert found("mine/qwen3:8b") is found("mine/qwen3:8b")
    assert isinstance(found("rehearsal"), RehearsalModel) and found("rehearsal").name == "rehearsal/rules"
    with pytest.raises(ConfigError, match="mine/MODEL"):
        found("claude")
    for name, advice in [
        ("anthropic/claude-sonnet-4-5", "Set ANTHROPIC_API_KEY, or run: dragoman login anthropic"),
        ("gemini-2.5-pro", "Set GEMINI_API_KEY, or run: dragoman login gemini"),
        ("ollama/qwen3", "Set OLLAMA_HOST"),
    ]:
        with pytest.raises(ConfigError, match=f"model '{name}': no upstream is configured for it. {advice}$"):
            found(name)
    with pytest.raises(ConfigError, match="unknown model 'nobody/m'; valid: "):
        found("nobody/m")
    with pytest.raises(ConfigError, match=r"unknown model 'openai/'; did you mean openai/MODEL\? \(valid: "):
        found("openai/")


def test_the_default_model_follows_from_the_upstreams() -> None:
    anthropic = Upstream("anthropic", key_env="K")
    assert usual_model({"anthropic": anthropic}, {}).startswith("anthropic/claude-")
    assert usual_model({"anthropic": anthropic}, {"DRAGOMAN_MODEL": "a/b"}) == "a/b"
    assert usual_model({"x": Upstream("openai-chat", models=("gpt-*", "exact"))}, {}) == "x/exact"
    assert usual_model({}, {}) == "rehearsal/rules"
    with pytest.raises(ConfigError, match="ollama/MODEL"):
        usual_model({"ollama": Upstream("ollama")}, {})


def ollama_host(shown: Json, status: int = 200) -> Host:
    message = {"role": "assistant", "content": "Good morning."}
    reply = {
        "model": "m",
        "created_at": "2026-01-01T00:00:00Z",
        "message": message,
        "done": True,
        "done_reason": "stop",
    }
    return Host((status, {}, shown), (200, {}, reply))


INFO = {"general.architecture": "qwen3", "qwen3.context_length": 131072}


@pytest.mark.parametrize(
    ("shown", "window"),
    [
        ({"parameters": "temperature 0.6\nnum_ctx                        8192", "model_info": INFO}, 8192),
        ({"parameters": "", "model_info": INFO}, 32768),
        ({"model_info": {"gemma.context_length": 2048}}, 2048),
        ({"model_info": {"gemma.context_length": "many"}}, None),
        ({}, None),
    ],
)
def test_ollamas_window_is_read_once_and_sent_with_each_request(shown: Json, window: int | None) -> None:
    host = ollama_host(shown)

    async def use(model: UpstreamModel) -> WindowAndPrices:
        await answer(model, request_with())
        await answer(model, request_with())
        return await model.known()

    assert with_model(host, use, dialect="ollama", stream="never").context == window
    assert host.paths == ["/api/show", "/api/chat", "/api/chat"]
    assert host.requests[0] == {"model": "m"}
    assert [request.get("options", {}).get("num_ctx") for request in host.requests[1:]] == [window, window]


def test_without_a_known_window_no_window_is_sent() -> None:
    host = ollama_host({"error": "not found"}, 404)
    reply = with_model(host, lambda model: answer(model, request_with()), dialect="ollama", stream="never")
    assert isinstance(reply, Response) and "options" not in host.requests[1]


def test_a_configured_window_is_sent_without_reading_the_servers() -> None:
    host = ollama_host({})

    async def use(model: UpstreamModel) -> Response | Fault:
        with_window = UpstreamModel(model.name, model._upstream, "m", model._net, WindowAndPrices(context=4096))
        return await answer(with_window, request_with())

    with_model(host, use, dialect="ollama", stream="never")
    assert host.paths == ["/api/chat"] and host.requests[0]["options"]["num_ctx"] == 4096


def test_configured_windows_apply_to_the_models() -> None:
    net = NetworkAccess(Pool(ConnectionLimits()), {}, time.time)
    found = Upstreams({"a": Upstream("anthropic", auth="none")}, net, {"a/*": WindowAndPrices(context=5)})
    assert asyncio.run(found("a/claude-opus-5").known()).context == 5
    assert asyncio.run(found("a/claude-opus-5").known()).input_price == 5.0


def test_a_window_in_the_upstreams_list_is_known_after_the_check() -> None:
    host = Host((200, {}, {"data": [{"id": "other", "max_model_len": 1}, {"id": "m", "max_model_len": 40960}]}))

    async def use(model: UpstreamModel) -> list[int | None]:
        before = (await model.known()).context
        await model.check()
        return [before, (await model.known()).context]

    assert with_model(host, use) == [None, 40960]
