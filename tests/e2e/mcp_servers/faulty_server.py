"""A tool server without the SDK, of the older protocol with a handshake. Its argument names its one fault."""

from __future__ import annotations

import json
import signal
import sys
import time
from typing import Any

NOTHING = {"type": "object", "properties": {}}


def answer(fault: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        tools: dict[str, Any] = {} if fault == "toolless" else {"tools": {}}
        about = {"name": "odd", "version": "1"}
        return {"result": {"protocolVersion": "2025-06-18", "capabilities": tools, "serverInfo": about}}
    if method == "tools/list" and fault == "broken-list":
        return {"result": {"tools": [{"name": "act"}]}}
    if method == "tools/list":
        tool = {"name": "act", "inputSchema": NOTHING, "outputSchema": {**NOTHING, "required": ["n"]}}
        return {"result": {"tools": [tool], **({"nextCursor": "more"} if fault == "endless" else {})}}
    if method == "tools/call" and fault == "broken":
        return {"result": {"content": [{"type": "hologram"}]}}
    if method == "tools/call" and fault == "own-code":
        return {"error": {"code": -32000, "message": "the database is away"}}
    if method == "tools/call":
        return {"result": {"content": [{"type": "text", "text": "done"}], "structuredContent": {}}}
    return {"error": {"code": -32601, "message": "Method not found"}}


def main(fault: str) -> None:
    if fault == "chatty":
        sys.stderr.write('Traceback (most recent call last):\n  File "odd.py", line 1\nKeyError: 7\n')
        print("I am no tool server.", flush=True)
        sys.exit()
    if fault == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            reply = answer(fault, request["method"], request.get("params") or {})
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)
    while fault == "stubborn":
        time.sleep(1)


if __name__ == "__main__":
    main(sys.argv[1])
