"""Owns a gateway process and an upstream process, for measurements of a running gateway."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
Answering = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def resident(pid: int) -> float:
    """MiB of memory of a process and the processes that it started."""
    total = 0
    for one in [pid, *_children(pid)]:
        try:
            total += int(Path(f"/proc/{one}/statm").read_text().split()[1])
        except OSError:
            continue  # the process has ended
    return total * os.sysconf("SC_PAGE_SIZE") / 2**20


def _children(pid: int) -> list[int]:
    try:
        found = [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return [each for one in found for each in (one, *_children(one))]


@contextmanager
def gateway(upstream: int, dialect: str, more: str = "") -> Iterator[tuple[int, int]]:
    """A gateway that routes all models to an upstream of one dialect. Yields its port and its process."""
    port = free_port()
    lines = [
        *("[listen]", f"port = {port}", more),
        *("[upstreams.up]", f'dialect = "{dialect}"', f'base_url = "http://127.0.0.1:{upstream}"', 'key_env = "KEY"'),
        *("[[routes]]", 'match = "*"', 'to = ["up"]'),
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "gateway.toml"
        file.write_text("\n".join(lines) + "\n")
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        command = [sys.executable, "-m", "dragoman", "serve", "--config", str(file)]
        env = {**kept, "HOME": folder, "KEY": "key", "LANG": "C.UTF-8"}
        with (Path(folder) / "log").open("wb") as log:
            child = subprocess.Popen(command, env=env, stdout=log, stderr=log, cwd=folder)
        try:
            _until_ready(port, child)
            yield port, child.pid
        finally:
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def _until_ready(port: int, child: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end and child.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise TimeoutError("the gateway did not begin to listen")


@contextmanager
def upstream(answering: Answering) -> Iterator[int]:
    """A server in a separate process that answers every connection with `answering`. Yields its port."""
    port = free_port()
    child = os.fork()
    if not child:
        try:
            asyncio.run(_serve(answering, port))
        finally:
            os._exit(0)
    try:
        end = time.monotonic() + 10
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.02)
        yield port
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


async def _serve(answering: Answering, port: int) -> None:
    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await answering(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # the gateway has closed the connection
        finally:
            writer.close()

    server = await asyncio.start_server(one, "127.0.0.1", port, limit=2**20)
    await server.serve_forever()


async def request_of(reader: asyncio.StreamReader) -> bytes:
    """The body of the next request on a connection."""
    head = await reader.readuntil(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return await reader.readexactly(int(line.partition(b":")[2]))
    return b""


def post(port: int, path: str, body: bytes) -> bytes:
    """A request as bytes."""
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n"
    return (head + f"content-length: {len(body)}\r\n\r\n").encode() + body
