"""Measures how long a running gateway is blocked by the largest documents: `/healthz` is requested all the time.

    python -m bench.stalls                                # every kind of document, 37 MB each
    python -m bench.stalls --megabytes 60 --only tiny answer

Prints the slowest answer of `/healthz` during each kind of work, and exits 1 when one took longer than --limit ms.
A longer test can use `Probe`: it sends requests in a separate thread until it is stopped.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from bench import live

PAUSE = 0.005


class Probe:
    """Calls `/healthz` again and again on one connection, and notes the slowest answer."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self.worst = 0.0
        """Seconds."""
        self.count = 0

    def __enter__(self) -> Probe:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _ask(self) -> None:
        line = socket.create_connection(("127.0.0.1", self._port), 60)
        wire = f"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1:{self._port}\r\n\r\n".encode()
        while not self._over.is_set():
            began = time.monotonic()
            line.sendall(wire)
            if not line.recv(65536):
                raise ConnectionError("the gateway closed the connection of the probe")
            self.worst = max(self.worst, time.monotonic() - began)
            self.count += 1
            time.sleep(PAUSE)
        line.close()


def _messages(size: int, message: Callable[[int], list[Any]]) -> bytes:
    one = len(json.dumps(message(0)))
    messages = [each for i in range(size // one) for each in message(i)]
    return json.dumps(
        {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}, *messages]}
    ).encode()


def _session(i: int) -> list[Any]:
    call = {"type": "tool_use", "id": f"t{i}", "name": "f", "input": {"path": f"/a/{i}", "lines": [1, 2, 3]}}
    result = {"type": "tool_result", "tool_use_id": f"t{i}", "content": "a line of a file\n" * 40}
    return [
        {"role": "assistant", "content": [{"type": "text", "text": "I look into it. " * 8}, call]},
        {"role": "user", "content": [result]},
    ]


def session(size: int) -> bytes:
    """A document like a long session of an agent."""
    return _messages(size, _session)


