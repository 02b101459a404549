"""Owns the timing: CPU time of this process, the best of many short batches, with all cases in turns.

The machine is never idle, and a busy core next to this one slows it down by half. `process_time` leaves out the time of
other processes. Every round runs one batch of every case, so a slow second affects all cases. A ratio compares two
batches a few milliseconds apart, and the median of these is reported; microseconds are those of the best batch. The
garbage collector stays on, because it is on in production.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Any

Key = tuple[str, ...]


@dataclass
class Case:
    """One call to measure: `call` is applied to each of the inputs, which `inputs(n)` makes outside the timed part.

    A case with a floor runs a batch of the floor right before each of its own.
    """

    key: Key
    call: Callable[[Any], object]
    inputs: Callable[[int], Sequence[Any]]
    floor: Case | None = None
    repeat: int = 0
    batches: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)

    def batch(self, count: int) -> float:
        """CPU seconds for `count` calls."""
        call, items = self.call, self.inputs(count)
        start = process_time()
        for item in items:
            call(item)
        return process_time() - start

    def settle(self, seconds: float) -> None:
        """Warm up, and choose the number of calls in a batch."""
        if self.repeat:
            return
        if self.floor:
            self.floor.settle(seconds)
        self.batch(2)
        count, spent = 1, 0.0
        while True:
            # A pause of the garbage collector in one batch must not make all batches short.
            spent = min(self.batch(count), self.batch(count))
            if spent >= seconds / 4:
                break
            count *= 4
        self.repeat = max(1, round(count * seconds / spent))

    def round(self) -> float:
        """One batch (two with a floor); microseconds for one call."""
        below = self.floor.round() if self.floor else 0.0
        cost = self.batch(self.repeat) / self.repeat * 1e6
        self.batches.append(cost)
        if below:
            self.ratios.append(cost / below)
        return cost

    @property
    def best(self) -> float:
        """Microseconds of one call in the best batch."""
        return min(self.batches)

    @property
    def median(self) -> float:
        return statistics.median(self.batches)

    @property
    def ratio(self) -> float:
        """Ratio to the floor: median over the pairs of neighbouring batches."""
        return statistics.median(self.ratios)


def same(item: Any) -> Callable[[int], Sequence[Any]]:
    """Inputs that are all the same object."""
    return lambda count: [item] * count


def take_turns(cases: Sequence[Case], rounds: int, seconds: float, between: Iterable[Callable[[], None]] = ()) -> None:
    """Settle every case, then run the rounds. `between` holds further callables with a turn in each round (the
    peers)."""
    for case in cases:
        case.settle(seconds)
    others = list(between)
    for number in range(rounds):
        # Begin with another case in each round, so that each case sometimes follows an expensive case.
        shift = number * 7 % max(1, len(cases))
        for case in [*cases[shift:], *cases[:shift]]:
            case.round()
        for other in others:
            other()


def noise(cases: Iterable[Case]) -> float:
    """How far the median batch is above the best one, in per cent, over all cases."""
    return statistics.median((case.median / case.best - 1) * 100 for case in cases)
