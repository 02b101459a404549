"""Owns a run of an agent on a loopback upstream that requests one call and then ends. Returns the arrived requests."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from msgspec import Struct

from dragoman.runtime import Agent
from dragoman.transport.upstream_record_and_environment import Upstream

Json = Any


class Arrived(Struct):
    """A request that arrived from the agent."""

    path: str
    headers: dict[str, str]
    body: Json


def agent_requests(
    folder: Path,
    dialect: str = "gemini",
    model: str = "gemini-2.5-pro",
    call: tuple[str, Json] | None = None,
    headers: dict[str, str] | None = None,
    prepare: Any = None,
    **options: Any,
) -> list[Arrived]:
    """Send an agent one question. Returns all requests that its upstream got. `call` is the call in the first answer.
    `prepare` gets the agent before the question."""
    arrived: list[Arrived] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
            arrived.append(Arrived(self.path, {name.lower(): value for name, value in self.headers.items()}, sent))
            body = json.dumps(_answer(dialect, call if len(arrived) == 1 else None)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep the output of the tests clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        base = f"http://127.0.0.1:{server.server_port}"
        project = "p" if dialect == "code-assist" else ""
        upstream = Upstream(dialect, base, auth="none", stream="never", headers=headers or {}, project=project)
        agent = Agent(
            f"it/{model}",
            folder=folder,
            upstreams={"it": upstream},
            environment={"HOME": str(folder.parent)},
            sandbox="off",
            **options,
        )
        if prepare is not None:
            prepare(agent)
        try:
            assert agent.ask("Begin.").text == "Done."
        finally:
            server.shutdown()
            thread.join()
    return arrived


def _answer(dialect: str, call: tuple[str, Json] | None) -> Json:
    name, arguments = call or ("", {})
    if dialect == "anthropic":
        block = {"type": "tool_use", "id": "c1", "name": name, "input": arguments}
        content = [block] if call else [{"type": "text", "text": "Done."}]
        answer: Json = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content}
        usage = {"input_tokens": 1, "output_tokens": 1}
        return {**answer, "stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None, "usage": usage}
    if dialect == "openai-chat":
        function = {"id": "c1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        content_of_answer = {"content": None, "tool_calls": [function]} if call else {"content": "Done."}
        choice = {"index": 0, "message": {"role": "assistant", **content_of_answer}, "finish_reason": "stop"}
        return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    part: Json = {"functionCall": {"id": "c1", "name": name, "args": arguments}} if call else {"text": "Done."}
    answer = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}
    return {"response": answer} if dialect == "code-assist" else answer
