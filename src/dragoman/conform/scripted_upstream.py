"""Owns a scripted upstream on a loopback port: it answers with the case's documents and keeps the requests.

This is network code: only `gateway_runner.py` imports it. A stream that a case leaves open ends like a broken
connection, without the last chunk.
"""

from __future__ import annotations

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from msgspec import Struct

from ..dialects import endpoints, get
from .judging import independent_stream_reader
from .judging.client_history import with_tool_names
from .judging.json_paths_and_exact_numbers import decode, dump

_VERSION = re.compile(r".*/v\d+[a-z]*\d*(?=/)")


class NextAnswer(Struct):
    """The next answer of the upstream: a whole response, a stream, or both (the request decides which one is
    sent); or a fault."""

    dialect: str
    reply: Any = None
    frames: list[Any] | None = None
    status: int = 200
    headers: dict[str, str] = {}


class ReceivedRequest(Struct):
    """A request of the gateway, and the reason why the upstream could not answer, if there is one."""

    path: str
    body: bytes
    problem: str = ""


class SuiteUpstream:
    """The server. Use it as a context manager."""

    def __init__(self, port: int) -> None:
        self._lock = threading.Lock()
        self._script: NextAnswer | None = None
        self._received: list[ReceivedRequest] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        # A gateway may keep its connections open after the run.
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def port(self) -> int:
        """The port that the server listens on."""
        return int(self._server.server_address[1])

    def __enter__(self) -> SuiteUpstream:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def expect(self, script: NextAnswer) -> None:
        """Answer with this script from now on, and forget earlier requests."""
        with self._lock:
            self._script, self._received = script, []

    def received(self) -> list[ReceivedRequest]:
        """The requests since the last `expect`."""
        with self._lock:
            return list(self._received)

    def answer(self, path: str, body: bytes) -> tuple[NextAnswer | None, bool]:
        """Keep a request. Gives the script, and whether the request wants a stream."""
        with self._lock:
            script = self._script
            received = ReceivedRequest(path, body)
            self._received.append(received)
            if script is None:
                received.problem = "no request was expected now"
                return None, False
            streams = _streams(script.dialect, path, body)
            if not _is_path_of(script.dialect, path):
                received.problem = f"{path} is not a path of {script.dialect}"
            elif script.status == 200 and (script.frames if streams else script.reply) is None:
                received.problem = f"a {'stream' if streams else 'whole answer'} was asked for; the case has none"
            return (None if received.problem else _with_tool_names(script, body)), streams


def _with_tool_names(script: NextAnswer, body: bytes) -> NextAnswer:
    """The script with the tool names of the request's declarations."""
    try:
        request = decode(body)
    except ValueError:
        return script
    reply, frames = with_tool_names([script.reply, script.frames], script.dialect, request)
    return NextAnswer(script.dialect, reply, frames, script.status, script.headers)


def _is_path_of(dialect: str, path: str) -> bool:
    """Whether a path ends like the dialect's path. A gateway may put a version, a project and a location before."""
    plain = path.partition("?")[0]
    paths = get(dialect).upstream_paths
    return any(_leads_to(plain, form.partition("?")[0]) for form in (paths.path, paths.stream_path))


def _leads_to(path: str, form: str) -> bool:
    before, named, behind = form.partition("{model}")
    if named:  # after any version, project and location
        return path.endswith(behind) and f"/{before.rstrip('/').rpartition('/')[2]}/" in path
    return path.endswith(_VERSION.sub("", form))


def _streams(dialect: str, path: str, body: bytes) -> bool:
    paths = get(dialect).upstream_paths
    if paths.path != paths.stream_path:
        return _leads_to(path.partition("?")[0], paths.stream_path.partition("?")[0])
    try:
        document = decode(body)
    except ValueError:
        return False
    return isinstance(document, dict) and bool(document.get("stream", endpoints(dialect).stream.streams_by_default))


def _handler(upstream: SuiteUpstream) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # with Nagle's algorithm every second write waits 40 ms for an acknowledgement

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            script, streams = upstream.answer(self.path, body)
            if script is None:
                self._whole(501, {}, b'{"error":{"message":"the scripted upstream has no answer to this"}}')
            elif script.status != 200:
                text = script.reply if isinstance(script.reply, str) else dump(script.reply)
                self._whole(script.status, script.headers, text.encode())
            elif streams:
                self._stream(script)
            else:
                self._whole(200, script.headers, dump(script.reply).encode())

        def _whole(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in ({"content-type": "application/json"} | headers).items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _stream(self, script: NextAnswer) -> None:
            frames = script.frames or []
            self.send_response(200)
            lines = get(script.dialect).framing == "ndjson"
            self.send_header("content-type", "application/x-ndjson" if lines else "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.send_header("connection", "close")
            self.end_headers()
            for frame in frames:
                data = independent_stream_reader.frame_stream(script.dialect, [frame])
                self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            if independent_stream_reader.stream_ending(script.dialect, frames) != "open":
                self.wfile.write(b"0\r\n\r\n")
            self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            """Write no log: the runner makes the report."""

    return Handler
