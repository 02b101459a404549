"""The gateway as a process: command-line options, workers, a new configuration, a graceful and an immediate end."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from bench.streams import frames

from dragoman.gateway.http.server import IncomingRequest, ReplyWriter, Server

from ..unit.gateway.helpers import Received, ScriptedUpstream, chunks, read_answer, request, request_body, run, whole

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to see processes")

STORY = [frame if isinstance(frame, bytes) else frame.encode() for frame in frames("openai-chat")]


class Process:
    """`dragoman serve`, started for a test."""

    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self.process = process
        self.port = port
        self.output = ""

    async def ask(self, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Received:
        reader, writer = await self.open(path, body, headers)
        try:
            return await read_answer(reader)
        finally:
            writer.close()

    async def open(
        self, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request(path, body, headers))
        return reader, writer

    def children(self) -> list[int]:
        file = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(child) for child in file.read_text().split()] if file.exists() else []

    def send_signal(self, number: int) -> None:
        self.process.send_signal(number)

    async def ended(self) -> int:
        return await asyncio.wait_for(self.process.wait(), 20)

    async def wait_for_output(self, words: str) -> None:
        """Wait until the standard error contains these words."""
        assert self.process.stderr is not None
        while words not in self.output:
            line = await asyncio.wait_for(self.process.stderr.readline(), 20)
            assert line, self.output
            self.output += line.decode()


@asynccontextmanager
async def serving(*options: str, environment: Mapping[str, str] | None = None) -> AsyncIterator[Process]:
    keep = {name: value for name, value in os.environ.items() if not re.search("API_KEY|BASE_URL|OLLAMA_HOST", name)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "dragoman", "serve", "--port", "0", *options),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**keep, **(environment or {})},
        cwd="/",
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = (await asyncio.wait_for(process.stdout.readline(), 30)).decode()
        found = re.search(r":(\d+)$", line.strip())
        assert found is not None, line + (await process.stderr.read()).decode()
        yield Process(process, int(found[1]))
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@asynccontextmanager
async def upstream(server_script: ScriptedUpstream) -> AsyncIterator[str]:
    server = Server(server_script.handle)
    port = await server.start("127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await server.stop(0)


def slow(release: asyncio.Event) -> Callable[[IncomingRequest, ReplyWriter], Any]:
    """A stream that stops in the middle until `release` is set."""

    async def step(statuses: IncomingRequest, reply: ReplyWriter) -> None:
        reply.start(200, [("content-type", "text/event-stream")])
        for i, frame in enumerate(STORY):
            reply.write(frame)
            if i == 20:
                await release.wait()
        reply.end()

    return step


def write_config(tmp_path: Path, base: str, more: str = "") -> str:
    file = tmp_path / "dragoman.toml"
    text = f'environment = false\n[upstreams.up]\ndialect = "openai-chat"\nbase_url = "{base}"\nauth = "none"\n{more}'
    file.write_text(text)
    return str(file)


async def wait_until(true: Callable[[], bool]) -> None:
    for _ in range(400):
        if true():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the condition did not become true")


def test_the_command_line_can_define_one_upstream() -> None:
    server_script = ScriptedUpstream(whole("openai-chat"))

    async def use_gateway() -> list[int]:
        async with upstream(server_script) as base:
            options = ("--upstream", f"{base}/v1", "--dialect", "openai-chat")
            async with serving(*options, "--upstream-key-env", "MY_KEY", environment={"MY_KEY": "k1"}) as process:
                first = await process.ask(
                    "/v1/messages", request_body("anthropic", model="any/name"), {"x-api-key": "mine"}
                )
                process.send_signal(signal.SIGINT)
                code = await process.ended()
            async with serving(*options) as process:
                second = await process.ask("/v1/messages", request_body("anthropic"), {"x-api-key": "mine"})
            return [first.status, second.status, code]

    assert run(use_gateway()) == [200, 200, 0]
    assert [seen.path for seen in server_script.seen] == ["/v1/chat/completions"] * 2
    assert [seen.headers["authorization"] for seen in server_script.seen] == ["Bearer k1", "Bearer mine"]
    assert b'"any/name"' in server_script.seen[0].body


def test_a_dead_worker_is_replaced_and_all_workers_end_together() -> None:
    async def use_gateway() -> tuple[list[int], int]:
        async with serving("--workers", "2") as process:
            workers = process.children()
            assert len(workers) == 2
            os.kill(workers[0], signal.SIGKILL)
            await wait_until(lambda: len(process.children()) == 2 and workers[0] not in process.children())
            await process.wait_for_output("another takes its place")
            workers = process.children()
            await asyncio.sleep(2)
            assert process.children() == workers
            received = [(await process.ask("/v1/messages", request_body("anthropic"))).status for _ in range(10)]
            after = process.children()
            process.send_signal(signal.SIGTERM)
            code = await process.ended()
            assert not any(Path(f"/proc/{worker}").exists() for worker in after)
            return received, code

    assert run(use_gateway()) == ([200] * 10, 0)


def test_every_worker_lists_all_exchanges() -> None:
    async def use_gateway() -> tuple[set[str], list[set[str]], set[int]]:
        async with serving("--workers", "2") as process:
            received = [await process.ask("/v1/messages", request_body("anthropic")) for _ in range(8)]
            names = {one.headers["dragoman-exchange"] for one in received}
            listed = [(await process.ask("/dragoman/exchanges")).json()["exchanges"] for _ in range(6)]
            found = {(await process.ask(f"/dragoman/exchanges/{name}")).status for name in names for _ in range(4)}
            unknown = await process.ask("/dragoman/exchanges/ex_none")
            return names, [{one["id"] for one in some} for some in listed], found | {unknown.status}

    names, listed, found = run(use_gateway())
    assert len(names) == 8
    assert listed == [names] * 6
    assert found == {200, 404}


def test_every_worker_streams_all_exchanges_and_a_stream_does_not_delay_the_end() -> None:
    async def use_gateway() -> tuple[set[str], set[str], int]:
        async with serving("--workers", "2") as process, asyncio.timeout(30):
            reader, writer = await process.open("/dragoman/live")
            await reader.readuntil(b"event: hello")
            names = set()
            for _ in range(8):
                received = await process.ask("/v1/messages", request_body("anthropic"))
                names.add(received.headers["dragoman-exchange"])
            seen = set[str]()
            while not names <= seen:
                line = await reader.readuntil(b"\n")
                seen |= set(re.findall(r'"id":"(ex_[0-9a-f]{32})"', line.decode("utf-8", "replace")))
            process.send_signal(signal.SIGTERM)
            await reader.readuntil(b"0\r\n\r\n")
            writer.close()
            return names, seen, await process.ended()

    names, seen, code = run(use_gateway())
    assert (seen, code) == (names, 0)


def test_workers_end_if_their_supervisor_dies() -> None:
    async def use_gateway() -> None:
        async with serving("--workers", "2") as process:
            workers = process.children()
            assert len(workers) >= 2
            process.send_signal(signal.SIGKILL)
            await process.ended()
            await wait_until(lambda: not any(_alive(worker) for worker in workers))

    run(use_gateway())


def _alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_gateway_that_stops_is_not_ready_and_finishes_its_streams(tmp_path: Path, workers: str) -> None:
    async def use_gateway() -> tuple[bytes, int, int, bool]:
        release = asyncio.Event()
        async with upstream(ScriptedUpstream(slow(release))) as base:
            file = write_config(tmp_path, base, "[listen]\ngrace = 1.5\ndrain = 20.0\n")
            async with serving("--config", file, "--workers", workers) as process:
                reader, writer = await process.open(
                    "/v1/messages", request_body("anthropic", stream=True, model="up/m")
                )
                await reader.readuntil(b"\r\n\r\n")
                process.send_signal(signal.SIGTERM)
                await asyncio.sleep(0.3)
                red = (await process.ask("/readyz")).status
                served = (await process.ask("/v1/messages", request_body("anthropic", model="rehearsal/rules"))).status
                await asyncio.sleep(2)
                with pytest.raises(OSError):
                    await process.ask("/readyz")
                release.set()
                body = b"".join([piece async for piece in chunks(reader)])
                writer.close()
                assert served == 200
                return body, red, await process.ended(), True

    body, red, code, _ = run(use_gateway())
    assert b"message_stop" in body
    assert (red, code) == (503, 0)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_second_signal_ends_the_gateway_at_once(tmp_path: Path, workers: str) -> None:
    async def use_gateway() -> int:
        async with upstream(ScriptedUpstream(slow(asyncio.Event()))) as base:
            file = write_config(tmp_path, base, "[listen]\ngrace = 0\ndrain = 60.0\n")
            async with serving("--config", file, "--workers", workers) as process:
                reader, writer = await process.open(
                    "/v1/messages", request_body("anthropic", stream=True, model="up/m")
                )
                await reader.readuntil(b"\r\n\r\n")
                process.send_signal(signal.SIGTERM)
                await asyncio.sleep(0.3)
                assert process.process.returncode is None
                process.send_signal(signal.SIGTERM)
                code = await process.ended()
                writer.close()
                return code

    assert run(use_gateway()) == 1


@pytest.mark.parametrize("workers", ["1", "2"])
def test_all_workers_use_a_new_configuration_and_drop_no_stream(tmp_path: Path, workers: str) -> None:
    async def use_gateway() -> tuple[list[int], list[int], list[int], bytes]:
        release = asyncio.Event()
        async with upstream(ScriptedUpstream(slow(release), whole("openai-chat"))) as base:
            file = write_config(tmp_path, base)
            async with serving("--config", file, "--workers", workers) as process:

                async def statuses() -> list[int]:
                    body = request_body("anthropic", model="nick")
                    return [(await process.ask("/v1/messages", body)).status for _ in range(8)]

                reader, writer = await process.open(
                    "/v1/messages", request_body("anthropic", stream=True, model="up/m")
                )
                await reader.readuntil(b"\r\n\r\n")
                before = await statuses()
                write_config(tmp_path, base, '[[routes]]\nmatch = "nick"\nto = "up/real"\n')
                process.send_signal(signal.SIGHUP)
                await process.wait_for_output("the new configuration is in use")
                await asyncio.sleep(0.3)
                after = await statuses()
                write_config(tmp_path, base, '[[routes]]\nmatch = "nick"\nto = "op/real"\n')
                process.send_signal(signal.SIGHUP)
                await process.wait_for_output("did you mean up?")
                wrong = await statuses()
                release.set()
                body = b"".join([piece async for piece in chunks(reader)])
                writer.close()
                return before, after, wrong, body

    before, after, wrong, body = run(use_gateway())
    assert (before, after, wrong) == ([404] * 8, [200] * 8, [200] * 8)
    assert b"message_stop" in body


def test_a_port_in_use_is_reported() -> None:
    async def use_gateway() -> tuple[int | None, str]:
        async with upstream(ScriptedUpstream(whole("openai-chat"))) as base:
            port = base.rpartition(":")[2]
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "dragoman", "serve", "--port", port, "--workers", "2"),
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd="/",
            )
            _, output = await asyncio.wait_for(process.communicate(), 30)
            return process.returncode, output.decode()

    code, output = run(use_gateway())
    assert code == 1
    assert "the port is in use. Stop the other program, or choose another port: --port 0 takes a free one." in output
