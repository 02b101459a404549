"""Models of upstreams: how they are found, asked and understood; what goes back to its origin, and to nobody else."""

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
from dragoman.gateway.http.server import IncomingRequest, Reply, Server
from dragoman.runtime.model_answer import SideQuestion, whole_answer
from dragoman.runtime.upstreams import Net, RehearsalModel, UpstreamModel, Upstreams, usual_model
from dragoman.transport.http_client import Pool
from dragoman.transport.http_client_interface import Limits
from dragoman.transport.upstream_config import Upstream

Json = Any
Said = tuple[int, Mapping[str, str], Json]
SCHEMA = '{"type":"object","properties":{}}'


class Host:
    """An upstream on loopback that says what it is told to."""

    def __init__(self, *said: Said) -> None:
        self._said = list(said)
        self.asked: list[Json] = []
        self.paths: list[str] = []

    async def handle(self, request: IncomingRequest, reply: Reply) -> None:
        self.asked.append(json.loads(request.body or b"null"))
        self.paths.append(request.path)
        status, headers, body = self._said[min(len(self.asked), len(self._said)) - 1]
        reply.send(status, [("content-type", "application/json"), *headers.items()], json.dumps(body).encode())


def with_model(there: Host, use: Callable[[UpstreamModel], Any], model: str = "m", **upstream: Any) -> Any:
    """What comes of using a model of that host."""

    async def inner() -> Any:
        server = Server(there.handle)
        base = f"http://127.0.0.1:{await server.start('127.0.0.1', 0)}"
        net = Net(Pool(Limits()), {}, time.time)
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
    async with aclosing(model.ask(request, (lost if lost is not None else []).extend)) as told:
        async for event in told:
            events.append(event)
    return fold(events)


def asks(*turns: Turn, tools: tuple[Tool, ...] = ()) -> Request:
    return Request((Turn("user", (Text("Hello"),)), *turns), tools=tools, stream=True)


def chat(**message: Json) -> Said:
    end = "tool_calls" if "tool_calls" in message else "stop"
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": end}
    whole = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return 200, {}, whole


