"""Owns the benchmark of the gateway and its peers, each on one core, between wrk and a scripted upstream.

    python -m bench.gateway [--quick] [--only NAME ...] [--cases plain stream paced crowd memory] [--seconds S]

Prints tables and writes build/gateway.json. Nothing is asserted: the goals are printed beside the numbers.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from typing import Any

from bench import harness
from bench.fleet import Gateway, Pair, Starter, absent, direct, environment, installed
from bench.streams import EVENTS
from bench.tables import table

PAIRS: tuple[Pair, ...] = (
    ("anthropic", "openai-chat"),
    ("openai-chat", "anthropic"),
    ("openai-responses", "openai-chat"),
    ("gemini", "openai-chat"),
    ("anthropic", "anthropic"),
    ("openai-chat", "openai-chat"),
)
CASES = ("plain", "stream", "paced", "crowd", "memory")
GOALS = {
    "plain": "goal: 160 us translated, 110 us within one dialect, 6,000 requests/s, 0.5 ms added at 1",
    "stream": "goal: 6 us for each event, 150,000 events/s, 1 ms added to the first event",
    "paced": "goal: 60 us for each event with 64 streams",
    "crowd": "goal: 1,000 streams held, all whole",
    "memory": "goal: under 60 MiB, no slope",
}
Row = dict[str, Any]


def measure(name: str, start: Starter, upstream: int, cases: Sequence[str], seconds: float, most: int) -> list[Row]:
    """Measure every case of one gateway, in one process."""
    port = harness.free_port()
    gateway = start(upstream, port)
    rows: list[Row] = []
    log = harness.BUILD / f"{name}.log"
    with harness.process(gateway.command, harness.GATEWAY_CORE, log, environment(gateway)) as pid:
        pairs = [pair for pair in PAIRS if pair in gateway.models]
        try:
            began = harness.ready(gateway.post(port, pairs[0]), 90, pid)
        except TimeoutError as error:
            return [{"gateway": name, "case": "start", "error": str(error)}]
        rows.append({"gateway": name, "case": "start", "seconds": began, "rss": harness.usage(pid)[1]})
        # first, because a process does not return the memory of the case "crowd" to the system
        if "memory" in cases and name == "dragoman":
            rows.append({"gateway": name, "case": "memory", **memory(gateway, port, pid, most)})
        for pair in pairs:
            status, result = harness.once(gateway.post(port, pair))
            if status != 200:
                rows.append({"gateway": name, "case": "plain", "pair": pair, "error": result[-200:].decode("latin-1")})
                continue
            for case in cases:
                rows += _case(case, gateway, port, pair, pid, seconds, most)
        rows.append({"gateway": name, "case": "end", "rss": harness.usage(pid)[1]})
    return rows


def _case(case: str, gateway: Gateway, port: int, pair: Pair, pid: int, seconds: float, most: int) -> list[Row]:
    head: Row = {"gateway": gateway.name, "case": case, "pair": pair}
    rows: list[Row] = []
    streamed = gateway.post(port, pair, stream=True)
    if case == "plain":
        post = gateway.post(port, pair)
        harness.wrk(post, 16, min(1.0, seconds), pid)
        for connections in (1, 16, 64):
            rows.append({**head, "at": connections, **harness.wrk(post, connections, seconds, pid)})
    elif not gateway.streams or harness.once(streamed)[0] != 200:
        return [{**head, "error": "does not stream"}] if case == "stream" else []
    elif case == "stream":
        harness.wrk(streamed, 16, min(1.0, seconds), pid)
        for connections in (1, 16):
            result = harness.wrk(streamed, connections, seconds, pid)
            rows.append({**head, "at": connections, **result, "event_us": result["cpu_us"] / EVENTS})
        rows.append({**head, "at": 0, **_firsts(streamed)})
    elif case == "paced":
        post = harness.Post(port, streamed.path, harness.paced(streamed.body, 10), streamed.headers)
        rows.append({**head, "at": 64, **harness.listen(post, 64, 0.64, pid)})
    elif case == "crowd" and pair == PAIRS[0] and gateway.name == "dragoman":
        post = harness.Post(port, streamed.path, harness.paced(streamed.body, 100), streamed.headers)
        rows.append({**head, "at": 1000, **harness.listen(post, 1000, 5.0, pid)})
    return rows


def _firsts(post: harness.Post, count: int = 100) -> Row:
    """Time to the first event of a stream, one stream after the other."""
    found = [harness.listen(post, 1, 0.0)["first_p50_ms"] for _ in range(count)]
    return {"first_p50_ms": sorted(found)[count // 2]}


def memory(gateway: Gateway, port: int, pid: int, most: int) -> Row:
    """Measure resident memory during many requests: after the first part, at the end, and the slope between."""
    post = gateway.post(port, PAIRS[0])
    seen: list[tuple[int, float]] = []
    done = 0
    while done < most:
        done += int(harness.wrk(post, 16, 2, pid)["requests"])
        seen.append((done, harness.usage(pid)[1]))
    settled = [one for one in seen if one[0] >= most / 4] or seen
    (first, low), (last, high) = settled[0], settled[-1]
    slope = (high - low) / (last - first) * 1e5 if last > first else 0.0
    return {"requests": done, "rss": high, "slope_mib_per_100k": slope, "seen": seen}


def bare(upstream: int, cases: Sequence[str], seconds: float) -> list[Row]:
    """The upstream without a gateway."""
    rows: list[Row] = []
    gateway = direct(upstream)
    for pair in gateway.models:
        head: Row = {"gateway": "direct", "pair": pair}
        if "plain" in cases:
            result = harness.wrk(gateway.post(upstream, pair), 1, seconds)
            rows.append({**head, "case": "plain", "at": 1, **result})
        if "stream" in cases:
            rows.append({**head, "case": "stream", "at": 0, **_firsts(gateway.post(upstream, pair, stream=True))})
    return rows


def report(rows: list[Row]) -> str:
    """The tables."""
    out: list[str] = []
    for case in CASES:
        found = [row for row in rows if row["case"] == case]
        if found:
            lines = [_line(row, _base(rows, row)) for row in found]
            out.append(table(f"{case} ({GOALS[case]})", _COLUMNS, lines, 3))
    starts = [
        [row["gateway"], _number(row.get("seconds")), _number(row.get("rss")), row.get("error", "")]
        for row in rows
        if row["case"] == "start"
    ]
    out.append(table("start (goal: 0.6 s)", ["gateway", "seconds", "MiB", ""], starts, 1))
    return "\n\n".join(out)


_COLUMNS = [
    "gateway",
    "pair",
    "at",
    "cpu us",
    "us/event",
    "per second",
    "p50 ms",
    "added ms",
    "whole",
    "MiB",
    "others",
    "notes",
]


def _base(rows: list[Row], row: Row) -> float | None:
    """Return the time without a gateway, in milliseconds: the upstream's dialect, called directly."""
    name = "p50_ms" if row["case"] == "plain" else "first_p50_ms"
    for one in rows:
        same = one["gateway"] == "direct" and one["case"] == row["case"] and one.get("at") == row.get("at")
        if same and one["pair"][1] == row.get("pair", ("", ""))[1]:
            return float(one[name])
    return None


