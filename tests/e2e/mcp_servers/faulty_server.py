"""A tool server by hand, of the time of the handshake, that is odd in one way: the word it is started with."""

from __future__ import annotations

import json
import signal
import sys
import time
from typing import Any

NOTHING = {"type": "object", "properties": {}}


def answer(how: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        tools: dict[str, Any] = {} if how == "toolless" else {"tools": {}}
        about = {"name": "odd", "version": "1"}
        return {"result": {"protocolVersion": "2025-06-18", "capabilities": tools, "serverInfo": about}}
    if method == "tools/list" and how == "broken-list":
        return {"result": {"tools": [{"name": "act"}]}}
    if method == "tools/list":
        tool = {"name": "act", "inputSchema": NOTHING, "outputSchema": {**NOTHING, "required": ["n"]}}
        return {"result": {"tools": [tool], **({"nextCursor": "more"} if how == "endless" else {})}}
    if method == "tools/call" and how == "broken":
        return {"result": {"content": [{"type": "hologram"}]}}
    if method == "tools/call" and how == "own-code":
        return {"error": {"code": -32000, "message": "the database is away"}}
    if method == "tools/call":
        return {"result": {"content": [{"type": "text", "text": "done"}], "structuredContent": {}}}
    return {"error": {"code": -32601, "message": "Method not found"}}


def main(how: str) -> None:
    if how == "chatty":
        sys.stderr.write('Traceback (most recent call last):\n  File "odd.py", line 1\nKeyError: 7\n')
        print("I am no tool server.", flush=True)
        sys.exit()
    if how == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            said = answer(how, asked["method"], asked.get("params") or {})
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)
    while how == "stubborn":
        time.sleep(1)


if __name__ == "__main__":
    main(sys.argv[1])
