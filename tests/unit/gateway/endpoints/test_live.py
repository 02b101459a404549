"""The live stream of exchanges: its access rules, its memory bounds, and no work without a watcher."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from dragoman.gateway.config import Config, Listen, check_config
from dragoman.gateway.endpoints import live
from dragoman.gateway.exchange.recent_exchanges import MOST_WAITING, Exchange, Exchanges, TimedRecording, Watcher
from dragoman.gateway.http.exchanges_of_other_workers import EVERYBODY
from dragoman.gateway.http.server import IncomingRequest
from tests.unit.gateway.helpers import Front, chunks, gateway, read_answer, request_body

KEYS = {"KEYS": "anna-key,berta-key", "ADMINS": "root-key"}


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


class LiveStream:
    """One open live stream."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._chunks = chunks(reader)
        self._rest = b""

    async def next(self) -> tuple[str, Any]:
        while b"\n\n" not in self._rest:
            self._rest += await anext(self._chunks)
        frame, _, self._rest = self._rest.partition(b"\n\n")
        name, data = frame.decode().split("\n", 1)
        return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


@asynccontextmanager
async def watching(front: Front, headers: dict[str, str] | None = None) -> AsyncIterator[LiveStream]:
    reader, writer = await front.open("/dragoman/live", None, headers)
    head = await reader.readuntil(b"\r\n\r\n")
    assert b"200 OK" in head
    assert b"text/event-stream" in head
    try:
        yield LiveStream(reader)
    finally:
        writer.close()


def run(work: Callable[[Front], Awaitable[Any]], listen: Listen | None = None) -> Any:
    async def inner() -> Any:
        async with asyncio.timeout(30), gateway(check_config(Config(listen=listen or Listen()), "test"), KEYS) as front:
            return await work(front)

    return asyncio.run(inner())


CHAT = request_body("openai-chat", model="rehearsal/rules")


def test_a_row_has_the_text_tokens_and_time_of_its_exchange() -> None:
    async def work(front: Front) -> Any:
        async with watching(front) as seen:
            hello = await seen.next()
            received = await front.ask("/v1/chat/completions", CHAT, {"user-agent": "openai/3.40 (x86)"})
            return hello, await seen.next(), received.headers["dragoman-exchange"]

    hello, (name, row), exchange = run(work)
    assert hello == ("hello", {"sees": "all"})
    assert (name, row["id"], row["words"], row["status"], row["agent"]) == ("row", exchange, "hi", 200, "openai/3.40")
    assert row["answer"].startswith("Rehearsal (no model): ")
    assert row["usage"]["input"] > 0
    assert row["seconds"] >= 0


def test_a_key_sees_its_own_exchanges_and_an_administrator_all() -> None:
    async def work(front: Front) -> Any:
        async with (
            watching(front, bearer("anna-key")) as anna,
            watching(front, bearer("berta-key")) as berta,
            watching(front, bearer("root-key")) as root,
        ):
            hello = [(await one.next())[1]["sees"] for one in (anna, berta, root)]
            sent = []
            for key in ("anna-key", "berta-key", "anna-key"):
                sent.append((await front.ask("/v1/chat/completions", CHAT, bearer(key))).headers["dragoman-exchange"])
            rows = [
                [(await one.next())[1]["id"] for _ in range(count)] for one, count in ((anna, 2), (berta, 1), (root, 3))
            ]
            return hello, sent, rows

    hello, sent, rows = run(work, Listen(key_env="KEYS", admin_key_env="ADMINS"))
    assert hello == ["own", "own", "all"]
    assert rows == [[sent[0], sent[2]], [sent[1]], sent]


def test_a_row_repeats_no_key() -> None:
    async def work(front: Front) -> Any:
        async with watching(front, bearer("root-key")) as seen:
            await seen.next()
            body = json.dumps(
                {"model": "rehearsal/rules", "messages": [{"role": "user", "content": "my key is anna-key"}]}
            )
            await front.ask("/v1/chat/completions", body.encode(), bearer("anna-key"))
            return await seen.next()

    _, row = run(work, Listen(key_env="KEYS", admin_key_env="ADMINS"))
    assert "anna-key" not in json.dumps(row)


@pytest.mark.parametrize(("headers", "status"), [({}, 401), (bearer("wrong"), 401)])
def test_a_stream_needs_a_key_where_keys_are_set(headers: dict[str, str], status: int) -> None:
    async def work(front: Front) -> int:
        return (await front.ask("/dragoman/live", None, headers)).status

    assert run(work, Listen(key_env="KEYS")) == status