def _line(row: Row, base: float | None) -> list[str]:
    time = row.get("p50_ms", row.get("first_p50_ms"))
    added = time - base if time is not None and base is not None and row["gateway"] != "direct" else None
    streamed = row["case"] in ("paced", "crowd")
    event = row.get("event_us", row.get("cpu_us") if streamed else None)
    notes = row.get("error") or (f"{row['failed']:.0f} failed" if row.get("failed") else "")
    if "slope_mib_per_100k" in row:
        notes = f"{row['slope_mib_per_100k']:+.2f} MiB per 100,000 after the first quarter"
    return [
        row["gateway"],
        " to ".join(row.get("pair", ())),
        str(row.get("at") or ("first event" if row["case"] == "stream" else "")),
        _number(None if streamed else row.get("cpu_us")),
        _number(event),
        _number(row["rps"] * EVENTS if "event_us" in row else row.get("rps")),
        _number(time, 2),
        _number(added, 2),
        str(row.get("whole", "")),
        _number(row.get("rss")),
        f"{row['others']:.0%}" if "others" in row else "",
        notes,
    ]


def _number(value: float | None, digits: int = 1) -> str:
    return "" if value is None else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one second for each measurement")
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--only", nargs="+", help="gateways to run")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--requests", type=int, default=100_000, help="for the memory case")
    result = parser.parse_args()
    lacking = harness.missing()
    if lacking:
        print(f"bench.gateway needs {lacking}", file=sys.stderr)
        return 2
    seconds = 1.0 if result.quick else result.seconds
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # end all started processes
    harness.BUILD.mkdir(parents=True, exist_ok=True)
    out = harness.ROOT / "build" / "gateway.json"
    rows: list[Row] = []
    with harness.upstream() as upstream:
        rows += bare(upstream, result.cases, seconds)
        for name, start in installed().items():
            if not result.only or name in result.only:
                print(f"{name} ...", file=sys.stderr)
                rows += measure(name, start, upstream, result.cases, seconds, result.requests)
                out.write_text(json.dumps(rows, indent=1))
    print(report(rows))
    if absent():
        print(f"\nNot installed (make bench-peers): {', '.join(absent())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
