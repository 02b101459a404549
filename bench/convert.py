"""How many different requests of 6 KB does `dragoman convert` convert in a second on one core?

    python -m bench.convert                        # four pairs; about a minute
    python -m bench.convert --no-peers --lines 20000 --json build/convert.json

A file of different requests is read, converted and written, with the losses summed up and checkpoints saved: everything
that the command does. For comparison, orjson reads and writes the same file (`loads` and `dumps` of each line), and
each peer of `make bench-peers` converts the file line by line, with orjson for the bytes. All figures are CPU time of
one process. The last line of the output is the command on all cores, in elapsed time.

Every text and every argument differs from line to line. `same tools`: all lines declare the same ten tools, as the
requests of one application do. `other tools`: every schema differs from line to line too.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import orjson

from bench import payloads
from bench.peer_worker import PEERS
from dragoman.convert.run import Conversion, ConversionOptions
from dragoman.convert.workers import cores

GOAL = 2_000
PAIRS = (
    ("anthropic", "openai-chat"),
    ("openai-chat", "anthropic"),
    ("openai-chat", "gemini"),
    ("gemini", "openai-chat"),
)
PEER_PYTHON = Path(".venv-bench/bin/python")
_FIXED = frozenset(
    {"role", "type", "id", "tool_use_id", "tool_call_id", "call_id", "name", "model", "required", "enum"}
)


def varied(value: Any, words: random.Random, tools: bool) -> Any:
    """The value with other words in its texts. Names, ids and types stay."""
    if isinstance(value, dict):
        keep = _FIXED if tools else _FIXED | {"tools"}
        return {key: inner if key in keep else varied(inner, words, tools) for key, inner in value.items()}
    if isinstance(value, list):
        return [varied(inner, words, tools) for inner in value]
    if not isinstance(value, str) or len(value) < 12:
        return value
    if value.startswith("{"):
        return json.dumps(varied(json.loads(value), words, tools), separators=(",", ":"))
    pieces = value.split(" ")
    for _ in range(1 + len(pieces) // 6):
        pieces[words.randrange(len(pieces))] = f"w{words.randrange(100_000)}"
    return " ".join(pieces)


def write_file(path: Path, dialect: str, lines: int, tools: bool) -> None:
    """A file of different requests."""
    base, words = json.loads(payloads.request(dialect)), random.Random(1)
    with path.open("wb") as file:
        for _ in range(lines):
            file.write(orjson.dumps(varied(base, words, tools)) + b"\n")


def convert_file(path: Path, out: Path, target: str) -> float:
    """CPU seconds of a conversion in this process."""
    job = ConversionOptions((str(path),), str(out), target, model=payloads.MODELS[target], jobs=1, force=True)
    begun = time.process_time()
    summary = Conversion(job).run()
    assert summary.bad == 0
    return time.process_time() - begun


def floor(path: Path, out: Path) -> float:
    """CPU seconds of orjson for the same file."""
    begun = time.process_time()
    with path.open("rb") as source, out.open("wb") as target:
        for line in source:
            target.write(orjson.dumps(orjson.loads(line)))
            target.write(b"\n")
    return time.process_time() - begun


def peer(name: str, path: Path, out: Path, source: str, target: str) -> float | None:
    """CPU seconds of another translator for the same file; None if it cannot do it."""
    if not PEER_PYTHON.exists():
        return None
    command = [str(PEER_PYTHON), "-m", "bench.convert_peer", name, str(path), str(out), source, target]
    done = subprocess.run(command, capture_output=True, text=True)
    return float(done.stdout) if done.returncode == 0 else None


def all_cores(path: Path, out: Path, target: str) -> float:
    """Elapsed seconds of the whole command on all cores."""
    command = [
        sys.executable,
        "-m",
        "dragoman",
        "convert",
        str(path),
        "--to",
        target,
        "-o",
        str(out),
        "--force",
        "--quiet",
    ]
    begun = time.perf_counter()
    subprocess.run([*command, "--model", payloads.MODELS[target]], check=True)
    return time.perf_counter() - begun


def main() -> None:
    """Measure all pairs, and print tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=int, default=4_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "in.jsonl"), Path(folder, "out.jsonl")
        print(f"{'':46}{'KB':>5}{'lines/s':>10}{'x orjson':>10}" + "".join([f"{name:>14}" for name in PEERS]))
        for tools in (False, True):
            for source, target in PAIRS:
                row = measure(path, out, source, target, tools, chosen)
                rows.append(row)
                shown = [f"{row['peers'][name]:,.0f}" if row["peers"][name] else "-" for name in PEERS]
                label = f"{source} to {target}, {'other' if tools else 'same'} tools"
                figures = f"{label:46}{row['bytes'] / 1000:5.1f}{row['rate']:10,.0f}{row['ratio']:10.1f}"
                print(figures + "".join([f"{text:>14}" for text in shown]), flush=True)
        print(f"goal: {GOAL:,} lines/s on one core; peers in lines/s")
        spent = all_cores(path, out, PAIRS[-1][1])
        print(f"the command on {cores()} cores, elapsed time: {chosen.lines / spent:,.0f} lines/s")
    if chosen.json:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(json.dumps(rows, indent=2))


def measure(path: Path, out: Path, source: str, target: str, tools: bool, chosen: argparse.Namespace) -> dict[str, Any]:
    """Return the best of some rounds. The programs run in turns, so that a busy second slows all of them."""
    lines: int = chosen.lines
    write_file(path, source, lines, tools)
    best, floors = [], []
    for _ in range(chosen.rounds):
        best.append(convert_file(path, out, target))
        floors.append(floor(path, out))
    peers = {name: None if chosen.no_peers else peer(name, path, out, source, target) for name in PEERS}
    return {
        "source": source,
        "target": target,
        "other_tools": tools,
        "bytes": path.stat().st_size / lines,
        "rate": lines / min(best),
        "ratio": min(best) / min(floors),
        "peers": {name: spent and lines / spent for name, spent in peers.items()},
    }


if __name__ == "__main__":
    main()