def test_a_client_on_another_machine_without_a_key_gets_no_stream() -> None:
    async def work(front: Front) -> int:
        return (await front.ask("/dragoman/live", None, {"x-forwarded-for": "203.0.113.9"})).status

    assert run(work) == 403


@pytest.mark.parametrize(("site", "status"), [("cross-site", b"403"), ("same-site", b"403"), ("same-origin", b"200")])
def test_a_page_of_another_site_gets_no_stream(site: str, status: bytes) -> None:
    async def work(front: Front) -> bytes:
        reader, writer = await front.open("/dragoman/live", None, {"sec-fetch-site": site, "sec-fetch-mode": "no-cors"})
        line = await reader.readline()
        writer.close()
        return line

    assert run(work).split()[1] == status


def test_a_row_is_cut_only_after_keys_are_removed() -> None:
    async def work(front: Front) -> Any:
        async with watching(front) as seen:
            await seen.next()
            words = "w" * 150 + " sk-abcd1234567890abcdefghij"
            body = json.dumps({"model": "rehearsal/rules", "messages": [{"role": "user", "content": words}]})
            await front.ask("/v1/chat/completions", body.encode())
            return (await seen.next())[1]["words"]

    assert run(work) == "w" * 150 + " sk-abcd.…"


def test_an_exchange_under_way_is_shown_before_it_ends() -> None:
    async def work(front: Front) -> Any:
        async with watching(front) as seen:
            await seen.next()
            body = request_body("openai-chat", stream=True, model="rehearsal/slow-stream")
            pending = asyncio.create_task(front.ask("/v1/chat/completions", body))
            started = await seen.next()
            ended = await seen.next()
            await pending
            return started, ended, front.gateway._exchanges.running

    (started, first), (ended, last), running = run(work)
    assert (started, first["running"], first["model"], first["seconds"]) == (
        "begun",
        True,
        "rehearsal/slow-stream",
        None,
    )
    assert (ended, last["id"] == first["id"], last["seconds"] > 0) == ("row", True, True)
    assert running == {}


def test_a_stream_ends_when_the_configuration_changes() -> None:
    """The new configuration may have removed the key of the watcher."""

    async def work(front: Front) -> bytes:
        reader, writer = await front.open("/dragoman/live")
        await reader.readuntil(b"hello")
        front.gateway.reload(front.gateway.config)
        rest = await reader.readuntil(b"0\r\n\r\n")
        writer.close()
        return rest

    assert run(work).endswith(b"0\r\n\r\n")


def test_no_live_rows_are_kept_without_a_watcher() -> None:
    async def work(front: Front) -> Any:
        exchanges = front.gateway._exchanges
        async with watching(front) as seen:
            await seen.next()
            assert isinstance(exchanges.recording(), TimedRecording)
        while exchanges.watchers:
            await asyncio.sleep(0.02)
        await front.ask("/v1/chat/completions", CHAT)
        return exchanges.running, type(exchanges.recording()).__name__, exchanges.all()[-1].row

    assert run(work) == ({}, "Recording", None)


def test_the_number_of_streams_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_OF_ONE", 2)

    async def work(front: Front) -> Any:
        async with watching(front), watching(front):
            reader, writer = await front.open("/dragoman/live")
            received = await read_answer(reader)
            writer.close()
            return received

    received = run(work)
    assert received.status == 503
    assert "Close one" in received.json()["error"]["message"]


def test_a_head_request_for_the_stream_ends_at_once() -> None:
    async def work(front: Front) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", front.port)
        writer.write(b"HEAD /dragoman/live HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
        answer = await reader.read()
        writer.close()
        return answer

    assert run(work).startswith(b"HTTP/1.1 200 OK")


def exchange(number: int) -> Exchange:
    request = IncomingRequest("POST", "/v1/chat/completions", "", {}, b"{}", owner="anna")
    return Exchange(f"ex_{number:032x}", 0.0, "openai-chat", request)


def test_a_slow_watcher_keeps_the_newest_rows_and_counts_the_dropped_ones() -> None:
    exchanges, watcher, other = Exchanges(1000), Watcher(EVERYBODY, EVERYBODY), Watcher("berta", EVERYBODY)
    exchanges.watchers += [watcher, other]
    for number in range(MOST_WAITING + 50):
        exchanges.add(exchange(number))
    assert (len(watcher.waiting), watcher.missed) == (MOST_WAITING, 50)
    assert watcher.waiting[-1] == f"ex_{MOST_WAITING + 49:032x}"
    assert (len(other.waiting), other.missed) == (0, 0)
