"""Measures the memory that slow clients cost the gateway, with an upstream that sends as fast as possible.

python -m bench.slow_readers --readers 200 --megabytes 8 --client anthropic
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import time

from bench import live

_PATHS = {"anthropic": "/v1/messages", "openai-chat": "/v1/chat/completions"}


def _answering(megabytes: float) -> live.Answering:
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []}
    delta = {**chunk, "choices": [{"index": 0, "delta": {"content": "word " * 40}, "finish_reason": None}]}
    frame = b"data: %b\n\n" % json.dumps(delta).encode()
    block = frame * (262_144 // len(frame))
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"

    async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await live.request_of(reader)
        writer.write(head)
        for _ in range(int(megabytes * 2**20 / len(block))):
            writer.write(b"%x\r\n%b\r\n" % (len(block), block))
            await writer.drain()
        await asyncio.sleep(3600)

    return answering


def measure(client: str, readers: int, megabytes: float, seconds: float) -> tuple[float, float]:
    """MiB of the gateway before, and with many readers that read one piece and then nothing."""
    body = {"model": "m", "stream": True, "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    with live.upstream(_answering(megabytes)) as up, live.gateway(up, "openai-chat") as (port, pid):
        wire = live.post(port, _PATHS[client], json.dumps(body).encode())
        lines: list[socket.socket] = []
        before = 0.0
        for count in range(readers + 1):
            line = socket.socket()
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.settimeout(60)
            line.connect(("127.0.0.1", port))
            line.sendall(wire)
            line.recv(1024)
            if count:
                lines.append(line)
            else:  # the first reader causes late imports
                line.close()
                time.sleep(0.5)
                before = live.resident(pid)
        most, end = 0.0, time.monotonic() + seconds
        while time.monotonic() < end:
            most = max(most, live.resident(pid))
            time.sleep(0.2)
        for line in lines:
            line.close()
    return before, most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=200)
    parser.add_argument("--megabytes", type=float, default=8)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--client", choices=sorted(_PATHS), action="append")
    given = parser.parse_args()
    for client in given.client or sorted(_PATHS):
        before, after = measure(client, given.readers, given.megabytes, given.seconds)
        each = (after - before) * 1024 / given.readers
        print(f"{client}: {before:.1f} MiB, with {given.readers} slow readers {after:.1f} MiB: {each:.0f} KiB each")


if __name__ == "__main__":
    main()
