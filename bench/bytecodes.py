"""Counts the Python bytecodes that the gateway runs for one request, by file and by function.

    python -m bench.bytecodes anthropic openai-chat [--stream] [--rows 40]

The count does not depend on other processes or on a clock, so small changes are visible. It does not include the cost
of C functions.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import uvloop

from bench import fleet, harness
from dragoman.gateway.app import Gateway
from dragoman.gateway.config import load
from dragoman.gateway.http.server import Server

WARM, COUNTED = 50, 20

Place = tuple[str, str]
found: Counter[Place] = Counter()
calls: Counter[Place] = Counter()


def entered(frame: FrameType, event: str, argument: Any) -> Any:
    """For `sys.settrace`: counts every bytecode of every function."""
    frame.f_trace_opcodes, frame.f_trace_lines = True, False
    code = frame.f_code
    place = (code.co_filename.rpartition("dragoman/")[2], code.co_qualname)
    calls[place] += 1

    def ran(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "opcode":
            found[place] += 1
        return ran

    return ran


def ask(post: harness.Post, times: int) -> None:
    """Send one request after the other on one connection, and read each answer to its end."""
    with socket.create_connection(("127.0.0.1", post.port), 60) as link:
        for _ in range(times):
            link.sendall(post.wire)
            got = b""
            while b"\r\n\r\n" not in got:
                got += link.recv(65536)
            head, _, body = got.partition(b"\r\n\r\n")
            if b" 200 " not in head:
                raise RuntimeError(got.decode("utf-8", "replace"))
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            while len(body) < int(length) if length else not body.endswith(b"0\r\n\r\n"):
                body += link.recv(65536)


async def count(upstream: int, client: str, dialect: str, *, stream: bool) -> int:
    """Serve in this process, and count. Returns the number of counted requests."""
    port = harness.free_port()
    ours = fleet.dragoman(upstream, port)
    environment = {**os.environ, **ours.env}
    gateway = Gateway(load(Path(ours.command[-1]), environment), environment)
    server = Server(gateway.handle)
    await server.start("127.0.0.1", port)
    post = ours.post(port, (client, dialect), stream=stream)
    times = COUNTED // 5 if stream else COUNTED
    await asyncio.to_thread(ask, post, WARM)
    sys.settrace(entered)
    await asyncio.to_thread(ask, post, times)
    sys.settrace(None)
    await server.stop(1)
    gateway.close()
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("client", choices=harness.SCRIPTED)
    parser.add_argument("upstream", choices=harness.SCRIPTED)
    parser.add_argument("--stream", action="store_true")
    parser.add_argument("--rows", type=int, default=40, help="functions to show")
    chosen = parser.parse_args()
    harness.BUILD.mkdir(parents=True, exist_ok=True)
    with harness.upstream() as port:
        times = uvloop.run(count(port, chosen.client, chosen.upstream, stream=chosen.stream))
    files: Counter[str] = Counter()
    for (file, _), number in found.items():
        files[file] += number
    print(f"{chosen.client} to {chosen.upstream}: {found.total() / times:,.0f} bytecodes a request\n")
    for file, number in files.most_common(20):
        print(f"{number / times:8,.0f}  {file}")
    print()
    for place, number in found.most_common(chosen.rows):
        print(f"{number / times:8,.0f}  {calls[place] / times:5.1f} calls  {' '.join(place)}")


if __name__ == "__main__":
    main()
