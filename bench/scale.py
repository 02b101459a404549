"""Owns two measurements without a fixed payload: whether reading stays linear, and which modules the import loads."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import dragoman
from bench import payloads
from bench.clock import Case, same, take_turns
from bench.floors import orjson_echo
from dragoman.context import Context
from dragoman.dialects import get

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
# Modules that could open a connection or start a process. The library does not need them. `_socket` is not in the list:
# typing_extensions uses a type of it, and msgspec imports typing_extensions if it is installed.
NETWORK = ("socket", "ssl", "asyncio", "http", "urllib.request", "selectors", "subprocess", "email", "threading")
MODULES_GOAL = 120


def linearity(dialects: Sequence[str], rounds: int) -> list[dict[str, Any]]:
    """Microseconds per KB for growing histories, for reading alone and for the whole translation."""
    orjson = orjson_echo()
    found: list[tuple[str, str, int, Case, Case, Case]] = []
    for position, name in enumerate(dialects):
        target = dialects[(position + 1) % len(dialects)]
        for size in SIZES:
            body = payloads.history(name, size)
            floor = Case((name, str(size), "orjson"), orjson, same(body))
            read = Case((name, str(size), "read"), _reader(name, target), same(body), floor)
            whole = Case((name, str(size), "translate"), _translator(name, target), same(body), floor)
            found.append((name, target, len(body), floor, read, whole))
    take_turns([case for row in found for case in row[4:]], rounds, 0.005)
    return [
        {
            "source": name,
            "target": target,
            "bytes": size,
            "read_us_per_kb": read.best / size * 1000,
            "read_ratio": read.ratio,
            "translate_us_per_kb": whole.best / size * 1000,
            "translate_ratio": whole.ratio,
            "orjson_us_per_kb": floor.best / size * 1000,
        }
        for name, target, size, floor, read, whole in found
    ]


def _reader(source: str, target: str) -> Callable[[bytes], object]:
    read = get(source).read_request
    return lambda body: read(body, Context(source, target))


def _translator(source: str, target: str) -> Callable[[bytes], object]:
    model = payloads.MODELS[target]
    return lambda body: dragoman.translate_request(body, source=source, target=target, model=model)


_PROBE = """
import json, sys, time
before = set(sys.modules)
start = time.process_time()
import dragoman
spent = time.process_time() - start
bare = set(sys.modules) - before
from dragoman.dialects import get, names
for name in names():
    get(name)
print(json.dumps({"ms": spent * 1000, "bare": sorted(bare), "used": sorted(set(sys.modules) - before)}))
"""


def import_cost(rounds: int) -> dict[str, Any]:
    """Modules a fresh process loads for `import dragoman`, and for all dialects; the best CPU time of the import."""
    runs = []
    for _ in range(rounds):
        done = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout))
    bare, used = runs[0]["bare"], runs[0]["used"]
    return {
        "modules": len(bare),
        "modules_all_dialects": len(used),
        "own_modules": sum(1 for name in bare if name.split(".")[0] == "dragoman"),
        "network_modules": [name for name in used if name in NETWORK],
        "goal": MODULES_GOAL,
        "ms": min(run["ms"] for run in runs),
    }
