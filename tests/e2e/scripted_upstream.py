"""Owns an upstream of all seven dialects on loopback. It sends three answers with calls, thoughts and seals.

The name of the model selects the behaviour. `...-fault` refuses the request. `...-slow` stops in the middle of a stream
until the gateway closes the connection. For any other name the upstream sends the next answer of the conversation.
"""

from __future__ import annotations

import json
import select
import socket
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from conformance.source.faults import fault

from tests.seals import sealing_upstreams as sealing

Json = Any
STEPS = 3
MODELS = {
    "anthropic": "claude-sonnet-5",
    "code-assist": "gemini-3-pro-preview",
    "gemini": "gemini-3-pro-preview",
    "ollama": "qwen3",
    "openai-chat": "gpt-4.1",
    "openai-responses": "gpt-5.1",
    "openrouter": "anthropic/claude-sonnet-5",
}
ROUTER_SEAL = sealing.seal("openrouter", 48)
_PLACES = (
    ("/v1internal:", "code-assist"),
    ("/api/v1/chat/completions", "openrouter"),
    ("/v1/chat/completions", "openai-chat"),
    ("/v1/responses", "openai-responses"),
    ("/v1/messages", "anthropic"),
    ("/api/chat", "ollama"),
    ("/models/", "gemini"),
)
_ANSWERS = {"gemini": (0, 1, 3), "anthropic": (0, 1, 2), "openai-responses": (0, 1, 2)}
"""The answers of each sealing upstream that are used: calls, calls, text."""


def story(dialect: str) -> sealing.Upstream:
    """The sealing upstream of a dialect."""
    return sealing.UPSTREAMS[dialect](48)


def body(dialect: str, step: int) -> bytes:
    if dialect == "code-assist":
        return json.dumps({"response": json.loads(body("gemini", step)), "traceId": "t"}).encode()
    if dialect in _ANSWERS:
        return sealing.body(story(dialect), _ANSWERS[dialect][step])
    return json.dumps(_ollama(step) if dialect == "ollama" else _chat(dialect, step, "message")).encode()


def stream(dialect: str, step: int) -> list[bytes]:
    """The frames of the answer in a step."""
    if dialect == "code-assist":
        frames = [json.loads(frame[len(b"data: ") :]) for frame in stream("gemini", step)]
        return [b"data: " + json.dumps({"response": frame}).encode() + b"\r\n\r\n" for frame in frames]
    if dialect in _ANSWERS:
        whole = sealing.stream(story(dialect), _ANSWERS[dialect][step])
        end = b"\r\n\r\n" if dialect == "gemini" else b"\n\n"
        return [frame + end for frame in whole.split(end) if frame]
    if dialect == "ollama":
        last = _ollama(step)
        first = {**last, "done": False}
        del first["done_reason"]
        last["message"] = {"role": "assistant", "content": ""}
        return [json.dumps(one).encode() + b"\n" for one in (first, last)]
    answer = _chat(dialect, step, "delta")
    ending = {**answer, "choices": [{"index": 0, "delta": {}, "finish_reason": answer["choices"][0]["finish_reason"]}]}
    answer["choices"][0]["finish_reason"] = None
    del answer["usage"]
    return [b"data: " + json.dumps(one).encode() + b"\n\n" for one in (answer, ending)] + [b"data: [DONE]\n\n"]


def _calls_of_step(step: int) -> list[tuple[str, str, str]]:
    return [
        [("c1", "weather", '{"city":"Paris"}'), ("c2", "weather", '{"city":"Rome"}')],
        [("c3", "compare", '{"a":1,"b":2}')],
        [],
    ][step]


def _ollama(step: int) -> Json:
    calls = [{"function": {"name": name, "arguments": json.loads(text)}} for _, name, text in _calls_of_step(step)]
    message: Json = {"role": "assistant", "content": "" if calls else "Paris is warmer.", "thinking": "Hm."}
    if calls:
        message["tool_calls"] = calls
    figures = {"prompt_eval_count": 5, "eval_count": 5, "total_duration": 9}
    end = {"done": True, "done_reason": "stop", **figures}
    return {"model": "qwen3", "created_at": "2026-01-01T00:00:00Z", "message": message, **end}


def _chat(dialect: str, step: int, place: str) -> Json:
    calls: list[Json] = [
        {"id": name, "type": "function", "function": {"name": tool, "arguments": text}}
        for name, tool, text in _calls_of_step(step)
    ]
    if place == "delta":
        calls = [{"index": index, **call} for index, call in enumerate(calls)]
    message: Json = {"role": "assistant", "content": None if calls else "Paris is warmer."}
    if calls:
        message["tool_calls"] = calls
    if dialect == "openrouter":
        detail = {"type": "reasoning.text", "text": "Hm.", "signature": ROUTER_SEAL, "format": "anthropic-claude-v1"}
        message |= {"reasoning": "Hm.", "reasoning_details": [{**detail, "index": 0}]}
    end = "tool_calls" if calls else "stop"
    kind = "chat.completion" if place == "message" else "chat.completion.chunk"
    usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
    choice = {"index": 0, place: message, "finish_reason": end}
    return {"id": f"x{step}", "object": kind, "created": 1, "model": "m", "choices": [choice], "usage": usage}


class ScriptedUpstream:
    """The server. Use it as a context."""

    def __init__(self) -> None:
        self.requests: dict[str, list[Json]] = defaultdict(list)
        """The requests by dialect."""
        self.hangups = threading.Semaphore(0)
        """Released for every stream that the gateway closed."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def __enter__(self) -> ScriptedUpstream:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(upstream: ScriptedUpstream) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            dialect = next(name for place, name in _PLACES if place in self.path)
            model = request.get("model") or self.path.partition("/models/")[2].partition(":")[0]
            if model.endswith("-fault"):
                refusal = fault(dialect, "rate")
                self._whole(refusal["status"], refusal["headers"], json.dumps(refusal["body"]).encode())
                return
            requests = upstream.requests[dialect]
            requests.append(request)
            step = (len(requests) - 1) % STEPS
            streams = request.get("stream", False) if "models/" not in self.path else False
            if not streams and "stream" not in self.path:
                self._whole(200, {"content-type": "application/json"}, body(dialect, step))
                return
            self.send_response(200)
            lines = dialect == "ollama"
            self.send_header("content-type", "application/x-ndjson" if lines else "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            frames = stream(dialect, step)
            if model.endswith("-slow"):
                requests.pop()
                self._break_off(frames[: max(1, len(frames) // 2)])
                return
            self._chunks(frames)
            self.wfile.write(b"0\r\n\r\n")

        def _chunks(self, frames: list[bytes]) -> None:
            for frame in frames:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(frame), frame))

        def _break_off(self, frames: list[bytes]) -> None:
            """Send these frames, and then nothing until the client closes the connection."""
            self.close_connection = True
            try:
                self._chunks(frames)
                ready, _, _ = select.select([self.connection], [], [], 20)
                gone = bool(ready) and not self.connection.recv(1, socket.MSG_PEEK)
            except ConnectionError:
                gone = True
            if gone:
                upstream.hangups.release()

        def _whole(self, status: int, headers: dict[str, str], data: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    return Handler