def images(size: int) -> bytes:
    """A few large images."""
    source = {"type": "base64", "media_type": "image/png", "data": "QUJD" * (size // 16)}
    content = [{"type": "image", "source": source}] * 4
    return json.dumps({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": content}]}).encode()


def tiny(size: int) -> bytes:
    """Very many messages of one letter."""
    return _messages(size, lambda i: [{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}])


def parts(size: int) -> bytes:
    """Very many empty objects instead of parts."""
    inner = b",".join([b"{}"] * (size // 3))
    return b'{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[%b]}]}' % inner


def brackets(size: int) -> bytes:
    """Very many empty arrays in an unknown field."""
    inner = b",".join([b"[]"] * (size // 3))
    return b'{"model":"m","max_tokens":9,"x":[%b],"messages":[{"role":"user","content":"hi"}]}' % inner


def tools(size: int) -> bytes:
    """Very many tools whose schemas refer to each other."""
    named = {f"d{i}": {"properties": {f"p{j}": {"$ref": f"#/$defs/d{j}"} for j in range(6)}} for i in range(6)}
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": named}
    one = {"name": "f", "input_schema": schema}
    many = [{**one, "name": f"f{i}"} for i in range(size // len(json.dumps(one)))]
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "tools": many}
    return json.dumps(body).encode()


def items(size: int) -> bytes:
    """A long session of a Responses client, which the gateway stores."""
    one = {"role": "user", "content": "a line of a file\n" * 40}
    return json.dumps({"model": "m", "input": [one] * (size // len(json.dumps(one)))}).encode()


def sealed(size: int) -> bytes:
    """A long session of a Chat client, whose answer has a seal that the gateway keeps for the conversation."""
    call = {"type": "function", "function": {"name": "f", "arguments": '{"path":"/a"}'}}
    one = [
        {"role": "user", "content": "go on " * 40},
        {"role": "assistant", "content": None, "tool_calls": [{**call, "id": "c"}]},
        {"role": "tool", "tool_call_id": "c", "content": "a line of a file\n" * 40},
    ]
    return json.dumps({"model": "m", "messages": one * (size // len(json.dumps(one)))}).encode()


REQUESTS = {one.__name__: one for one in (session, images, tiny, parts, brackets, tools)}
FRAME = 8 * 1024 * 1024
"""Bytes. Larger frames, which only images have, block the loop for longer (docs/how-to/run-the-gateway.md)."""
KINDS = (*REQUESTS, "answer", "stream", "count", "within", "stored", "sealed")


def _answering(size: int) -> live.Answering:
    """An upstream of Chat that answers whole, or with frames of 8 MB. The model `long` gives long answers."""

    def answer(text: str) -> dict[str, Any]:
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}

    def chunk(text: str, finish: str | None = None) -> dict[str, Any]:
        delta = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
        return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [delta]}

    async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            body = await live.request_of(reader)
            long = b'"long"' in body[:2000] or b'"long"' in body[-2000:]
            if b'"stream":true' in body[:2000] or b'"stream":true' in body[-2000:]:
                pieces = [min(FRAME, size - at) for at in range(0, size, FRAME)]
                frames = [b"data: %b\n\n" % json.dumps(chunk("word " * (piece // 5))).encode() for piece in pieces]
                frames.append(b"data: %b\n\ndata: [DONE]\n\n" % json.dumps(chunk("", "stop")).encode())
                out, kind = b"".join(frames), b"text/event-stream"
            else:
                out, kind = json.dumps(answer("word " * (size // 5 if long else 5))).encode(), b"application/json"
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\ncontent-length: %d\r\n\r\n" % (kind, len(out)) + out)
            await writer.drain()

    return answering


async def _thinking(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """An upstream of Messages that answers with a signed thought and a call."""
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "c2VhbA=="},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
    ]
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content, "usage": usage}
    out = json.dumps({**message, "stop_reason": "tool_use", "stop_sequence": None}).encode()
    while True:
        await live.request_of(reader)
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(out)
        writer.write(head + out)
        await writer.drain()


def _ask(port: int, message: bytes) -> tuple[int, float]:
    """Status of one request, and the seconds it took."""
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), 600) as line:
        line.sendall(message)
        first = line.recv(65536)
        while line.recv(2**20):
            pass
    return int(first.split()[1]) if first else 0, time.monotonic() - began


def measure(kind: str, size: int, port: int) -> tuple[int, float, float]:
    """Status, seconds, and the slowest answer of `/healthz` during the request."""
    short = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    path, body = "/v1/messages", json.dumps(short).encode()
    if kind in REQUESTS:
        body = REQUESTS[kind](size)
    elif kind == "answer":
        body = json.dumps({**short, "model": "long"}).encode()
    elif kind == "stream":
        body = json.dumps({**short, "model": "long", "stream": True}).encode()
    elif kind == "count":
        path, body = "/v1/messages/count_tokens", session(size)
    elif kind == "within":
        path, body = "/v1/chat/completions", session(size).replace(b'"max_tokens"', b'"max_completion_tokens"', 1)
    elif kind == "stored":
        path, body = "/v1/responses", items(size)
    elif kind == "sealed":
        path, body = "/v1/chat/completions", sealed(size)
    message = live.post(port, path, body).replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n", 1)
    # A copy of the message during the measurement would delay the probe.
    with Probe(port) as probe:
        time.sleep(0.2)
        status, seconds = _ask(port, message)
        time.sleep(0.2)
    return status, seconds, probe.worst


def _shown(kind: str, size: int, port: int, pid: int) -> float:
    """Measure, print, and return the slowest answer of `/healthz`."""
    status, seconds, stall = measure(kind, size, port)
    memory = live.resident(pid)
    print(f"{kind:10} {status} in {seconds:5.1f} s; /healthz {stall * 1000:6.1f} ms; {memory:.0f} MiB", flush=True)
    return stall


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=37)
    parser.add_argument("--only", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--limit", type=float, default=100, help="milliseconds that /healthz may take")
    given = parser.parse_args()
    size = int(given.megabytes * 1e6)
    worst = 0.0
    with live.upstream(_answering(size)) as up, live.gateway(up, "openai-chat") as (port, pid):
        with Probe(port) as idle:
            time.sleep(3)
        print(f"idle: /healthz {idle.worst * 1000:.1f} ms, which is the noise of the machine", flush=True)
        worst = max([_shown(kind, size, port, pid) for kind in given.only if kind != "sealed"], default=0.0)
    if "sealed" in given.only:
        with live.upstream(_thinking) as up, live.gateway(up, "anthropic") as (port, pid):
            worst = max(worst, _shown("sealed", size, port, pid))
    print(f"slowest /healthz: {worst * 1000:.1f} ms (limit {given.limit:g})")
    return 0 if worst * 1000 <= given.limit else 1


if __name__ == "__main__":
    sys.exit(main())
