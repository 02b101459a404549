"""Owns processes and load: gateways and the scripted upstream pinned to cores, wrk, paced streams, CPU and memory.

The gateway has its own core; the upstream, wrk and the paced streams share another core. CPU time comes from /proc. It
includes every process and thread of the gateway, also ended ones. On a shared machine, compare CPU times.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import payloads
from bench.story import SYSTEM
from bench.streams import EVENTS, frames

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "gateway"
GATEWAY_CORE = os.environ.get("GATEWAY_CORE", "0")
LOAD_CORE = os.environ.get("LOAD_CORE", str((os.cpu_count() or 1) - 1))
SCRIPTED = ("openai-chat", "openai-responses", "anthropic", "gemini")
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Post:
    """One request, which the load repeats."""

    port: int
    path: str
    body: bytes
    headers: dict[str, str]

    @property
    def wire(self) -> bytes:
        lines = [f"POST {self.path} HTTP/1.1", f"host: 127.0.0.1:{self.port}", f"content-length: {len(self.body)}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode() + self.body


def missing() -> str:
    """The programs that are missing on this machine, as text; "" when none is."""
    lacking = [tool for tool in ("wrk", "cc", "taskset") if shutil.which(tool) is None]
    return ", ".join(lacking)


def paced(body: bytes, milliseconds: int) -> bytes:
    """The same request with an answer that has one event in each interval of `milliseconds`."""
    words = f"bench-pace-{milliseconds} "
    begins = SYSTEM[: len(words)].encode()
    assert begins in body
    return body.replace(begins, words.encode(), 1)


@contextmanager
def process(command: list[str], core: str, log: Path, env: dict[str, str] | None = None) -> Iterator[int]:
    """Start a process. At the end of the context, end it and all processes that it started."""
    with log.open("wb") as out:
        child = subprocess.Popen(
            ["taskset", "-c", core, *command], env=env, stdout=out, stderr=out, cwd=ROOT, start_new_session=True
        )
    try:
        yield child.pid
    finally:
        for number in (signal.SIGTERM, signal.SIGKILL):
            if child.poll() is None:
                os.killpg(child.pid, number)
                try:
                    child.wait(5)
                except subprocess.TimeoutExpired:
                    continue


@contextmanager
def upstream() -> Iterator[int]:
    """The scripted upstream; gives its port."""
    folder = BUILD / "answers"
    folder.mkdir(parents=True, exist_ok=True)
    for dialect in SCRIPTED:
        (folder / f"{dialect}.whole").write_bytes(_whole(payloads.response(dialect)))
        pieces = _streamed(frames(dialect))
        (folder / f"{dialect}.stream").write_bytes(b"".join(b"%d\n%b" % (len(piece), piece) for piece in pieces))
    program = BUILD / "upstream"
    subprocess.run(["cc", "-O2", "-o", str(program), str(ROOT / "bench" / "upstream.c")], check=True)
    log = BUILD / "upstream.log"
    with process([str(program), str(folder)], LOAD_CORE, log):
        yield int(_until(lambda: log.read_text().strip(), 10))


def _whole(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)


def _streamed(events: list[bytes]) -> list[bytes]:
    """An answer in pieces: the head with the first event, each event in a separate chunk, the end."""
    kind = b"text/event-stream; charset=utf-8" if events[0].startswith((b"data", b"event")) else b"application/x-ndjson"
    head = b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\ntransfer-encoding: chunked\r\n\r\n" % kind
    chunks = [b"%x\r\n%b\r\n" % (len(event), event) for event in events]
    return [head + chunks[0], *chunks[1:], b"0\r\n\r\n"]


def _until(ask: Any, seconds: float) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = ask()
        if found:
            return found
        time.sleep(0.005)
    raise TimeoutError(f"nothing within {seconds:g} seconds")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def once(post: Post, seconds: float = 30) -> tuple[int, bytes]:
    """Status and whole answer of one request; (0, b"") without an answer."""
    try:
        with socket.create_connection(("127.0.0.1", post.port), seconds) as line:
            line.sendall(post.wire)
            received = b""
            while not _complete(received):
                more = line.recv(65536)
                if not more:
                    break
                received += more
    except OSError:
        return 0, b""
    found = re.match(rb"HTTP/1\.[01] (\d+)", received)
    return (int(found[1]) if found else 0), received


def _complete(received: bytes) -> bool:
    head, blank, body = received.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    return bool(blank) and (len(body) >= int(length[1]) if length else body.endswith(b"0\r\n\r\n"))


def ready(post: Post, seconds: float, pid: int) -> float:
    """Seconds until the first good answer. TimeoutError when none comes, or the process ended."""
    began = time.monotonic()

    def is_ready() -> bool:
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            raise TimeoutError("the process ended at once; see its log")
        return once(post)[0] == 200

    _until(is_ready, seconds)
    return time.monotonic() - began


def usage(pid: int) -> tuple[float, float]:
    """CPU seconds so far, and resident MiB, of a process and those it started."""
    parents: dict[int, list[int]] = {}
    received: dict[int, tuple[float, float]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # the process has ended
            cpu = (int(fields[11]) + int(fields[12])) / _TICK
            received[int(name)] = (cpu, int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 2**20)
            parents.setdefault(int(fields[1]), []).append(int(name))
    tree, at = [pid], 0
    while at < len(tree):
        tree += parents.get(tree[at], [])
        at += 1
    found = [received[one] for one in tree if one in received]
    return sum(cpu for cpu, _ in found), sum(memory for _, memory in found)


def busy(core: str) -> float:
    """Seconds that a core has worked so far, for all processes."""
    for line in Path("/proc/stat").read_text().splitlines():
        name, *ticks = line.split()
        if name == f"cpu{core}":
            numbers = [int(tick) for tick in ticks[:8]]
            return (sum(numbers) - numbers[3] - numbers[4]) / _TICK
    return 0.0


def wrk(post: Post, connections: int, seconds: float, pid: int | None = None) -> dict[str, float]:
    """Send load for `seconds`: requests/s, milliseconds, failures, and CPU microseconds of the gateway per request."""
    body = BUILD / "body"
    body.write_bytes(post.body)
    headers = "\n".join(f"{name}: {value}" for name, value in post.headers.items())
    before, worked, began = usage(pid)[0] if pid else 0.0, busy(GATEWAY_CORE), time.monotonic()
    ran = subprocess.run(
        ["taskset", "-c", LOAD_CORE, "wrk", "-t1", f"-c{connections}", f"-d{seconds:g}s", "--timeout", "30s"]
        + ["-s", str(ROOT / "bench" / "post.lua"), f"http://127.0.0.1:{post.port}{post.path}"],
        env=os.environ | {"BENCH_BODY": str(body), "BENCH_HEADERS": headers},
        capture_output=True,
        text=True,
    )
    spent = (usage(pid)[0] if pid else 0.0) - before
    others = max(0.0, busy(GATEWAY_CORE) - worked - spent) / (time.monotonic() - began)
    found = re.search(r"^@(\{.*\})$", ran.stdout, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"wrk: {ran.stdout[-300:]}{ran.stderr[-300:]}")
    received = json.loads(found[1])
    count = max(1, received["requests"])
    out = {
        "requests": received["requests"],
        "rps": received["requests"] / (received["us"] / 1e6),
        "failed": received["failed"],
    }
    out |= {"p50_ms": received["p50"] / 1000, "p99_ms": received["p99"] / 1000}
    return out | ({"cpu_us": spent / count * 1e6, "others": others} if pid else {})


class _Listener(asyncio.Protocol):
    """Reads one stream: when its first event came, how many reads, when it ended."""

    def __init__(self, post: Post) -> None:
        self.first = 0.0
        self.reads = 0
        self.size = 0
        self.done: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._post = post
        self._tail = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._began = time.perf_counter()
        transport.write(self._post.wire)

    def data_received(self, data: bytes) -> None:
        if not self.first and b"data:" in data:
            self.first = time.perf_counter() - self._began
        self.reads += 1
        self.size += len(data)
        self._tail = (self._tail + data)[-7:]
        if self._tail == b"\r\n0\r\n\r\n" and not self.done.done():
            self.done.set_result(time.perf_counter() - self._began)
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(0.0)  # The stream was cut off, and does not count as complete.


def listen(post: Post, streams: int, spread: float, pid: int | None = None, limit: float = 120) -> dict[str, float]:
    """Run `streams` streams at the same time, started within `spread` seconds. Returns the received events, and the
    gateway's CPU time for each event."""

    async def one(number: int) -> _Listener:
        await asyncio.sleep(spread * number / streams)
        _, found = await asyncio.get_running_loop().create_connection(lambda: _Listener(post), "127.0.0.1", post.port)
        await found.done
        return found

    async def all_of_them() -> list[_Listener]:
        return await asyncio.wait_for(asyncio.gather(*[one(i) for i in range(streams)]), limit)

    before = usage(pid)[0] if pid else 0.0
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {int(LOAD_CORE)})
    try:
        found = asyncio.run(all_of_them())
    finally:
        os.sched_setaffinity(0, cores)
    spent = (usage(pid)[0] if pid else 0.0) - before
    firsts = sorted(one.first for one in found if one.first)
    whole = [one for one in found if one.done.result() and one.first]
    out: dict[str, float] = {"streams": streams, "whole": len(whole)}
    if whole:
        out |= {
            "first_p50_ms": statistics.median(firsts) * 1000,
            "first_p99_ms": firsts[len(firsts) * 99 // 100] * 1000,
        }
        out |= {"reads": statistics.mean(one.reads for one in whole)}
        out |= {"seconds": statistics.median(one.done.result() for one in whole)}
    return out | ({"cpu_us": spent / streams / EVENTS * 1e6} if pid else {})
