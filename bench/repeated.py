"""Compares the cost of repeated traffic with the library of another tree: both run in turns of a few milliseconds.

    git worktree add ../base a9b7ae0
    python -m bench.repeated --library ../base/src
    python -m bench.repeated --library ../base/src --kinds answer --rounds 60 --by pair

Four kinds of traffic, with the payloads of this tree and the public functions that both libraries have:

    again     the same request of an agent again
    next      the next turn of the same conversation
    answer    a plain answer, text and two calls, to a request that was translated before
    frames    a stream of 200 events, one `feed` for each event

Each library has one process. Both run one batch of a case, one directly after the other; the ratio of the two batches
is one sample, and the median of the samples is printed. So other work on the machine slows both batches.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench import payloads
from bench.clock import Case, same
from bench.streams import frames

ROOT = Path(__file__).resolve().parents[1]
DIALECTS = ("openai-chat", "openai-responses", "anthropic", "gemini")
LIMITS = {"again": 1.3, "next": 1.3, "answer": 1.05, "frames": 1.05}
BATCH = 0.003
"""Seconds of CPU for one batch."""

_numbers = itertools.count(1)


def cases(kinds: Sequence[str]) -> Iterator[Case]:
    """The cases of all pairs, with the library that this process imports."""
    import dragoman

    for kind, (source, target) in itertools.product(kinds, itertools.permutations(DIALECTS, 2)):
        call, inputs = _case(dragoman, kind, source, target)
        yield Case((kind, source, target), call, inputs)


def _case(
    library: Any, kind: str, source: str, target: str
) -> tuple[Callable[[Any], object], Callable[[int], Sequence[Any]]]:
    if kind in ("again", "next"):
        model = payloads.MODELS[target]
        if kind == "again":
            inputs = same(payloads.request(source))
        else:

            def inputs(count: int) -> Sequence[bytes]:
                return [payloads.next_request(source, next(_numbers)) for _ in range(count)]

        return lambda body: library.translate_request(body, source=source, target=target, model=model), inputs
    # The answer's source is the upstream of the request that it answers.
    question = payloads.request(target, stream=kind == "frames")
    translated = library.translate_request(question, source=target, target=source, model=payloads.MODELS[source])
    if kind == "answer":
        answer = library.translate_response
        return lambda body: answer(body, source=source, target=target, answers=translated), same(
            payloads.response(source)
        )

    def stream(chunks: Sequence[bytes]) -> None:
        translator = library.StreamTranslator(source=source, target=target, answers=translated)
        for chunk in chunks:
            translator.feed(chunk)
        translator.close()

    return stream, same(frames(source))


def work(kinds: Sequence[str]) -> None:
    """Run batches: for each input line with the number of a case, print the microseconds of one call."""
    found = list(cases(kinds))
    for case in found:
        case.settle(BATCH)
    print(json.dumps([case.key for case in found]), flush=True)
    for line in sys.stdin:
        print(found[int(line)].round(), flush=True)


class Worker:
    """The process of one library."""

    def __init__(self, library: Path, kinds: Sequence[str]) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(library), str(ROOT)])}
        command = [sys.executable, "-m", "bench.repeated", "--work", "--kinds", *kinds]
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.keys: list[tuple[str, str, str]] = [(kind, one, other) for kind, one, other in json.loads(self._read())]

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("a worker ended early: does the other library have the same public functions?")
        return line

    def batch(self, number: int) -> float:
        """Microseconds of one call of a case."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{number}\n")
        self._process.stdin.flush()
        return float(self._read())

    def end(self) -> None:
        """End the process."""
        self._process.communicate()


def compare(library: Path, kinds: Sequence[str], rounds: int) -> dict[tuple[str, str, str], list[tuple[float, float]]]:
    """For each case the microseconds of the other library and of this one, batch by batch."""
    other, this = Worker(library.resolve(), kinds), Worker(ROOT / "src", kinds)
    found: dict[tuple[str, str, str], list[tuple[float, float]]] = {key: [] for key in this.keys}
    for number in range(rounds):
        for i, key in enumerate(this.keys):
            if number % 2:  # alternate the order of both libraries
                after = this.batch(i)
                before = other.batch(i)
            else:
                before = other.batch(i)
                after = this.batch(i)
            found[key].append((before, after))
    other.end()
    this.end()
    return found


def show(found: dict[tuple[str, str, str], list[tuple[float, float]]], kinds: Sequence[str], by_pair: bool) -> None:
    """Print the ratio of each kind, the geometric mean of its pairs, and of each pair if asked."""
    for kind in kinds:
        pairs = {key: samples for key, samples in found.items() if key[0] == kind}
        ratios = {key: median([after / before for before, after in samples]) for key, samples in pairs.items()}
        mean = math.exp(sum(math.log(one) for one in ratios.values()) / len(ratios))
        before, after = [sum(min(one[side] for one in many) for many in pairs.values()) / len(pairs) for side in (0, 1)]
        print(
            f"{kind:8}{mean:6.3f} x of the other library (limit {LIMITS[kind]}; pairs {min(ratios.values()):.2f} to"
            f" {max(ratios.values()):.2f}), {before:.1f} and {after:.1f} us at best"
        )
        if by_pair:
            for key, one in sorted(ratios.items(), key=lambda item: -item[1]):
                best = [min(sample[side] for sample in pairs[key]) for side in (0, 1)]
                print(f"    {key[1]} to {key[2]}".ljust(40), f"{one:6.3f} x, {best[0]:.1f} and {best[1]:.1f} us")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.repeated", description=__doc__.splitlines()[0])
    parser.add_argument("--library", type=Path, help="the `src` folder of the other tree")
    parser.add_argument("--kinds", nargs="+", choices=list(LIMITS), default=list(LIMITS))
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--by", choices=("pair",), default="")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.kinds)
        return
    if given.library is None:
        parser.error("--library is required: the `src` folder of the tree to compare with")
    show(compare(given.library, given.kinds, given.rounds), given.kinds, given.by == "pair")


if __name__ == "__main__":
    main()
