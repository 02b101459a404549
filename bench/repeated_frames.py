"""Compares the cost of repeated frames with the library of another tree: both libraries in turns, in one run.

    python -m bench.repeated_frames --library ../base/src
    python -m bench.repeated_frames --library ../base/src --pairs anthropic:openai-chat --rounds 30

Each library has a separate process, and imports `bench.streams` from this tree. The two processes never run at the
same time: one batch of the other tree, one batch of this tree, and so on. A ratio compares two neighbouring batches;
the median of these is printed. Three cases for each pair of dialects:

  frame    more of an open text: frames that differ only in their words, fed one by one
  stream   a whole stream of 200 events, fed one by one, with the translator made for it
  burst    the same stream in one piece
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import process_time_ns
from typing import Any

from bench.streams import frames

ROOT = Path(__file__).resolve().parents[1]
DIALECTS = ("openai-chat", "openai-responses", "anthropic", "gemini")
CASES = ("frame", "stream", "burst")
LIMIT = 1.05
BEGIN, END = 8, 36
"""Between these two events, every stream of `bench.streams` only continues its first text."""
BATCH = 3_000_000
"""Nanoseconds that a batch of the other tree takes."""


def _call(library: Any, case: str, source: str, target: str) -> tuple[Callable[[], int], int]:
    """A function that returns the nanoseconds of one run of a case, and the number of its events."""
    events = frames(source)
    before, measured = (events[:BEGIN], events[BEGIN:END]) if case == "frame" else ([], events)
    chunks = [b"".join(measured)] if case == "burst" else measured

    def run() -> int:
        start = process_time_ns()
        translator = library.StreamTranslator(source=source, target=target)
        feed = translator.feed
        for chunk in before:
            feed(chunk)
        if case == "frame":
            start = process_time_ns()
        for chunk in chunks:
            feed(chunk)
        if case != "frame":
            translator.close()
        return process_time_ns() - start

    return run, len(measured)


def work() -> None:
    """Answer lines of [case, source, target, runs] with nanoseconds for one event."""
    import dragoman

    known: dict[tuple[str, str, str], tuple[Callable[[], int], int]] = {}
    for line in sys.stdin:
        case, source, target, runs = json.loads(line)
        key = case, source, target
        if key not in known:
            known[key] = _call(dragoman, *key)
        run, events = known[key]
        print(sum(run() for _ in range(runs)) / runs / events, flush=True)


class Worker:
    """A process that runs batches with one library."""

    def __init__(self, library: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(library), str(ROOT)])}
        command = [sys.executable, "-m", "bench.repeated_frames", "--work"]
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def batch(self, case: str, source: str, target: str, runs: int) -> float:
        """Nanoseconds of CPU for one event."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps([case, source, target, runs]) + "\n")
        process.stdin.flush()
        return float(process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        process = self._process
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


def compare(other: Worker, this: Worker, key: tuple[str, str, str], rounds: int) -> tuple[float, float, float]:
    """The median ratio of neighbouring batches, and the best nanoseconds of each library."""
    for worker in (other, this):
        worker.batch(*key, 20)
    events = len(frames(key[1])) if key[0] != "frame" else END - BEGIN
    runs = max(1, round(BATCH / (other.batch(*key, 20) * events)))
    ratios, others, ours = [], [], []
    for number in range(rounds):
        pair = (other, this) if number % 2 else (this, other)
        first, second = [worker.batch(*key, runs) for worker in pair]
        before, after = (first, second) if number % 2 else (second, first)
        ratios.append(after / before)
        others.append(before)
        ours.append(after)
    return median(ratios), min(others), min(ours)


def show(library: Path, pairs: Sequence[str], cases: Sequence[str], rounds: int) -> None:
    """Print a line for each case and pair, and the mean of each case."""
    other, this = Worker(library), Worker(ROOT / "src")
    for case in cases:
        found = []
        for source in DIALECTS:
            for target in DIALECTS:
                if source == target or (pairs and f"{source}:{target}" not in pairs):
                    continue
                ratio, before, after = compare(other, this, (case, source, target), rounds)
                found.append(ratio)
                print(
                    f"    {case:7} {source} to {target}".ljust(50), f"{ratio:5.3f} x  {before:6.0f} -> {after:6.0f} ns"
                )
        print(f"{case:7} {sum(found) / len(found):5.3f} x of the other tree (limit {LIMIT})", flush=True)
    other.close()
    this.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.repeated_frames", description="repeated frames, two trees")
    parser.add_argument("--library", type=Path, help="the `src` folder of another tree, in turns with this one")
    parser.add_argument("--pairs", nargs="+", default=[], metavar="FROM:TO")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work()
    elif given.library is None:
        parser.error("--library is missing: the `src` folder of the tree to compare with")
    else:
        show(given.library.resolve(), given.pairs, given.cases, given.rounds)


if __name__ == "__main__":
    main()
