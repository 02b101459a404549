"""The benchmark: request, response and stream of every ordered pair of dialects, compared with floors and peers.

    make bench                          # or: python -m bench.translate [--quick] [--no-peers] [--only request ...]

Prints tables, writes build/bench.json, asserts nothing.  How to read the numbers: bench/README.md.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from typing import Any

import dragoman
from bench import payloads, peers, scale
from bench.clock import Case, noise, same, take_turns
from bench.floors import KINDS, LIBRARIES, floor_cases
from bench.streams import frames
from bench.tables import against, micro, number, table
from dragoman.dialects import names as dialect_names
from dragoman.errors import DragomanError
from dragoman.fast import forget

GOALS = {"request": 2.0, "response": 2.5, "stream": 2.0}
EVENT_GOAL_US = 2.0

_fresh = itertools.count(1)


def request_call(source: str, target: str) -> Callable[[bytes], Any]:
    model = payloads.MODELS[target]
    return lambda body: dragoman.translate_request(body, source=source, target=target, model=model)


def request_translation(client: str, upstream: str, *, stream: bool) -> Any:
    """The translation of the request, which a gateway needs for the answer."""
    body = payloads.request(client, stream=stream)
    return dragoman.translate_request(body, source=client, target=upstream, model=payloads.MODELS[upstream])


def response_call(source: str, target: str) -> Callable[[bytes], Any]:
    answers = request_translation(target, source, stream=False)
    return lambda body: dragoman.translate_response(body, source=source, target=target, answers=answers)


def stream_call(source: str, target: str) -> Callable[[Sequence[bytes]], int]:
    answers = request_translation(target, source, stream=True)

    def run(chunks: Sequence[bytes]) -> int:
        translator = dragoman.StreamTranslator(source=source, target=target, answers=answers)
        feed, size = translator.feed, 0
        for chunk in chunks:
            size += len(feed(chunk))
        return size + len(translator.close())

    return run


def fresh_requests(source: str) -> Callable[[int], Sequence[bytes]]:
    """Bodies with tool schemas that this process has never seen."""
    body = payloads.request(source)
    return lambda count: payloads.restamp(body, [next(_fresh) for _ in range(count)])


def next_requests(source: str) -> Callable[[int], Sequence[bytes]]:
    """Bodies that continue the same conversation, each in a way that this process has never seen."""
    return lambda count: [payloads.next_request(source, next(_fresh)) for _ in range(count)]


def first_sight(call: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """The call with empty memories, on the messages of the warm case."""

    def run(body: bytes) -> Any:
        forget()
        return call(body)

    return run


def pair_cases(source: str, target: str, kinds: Sequence[str], floors: dict[tuple[str, str], Case]) -> Iterator[Case]:
    """The cases of one pair. The first part of the key names the column."""

    def case(column: str, kind: str, call: Callable[[Any], Any], inputs: Callable[[int], Sequence[Any]]) -> Case:
        return Case((column, source, target), call, inputs, floors[kind, source])

    if "request" in kinds:
        call = request_call(source, target)
        yield case("request", "request", call, same(payloads.request(source)))
        yield case("next", "request", call, next_requests(source))
        yield case("cold", "request", first_sight(call), fresh_requests(source))
    if "response" in kinds:
        yield case("response", "response", response_call(source, target), same(payloads.response(source)))
    if "stream" in kinds:
        chunks = frames(source)
        run = stream_call(source, target)
        yield case("stream", "stream", run, same(chunks))
        yield case("whole", "stream", run, same([b"".join(chunks)]))


def gather(names: Sequence[str], kinds: Sequence[str]) -> tuple[list[Case], list[Case], dict[str, str]]:
    """Floors, cases of pairs, and the pairs that the library refuses, with the reasons."""
    all_floors = floor_cases(names, list(LIBRARIES), kinds)
    orjson = {(case.key[1], case.key[2]): case for case in all_floors if case.key[3] == "orjson"}
    cases: list[Case] = []
    refused: dict[str, str] = {}
    for source, target in itertools.product(names, repeat=2):
        try:
            found = list(pair_cases(source, target, kinds, orjson))
            for case in found:
                case.batch(1)
        except DragomanError as error:
            refused[f"{source} {target}"] = str(error)
            continue
        cases += found
    return all_floors, cases, refused


# --- results ----------------------------------------------------------------------------------------------------


def floor_rows(cases: Sequence[Case]) -> list[dict[str, Any]]:
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for case in cases:
        _, kind, dialect, library = case.key
        size = len(b"".join(frames(dialect))) if kind == "stream" else len(getattr(payloads, kind)(dialect))
        row = rows.setdefault((kind, dialect), {"kind": kind, "dialect": dialect, "bytes": size})
        row[library] = case.best
    return list(rows.values())


def pair_rows(cases: Sequence[Case], others: Sequence[peers.Peer]) -> list[dict[str, Any]]:
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for case in cases:
        column, source, target = case.key
        kind = {"cold": "request", "next": "request", "whole": "stream"}.get(column, column)
        fields: dict[str, Any] = {"kind": kind, "source": source, "target": target, "goal": GOALS[kind]}
        row = rows.setdefault((kind, source, target), fields)
        prefix = f"{column}_" if column != kind else ""
        row |= {f"{prefix}us": case.best, f"{prefix}ratio": case.ratio}
        if kind == "stream":
            row[f"{prefix}us_per_event"] = case.best / len(frames(source))
        if column == kind:
            row |= outcome(case)
            row["peers"] = {
                peer.name: peer.measured[" ".join(case.key)] for peer in others if " ".join(case.key) in peer.measured
            }
    return list(rows.values())


def outcome(case: Case) -> dict[str, Any]:
    """The result of one call: size and losses. They show whether a fast case leaves values out."""
    result: Any = case.call(case.inputs(1)[0])
    if isinstance(result, int):
        return {"bytes_out": result}
    return {"bytes_out": len(result.body), "losses": len(result.losses)}


def show_floors(rows: Sequence[dict[str, Any]]) -> str:
    head = ["payload", "dialect", "bytes", "orjson us", "msgspec us", "x", "json us", "x"]
    lines = [
        [
            row["kind"],
            row["dialect"],
            f"{row['bytes']:,}",
            micro(row["orjson"]),
            micro(row["msgspec"]),
            number(row["msgspec"] / row["orjson"]),
            micro(row["json"]),
            number(row["json"] / row["orjson"]),
        ]
        for row in rows
    ]
    return table("Floors: decode and encode, nothing translated (x = times orjson)", head, lines, 2)


TITLES = {
    "request": "Requests: 6 KB, 12 turns, 10 tools (seen before; next: two new turns behind them; cold: nothing seen)",
    "response": "Responses: text and two tool calls, with the request's translation at hand",
    "stream": "Streams: 200 events, one feed for each event (whole: one feed for all of them)",
}


def show_pairs(kind: str, rows: Sequence[dict[str, Any]], others: Sequence[peers.Peer]) -> str:
    extra = {
        "request": ["next x", "cold us", "cold x", "losses"],
        "response": ["losses"],
        "stream": ["us/event", "whole us/event"],
    }
    head = ["from", "to", "us", "x orjson", "goal", "", *extra[kind], "bytes out", *[f"{p.name} x" for p in others]]
    lines = []
    for row in rows:
        cells = [row["source"], row["target"], micro(row["us"]), number(row["ratio"]), number(row["goal"], 1)]
        cells.append(against(row["ratio"], row["goal"]))
        if kind == "request":
            cells += [number(row["next_ratio"]), micro(row["cold_us"]), number(row["cold_ratio"]), str(row["losses"])]
        elif kind == "response":
            cells.append(str(row["losses"]))
        else:
            cells += [number(row["us_per_event"]), number(row["whole_us_per_event"])]
        cells.append(f"{row['bytes_out']:,}")
        cells += [number(row["peers"].get(p.name, {}).get("ratio"), 1) for p in others]
        lines.append(cells)
    return table(TITLES[kind], head, lines, 2)


def summary(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Geometric mean and worst of the pairs that really translate."""
    out = []
    fields = {"request": ("ratio", "next_ratio", "cold_ratio"), "response": ("ratio",), "stream": ("ratio",)}
    for kind, field in [(kind, field) for kind, some in fields.items() for field in some]:
        found = [row for row in rows if row["kind"] == kind and row["source"] != row["target"]]
        if not found:
            continue
        worst = max(found, key=lambda row: float(row[field]))
        mean = math.exp(sum(math.log(row[field]) for row in found) / len(found))
        entry = {
            "kind": kind,
            "what": {"ratio": "warm" if kind == "request" else ""}.get(field, field.partition("_")[0]),
            "mean": mean,
            "worst": worst[field],
            "worst_pair": f"{worst['source']} -> {worst['target']}",
            "goal": GOALS[kind],
            "within": sum(row[field] <= GOALS[kind] for row in found),
            "pairs": len(found),
        }
        if kind == "stream":
            entry["us_per_event"] = math.exp(sum(math.log(row["us_per_event"]) for row in found) / len(found))
        out.append(entry)
    return out


