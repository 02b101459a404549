"""Long work runs in a child process: the results are the same, the event loop stays free, no process is left over."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench import payloads

import dragoman
from dragoman.canon.events import Fault
from dragoman.errors import WireError
from dragoman.gateway.config import Bounds
from dragoman.gateway.exchange import child_process, exchange_work_in_child_process
from dragoman.gateway.exchange.child_process import (
    DENSE,
    LARGE,
    SMALL,
    ChildDied,
    ChildFailed,
    ChildProcesses,
    OutOfMemory,
    VaultInChild,
    takes_long,
)
from dragoman.gateway.exchange.fault_for_unserved_exchange import Refused
from dragoman.gateway.http.server import Server, ServerBounds

from ..helpers import (
    DIALECTS,
    Front,
    Received,
    ScriptedUpstream,
    gateway_to,
    message_of,
    path_of,
    read_answer,
    request,
    request_body,
    run,
    whole,
)

MEMORY = 64 * 1024 * 1024


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every document count as long."""
    monkeypatch.setattr(child_process, "SMALL", 0)
    monkeypatch.setattr(child_process, "LARGE", 1)
    monkeypatch.setattr("dragoman.gateway.exchange.client_request_and_translations.LARGE", 1)


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The ids of the child processes that the test started."""
    made: list[int] = []
    fork = os.fork

    def counted_fork() -> int:
        pid = fork()
        if pid:
            made.append(pid)
        return pid

    monkeypatch.setattr(os, "fork", counted_fork)
    yield made


def has_ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def wait_until_ended(pid: int) -> None:
    while not has_ended(pid):
        await asyncio.sleep(0.01)


# Long documents


def test_long_and_dense_documents_take_long() -> None:
    assert not takes_long(b"x" * SMALL)
    assert not takes_long(b"x" * LARGE)
    assert takes_long(b"x" * (LARGE + 1))
    assert takes_long(b"{}," * (DENSE + SMALL))
    assert takes_long(b'"",' * 70_000)
    assert not takes_long(b'{"content":"a line of a file"},' * 2000)


# The child


def test_results_come_back() -> None:
    body = os.urandom(3_000_000)
    assert run(_in_child(lambda: (body, {"a": 1}))) == (body, {"a": 1})


async def _in_child(work: Any, memory: int = MEMORY) -> Any:
    return await ChildProcesses(memory).run(work)


def test_large_bodies_are_returned_outside_of_the_pickle() -> None:
    body, other = os.urandom(3_000_000), b"x" * 5_000_000

    async def all_of_it() -> Any:
        return await ChildProcesses(MEMORY).run(lambda: {"body": body, "again": (body, other), "small": b"s"})

    found = asyncio.run(all_of_it())
    assert found == {"body": body, "again": (body, other), "small": b"s"}


@pytest.mark.parametrize("cut_bytes", [1, 2_000_000, 3_000_005])
def test_an_incomplete_result_is_an_error(cut_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = child_process._outcome_pieces(("result", bytes(3_000_000)))
    cut = b"".join(pieces)[:-cut_bytes]
    monkeypatch.setattr(child_process, "_outcome_of", lambda work: [cut])
    with pytest.raises(ChildDied):
        asyncio.run(ChildProcesses(MEMORY).run(lambda: None))


def test_errors_come_back_unchanged() -> None:
    def wire() -> None:
        raise WireError("anthropic", "/messages/0", "an object", "a number")

    def refused() -> None:
        raise Refused(Fault("not_found", "it is not here", 404), b"body", 404)

    def failed() -> None:
        raise ZeroDivisionError("a mistake")

    with pytest.raises(WireError, match="not anthropic at /messages/0: expected an object, got a number") as found:
        run(_in_child(wire))
    assert found.value.path == "/messages/0"
    with pytest.raises(Refused, match="it is not here") as received:
        run(_in_child(refused))
    assert (received.value.fault.status, received.value.body) == (404, b"body")
    with pytest.raises(ChildFailed, match="ZeroDivisionError: a mistake"):
        run(_in_child(failed))


def test_the_memory_of_a_child_is_limited() -> None:
    assert run(_in_child(lambda: len(bytearray(MEMORY // 4)))) == MEMORY // 4
    with pytest.raises(OutOfMemory):
        run(_in_child(lambda: bytearray(4 * MEMORY)))


def test_the_event_loop_runs_while_a_child_works() -> None:
    async def scenario() -> int:
        beats = 0
        work = asyncio.ensure_future(_in_child(lambda: time.sleep(0.3)))
        while not work.done():
            await asyncio.sleep(0.005)
            beats += 1
        await work
        return beats

    assert run(scenario()) > 3


def test_a_cancelled_task_ends_its_child(forks: list[int]) -> None:
    async def scenario() -> None:
        work = asyncio.ensure_future(_in_child(lambda: time.sleep(60)))
        while not forks:
            await asyncio.sleep(0.01)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        await wait_until_ended(forks[0])

    run(scenario())


def test_all_children_end_with_the_gateway(forks: list[int]) -> None:
    async def scenario() -> None:
        children = ChildProcesses(MEMORY, 2)
        work = [asyncio.ensure_future(children.run(lambda: time.sleep(60))) for _ in range(2)]
        while len(forks) < 2:
            await asyncio.sleep(0.01)
        children.close()
        assert all(map(has_ended, forks))
        assert [type(one) for one in await asyncio.gather(*work, return_exceptions=True)] == [ChildDied] * 2

    run(scenario())


def test_the_number_of_children_is_limited(forks: list[int], tmp_path: Path) -> None:
    async def scenario() -> None:
        children = ChildProcesses(MEMORY, 2)

        def work() -> int:
            (tmp_path / str(os.getpid())).touch()
            at_work = len(list(tmp_path.iterdir()))
            time.sleep(0.05)
            (tmp_path / str(os.getpid())).unlink()
            return at_work

        found = await asyncio.gather(*[children.run(work) for _ in range(6)])
        assert max(found) <= 2

    run(scenario())
    assert len(forks) == 6


def test_no_descriptor_and_no_child_is_left(forks: list[int]) -> None:
    async def scenario() -> tuple[int, int]:
        await _in_child(lambda: 1)
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            await _in_child(lambda: 1)
            with pytest.raises(ChildDied):
                await _in_child(lambda: os.kill(os.getpid(), signal.SIGKILL))
        for pid in forks:
            await wait_until_ended(pid)
        return before, len(os.listdir("/proc/self/fd"))

    before, after = run(scenario())
    assert before == after


def test_a_child_inherits_no_connection() -> None:
    """A connection that a child holds would stay open after the gateway closes it."""

    async def scenario() -> list[str]:
        async with gateway_to(ScriptedUpstream(whole("openai-chat"))) as front:
            _, writer = await front.open("/healthz")
            found = await _in_child(lambda: [os.readlink(f"/proc/self/fd/{one}") for one in _open_files()])
            writer.close()
            return found

    assert not [one for one in run(scenario()) if one.startswith("socket:")]


def _open_files() -> list[str]:
    return [one for one in os.listdir("/proc/self/fd") if int(one) > 2 and os.path.exists(f"/proc/self/fd/{one}")]


# Exchanges


def _session(dialect: str, stream: bool) -> bytes:
    body = payloads.request(dialect)
    if dialect in ("gemini", "code-assist"):
        return body
    return json.dumps({**json.loads(body), "stream": stream}).encode()


def _exchange_of(client: str, upstream: str, stream: bool) -> tuple[Received, bytes, Any]:
    async def scenario() -> tuple[Received, bytes, Any]:
        scripted = ScriptedUpstream(whole(upstream), dialect=upstream)
        async with gateway_to(scripted, upstream={"stream": "never"}) as front:
            received = await front.ask(path_of(client, stream=stream), _session(client, stream))
            return received, scripted.seen[0].body, await front.exchange(received)

    found: tuple[Received, bytes, Any] = run(scenario())
    return found


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("client", ["anthropic", "openai-chat", "openai-responses", "gemini"])
@pytest.mark.parametrize("upstream", ["anthropic", "openai-chat", "openai-responses", "gemini"])
def test_a_child_gives_the_same_result_as_the_process(
    client: str, upstream: str, stream: bool, forks: list[int], request: pytest.FixtureRequest
) -> None:
    received, sent, exchange = _exchange_of(client, upstream, stream)
    assert not forks
    request.getfixturevalue("always")
    again, sent_again, exchange_again = _exchange_of(client, upstream, stream)
    assert len(forks) >= 3
    assert (again.status, sent_again) == (received.status, sent) == (200, sent)
    assert exchange_again["losses"] == exchange["losses"]
    names = {received.headers["dragoman-exchange"]: "", again.headers["dragoman-exchange"]: ""}
    for name in names:
        received, again = (one._replace(body=one.body.replace(name.encode(), b"")) for one in (received, again))
    assert _timeless(again.body) == _timeless(received.body)


def _timeless(body: bytes) -> bytes:
    """The body without random ids and times."""
    return re.sub(rb'(resp_|msg_|chatcmpl-)[0-9a-f]{16,}|"(created|created_at|createTime)":\s*("[^"]*"|\d+)', b"", body)


def test_a_child_refuses_a_broken_request(always: None) -> None:
    async def scenario() -> Received:
        async with gateway_to(ScriptedUpstream(whole("openai-chat"))) as front:
            return await front.ask("/v1/messages", b'{"model":"m","messages":[{"role":7}]}')

    received: Received = run(scenario())
    assert received.status == 400
    assert "messages" in message_of("anthropic", received.body)


@pytest.mark.parametrize("client", ["anthropic", "gemini"])
def test_a_request_that_needs_too_much_memory_is_refused(client: str, always: None) -> None:
    async def scenario() -> Received:
        bounds = Bounds(translation_memory=16_000_000)
        async with gateway_to(ScriptedUpstream(whole("openai-chat")), bounds=bounds) as front:
            body = request_body(client).replace(b'"hi"', b'"' + b"hi" * 20_000_000 + b'"')
            return await front.ask(path_of(client), body)

    received: Received = run(scenario())
    assert received.status in (400, 413)
    assert "needs more than 16000000 bytes of memory" in message_of(client, received.body)
    assert "bounds.translation_memory" in message_of(client, received.body)


@pytest.mark.parametrize("client", DIALECTS)
def test_a_child_that_dies_is_a_fault_that_clients_retry(
    client: str, always: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> tuple[Received, Received]:
        async with gateway_to(ScriptedUpstream(whole("openai-chat"))) as front:
            with monkeypatch.context() as patch:
                patch.setattr(child_process, "_outcome_of", lambda work: os.kill(os.getpid(), signal.SIGKILL))
                received = await front.generate(client)
            return received, await front.generate(client)

    received, again = run(scenario())
    assert received.status in (503, 529)
    assert "ended without a result" in message_of(client, received.body)
    assert again.status == 200


def test_a_client_that_leaves_ends_its_child(always: None, forks: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "_outcome_of", lambda work: time.sleep(60))

    async def scenario() -> None:
        async with gateway_to(ScriptedUpstream(whole("openai-chat"))) as front:
            _, writer = await front.open("/v1/messages", request_body("anthropic"))
            while not forks:
                await asyncio.sleep(0.01)
            writer.transport.abort()
            await wait_until_ended(forks[0])
            assert (await front.ask("/healthz")).status == 200

    run(scenario())


def test_token_counts_and_the_page_use_a_child_too(always: None, forks: list[int]) -> None:
    async def scenario() -> tuple[Received, Received]:
        async with gateway_to(ScriptedUpstream(whole("openai-chat"))) as front:
            counted = await front.ask("/v1/messages/count_tokens", request_body("anthropic"))
            tried = {"body": request_body("anthropic").decode(), "target": "gemini", "source": "anthropic"}
            return counted, await front.ask("/dragoman/translate", json.dumps(tried).encode())

    counted, tried = run(scenario())
    assert (counted.status, counted.json()["input_tokens"] > 0) == (200, True)
    assert (tried.status, "contents" in tried.json()["body"]) == (200, True)
    assert len(forks) >= 3


# The result of a child


def test_a_vault_in_a_child_records_new_entries() -> None:
    vault = VaultInChild(dragoman.MemoryVault(a="1"))
    vault.put("b", "2")
    assert [vault.get(key) for key in "abc"] == ["1", "2", None]
    assert vault.put_here == {"b": "2"}


@pytest.mark.parametrize("target", DIALECTS)
def test_the_lightened_request_is_enough_to_translate_the_answer(target: str) -> None:
    translation = dragoman.translate_request(
        payloads.request("openai-responses"), source="openai-responses", target=target
    )
    if translation.request is None or translation.history is None:
        pytest.skip("within one dialect the bytes pass unchanged")
    calls = {
        part.id for turn in translation.request.turns for part in turn.parts if isinstance(part, dragoman.ToolCall)
    }
    turns, digest = len(translation.request.turns), translation.history.conversation().with_texts()
    tools, first = translation.request.tools, translation.request.turns[0]
    light = exchange_work_in_child_process.expand_translation(
        exchange_work_in_child_process.compact_translation(translation)
    )
    assert light.request is not None
    assert len(light.request.turns) == turns
    assert {
        part.id for turn in light.request.turns for part in turn.parts if isinstance(part, dragoman.ToolCall)
    } == calls
    assert (light.request.tools, light.request.turns[0]) == (tools, first)
    if light.history is not None:
        assert light.history.conversation().with_texts() == digest


def test_very_many_losses_are_counted() -> None:
    body = json.loads(request_body("anthropic"))
    body["messages"] = [{"role": "user", "content": "hi", f"x{i}": 1} for i in range(5000)]
    losses = dragoman.translate_request(body, source="anthropic", target="gemini").losses
    fewer, most = exchange_work_in_child_process.limit_losses(losses), exchange_work_in_child_process.MAX_LOSSES
    assert len(losses) > 4000
    assert len(fewer) <= most + 5
    assert sum([int(one.detail.split()[1]) for one in fewer[most:]]) + most == len(losses)


# Requests under way


def test_requests_with_too_many_bytes_in_total_are_refused() -> None:
    async def scenario() -> tuple[Received, Received, Received]:
        async with gateway_to(ScriptedUpstream(whole("openai-chat"))) as front:
            server = Server(front.gateway.handle, ServerBounds(bodies=3_000_000))
            port = await server.start("127.0.0.1", 0)
            large = request_body("anthropic").replace(b'"hi"', b'"' + b"x" * 2_500_000 + b'"')
            wire = request("/v1/messages", large)
            first = await asyncio.open_connection("127.0.0.1", port)
            first[1].write(wire[:2_000_000])
            while server.held < 1_900_000:
                await asyncio.sleep(0.01)
            other = Front(port, front.gateway)
            refused = await other.ask("/v1/messages", large)
            small = await other.generate("anthropic")
            first[1].write(wire[2_000_000:])
            received = await read_answer(first[0])
            first[1].close()
            while server.held:
                await asyncio.sleep(0.01)
            await server.stop(0)
            return refused, small, received

    refused, small, received = run(scenario())
    assert refused.status == 503
    assert "already holds 3000000 bytes of requests" in message_of("anthropic", refused.body)
    assert json.loads(refused.body)["error"]["type"] == "overloaded_error"
    assert (small.status, received.status) == (200, 200)


def test_losses_beyond_the_tolerance_are_refused_from_a_child(always: None) -> None:
    async def scenario() -> Received:
        async with gateway_to(ScriptedUpstream(whole("openai-chat")), route={"tolerance": "info"}) as front:
            tool = {"type": "future_tool_20300101", "name": "future"}
            body = {**json.loads(request_body("anthropic")), "tools": [tool]}
            return await front.ask("/v1/messages", json.dumps(body).encode())

    received: Received = run(scenario())
    assert received.status == 400
    assert "tolerance" in message_of("anthropic", received.body)


def test_the_digest_is_of_the_client_s_history_and_not_of_the_repaired_one() -> None:
    """The client sends its own history again. The digest of a repaired history would differ, and lose the seals."""
    translation = dragoman.translate_request(payloads.request("openai-chat"), source="openai-chat", target="anthropic")
    assert translation.request is not None
    assert translation.history is not None
    digest = translation.history.conversation().with_texts()
    translation.request = msgspec.structs.replace(translation.request, turns=translation.request.turns[:1])
    restored = exchange_work_in_child_process.expand_translation(
        exchange_work_in_child_process.compact_translation(translation)
    )
    assert restored.history is not None
    assert restored.history.conversation().with_texts() == digest
