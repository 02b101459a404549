"""The command `python -m bench.facts`."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from .compare import VERDICTS
from .dialects import MAIN
from .measure import KINDS, PAIRS, Class, Tally, measure

Tallies = dict[tuple[str, str, str], Tally]


def main() -> None:
    """Measure and print."""
    options = _options()
    kinds = [options.kind] if options.kind else list(KINDS)
    pairs = [pair for pair in PAIRS if _wanted(pair, options.pairs)]
    tallies: Tallies = {}
    for kind in kinds:
        for number, (source, target) in enumerate(pairs):
            if number % 6 == 0:
                print(f"{kind}s of {source} ...", file=sys.stderr)
            tallies[kind, source, target] = measure(kind, source, target, served=options.served)
    if options.silent or options.list:
        verdicts = ("silent",) if options.silent else ("declared", "approximated", "silent")
        _print_classes(tallies, verdicts, work=options.work)
    else:
        _print_shares(tallies, kinds, pairs)
    _print_crashes(tallies)
    if options.json:
        Path(options.json).write_text(json.dumps(_figures(tallies), indent=1) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.facts", description=__doc__)
    parser.add_argument("--pairs", nargs="+", metavar="FROM:TO", help="only these; either side may be left out")
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--list", action="store_true", help="print what did not arrive by code and place")
    parser.add_argument("--silent", action="store_true", help="the same, only what no loss reports")
    parser.add_argument("--work", action="store_true", help="with --list: only what the target has a place for")
    parser.add_argument("--served", action="store_true", help="requests for a model that the target's upstreams serve")
    parser.add_argument("--json", metavar="FILE", help="write the figures to a file too")
    return parser.parse_args()


def _wanted(pair: tuple[str, str], wanted: list[str] | None) -> bool:
    if not wanted:
        return True
    sides = [tuple(one.split(":")) if ":" in one else (one, "") for one in wanted]
    return any(source in ("", pair[0]) and target in ("", pair[1]) for source, target in sides)


def _print_shares(tallies: Tallies, kinds: list[str], pairs: list[tuple[str, str]]) -> None:
    for kind in kinds:
        print(f"\n{kind}s: number of facts, and their verdicts in %")
        print(
            f"{'':36}{'facts':>8}{'kept':>8}{'approx.':>9}{'declared':>9}{'silent':>8}{'no place':>9}"
            f"{'of rest':>8}{'crashes':>8}   other facts"
        )
        for source, target in pairs:
            _print_row(f"{source} to {target}", [tallies[kind, source, target]])
        main = [tallies[kind, *pair] for pair in pairs if set(pair) <= set(MAIN)]
        if len(main) > 1:
            _print_row("chat, responses, anthropic, gemini", main)
        _print_row("all of these", [tallies[kind, *pair] for pair in pairs])
        _print_kinds([tallies[kind, *pair] for pair in pairs])


def _print_row(name: str, tallies: list[Tally]) -> None:
    verdicts: Counter[str] = sum([one.verdicts for one in tallies], Counter())
    others: Counter[str] = sum([one.others for one in tallies], Counter())
    total = sum(verdicts.values()) or 1
    shares = [100 * verdicts[verdict] / total for verdict in VERDICTS]
    figures = f"{shares[0]:8.2f}{shares[1]:9.2f}{shares[2]:9.2f}{shares[3]:8.3f}"
    unplaced = sum([sum(one.no_place.values()) for one in tallies])
    rest = 100 * verdicts["kept"] / (total - unplaced or 1)
    figures += f"{100 * unplaced / total:9.2f}{rest:8.2f}"
    crashes = sum([len(one.crashes) for one in tallies])
    print(f"{name:36}{total:8}{figures}{crashes:8}   {others['declared']} declared, {others['silent']} silent")


def _print_kinds(tallies: list[Tally]) -> None:
    kinds: Counter[tuple[str, str]] = sum([one.kinds for one in tallies], Counter())
    totals: Counter[str] = Counter()
    for (kind, _), count in kinds.items():
        totals[kind] += count
    shares = [f"{kind} {100 * kinds[kind, 'kept'] / total:.1f} of {total}" for kind, total in totals.most_common()]
    print(f"kept by kind: {', '.join(shares)}")


def _print_classes(tallies: Tallies, verdicts: tuple[str, ...], *, work: bool) -> None:
    classes: Counter[Class] = sum([one.classes for one in tallies.values()], Counter())
    if work:
        classes = Counter({found: n for found, n in classes.items() if not found.no_place and found.kind != "other"})
    examples = {found: text for one in reversed(tallies.values()) for found, text in one.examples.items()}
    for verdict in verdicts:
        chosen = [(found, count) for found, count in classes.most_common() if found.verdict == verdict]
        print(f"\n{verdict}: {sum([count for _, count in chosen])} in {len(chosen)} classes")
        for found, count in chosen:
            print(f"{count:7} {found.code or '-':24} {found.kind:20} {found.source} {found.path}")
            why = f"; no place: {found.no_place}" if found.no_place else ""
            print(f"{'':8}{examples[found]}{why}")


def _print_crashes(tallies: Tallies) -> None:
    for crash in [crash for one in tallies.values() for crash in one.crashes]:
        print(f"crash: {crash}")


def _figures(tallies: Tallies) -> list[dict[str, object]]:
    return [
        {
            "kind": kind,
            "source": source,
            "target": target,
            **tally.verdicts,
            "no_place": sum(tally.no_place.values()),
            "crashes": len(tally.crashes),
        }
        for (kind, source, target), tally in tallies.items()
    ]


if __name__ == "__main__":
    main()
