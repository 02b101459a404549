"""Measures the time of each stage of one pair, to guide optimisation.

    python -m bench.profile anthropic gemini                    # request, response and stream of that pair
    python -m bench.profile anthropic gemini --kind request --cold

Wraps the functions that every dialect has (admit, the functions of the Dialect, the msgspec encoders) from outside, so
the library contains no timing code. The cost of the wrappers is estimated and subtracted; both totals are printed, so
that the reader sees this cost. The shares are the important result.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import msgspec

from bench import payloads
from bench.clock import same
from bench.floors import KINDS
from bench.streams import frames
from bench.tables import micro, number, table
from bench.translate import fresh_requests, request_call, response_call, stream_call
from dragoman.codec.sse_splitter import SseSplitter
from dragoman.codec.wire_decoding_with_unknown_fields import Admitter
from dragoman.context import Context
from dragoman.dialects import get

STAGES = ("frames", "admit", "decode", "read", "write", "encode", "rest")
BLOCKS, RUNS = 10, 20


@dataclass
class Watch:
    """Time spent in each stage itself, without the stages called from it."""

    spent: dict[str, float] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    inner: list[float] = field(default_factory=lambda: [0.0])
    tax: float = 0.0
    """Seconds that one wrapped call adds to its caller, outside the measured time of the call itself."""

    def levy(self) -> None:
        """Estimate the cost of a wrapper with calls that do nothing: the cheapest of many batches."""
        count, taxes = 1000, []
        watched = self.on("nothing", lambda: None)
        for _ in range(BLOCKS * RUNS):
            self.reset()
            start = perf_counter()
            for _ in range(count):
                watched()
            taxes.append((perf_counter() - start - self.spent["nothing"]) / count)
        self.tax = min(taxes)
        self.reset()

    def on(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        inner, spent, calls, tax = self.inner, self.spent, self.calls, self.tax

        def watched(*args: Any, **options: Any) -> Any:
            inner.append(0.0)
            start = perf_counter()
            try:
                return function(*args, **options)
            finally:
                whole = perf_counter() - start
                spent[stage] = spent.get(stage, 0.0) + whole - inner.pop()
                calls[stage] = calls.get(stage, 0) + 1
                inner[-1] += whole + tax

        return watched

    def reset(self) -> None:
        self.spent.clear()
        self.calls.clear()


@contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Replace an attribute for the duration of the context, on a module, a class or a frozen Struct."""
    put = msgspec.structs.force_setattr if isinstance(owner, msgspec.Struct) else setattr
    old = getattr(owner, name)
    put(owner, name, value)
    try:
        yield
    finally:
        put(owner, name, old)


def _codecs() -> Iterator[tuple[Any, str, str, Any]]:
    """Every name in the library's modules that is a method of a msgspec encoder or decoder."""
    for module_name, module in list(sys.modules.items()):
        if module_name.split(".")[0] != "dragoman":
            continue
        for name, value in list(vars(module).items()):
            owner = getattr(value, "__self__", None)
            if isinstance(owner, msgspec.json.Encoder):
                yield module, name, "encode", value
            elif isinstance(owner, msgspec.json.Decoder):
                yield module, name, "decode", value


@contextmanager
def watching(watch: Watch, source: str, target: str) -> Iterator[None]:
    """Wrap the functions of both dialects for the duration of the context."""
    with ExitStack() as stack:

        def swap(owner: Any, name: str, stage: str) -> None:
            stack.enter_context(_replaced(owner, name, watch.on(stage, getattr(owner, name))))

        swap(Admitter, "admit", "admit")
        swap(SseSplitter, "feed", "frames")
        for module, name, stage, value in _codecs():
            stack.enter_context(_replaced(module, name, watch.on(stage, value)))
        origin, goal = get(source), get(target)
        context = Context(source, target)
        reader, writer = type(origin.reader(context)), type(goal.writer(context))
        for owner, name, stage in (
            (origin, "read_request", "read"),
            (origin, "read_response", "read"),
            (goal, "write_request", "write"),
            (goal, "write_response", "write"),
            (reader, "feed", "read"),
            (reader, "close", "read"),
            (writer, "send", "write"),
            (writer, "close", "write"),
        ):
            swap(owner, name, stage)
        yield


def best_run(call: Callable[[Any], Any], inputs: Callable[[int], Sequence[Any]], watch: Watch) -> tuple[float, Watch]:
    """Seconds of the fastest of RUNS runs, and the times of its stages."""
    fastest, seen = float("inf"), Watch()
    for item in inputs(RUNS):
        watch.reset()
        start = perf_counter()
        call(item)
        spent = perf_counter() - start
        if spent < fastest:
            fastest, seen = spent, Watch(dict(watch.spent), dict(watch.calls))
    return fastest, seen


def profile(kind: str, source: str, target: str, cold: bool) -> str:
    call: Callable[[Any], Any]
    constant: Any
    if kind == "request":
        call, constant = request_call(source, target), payloads.request(source)
    elif kind == "response":
        call, constant = response_call(source, target), payloads.response(source)
    else:
        call, constant = stream_call(source, target), frames(source)
    inputs: Callable[[int], Sequence[Any]] = same(constant)
    if cold and kind == "request":
        inputs = fresh_requests(source)
    watch = Watch()
    watch.levy()
    call(inputs(1)[0])
    bare, (total, seen) = float("inf"), (float("inf"), watch)
    # Plain and wrapped runs alternate, so that a slow second does not affect only one of them.
    for _ in range(BLOCKS):
        bare = min(bare, best_run(call, inputs, watch)[0])
        with watching(watch, source, target):
            total, seen = min((total, seen), best_run(call, inputs, watch), key=lambda run: run[0])
    seen.spent["rest"] = total - sum(seen.spent.values()) - watch.tax * sum(seen.calls.values())
    whole = sum(seen.spent.values())
    rows = [
        [stage, micro(cost * 1e6), number(cost / whole * 100, 0), str(seen.calls.get(stage, 1))]
        for stage, cost in sorted(seen.spent.items(), key=lambda item: STAGES.index(item[0]))
    ]
    title = f"{kind} {source} -> {target}: {micro(bare * 1e6)} us plain, {micro(total * 1e6)} us with wrappers"
    return table(title, ["stage", "us", "%", "calls"], rows, 1)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.profile", description=__doc__.splitlines()[0])
    parser.add_argument("source", choices=payloads.names())
    parser.add_argument("target", choices=payloads.names())
    parser.add_argument("--kind", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--cold", action="store_true", help="tool schemas never seen before (requests)")
    options = parser.parse_args(arguments)
    print("\n\n".join(profile(kind, options.source, options.target, options.cold) for kind in options.kind))


if __name__ == "__main__":
    main(sys.argv[1:])
