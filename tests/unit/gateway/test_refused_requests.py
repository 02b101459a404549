"""Requests that are refused before an exchange begins: the answer for the client, and the line in the log."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from dragoman.gateway.app import Gateway
from dragoman.gateway.config import Config, Listen, Route, Target, Upstream, check_config
from dragoman.gateway.exchange.exchange_log_lines import MAX_REFUSALS, ExchangeLog
from dragoman.gateway.http.server import Server

from .helpers import DIALECTS, Front, ScriptedUpstream, gateway_to, path_of, read_answer, run, whole

BROKEN = {
    b"{bad": "at line 1, column 2",
    b"": "The request body is empty.",
    b" \n": "The request body is empty.",
    b'{"model":"chat-x","messages":[}': "at line 1, column 31",
    b'{"model":"chat-x","messages":[': "it ends too early, at line 1, column 31",
    b'{"model":"m"} {}': "at line 1, column 15",
}


@pytest.mark.parametrize("body", sorted(BROKEN))
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_fault_of_broken_json_names_the_place(dialect: str, body: bytes) -> None:
    async def inner() -> None:
        scripted = ScriptedUpstream(whole(dialect), dialect=dialect)
        async with gateway_to(scripted) as front:
            received = await front.ask(path_of(dialect), body)
            assert received.status == 400
            assert not scripted.seen
            answer = json.dumps(received.json())
            if (
                dialect != "gemini"
            ):  # in Gemini the path names the model: the dialect's reader is the first to read the body
                assert BROKEN[body] in answer
            assert "names no model" not in answer

    run(inner())


@pytest.mark.parametrize("host", ["Host:\tlocalhost\t", "Host: localhost \t ", "Host:localhost"])
def test_blanks_around_the_value_of_a_header_are_ignored(host: str) -> None:
    async def inner() -> None:
        async with gateway_to(ScriptedUpstream(whole("openai-chat"))) as front:
            for _ in range(2):
                assert await _status(front, f"GET /healthz HTTP/1.1\r\n{host}\r\n\r\n") == 200

    run(inner())


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("http://localhost/healthz", 200),
        ("HTTP://127.0.0.1:8484/healthz?x=1", 200),
        ("http://localhost", 200),
        ("http://evil.example/healthz", 403),
        ("http://localhost@evil.example/healthz", 400),
        ("http:///healthz", 400),
        ("ftp://localhost/healthz", 404),
        ("http://localhost/nothing", 404),
    ],
)
def test_an_absolute_request_target_has_a_host_and_a_path(target: str, status: int) -> None:
    async def inner() -> None:
        async with gateway_to(ScriptedUpstream(whole("openai-chat"))) as front:
            assert await _status(front, f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n") == status

    run(inner())


async def _status(front: Front, head: str) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", front.port)
    writer.write(head.encode())
    try:
        return (await read_answer(reader)).status
    finally:
        writer.close()


def log_into(front: Front, path: Path, form: Any) -> Any:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    front.gateway.log = ExchangeLog(form, descriptor)
    return front.gateway.log


@pytest.mark.parametrize("form", ["json", "text"])
def test_each_refusal_gets_one_line_without_the_key(tmp_path: Path, form: str) -> None:
    def config(places: list[str]) -> Config:
        upstream = Upstream("openai-chat", places[0], auth="none")
        return Config(listen=Listen(key_env="KEYS"), upstreams={"u": upstream}, routes=(Route("*", (Target("u"),)),))

    async def inner() -> None:
        gateway = Gateway(check_config(config(["http://127.0.0.1:9"]), "test"), {"KEYS": "right-key-1234"})
        server = Server(gateway.handle)
        front = Front(await server.start("127.0.0.1", 0), gateway)
        log = log_into(front, tmp_path / "log", form)
        try:
            wrong = {"authorization": "Bearer wrong-key-1234"}
            assert (await front.ask("/v1/chat/completions", b"{}", wrong)).status == 401
            assert (await front.ask("/nowhere/wrong-key-1234", b"{}", wrong)).status == 404
            head = "GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n"
            assert await _status(front, head) == 403
            assert await _status(front, "PUT /v1/messages HTTP/1.1\r\nHost: localhost\r\n\r\n") == 405
        finally:
            log.close()
            await server.stop(1)
        lines = (tmp_path / "log").read_text().splitlines()
        assert len(lines) == 4
        assert all("wrong-key" not in line and "right-key" not in line for line in lines)
        words = ("key", "/nowhere", "evil.example", "does not accept this method")
        for line, status, word in zip(lines, (401, 404, 403, 405), words, strict=True):
            assert word in line
            if form == "json":
                assert json.loads(line)["status"] == status
            else:
                assert line.split()[1] == f"{status}"

    run(inner())


def test_refusals_do_not_flood_the_log(tmp_path: Path) -> None:
    async def inner() -> None:
        async with gateway_to(ScriptedUpstream(whole("openai-chat"))) as front:
            log = log_into(front, tmp_path / "log", "json")
            for i in range(MAX_REFUSALS + 20):
                await front.ask(f"/nowhere{i}", b"{}")
            log._minute -= 60
            await front.ask("/later", b"{}")
            log.close()

    run(inner())
    lines = (tmp_path / "log").read_text().splitlines()
    assert len(lines) == MAX_REFUSALS + 1
    assert "20 earlier refused requests" in lines[-1]
