"""Converts a file of requests with another translator, line by line, and prints the CPU seconds.

    .venv-bench/bin/python -m bench.convert_peer llm-rosetta in.jsonl out.jsonl anthropic openai-chat

Must not import dragoman. The translator is loaded before the clock starts.
"""

from __future__ import annotations

import os
import sys
import time

from bench.peer_worker import PEERS


def main(name: str, source: str, output: str, dialect: str, target: str) -> None:
    """Convert all lines."""
    pipe = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # peers may print other text
    call = next((call for key, call, _ in PEERS[name]() if key == ("request", dialect, target)), None)
    if call is None:
        raise SystemExit(2)
    begun = time.process_time()
    with open(source, "rb") as lines, open(output, "wb") as out:
        for line in lines:
            out.write(call(line))
            out.write(b"\n")
    print(time.process_time() - begun, file=pipe)


if __name__ == "__main__":
    main(*sys.argv[1:])
