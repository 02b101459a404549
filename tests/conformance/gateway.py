"""Owns a small gateway on loopback that uses the library and can be broken in several ways, to test the host runner."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import dragoman
from dragoman.dialects import get, names

Change = Callable[[str, bytes], bytes]
"""The change that a broken gateway makes to a body, given the dialect."""


def unchanged(dialect: str, body: bytes) -> bytes:
    return body


class Gateway:
    """A gateway with models named `<upstream's dialect>/<model>`; every upstream is the scripted one."""

    def __init__(
        self,
        upstream_port: int,
        *,
        request: Change = unchanged,
        response: Change = unchanged,
        stream: Change = unchanged,
        fault: Callable[[int], int] = int,
    ) -> None:
        self.upstream_port = upstream_port
        self.request, self.response, self.stream, self.fault = request, response, stream, fault
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Gateway:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def client_of(path: str) -> tuple[str, bool, str]:
    """Return the client's dialect, whether the path requests a stream, and the model in the path."""
    plain = path.partition("?")[0]
    streams = ":streamGenerateContent" in plain
    if "/v1internal:" in plain:
        return "code-assist", streams, ""
    if "/models/" in plain:
        return "gemini", streams, plain.partition("/models/")[2].partition(":")[0].replace("%2F", "/")
    found = [name for name in names() if get(name).upstream_paths.path == plain]
    return found[0], False, ""


def _handler(gateway: Gateway) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if self.path.endswith(("count_tokens", "input_tokens", "countTokens")):
                self._send(200, {}, b'{"input_tokens":9,"totalTokens":9}')
                return
            client, streams, model = client_of(self.path)
            document = json.loads(body)
            full_model = model or document["model"]
            upstream, _, model = full_model.partition("/")
            streams = streams or bool(document.get("stream", client == "ollama"))
            if client in ("gemini", "code-assist"):
                streams = ":streamGenerateContent" in self.path
            host = "api.deepseek.com" if model.startswith("deepseek") else None
            done = dragoman.translate_request(body, source=client, target=upstream, model=model, host=host)
            self._ask(client, upstream, done, model, streams)

        def _ask(self, client: str, upstream: str, done: dragoman.Translation, model: str, streams: bool) -> None:
            paths = get(upstream).upstream_paths
            path = (paths.stream_path if streams else paths.path).replace("{model}", model.replace("/", "%2F"))
            body = done.body
            if upstream not in ("gemini", "code-assist"):
                body = json.dumps({**json.loads(body), "stream": streams}, ensure_ascii=False).encode()
                body = done.body if json.loads(done.body).get("stream", upstream == "ollama") is streams else body
            connection = http.client.HTTPConnection("127.0.0.1", gateway.upstream_port, timeout=10)
            connection.request("POST", path, gateway.request(upstream, body), {"content-type": "application/json"})
            answer = connection.getresponse()
            try:
                data = answer.read()
            except http.client.IncompleteRead as error:
                data = error.partial
            connection.close()
            headers = {name.lower(): value for name, value in answer.getheaders()}
            status = answer.status
            if not streams and status == 200:
                try:
                    back = dragoman.translate_response(data, source=upstream, target=client, answers=done)
                except dragoman.DragomanError:
                    status = 502
            if status != 200:
                fault = dragoman.translate_fault(data, status=status, headers=headers, source=upstream, target=client)
                self._send(gateway.fault(fault.status), fault.headers, fault.body)
            elif streams:
                translator = dragoman.StreamTranslator(source=upstream, target=client, answers=done)
                self._send(200, {}, gateway.stream(client, translator.feed(data) + translator.close()))
            else:
                self._send(200, {}, gateway.response(client, back.body))

        def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    return Handler


class Fixed:
    """A server that always sends the same answer, and keeps the headers of its requests. With `upstream_port` it first
    sends a request to a Chat upstream and ignores the answer."""

    def __init__(self, status: int, body: bytes, upstream_port: int = 0) -> None:
        self.seen: list[dict[str, str]] = []
        seen = self.seen

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("content-length") or 0))
                seen.append({name.lower(): value for name, value in self.headers.items()})
                if upstream_port:
                    connection = http.client.HTTPConnection("127.0.0.1", upstream_port, timeout=10)
                    connection.request("POST", "/v1/chat/completions", b'{"stream":true}')
                    connection.getresponse()
                    connection.close()
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Fixed:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
