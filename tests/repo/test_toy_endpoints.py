"""A dialect is one folder, also for the gateway, the agent and the conformance kit. No other file is edited.

The tests use the toy dialect, as a folder of the package and as an installed package.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dragoman.canon.parts import ToolResult
from dragoman.conform import gateway_runner
from dragoman.conform.judging import library_runner, suite_reader
from dragoman.conform.scripted_upstream import NextAnswer, SuiteUpstream
from dragoman.gateway.config import Config, Listen, Upstream
from dragoman.gateway.http.server import IncomingRequest
from dragoman.runtime import Agent
from tests.e2e.gateway_process import served, upstreams
from tests.unit.agent.helpers import FakeTool
from tests.unit.gateway.gateway_and_upstreams import Received, Scripted, ask, through

from .toy_dialect_installation import QUESTION, WAYS, as_package, write_package

CALL = {"name": "weather", "id": "c2", "input": {"city": "Oslo"}}
ANSWER = {"lines": [{"from": "model", "text": "I look."}, {"from": "model", "call": CALL}], "end": "tools"}
PIECES = [{"text": "I "}, {"text": "look."}, {"call": CALL}, {"end": "tools", "tokens": [10, 5]}]
LAST = {"lines": [{"from": "model", "text": "It rains."}], "end": "done", "tokens": [12, 3]}
CHAT = {
    "id": "x",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "It rains."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9},
}
MAIN = "from dragoman.cli.main import main; main()"


@pytest.fixture(params=list(WAYS))
def toy(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    site = tmp_path / "site"
    site.mkdir()
    with WAYS[request.param](site):
        yield


def lines(values: list[Any]) -> bytes:
    return b"".join([json.dumps(value).encode() + b"\n" for value in values])


def toy_upstream() -> Scripted:
    """An upstream of the toy dialect."""

    def answers(request: IncomingRequest) -> tuple[int, list[tuple[str, str]], bytes]:
        if request.path == "/toy/models":
            return 200, [], json.dumps({"models": [{"name": "toy-9", "mood": "good"}]}).encode()
        if request.path == "/toy/count":
            return 200, [], b'{"tokens": 41}'
        if request.path == "/toy/stream":
            return 200, [("content-type", "application/x-ndjson")], lines(PIECES)
        if b"fail" in request.body:
            return 429, [], b'{"problem": "slow down"}'
        return 200, [("content-type", "application/json"), ("x-request-id", "up1")], json.dumps(ANSWER).encode()

    return Scripted(answers)


def chat_upstream() -> Scripted:
    return Scripted(lambda request: (200, [("content-type", "application/json")], json.dumps(CHAT).encode()))


def config(places: list[str]) -> Config:
    return Config(
        upstreams={
            "toy": Upstream("toy", places[0], "TOY_API_KEY", models=("toy-*",)),
            "chat": Upstream("openai-chat", places[1], auth="none", models=("gpt-*",)),
        }
    )


def through_gateway(use: Any) -> tuple[Any, Scripted, Scripted]:
    servers = toy_upstream(), chat_upstream()
    return through(use, config, *servers, environment={"TOY_API_KEY": "secret-of-the-toy"}), *servers


def test_the_gateway_serves_toy_clients_and_uses_toy_upstreams(toy: None) -> None:
    def use(base: str) -> list[Received]:
        toy_to_chat = {**QUESTION, "model": "gpt-1"}
        messages = [{"role": "user", "content": "Weather in Oslo?"}]
        request = {"model": "toy-1", "max_tokens": 9, "messages": messages}
        return [
            ask(base, "POST", "/toy", toy_to_chat, {"x-toy-mood": "bad"}),
            ask(base, "POST", "/toy", QUESTION, {"x-toy-mood": "bad"}),
            ask(base, "POST", "/toy/stream", QUESTION),
            ask(base, "POST", "/v1/messages", request),
            ask(base, "POST", "/v1/messages", {**request, "stream": True}),
            ask(base, "POST", "/v1/messages", {**request, "messages": [{"role": "user", "content": "fail"}]}),
        ]

    found, toy_server, chat = through_gateway(use)
    assert [received.status for received in found] == [200, 200, 200, 200, 200, 429]
    crossed, passed, streamed, message, events, fault = found
    assert crossed.json()["lines"] == [{"from": "model", "text": "It rains."}]
    assert "header.dropped;info" in crossed.headers["dragoman-losses"]
    assert [turn["role"] for turn in chat.bodies()[0]["messages"]] == ["system", "user", "assistant", "tool"]
    assert (passed.json(), passed.headers["x-request-id"]) == (ANSWER, "up1")
    assert (streamed.body, streamed.headers["content-type"]) == (lines(PIECES), "application/x-ndjson")
    assert [block["type"] for block in message.json()["content"]] == ["text", "tool_use"]
    assert message.json()["stop_reason"] == "tool_use"
    assert b"event: message_stop" in events.body and b'"partial_json"' in events.body
    assert fault.json()["error"] == {"type": "rate_limit_error", "message": "slow down (upstream 'toy', status 429)"}
    paths = [request.path for request in toy_server.seen]
    assert paths[:4] == ["/toy", "/toy/stream", "/toy", "/toy/stream"]
    assert {request.headers["x-toy-key"] for request in toy_server.seen} == {"secret-of-the-toy"}
    assert toy_server.seen[0].headers["x-toy-mood"] == "bad"
    assert toy_server.bodies()[2]["lines"] == [{"from": "user", "text": "Weather in Oslo?"}]


def test_lists_counts_and_unknown_paths_work(toy: None) -> None:
    def use(base: str) -> list[Received]:
        return [
            ask(base, "GET", "/toy/models"),
            ask(base, "GET", "/v1/models", None, {"x-toy-client": "1"}),
            ask(base, "GET", "/v1/models"),
            ask(base, "POST", "/toy/count", QUESTION),
            ask(base, "POST", "/toy/count", {**QUESTION, "model": "gpt-1"}),
            ask(base, "POST", "/v1/messages/count_tokens", {"model": "toy-1", "messages": []}),
            ask(base, "POST", "/toy/nowhere", {}),
            ask(base, "GET", "/toy"),
            ask(base, "GET", "/"),
            ask(base, "GET", "/dragoman/about"),
        ]

    found, _, _ = through_gateway(use)
    models, signed, others, counted, estimated, crossed, not_found, wrong, home, description = found
    assert {"name": "toy-9", "by": "toy", "mood": "good"} in models.json()["models"]
    assert signed.json() == models.json()
    assert "toy-9" in {row["id"] for row in others.json()["data"]}
    assert (counted.json(), "dragoman-estimate" in counted.headers) == ({"tokens": 41}, False)
    assert estimated.headers["dragoman-estimate"] == "true" and estimated.json()["tokens"] > 5
    assert crossed.json() == {"input_tokens": 41}
    assert (not_found.status, wrong.status, wrong.headers["allow"]) == (404, 405, "POST")
    assert "In toy this gateway serves: POST /toy, " in not_found.json()["problem"]
    assert b"toy:\n  POST /toy\n" in home.body
    assert "toy" in description.json()["dialects"]
    assert {"client": "toy", "line": f"TOY_BASE_URL=http://{_host(description)} TOY_API_KEY=any"} in description.json()[
        "clients"
    ]


def test_toy_clients_send_their_key_in_the_toys_header(toy: None) -> None:
    def guarded(places: list[str]) -> Config:
        return msgspec.structs.replace(config(places), listen=Listen(key_env="KEYS"))

    def use(base: str) -> list[Received]:
        return [ask(base, "POST", "/toy", QUESTION, {"x-toy-key": key}) for key in ("k1", "k2")]

    environment = {"TOY_API_KEY": "secret-of-the-toy", "KEYS": "k1"}
    upstream = toy_upstream()
    served, refused = through(use, guarded, upstream, chat_upstream(), environment=environment)
    assert (served.status, refused.status) == (200, 401)
    assert "the key is not one of this gateway's" in refused.json()["problem"]
    assert [request.headers["x-toy-key"] for request in upstream.seen] == ["secret-of-the-toy"]


def _host(description: Received) -> str:
    shown: str = next(one["line"] for one in description.json()["clients"] if one["client"] == "toy")
    return shown.partition("http://")[2].partition(" ")[0]


def test_the_agent_can_use_the_toy(toy: None, tmp_path: Path) -> None:
    tool = FakeTool("weather", lambda arguments: f"rain in {arguments['city']}", schema={"type": "object"})
    with SuiteUpstream(0) as upstream:
        upstream.expect(NextAnswer("toy", ANSWER, PIECES))
        # Every request gets the same answer. The agent runs the call and sends its result until a limit ends the run.
        environment = {"HOME": str(tmp_path), "TOY_API_KEY": "k", "TOY_BASE_URL": f"http://127.0.0.1:{upstream.port}"}
        agent = Agent(folder=tmp_path, tools=[tool], environment=environment)
        reply = agent.ask("Weather in Oslo?")
        arrived = upstream.received()
    assert agent.model == "toy/toy-1"
    assert [one.path for one in arrived][:2] == ["/toy/stream", "/toy/stream"]
    assert not any(one.problem for one in arrived)
    second = json.loads(arrived[1].body)["lines"]
    assert second[-1] == {"from": "tool", "id": "c2", "text": "rain in Oslo"}
    results = [part for turn in agent.session.turns for part in turn.parts if isinstance(part, ToolResult)]
    assert results and reply.reason != "fault"


CASES: list[dict[str, Any]] = [
    {
        "id": "toy.request",
        "kind": "request",
        "from": "toy",
        "to": "anthropic",
        "input": QUESTION,
        "expect": [{"path": "/messages/*/content/[type=tool_use]/name", "equals": "weather"}, {"lint": True}],
    },
    {
        "id": "toy.to",
        "kind": "request",
        "from": "gemini",
        "to": "toy",
        "input": {"contents": [{"role": "user", "parts": [{"text": "Hi."}]}]},
        "expect": [{"path": "/lines/0/text", "equals": "Hi."}],
    },
    {
        "id": "toy.response",
        "kind": "response",
        "from": "toy",
        "to": "openai-chat",
        "input": ANSWER,
        "request": {"model": "m", "messages": [{"role": "user", "content": "Hi."}]},
        "expect": [{"path": "/choices/0/message/tool_calls/0/function/name", "equals": "weather"}, {"lint": True}],
    },
    {
        "id": "toy.stream",
        "kind": "stream",
        "from": "openai-chat",
        "to": "toy",
        "input": [
            {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hi."}}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            "[DONE]",
        ],
        "request": QUESTION,
        "expect": [{"ends": "well"}, {"path": "/response/lines/0/text", "equals": "Hi."}],
    },
    {
        "id": "toy.cut",
        "kind": "stream",
        "from": "toy",
        "to": "anthropic",
        "input": PIECES[:2],
        "request": {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi."}], "stream": True},
        "expect": [{"ends": "fault"}],
    },
    {
        "id": "toy.fault",
        "kind": "fault",
        "from": "anthropic",
        "to": "toy",
        "input": {"status": 400, "body": {"type": "error", "error": {"type": "api_error", "message": "no"}}},
        "request": QUESTION,
        "expect": [{"path": "/body/problem", "contains": "no"}],
    },
    {
        "id": "toy.tools",
        "kind": "tools",
        "from": "toy",
        "to": "gemini",
        "input": QUESTION["tools"],
        "expect": [{"path": "/*/functionDeclarations/*/name", "equals": "weather"}],
    },
    {
        "id": "toy.conversation",
        "kind": "conversation",
        "from": "toy",
        "to": "anthropic",
        "input": {
            "request": {**QUESTION, "lines": QUESTION["lines"][:2]},
            "steps": [
                {
                    "reply": {
                        "id": "m",
                        "type": "message",
                        "role": "assistant",
                        "model": "m",
                        "content": [{"type": "tool_use", "id": "t1", "name": "{{tool 0}}", "input": {"city": "Oslo"}}],
                        "stop_reason": "tool_use",
                        "stop_sequence": None,
                        "usage": {"input_tokens": 1, "output_tokens": 1},
                    },
                    "outputs": ["rain"],
                },
                {},
            ],
        },
        "expect": [
            {"path": "/answers/0/lines/[call]/call/name", "equals": "weather"},
            {"path": "/requests/1/messages/*/content/[type=tool_result]/tool_use_id", "equals": "t1"},
        ],
    },
    {
        "id": "toy.back",
        "kind": "conversation",
        "from": "openai-chat",
        "to": "toy",
        "input": {
            "request": {
                "model": "m",
                "messages": [{"role": "user", "content": "Hi."}],
                "tools": [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}],
            },
            "steps": [{"frames": PIECES, "outputs": ["rain"]}, {}],
        },
        "expect": [{"path": "/requests/1/lines/[from=tool]/text", "equals": "rain"}],
    },
    {
        "id": "toy.count",
        "kind": "count",
        "from": "toy",
        "to": "toy",
        "input": QUESTION,
        "expect": [{"path": "/body/tokens", "at_least": 1}],
    },
]


def suite_with_the_toy(place: Path) -> suite_reader.Suite:
    """A suite like that of an author of a dialect. The plain documents of the other dialects come from the kit."""
    plain = json.loads((suite_reader.latest_suite() / suite_reader.PLAIN).read_bytes())
    plain["toy"] = {"request": QUESTION, "reply": LAST, "frames": [{"text": "It rains."}, {"end": "done"}]}
    source = {"page": "dragoman_toy.py", "section": "1", "evidence": "documented", "date": "2026-11-17"}
    more = {"topic": "toy", "requirement": "as the toy's page says", "source": [source], "model": "m"}
    place.mkdir()
    (place / suite_reader.PLAIN).write_text(json.dumps(plain))
    (place / "toy.json").write_text(json.dumps([{**more, **case} for case in CASES]))
    listed = {"file": "toy.json", "cases": len(CASES), "sha256": ""}
    (place / suite_reader.MANIFEST).write_text(
        json.dumps({"date": "2026-11-17", "cases": len(CASES), "files": [listed]})
    )
    return suite_reader.load_suite(place)


def test_the_toy_passes_the_conformance_kit(toy: None, tmp_path: Path) -> None:
    suite = suite_with_the_toy(tmp_path / "suite")
    with SuiteUpstream(0) as upstream:

        def gateway_config(places: list[str]) -> Config:
            base = f"http://127.0.0.1:{upstream.port}"
            return Config(upstreams={name: Upstream(name, base, auth="none") for name in suite.plain})

        def use(base: str) -> list[library_runner.CaseResult]:
            host = gateway_runner.GatewayUnderTest(base, suite, upstream, "{upstream}/{model}", key="k", timeout=10)
            return [gateway_runner.run(case, host) for case in suite.cases]

        gateway_results = through(use, gateway_config)
    library_results = [library_runner.run(case) for case in suite.cases if case.kind != "count"]
    for result in [*library_results, *gateway_results]:
        assert result.passed, (result.case.id, result.untested, result.failures)


def test_the_kit_finds_a_writer_that_breaks_the_dialect(toy: None, tmp_path: Path) -> None:
    suite = suite_with_the_toy(tmp_path / "suite")
    (case,) = [one for one in suite.cases if one.id == "toy.stream"]
    wrong = msgspec.structs.replace(case, input=case.input[:1])
    assert "the stream ends 'fault', expected 'well'" in library_runner.run(wrong).failures[0]


def test_an_installed_package_is_found_when_the_gateway_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    site.mkdir()
    before = [path for path in [os.environ.get("PYTHONPATH", "")] if path]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), *before]))
    with as_package(site):
        _use_in_other_processes(tmp_path)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_two_dialects_on_one_address_stop_the_start(tmp_path: Path, workers: str) -> None:
    write_package(tmp_path)
    module = tmp_path / "dragoman_toy.py"
    module.write_text(module.read_text().replace('"/toy", EndpointCall(', '"/v1/messages", EndpointCall('))
    paths = [str(tmp_path), *[path for path in [os.environ.get("PYTHONPATH", "")] if path]]
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "serve", "--port", "0", "--workers", workers],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr
    both = "anthropic and toy both claim POST /v1/messages, and no header or query parameter distinguishes them"
    assert both in done.stderr


def _use_in_other_processes(tmp_path: Path) -> None:
    """Use the toy in separate processes."""
    program = (
        "import sys, dragoman; from dragoman.dialects import installed;"
        "assert not {'dragoman_toy', 'importlib.metadata'} & set(sys.modules); assert 'toy' in installed()"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    with SuiteUpstream(0) as upstream:
        upstream.expect(NextAnswer("toy", LAST, [{"text": "It rains."}, {"end": "done"}]))
        with served(upstreams(upstream.port, toy="toy"), tmp_path) as base:
            request = {"model": "toy/m", "messages": [{"role": "user", "content": "Hi."}]}
            received = ask(base, "POST", "/v1/chat/completions", request)
            assert received.json()["choices"][0]["message"]["content"] == "It rains."
            assert ask(base, "POST", "/toy", {**QUESTION, "model": "toy/m"}).json() == LAST
        home = tmp_path / "home"
        home.mkdir()
        environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.environ["PYTHONPATH"],
            "TOY_API_KEY": "k",
            "TOY_BASE_URL": f"http://127.0.0.1:{upstream.port}",
        }
        done = subprocess.run(
            [sys.executable, "-c", MAIN, "ask", "--no-store", "Weather?"],
            cwd=tmp_path,
            env=environment,
            input="",
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert (done.returncode, done.stdout) == (0, "It rains.\n"), done.stderr