def show_summary(entries: Sequence[dict[str, Any]]) -> str:
    head = ["payload", "", "worst pair", "mean x", "worst x", "goal", "pairs within", "mean us/event"]
    lines = [
        [
            entry["kind"],
            entry["what"],
            entry["worst_pair"],
            number(entry["mean"]),
            number(entry["worst"]),
            number(entry["goal"], 1),
            f"{entry['within']}/{entry['pairs']}",
            f"{number(entry['us_per_event'])} (goal {EVENT_GOAL_US:g})" if "us_per_event" in entry else "",
        ]
        for entry in entries
    ]
    return table("Summary: pairs of two different dialects, times orjson", head, lines, 3)


def show_linearity(rows: Sequence[dict[str, Any]]) -> str:
    head = ["from", "to", "bytes", "read us/KB", "x orjson", "all us/KB", "x orjson", "orjson us/KB"]
    lines = [
        [
            row["source"],
            row["target"],
            f"{row['bytes']:,}",
            number(row["read_us_per_kb"]),
            number(row["read_ratio"]),
            number(row["translate_us_per_kb"]),
            number(row["translate_ratio"]),
            number(row["orjson_us_per_kb"]),
        ]
        for row in rows
    ]
    return table(
        "Growth: one tool, longer and longer histories (microseconds for each KB should stay level)", head, lines, 2
    )


