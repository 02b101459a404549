"""Measures the cost of a first translation: recorded traffic, each exchange once, without repetition.

    python -m bench.recorded                             # over ../shared/wire, or the synthetic corpus without it
    python -m bench.recorded --kinds request --rounds 5
    python -m bench.recorded --by size                   # or: source, target, pair, length (of streams)
    python -m bench.recorded --library ../base/src       # the library of another tree, in turns with this one
    python -m bench.recorded --fast-paths                # no times: how many answers and frames take each fast path

The figure is the CPU time of all translations, divided by the CPU time of orjson `loads` + `dumps` over the same bytes.
orjson runs right after each translation, so a busy second of the machine slows both. Each source, each target and each
half of the records has a separate process: a process translates one half to warm up, then measures the other half. So
no document is translated twice, and no document profits from the memory. For a stream orjson gets the JSON of every
event, without the framing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from time import thread_time_ns
from typing import Any, NamedTuple

import orjson

ROOT = Path(__file__).resolve().parents[1]
SYNTHETIC = ROOT / "tests" / "corpus" / "data"
DIALECTS = ("openai-chat", "openai-responses", "anthropic", "gemini")
KINDS = ("request", "answer", "stream")
MODELS = {
    "openai-chat": "gpt-4.1",
    "openai-responses": "gpt-4.1",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-flash",
}
LIMITS = {"request": 10.0, "answer": 6.5, "stream": 5.0}
GOALS = {"request": 8.0, "answer": 5.5, "stream": 4.0}


class Document(NamedTuple):
    """One recorded body."""

    id: str
    body: bytes
    events: list[bytes]
    """The frames of a stream as received, else empty."""
    datas: list[bytes]
    """The JSON of each frame."""


class Row(NamedTuple):
    """One measured translation."""

    id: str
    kind: str
    source: str
    target: str
    size: int
    events: int
    nanoseconds: int
    """Nanoseconds of CPU."""
    orjson: int


def folder() -> Path:
    """The folder of the recordings; without them the synthetic corpus of the repository."""
    shared = Path(os.environ.get("DRAGOMAN_SHARED") or ROOT.parent / "shared") / "wire"
    return shared if shared.is_dir() else SYNTHETIC


def documents(source: str, kind: str) -> list[Document]:
    """The recorded documents of one kind that carry no fault."""
    found = []
    for line in (folder() / f"{source}.jsonl").read_bytes().splitlines():
        record = orjson.loads(line)
        good = record["status"] in (None, 200) and "error" not in record["features"]
        if kind == "request" and record["request"] is not None:
            found.append(Document(record["id"], orjson.dumps(record["request"]), [], []))
        elif kind == "answer" and good and isinstance(record["response"], dict):
            found.append(Document(record["id"], orjson.dumps(record["response"]), [], []))
        elif kind == "stream" and record["stream"] and good and record["framing"] == "sse":
            raw = record["stream"].encode("utf-8", "surrogatepass")
            events = list(frames(raw))
            found.append(Document(record["id"], raw, events, [data for event in events if (data := json_of(event))]))
    return found


def frames(raw: bytes) -> Iterator[bytes]:
    """The frames of an SSE stream, each with its blank line."""
    end = b"\r\n\r\n" if b"\r\n\r\n" in raw else b"\n\n"
    *whole, rest = raw.split(end)
    yield from (frame + end for frame in whole)
    if rest:
        yield rest


def json_of(frame: bytes) -> bytes:
    """The JSON in the data lines of a frame, or nothing."""
    lines = [line[5:].strip() for line in frame.splitlines() if line.startswith(b"data:")]
    data = b"".join(lines)
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError:
        return b""
    return data


def halves(found: Sequence[Document]) -> tuple[list[Document], list[Document]]:
    """Two similar halves. Neighbours in a file are often turns of one conversation, so they stay together."""
    blocks = [found[start : start + 8] for start in range(0, len(found), 8)]
    return [one for block in blocks[::2] for one in block], [one for block in blocks[1::2] for one in block]


def measure(kind: str, source: str, target: str, half: int) -> Iterator[Row]:
    """Warm up on one half of the documents, and measure the other half. Runs in a separate process."""
    import dragoman

    warm, measured = halves(documents(source, kind))
    if half:
        warm, measured = measured, warm
    call = _call(dragoman, kind, source, target)
    for document in warm:
        _one(document, call, dragoman)
    for document in measured:
        nanoseconds = _one(document, call, dragoman)
        if nanoseconds:
            events = len(document.datas)
            size = len(document.body)
            yield Row(document.id, kind, source, target, size, events, nanoseconds, _floor(document))


def _one(document: Document, call: Callable[[Document], Any], library: Any) -> int:
    """Nanoseconds of CPU of one translation; 0 where the library refuses the document."""
    try:
        start = thread_time_ns()
        call(document)
        return thread_time_ns() - start
    except library.DragomanError:
        return 0


def _floor(document: Document) -> int:
    loads, dumps = orjson.loads, orjson.dumps
    datas = document.datas or [document.body]
    start = thread_time_ns()
    for data in datas:
        dumps(loads(data))
    return thread_time_ns() - start


def _call(library: Any, kind: str, source: str, target: str) -> Callable[[Document], Any]:
    if kind == "request":
        model, request = MODELS[target], library.translate_request
        return lambda document: request(document.body, source=source, target=target, model=model)
    if kind == "answer":
        response = library.translate_response
        return lambda document: response(document.body, source=source, target=target)

    def stream(document: Document) -> None:
        translator = library.StreamTranslator(source=source, target=target)
        feed = translator.feed
        for event in document.events:
            feed(event)
        translator.close()

    return stream


def gather(library: Path, kinds: Sequence[str], only: Sequence[str]) -> list[Row]:
    """One round: a process for each kind, source, target and half."""
    rows: list[Row] = []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(library), str(ROOT)])}
    for kind in kinds:
        for source in DIALECTS:
            for target in DIALECTS:
                if target == source or (only and f"{source}:{target}" not in only):
                    continue
                for half in "01":
                    command = [sys.executable, "-m", "bench.recorded", "--one", kind, source, target, half]
                    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
                    rows += [Row(*row) for row in json.loads(done.stdout)]
    return rows


def show_fast_paths(only: Sequence[str]) -> None:
    """Print the share of recorded answers and frames that takes the fast path, for each pair."""
    from dragoman.errors import DragomanError
    from dragoman.translate import with_fast_paths

    totals = {"plain answers": [0, 0], "repeated frames": [0, 0]}
    for source in DIALECTS:
        answers, streams = documents(source, "answer"), documents(source, "stream")
        for target in DIALECTS:
            if target == source or (only and f"{source}:{target}" not in only):
                continue
            way = with_fast_paths._plain_fast_path(source, target)
            found: dict[str, list[int]] = {"plain answers": [0, 0], "repeated frames": [0, 0]}
            for document in answers:
                short = None
                if way is not None:
                    short = with_fast_paths._plain_response(document.body, way, None, None, 0, "auto", None, None)
                found["plain answers"][0] += short is not None
                found["plain answers"][1] += 1
            for document in streams:
                translator = with_fast_paths.StreamTranslator(source=source, target=target)
                for frame in document.events:
                    fast_path = translator._fast_path
                    try:
                        translator.feed(frame)
                    except DragomanError:
                        break
                    found["repeated frames"][0] += fast_path is not None and translator._fast_path is fast_path
                    found["repeated frames"][1] += 1
            shown = [f"{name} {100 * some / max(1, all_):5.1f} % of {all_}" for name, (some, all_) in found.items()]
            print(f"    {source} to {target}".ljust(38), ", ".join(shown))
            for name, counts in found.items():
                totals[name] = [one + more for one, more in zip(totals[name], counts, strict=True)]
    for name, (some, all_) in totals.items():
        print(f"{name}: {100 * some / max(1, all_):.1f} % of {all_}")


def ratio(rows: Sequence[Row]) -> float:
    """CPU of all translations over CPU of orjson."""
    return sum(row.nanoseconds for row in rows) / max(1, sum(row.orjson for row in rows))


def _class(row: Row, by: str) -> str:
    if by == "size":
        return next((f"under {limit:,} bytes" for limit in (1_024, 4_096, 16_384, 65_536) if row.size < limit), "over")
    if by == "length":
        return next((f"under {limit} events" for limit in (6, 20, 60, 200) if row.events < limit), "more events")
    return f"{row.source} to {row.target}" if by == "pair" else str(getattr(row, by))


def show(name: str, rounds: list[list[Row]], kinds: Sequence[str], by: str) -> None:
    """Print the figures of one library: the median round, and how far the rounds lie apart."""
    for kind in kinds:
        each = [[row for row in rows if row.kind == kind] for rows in rounds]
        ratios = sorted(ratio(rows) for rows in each)
        rows = each[0]
        unit = sum(row.events for row in rows) if kind == "stream" else len(rows)
        us = median([sum(row.nanoseconds for row in one) for one in each]) / unit / 1000
        print(
            f"{name}{kind:8} {median(ratios):6.2f} x orjson ({ratios[0]:.2f} to {ratios[-1]:.2f}; limit {LIMITS[kind]},"
            f" goal {GOALS[kind]}), {us:.1f} us {'an event' if kind == 'stream' else 'each'}, {len(rows)} translations"
        )
        if by:
            classes: dict[str, list[Row]] = defaultdict(list)
            for row in (row for one in each for row in one):
                classes[_class(row, by)].append(row)
            total = sum(row.nanoseconds for one in each for row in one)
            for label, found in sorted(classes.items(), key=lambda item: -sum(row.nanoseconds for row in item[1])):
                share = 100 * sum(row.nanoseconds for row in found) / total
                print(f"    {label:34}{ratio(found):7.2f} x{share:7.1f} % of the time{len(found) // len(each):7}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.recorded", description="first sight of recorded traffic")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--pairs", nargs="+", default=[], metavar="FROM:TO")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--by", choices=("size", "length", "source", "target", "pair"), default="")
    parser.add_argument("--library", type=Path, help="the `src` folder of another tree, in turns with this one")
    parser.add_argument("--fast-paths", action="store_true", help="the share of answers and frames on the fast paths")
    parser.add_argument("--json", type=Path, help="write every measured translation to a file")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        kind, source, target, half = given.one
        print(json.dumps(list(measure(kind, source, target, int(half)))))
        return
    if given.fast_paths:
        print(f"documents: {'recorded' if folder() != SYNTHETIC else 'synthetic'}")
        show_fast_paths(given.pairs)
        return
    libraries = {"": ROOT / "src"}
    if given.library:
        libraries = {"other  ": given.library.resolve(), "this   ": ROOT / "src"}
    rounds: dict[str, list[list[Row]]] = {name: [] for name in libraries}
    for number in range(given.rounds):
        for name, library in libraries.items():
            print(f"round {number + 1} of {given.rounds} {name}...", file=sys.stderr)
            rounds[name].append(gather(library, given.kinds, given.pairs))
    print(f"documents: {'recorded' if folder() != SYNTHETIC else 'synthetic'}")
    for name, found in rounds.items():
        show(name, found, given.kinds, given.by)
    if given.json:
        given.json.write_text(json.dumps(rounds), encoding="utf-8")


if __name__ == "__main__":
    main()
