"""A session is killed (SIGKILL) at every write of the store and in every tool. Another process resumes the session."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.mcp_servers.processes import ROOT

CALLS = [[("c1", "one"), ("c2", "two")], [("c3", "three")], []]


def _answer(request: Any) -> Any:
    """The answer depends only on the history. So a repeated request gets the same answer."""
    step = sum([message["role"] == "assistant" for message in request["messages"]])
    calls = [
        {"id": name, "type": "function", "function": {"name": "write", "arguments": json.dumps({"line": line})}}
        for name, line in CALLS[step]
    ]
    message: Any = {"role": "assistant", "content": None if calls else "Done."}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


@pytest.fixture
def port() -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.dumps(_answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def test_a_killed_session_is_completed_and_repeats_no_effect(port: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.e2e.killed_sessions", str(port), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    killed = [one for one in found if one["killed"]]
    moments = {moment: sum([one["moment"] == moment for one in killed]) for moment in ("before", "after", "tool")}
    assert moments["tool"] == 3 and moments["before"] == moments["after"] >= 6, moments
    for one in found:
        assert (one["said"], one["step"]) == (["Done."], "idle"), one
        assert one["calls"] == [name for name, _ in one["results"]] == ["c1", "c2", "c3"], one
        assert len(set(one["lines"])) == len(one["lines"]), f"an effect was repeated: {one}"
        for (_, failed), line in zip(one["results"], ("one", "two", "three"), strict=True):
            assert failed or line in one["lines"], f"a result without its effect: {one}"
        assert sum([failed for _, failed in one["results"]]) <= 1, f"one call at most was interrupted: {one}"
    for one in [one for one in found if not one["killed"]]:
        assert one["lines"] == ["one", "two", "three"] and not any(failed for _, failed in one["results"])
    for one in [one for one in killed if one["moment"] == "tool"]:
        assert one["lines"] == ["one", "two", "three"], "the effect of an interrupted call stays, and is not repeated"
        assert [failed for _, failed in one["results"]].count(True) == 1