def chat_call(name: str) -> Json:
    return [{"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}}]


@pytest.mark.parametrize("stream", ["auto", "never"])
def test_an_answer_in_one_piece(stream: str) -> None:
    host = Host(chat(content="Good morning."))
    said = with_model(host, lambda model: answer(model, asks()), stream=stream)
    assert isinstance(said, Response) and said.parts[0].text == "Good morning."  # type: ignore[attr-defined]
    assert host.asked[0].get("stream", False) is (stream == "auto")


def test_a_tool_whose_name_the_upstream_does_not_take_comes_back_under_its_own() -> None:
    tool = Tool("files.read", "Reads.", SCHEMA)
    host = Host(chat(content="..."))

    async def use(model: UpstreamModel) -> Any:
        await answer(model, asks(tools=(tool,)))
        sent = host.asked[0]["tools"][0]["function"]["name"]
        host._said = [chat(tool_calls=chat_call(sent))]
        return sent, await answer(model, asks(tools=(tool,)))

    sent, said = with_model(host, use)
    assert sent != "files.read"
    assert isinstance(said, Response) and [part.name for part in said.parts] == ["files.read"]  # type: ignore[attr-defined]


def test_calls_with_one_id_get_two() -> None:
    calls = [*chat_call("look"), *chat_call("look")]
    said = with_model(Host(chat(tool_calls=calls)), lambda model: answer(model, asks(tools=(Tool("look"),))))
    assert isinstance(said, Response)
    assert len({part.id for part in said.parts if isinstance(part, ToolCall)}) == 2


def _after(said: Response) -> tuple[Turn, Turn]:
    calls = [part for part in said.parts if isinstance(part, ToolCall)]
    return Turn("assistant", said.parts), Turn("tool", tuple([ToolResult(c.id, (Text("x"),), c.name) for c in calls]))


@pytest.mark.parametrize(("second", "comes_back"), [("deepseek", True), ("mistral", True), ("groq", False)])
def test_thoughts_go_to_hosts_that_take_them_and_to_no_other(second: str, comes_back: bool) -> None:
    thinking = Host(chat(reasoning_content="Hm.", tool_calls=chat_call("look")))
    request = asks(tools=(Tool("look", "", SCHEMA),))
    said = with_model(thinking, lambda model: answer(model, request), "deepseek-reasoner", host="deepseek")
    assert isinstance(said, Response)
    assert said.parts[0].seal == Seal("openai-chat", "", "", "deepseek-reasoner", "deepseek")
    host = Host(chat(content="Good."))
    lost: list[Loss] = []
    again = asks(*_after(said), tools=(Tool("look", "", SCHEMA),))
    with_model(host, lambda model: answer(model, again, lost), "deepseek-reasoner", host=second)
    told = json.dumps(host.asked[0])
    assert ("Hm." in told) is comes_back
    assert any(loss.code == "reasoning.dropped" for loss in lost) is not comes_back


def test_a_seal_of_another_model_stays_behind() -> None:
    thought = Reasoning("Hm.", seal=Seal("anthropic", "c2VhbA==", "", "claude-opus-4-1"))
    turns = (Turn("assistant", (thought, Text("So."))), Turn("user", (Text("And?"),)))
    whole = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": "end_turn"}
    for model, kept in (("claude-opus-4-1-20250805", True), ("claude-sonnet-4-5", False)):
        host = Host((200, {}, {**whole, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}))
        lost: list[Loss] = []
        with_model(host, lambda found, lost=lost: answer(found, asks(*turns), lost), model, dialect="anthropic")  # type: ignore[misc]
        assert ("c2VhbA==" in json.dumps(host.asked[0])) is kept
        assert any(loss.code == "seal.dropped" for loss in lost) is not kept


def test_thoughts_are_not_asked_for_where_they_come_unasked_and_asking_is_refused() -> None:
    message = {"role": "assistant", "content": "Good morning."}
    said = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": True, "done_reason": "stop"}
    for settings, think in [
        (Settings(thoughts=True), None),
        (Settings(thoughts=True, effort="high"), "high"),
        (Settings(effort="none"), False),
    ]:
        host = Host((200, {}, said))
        request = msgspec.structs.replace(asks(), settings=settings)
        with_model(host, lambda model, request=request: answer(model, request), dialect="ollama", stream="never")
        assert host.asked[-1].get("think") == think  # the first asks for the window


def test_faults() -> None:
    host = Host((429, {"retry-after": "7"}, {"error": {"message": "slowly", "type": "rate_limit"}}))
    said = with_model(host, lambda model: answer(model, asks()))
    assert isinstance(said, Fault) and (said.kind, said.retry_after) == ("rate_limit", 7.0)
    said = with_model(Host((307, {"location": "http://elsewhere/"}, {})), lambda model: answer(model, asks()))
    assert isinstance(said, Fault) and "redirect to http://elsewhere/" in said.message
    said = with_model(
        Host((200, {}, {"error": {"message": "broken", "type": "server_error"}})), lambda m: answer(m, asks())
    )
    assert isinstance(said, Fault) and said.message == "broken"
    said = with_model(Host((200, {}, ["nonsense"])), lambda model: answer(model, asks()))
    assert isinstance(said, Fault) and said.kind == "upstream_bad"


@pytest.mark.parametrize(
    ("dialect", "families", "tool"),
    [
        ("gemini", {"web_search", "web_fetch"}, {"googleSearch": {}}),
        ("anthropic", {"web_search", "web_fetch"}, {"name": "web_search"}),
        ("openai-responses", {"web_search"}, {"type": "web_search"}),
        ("ollama", set(), None),
    ],
)
def test_a_tool_asks_with_what_the_upstream_runs_itself(dialect: str, families: set[str], tool: Json) -> None:
    host = Host((500, {}, {}))

    async def use(model: UpstreamModel) -> frozenset[str]:
        if tool is not None:
            with pytest.raises(FaultError):
                aside = SideQuestion(lambda asked: whole_answer(model, asked, []), list[Usage]().append)
                await aside("What is new?", hosted=("web_search",))
        return model.hosted

    assert with_model(host, use, dialect=dialect) == families
    if tool is not None:
        (sent,) = host.asked[0]["tools"]
        assert tool.items() <= sent.items()


def test_models_are_found_by_name() -> None:
    upstreams = {
        "openai": Upstream("openai-responses", key_env="K", models=("gpt-*",)),
        "mine": Upstream("ollama"),
    }
    found = Upstreams(upstreams, Net(Pool(Limits()), {}, time.time))
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
    with pytest.raises(ConfigError, match="unknown model 'openai/'; valid: "):
        found("openai/")


def test_the_usual_model() -> None:
    anthropic = Upstream("anthropic", key_env="K")
    assert usual_model({"anthropic": anthropic}, {}).startswith("anthropic/claude-")
    assert usual_model({"anthropic": anthropic}, {"DRAGOMAN_MODEL": "a/b"}) == "a/b"
    assert usual_model({"x": Upstream("openai-chat", models=("gpt-*", "exact"))}, {}) == "x/exact"
    assert usual_model({}, {}) == "rehearsal/rules"
    with pytest.raises(ConfigError, match="ollama/MODEL"):
        usual_model({"ollama": Upstream("ollama")}, {})


def _ollama_says(shown: Json, status: int = 200) -> Host:
    message = {"role": "assistant", "content": "Good morning."}
    said = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": True, "done_reason": "stop"}
    return Host((status, {}, shown), (200, {}, said))


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
def test_ollama_is_asked_for_the_window_once_and_gets_it_with_each_request(shown: Json, window: int | None) -> None:
    host = _ollama_says(shown)

    async def use(model: UpstreamModel) -> WindowAndPrices:
        await answer(model, asks())
        await answer(model, asks())
        return await model.known()

    assert with_model(host, use, dialect="ollama", stream="never").context == window
    assert host.paths == ["/api/show", "/api/chat", "/api/chat"]
    assert host.asked[0] == {"model": "m"}
    assert [asked.get("options", {}).get("num_ctx") for asked in host.asked[1:]] == [window, window]


def test_a_server_that_does_not_show_its_models_is_asked_without_a_window() -> None:
    host = _ollama_says({"error": "not found"}, 404)
    said = with_model(host, lambda model: answer(model, asks()), dialect="ollama", stream="never")
    assert isinstance(said, Response) and "options" not in host.asked[1]


def test_the_users_own_window_is_sent_and_nobody_is_asked() -> None:
    host = _ollama_says({})

    async def use(model: UpstreamModel) -> Response | Fault:
        own = UpstreamModel(model.name, model._upstream, "m", model._net, WindowAndPrices(context=4096))
        return await answer(own, asks())

    with_model(host, use, dialect="ollama", stream="never")
    assert host.paths == ["/api/chat"] and host.asked[0]["options"]["num_ctx"] == 4096


def test_the_windows_of_the_user_reach_the_models() -> None:
    net = Net(Pool(Limits()), {}, time.time)
    found = Upstreams({"a": Upstream("anthropic", auth="none")}, net, {"a/*": WindowAndPrices(context=5)})
    assert asyncio.run(found("a/claude-opus-5").known()).context == 5
    assert asyncio.run(found("a/claude-opus-5").known()).input_price == 5.0


def test_a_window_that_the_upstream_lists_is_known_after_the_check() -> None:
    host = Host((200, {}, {"data": [{"id": "other", "max_model_len": 1}, {"id": "m", "max_model_len": 40960}]}))

    async def use(model: UpstreamModel) -> list[int | None]:
        before = (await model.known()).context
        await model.check()
        return [before, (await model.known()).context]

    assert with_model(host, use) == [None, 40960]
