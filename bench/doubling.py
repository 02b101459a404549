"""Looks for work that grows faster than the document: each document four times as long must not take much more than
four times as long.

    make doubling                                              # everything; exits 1 when something is found
    python -m bench.doubling --targets gemini ollama --shapes results_reversed members_of_allOf
    python -m bench.doubling --length 1000 --quick             # quick: shorter documents, from three sources only
    python -m bench.doubling --kinds recorded --sources gemini # every list that occurs in recorded documents

The measure is CPU time, and the memories of the library are emptied before. A document that seems to cost too much is
measured again, and once more at twice the length, before it is reported. The size of the output is checked too: it must
not grow faster than the input.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import dragoman
from bench import doubling_recorded as recorded
from bench import doubling_shapes as shapes
from dragoman.codec import cache_memory_budget
from dragoman.errors import DragomanError

MOST = 6.5
"""The largest accepted ratio of times, for four times the length."""
LEAST = 0.03
"""Seconds. Shorter times cannot be compared."""


RECORDED = 3
"""Recorded documents are shorter by this factor: there are many of them, and their elements are longer."""


class Case(NamedTuple):
    """One kind of work on one kind of document."""

    name: str
    make: Callable[[int], Any]
    work: Callable[[Any], int]
    """Returns the number of bytes written."""


def _requests(sources: list[str], targets: list[str], names: list[str]) -> Iterator[Case]:
    for source in sources:
        for shape in shapes.REQUESTS:
            if names and shape.__name__ not in names:
                continue

            def make(n: int, shape: Any = shape, source: str = source) -> bytes:
                return json.dumps(shapes.WRITERS[source](shape(n))).encode()

            for target in targets:
                yield Case(f"{shape.__name__}: {source} to {target}", make, _request_work(source, target))
            yield Case(f"{shape.__name__}: lint {source}", make, _linted(source))
            yield Case(f"{shape.__name__}: repair {source}", make, _repaired(source))
            yield Case(f"{shape.__name__}: detect {source}", make, lambda body: len(str(dragoman.detect(body))))


def _linted(dialect: str) -> Callable[[bytes], int]:
    return lambda body: len(dragoman.lint(body, dialect=dialect, kind="request")) * 0


def _repaired(dialect: str) -> Callable[[bytes], int]:
    return lambda body: len(dragoman.repair(body, dialect=dialect).body)


def _answers(sources: list[str], targets: list[str], names: list[str]) -> Iterator[Case]:
    for source in sources:
        for shape in shapes.ANSWERS:
            if names and shape.__name__ not in names:
                continue

            def make(n: int, shape: Any = shape, source: str = source) -> bytes:
                body: bytes = shape(n)
                return dragoman.translate_response(body, source="openai-chat", target=source).body

            for target in targets:
                yield Case(f"{shape.__name__}: {source} to {target}", make, _answer_work(source, target))


def _streams(sources: list[str], targets: list[str], names: list[str]) -> Iterator[Case]:
    for source in sources:
        for shape in shapes.STREAMS:
            if names and shape.__name__ not in names:
                continue

            def make(n: int, shape: Any = shape, source: str = source) -> list[bytes]:
                pieces: list[bytes] = shape(n)
                if source == "openai-chat":
                    return pieces
                stream = dragoman.StreamTranslator(source="openai-chat", target=source)
                return [stream.feed(piece) for piece in pieces] + [stream.close()]

            for target in targets:
                yield Case(f"{shape.__name__}: {source} to {target}", make, _stream_work(source, target))


def _faults(sources: list[str], targets: list[str], names: list[str]) -> Iterator[Case]:
    for shape in shapes.FAULTS:
        if names and shape.__name__ not in names:
            continue
        for source in sources:
            for target in targets:
                yield Case(f"{shape.__name__}: {source} to {target}", shape, _fault_work(source, target))


def _recorded(sources: list[str], targets: list[str], names: list[str]) -> Iterator[Case]:
    for source in sources:
        kinds: list[tuple[str, Iterator[recorded.Growing], Callable[[str, str], Callable[[Any], int]]]] = [
            ("request", recorded.requests(source), _request_work),
            ("answer", recorded.answers(source), _answer_work),
            ("stream", recorded.streams(source), _stream_work),
        ]
        for kind, growing, work in kinds:
            for name, make in growing:
                if not names or name in names:
                    for target in targets:
                        yield Case(f"recorded {kind}, {name}: {source} to {target}", make, work(source, target))


def _request_work(source: str, target: str) -> Callable[[Any], int]:
    return lambda body: len(dragoman.translate_request(body, source=source, target=target).body)


def _answer_work(source: str, target: str) -> Callable[[Any], int]:
    return lambda body: len(dragoman.translate_response(body, source=source, target=target).body)


def _fault_work(source: str, target: str) -> Callable[[Any], int]:
    return lambda body: len(dragoman.translate_fault(body, status=400, source=source, target=target).body)


def _stream_work(source: str, target: str) -> Callable[[Any], int]:
    def work(pieces: list[bytes]) -> int:
        stream = dragoman.StreamTranslator(source=source, target=target)
        return sum([len(stream.feed(piece)) for piece in pieces]) + len(stream.close())

    return work


KINDS = {"requests": _requests, "answers": _answers, "streams": _streams, "faults": _faults, "recorded": _recorded}


def _seconds(case: Case, document: Any) -> tuple[float, int]:
    cache_memory_budget.forget()
    gc.collect()
    gc.disable()
    began = time.process_time()
    try:
        written = case.work(document)
    except DragomanError:
        written = 0  # the document is refused, and only its cost counts
    finally:
        gc.enable()
    return time.process_time() - began, written


def _size(document: Any) -> int:
    return sum(map(len, document)) if isinstance(document, list) else len(document)


def growth(case: Case, length: int, rounds: int = 1) -> tuple[float, float, float]:
    """The ratio of times for four times the length, the seconds, and how much faster the output grows than the
    input."""
    short, long = case.make(length), case.make(4 * length)
    few = [_seconds(case, short) for _ in range(rounds + 1)]
    many = [_seconds(case, long) for _ in range(rounds)]
    took, more = min(few)[0], min(many)[0]
    read = _size(long) / _size(short)
    written = (many[0][1] / few[0][1] / read) if few[0][1] > 1000 else 1.0
    return (more / max(took, 1e-4) * 4 / read if more >= LEAST else 0.0), more, written


def suspicious(case: Case, length: int) -> str:
    """The finding about a case; "" when there is none."""
    ratio, seconds, written = growth(case, length)
    if ratio <= MOST and written <= 1.5:
        return ""
    ratio, seconds, written = growth(case, length, 3)
    if ratio <= MOST and written <= 1.5:
        return ""
    again, longer, written = growth(case, 2 * length, 2)
    if again <= MOST and written <= 1.5:
        return ""
    what = f"writes {written:.1f} times more" if written > 1.5 else f"takes {again:.1f} times longer"
    return f"{what} at 4 times the length ({seconds:.2f} s for {4 * length}, {longer:.2f} s for {8 * length})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--length", type=int, default=3000, help="elements of the shorter documents")
    parser.add_argument("--sources", nargs="+", default=list(shapes.SOURCES), choices=shapes.SOURCES)
    parser.add_argument("--targets", nargs="+", default=list(shapes.SOURCES), choices=shapes.SOURCES)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--shapes", nargs="+", default=[])
    parser.add_argument("--quick", action="store_true", help="from one source of each family only")
    given = parser.parse_args()
    sources = [one for one in given.sources if not given.quick or one in ("anthropic", "gemini", "openai-chat")]
    found: list[tuple[str, str]] = []
    count = 0
    for kind in given.kinds:
        for case in KINDS[kind](sources, given.targets, given.shapes):
            count += 1
            if count % 100 == 0:
                print(f"{count} measured, now {case.name}", file=sys.stderr, flush=True)
            wrong = suspicious(case, given.length // RECORDED if kind == "recorded" else given.length)
            if wrong:
                found.append((case.name, wrong))
                print(f"{case.name}: {wrong}", flush=True)
    print(f"{count} kinds of work measured, {len(found)} grow faster than their input")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