def show_import(cost: dict[str, Any]) -> str:
    network = ", ".join(cost["network_modules"]) or "none"
    return (
        f"Import: {cost['modules']} modules (goal {cost['goal']}; {cost['own_modules']} of them of dragoman), "
        f"{cost['modules_all_dialects']} with every dialect in use, network modules: {network}, "
        f"{cost['ms']:.0f} ms of CPU"
    )


def machine() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        **{name: version(name) for name in ("dragoman", "msgspec", "orjson")},
    }


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.translate", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few rounds only: numbers to look at, not to quote")
    parser.add_argument("--no-peers", action="store_true", help="leave the other translators out")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS), help="payloads to measure")
    parser.add_argument("--dialects", nargs="+", help="dialects to measure (all that have payloads)")
    options = parser.parse_args(arguments)
    rounds, seconds = (5, 0.002) if options.quick else (25, 0.004)

    known = dialect_names()
    wanted = options.dialects or known
    names = [name for name in payloads.names() if name in known and name in wanted]
    folder = peers.ROOT / "build"
    folder.mkdir(exist_ok=True)
    about = machine()
    print("  ".join(f"{key} {value}" for key, value in about.items()))
    for name in sorted(set(known) - set(payloads.names())):
        print(f"no payload yet for {name}")

    floors, cases, refused = gather(names, options.only)
    others = [] if options.no_peers else peers.start_all(seconds, folder)
    take_turns([*floors, *cases], rounds, seconds, [peer.round for peer in others])
    peers.finish_all(others, folder)

    result: dict[str, Any] = {
        "machine": about,
        "rounds": rounds,
        "restless_percent": noise(cases),
        "floors": floor_rows(floors),
        "pairs": pair_rows(cases, others),
        "refused": refused,
        "peers": {p.name: {"version": p.version, "state": p.state, "refused": p.refused} for p in others},
        "growth": scale.linearity(names, 3 if options.quick else 7) if "request" in options.only else [],
        "import": scale.import_cost(3 if options.quick else 7),
    }
    result["summary"] = summary(result["pairs"])
    (folder / "bench.json").write_text(json.dumps(result, indent=1) + "\n")
    print("\n" + report(result, options.only, others))


def report(result: dict[str, Any], kinds: Sequence[str], others: Sequence[peers.Peer]) -> str:
    alive = [peer for peer in others if not peer.state]
    parts = [show_floors(result["floors"])]
    for kind in kinds:
        parts.append(show_pairs(kind, [row for row in result["pairs"] if row["kind"] == kind], alive))
    parts.append(show_summary(result["summary"]))
    if result["growth"]:
        parts.append(show_linearity(result["growth"]))
    lines = [show_import(result["import"])]
    for peer in others:
        lines.append(f"Peer {peer.name} {peer.version}: {peer.state or f'{len(peer.measured)} measurements'}")
        lines += [f"  refused {label}: {words}" for label, words in peer.refused.items()]
    lines += [f"Refused {pair}: {words}" for pair, words in result["refused"].items()]
    lines.append(
        f"Noise: the median batch was {result['restless_percent']:.0f} % above the best. "
        "Microseconds: best batch; ratios: median of neighbouring batches."
    )
    lines.append("Numbers in build/bench.json")
    return "\n\n".join([*parts, "\n".join(lines)])


if __name__ == "__main__":
    main(sys.argv[1:])
