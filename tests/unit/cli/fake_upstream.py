"""An upstream of Chat Completions on loopback. It gives scripted answers, and keeps the requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Answer = str | tuple[str, dict[str, Any]] | int
"""A text, a call (the name of a tool and its arguments), or the status of an error."""


class FakeUpstream:
    """The answers in their order (the last one is repeated), and the requests that arrived."""

    def __init__(self, *answers: Answer) -> None:
        self.answers: list[Answer] = [*answers] or ["Hello."]
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.port = 0
        self.status = 200

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def config(self, folder: Path, more: str = "") -> Path:
        """A configuration file with this upstream under the name `fake`."""
        file = folder / "fake.toml"
        file.write_text(
            f'environment = false\n[upstreams.fake]\ndialect = "openai-chat"\nbase_url = "{self.address}"\n'
            f'auth = "none"\nstream = "never"\n{more}'
        )
        return file

    def answer(self, path: str) -> dict[str, Any]:
        if path.endswith("/models"):
            return {"object": "list", "data": [{"id": "one", "object": "model"}, {"id": "two", "object": "model"}]}
        given = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        message: dict[str, Any] = {"role": "assistant", "content": given}
        if isinstance(given, int):
            return {"status": given, "error": {"message": "something is odd", "type": "invalid_request_error"}}
        if not isinstance(given, str):
            function = {"name": given[0], "arguments": json.dumps(given[1])}
            calls = [{"id": f"c{len(self.requests)}", "type": "function", "function": function}]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
        return {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "one",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1234, "completion_tokens": 5, "total_tokens": 1239},
        }


@contextmanager
def fake_upstream(*answers: Answer) -> Iterator[FakeUpstream]:
    """A running upstream."""
    upstream = FakeUpstream(*answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply()

        def do_POST(self) -> None:
            upstream.requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self._reply()

        def _reply(self) -> None:
            upstream.keys.append(self.headers.get("authorization", ""))
            answer = upstream.answer(self.path)
            body = json.dumps(answer).encode()
            status = answer.get("status")  # an answer of Responses has a status too, which is a text
            self.send_response(status if isinstance(status, int) else upstream.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep the output of the tests clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    upstream.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield upstream
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
