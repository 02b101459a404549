"""Owns the scripted upstream of the soak: all seven dialects on one port, in a separate process.

Every thought and every seal of the upstream holds a number, and the upstream remembers the conversation of each number.
A request with the number of another conversation proves that the gateway mixed two tenants.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import sys
from collections import Counter
from typing import Any
from urllib.parse import unquote

import msgspec

from dragoman.canon.parts import Part, Reasoning, Seal, Text, ToolCall
from dragoman.canon.request import Request
from dragoman.canon.response import Response, Stop, Usage
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.rehearsal.answer_composition import events_of
from tests.soak.upstream_behaviours import SCENES, read_order

CREATED = 1_760_000_000
SEAL = re.compile(rb"SEAL([0-9a-f]{32})")
THOUGHT = re.compile(rb"THOUGHT([0-9a-f]{32})")
_PATHS = (
    ("/v1internal:", "code-assist"),
    ("/api/v1/chat/completions", "openrouter"),
    ("/v1/chat/completions", "openai-chat"),
    ("/v1/responses", "openai-responses"),
    ("/v1/messages", "anthropic"),
    ("/api/chat", "ollama"),
    ("/models/", "gemini"),
)
_STATUSES = {"bad-request": 400, "no-key": 401, "no-money": 402, "no-model": 404, "busy": 429, "server": 500}
_WORDS = "The weather in Paris is mild and the sky is clear. "


class Upstream:
    """Answers as the scene demands, and counts the numbers that come back."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.mixed: list[str] = []
        self.lost: list[str] = []
        self._numbers = itertools.count(1)
        self._made_for: dict[str, str] = {}
        self._last: dict[str, tuple[str, ...]] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.counts["connections"] += 1
        self.counts["open"] += 1
        try:
            while (request := await _read(reader)) is not None:
                self.counts["requests"] += 1
                if not await self._answer(*request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self.counts["broken connections"] += 1
        finally:
            self.counts["open"] -= 1
            writer.close()

    async def _answer(self, path: str, body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request. False: the connection is over."""
        if path == "/soak/report":
            _send(writer, 200, json.dumps(self.report()).encode())
            return True
        name = next((dialect for place, dialect in _PATHS if place in path), None)
        ordered = read_order(body)
        if name is None or ordered is None:
            self.counts["without order"] += 1
            _send(writer, 404, b'{"error":{"message":"no order in this request"}}')
            return True
        label, scene, _ = ordered
        self._check(label, body)
        self.counts[f"scene {scene}"] += 1
        if scene == "silent":
            await reader.read(1)  # the gateway closes the connection when its client leaves
            self.counts["left alone"] += 1
            return False
        if scene == "closed":
            return False
        if scene in _STATUSES:
            status = _STATUSES[scene]
            text = json.dumps({"error": {"message": f"soak: {scene}", "type": "soak", "code": status}}).encode()
            _send(writer, status, text, retry_after="30" if status == 429 else "")
            return True
        if scene == "empty-504":
            _send(writer, 504, b"", kind="text/plain")
            return True
        if scene == "html":
            _send(writer, 200, b"<html><body>maintenance</body></html>", kind="text/html")
            return True
        if scene == "error-200":
            _send(writer, 200, _error(name))
            return True
        return await self._good(name, path, body, label, scene, reader, writer)

    async def _good(
        self,
        name: str,
        path: str,
        body: bytes,
        label: str,
        scene: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        """A good answer, or one that breaks off."""
        dialect = get(name)
        request = dialect.read_request(body, Context(name, name))
        model = request.model or unquote(path.rpartition("/models/")[2].rpartition(":")[0])
        request = msgspec.structs.replace(request, model=model)
        response = self._response(name, request, label, scene)
        context = Context(name, name, model=model, answers=request, created=CREATED)
        streams = ":stream" in path if ":" in path else request.stream
        if not (streams if streams is not None else name == "ollama"):
            text = dialect.write_response(response, context)
            if scene in ("cut", "cut-clean"):
                writer.write(_head(200, len(text), "application/json") + text[: len(text) // 2])
                return False
            _send(writer, 200, text)
            return True
        out = dialect.writer(context)
        frames = [frame for event in events_of(response) if (frame := out.send(event))]
        frames += [last] if (last := out.close()) else []
        kind = "text/event-stream" if dialect.framing == "sse" else "application/x-ndjson"
        writer.write(_head(200, None, kind))
        if scene in ("cut", "cut-clean"):
            broken = b"".join(_unended(frames))
            if scene == "cut":
                broken = broken[: max(1, len(broken) - 7)]
            writer.write(_chunk(broken))
            if scene == "cut-clean":
                writer.write(b"0\r\n\r\n")
                await writer.drain()
                return True
            return False
        if scene == "leaving":
            writer.write(_chunk(b"".join(frames[: len(frames) // 2])))
            await reader.read(1)
            self.counts["left alone"] += 1
            return False
        for frame in frames:
            writer.write(_chunk(frame))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    def _response(self, name: str, request: Request, label: str, scene: str) -> Response:
        dialect = get(name)
        origin = dialect.origin or dialect.name
        number = f"{next(self._numbers):032x}"
        # "same" conversations are equal to the last letter in everything that clients see. Only thoughts and seals
        # differ.
        seen = "Hello." if label.startswith("same") else f"Answer {number}."
        parts: list[Part] = []
        made: list[str] = []
        # Gemini's seals are on calls. Chat's seals are entries of some hosts, which our writer does not write.
        if "reasoning" in dialect.sealed and origin not in ("gemini", "openai-chat"):
            parts.append(Reasoning(f"THOUGHT{number}", seal=self._seal(origin, request.model, number, label)))
            made.append(number)
        long = scene in ("long", "leaving", "slow-reader")
        parts.append(Text(f"{seen} {_WORDS * 120}" if long else seen))
        calls = scene == "calls"
        if calls:
            for place in range(2):
                seal = None
                if origin == "gemini" and not place:
                    seal = self._seal(origin, request.model, number, label)
                    made.append(number)
                given = f"call_{place}" if origin != "anthropic" else f"toolu_{place}"
                parts.append(ToolCall(given, "weather", f'{{"city": "City {place}"}}', seal=seal))
        if SCENES[scene].ending == "answer":
            self._last[label] = tuple(made)
        stop = Stop("tool_calls" if calls else "stop")
        return Response(tuple(parts), stop, f"r_{number[-12:]}", request.model, CREATED, Usage(100, 20))

    def _seal(self, origin: str, model: str, number: str, label: str) -> Seal:
        self._made_for[number] = label
        data = f"SEAL{number}"
        if origin == "openrouter":  # OpenRouter gets the whole detail back
            detail = {"type": "reasoning.text", "text": f"THOUGHT{number}", "signature": data}
            data = json.dumps({**detail, "format": "anthropic-claude-v1", "index": 0}, separators=(",", ":"))
        return Seal(origin, data, "", model)

    def _check(self, label: str, body: bytes) -> None:
        """Check whose seals and thoughts a request brings back."""
        found = {number.decode() for number in (*SEAL.findall(body), *THOUGHT.findall(body))}
        self.counts["seals back"] += len(found)
        for number in found:
            owner = self._made_for.get(number)
            if owner != label:
                self.mixed.append(f"{label} brought what was made for {owner}")
        expected = self._last.pop(label, ())
        if expected and not label.startswith("same"):
            self.counts["seals expected"] += len(expected)
            self.lost += [label for number in expected if number not in found]

    def report(self) -> dict[str, Any]:
        """The counts so far."""
        return {"counts": dict(self.counts), "mixed": self.mixed[:50], "lost": Counter(_pair(one) for one in self.lost)}


def _pair(label: str) -> str:
    """The pair of dialects in a label (`distinct.CLIENT.UPSTREAM.NUMBER`)."""
    return ".".join(label.split(".")[1:3])


def _unended(frames: list[bytes]) -> list[bytes]:
    """The frames without those that end the answer."""
    ends = (b"finish", b"[DONE]", b"message_stop", b"message_delta", b"response.completed", b'"done":true', b"stopped")
    kept = list(itertools.takewhile(lambda frame: not any(end in frame for end in ends), frames))
    return kept[: max(1, len(kept))] if kept else [frames[0][: len(frames[0]) // 2]]


def _error(name: str) -> bytes:
    """An error body of the dialect."""
    if name == "anthropic":
        return b'{"type":"error","error":{"type":"api_error","message":"soak: error with a good status"}}'
    if name == "ollama":
        return b'{"error":"soak: error with a good status"}'
    return (
        b'{"error":{"message":"soak: error with a good status","type":"server_error","code":500,"status":"INTERNAL"}}'
    )


async def _read(reader: asyncio.StreamReader) -> tuple[str, bytes] | None:
    """The path and the body of the next request. None: the connection is over."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    length = next((int(line.partition(":")[2]) for line in lines if line.lower().startswith("content-length:")), 0)
    return first.split(" ")[1], await reader.readexactly(length)


def _head(status: int, length: int | None, kind: str, retry_after: str = "") -> bytes:
    framing = "transfer-encoding: chunked" if length is None else f"content-length: {length}"
    more = f"retry-after: {retry_after}\r\n" if retry_after else ""
    return f"HTTP/1.1 {status} Soak\r\ncontent-type: {kind}\r\n{more}{framing}\r\n\r\n".encode()


def _chunk(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece)


def _send(writer: asyncio.StreamWriter, status: int, body: bytes, kind: str = "application/json", **more: str) -> None:
    writer.write(_head(status, len(body), kind, **more) + body)


async def main() -> None:
    """Serve on a free port of loopback until the standard input ends."""
    upstream = Upstream()
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0, limit=64 * 1024 * 1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
