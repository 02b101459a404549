"""Compares the cost of a repeated request in the gateway with the gateway of another tree: both run in turns.

    git worktree add ../base a9b7ae0
    python -m bench.repeated_gateway --library ../base/src

Both gateways run on the same core, and only one of them has work at a time: short bursts of the 6 KB agent request, at
16 connections. The CPU times of two neighbouring bursts give one ratio, and the median of the ratios is printed. Needs
the programs of `bench.gateway`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from bench import harness
from bench.fleet import Gateway, Pair, dragoman, environment
from bench.gateway import PAIRS

LIMIT = 1.05
CONNECTIONS = 16


class Running:
    """A running gateway."""

    def __init__(self, gateway: Gateway, port: int, pid: int) -> None:
        self.gateway = gateway
        self.port = port
        self.pid = pid

    def burst(self, pair: Pair, seconds: float) -> float:
        """CPU microseconds for each request."""
        post = self.gateway.post(self.port, pair)
        return float(harness.wrk(post, CONNECTIONS, seconds, self.pid)["cpu_us"])


@contextmanager
def running(name: str, library: Path, upstream: int) -> Iterator[Running]:
    """The gateway of a library."""
    port = harness.free_port()
    gateway = dragoman(upstream, port)
    variables = {**environment(gateway), "PYTHONPATH": str(library)}
    log = harness.BUILD / f"{name}.log"
    with harness.process(gateway.command, harness.GATEWAY_CORE, log, variables) as pid:
        harness.ready(gateway.post(port, PAIRS[0]), 90, pid)
        yield Running(gateway, port, pid)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.repeated_gateway", description=__doc__.splitlines()[0])
    parser.add_argument("--library", type=Path, required=True, help="the `src` folder of the other tree")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=int, default=1, help="of one burst")
    given = parser.parse_args()
    lacking = harness.missing()
    if lacking:
        raise SystemExit(f"not on this machine: {lacking}")
    os.chdir(harness.ROOT)
    harness.BUILD.mkdir(parents=True, exist_ok=True)
    with (
        harness.upstream() as upstream,
        running("other", given.library.resolve(), upstream) as other,
        running("this", harness.ROOT / "src", upstream) as this,
    ):
        for pair in PAIRS:
            for gateway in (other, this):
                gateway.burst(pair, 1.0)
            samples: list[tuple[float, float]] = []
            for number in range(given.rounds):
                first, second = (this, other) if number % 2 else (other, this)
                one, two = first.burst(pair, given.seconds), second.burst(pair, given.seconds)
                if one and two:  # on a busy machine a burst may get no time at all
                    samples.append((two, one) if number % 2 else (one, two))
            ratio = median([after / before for before, after in samples])
            before, after = (median([sample[side] for sample in samples]) for side in (0, 1))
            name = f"{pair[0]} to {pair[1]}"
            print(f"{name:34}{ratio:6.3f} x (limit {LIMIT}), {before:.0f} and {after:.0f} us", flush=True)


if __name__ == "__main__":
    main()
