"""`python -m tests.manifest`: writes the digests of all outcomes. With `--each FILE` it writes one line for every
outcome to a file instead; with `--show NAME` it prints outcomes. Without the recordings it reads the synthetic
documents alone."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import get_args

from tests.manifest import digests
from tests.manifest.documents import PAIRS, Kind, Origin
from tests.manifest.outcomes import outcomes, spelled
from tests.oracles.exchanges import has_recordings


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.manifest", description=__doc__)
    parser.add_argument("--each", type=Path, metavar="FILE", help="write a name and a digest for every outcome")
    parser.add_argument("--show", nargs="+", metavar="NAME", help='print outcomes: "SOURCE TARGET KIND VARIANT ID"')
    given = parser.parse_args()
    origins = [origin for origin in digests.ORIGINS if origin == "synthetic" or has_recordings()]
    if given.show:
        for name in given.show:
            print(f"== {name}")
            _show(origins, name)
    elif given.each:
        _write_each(origins, given.each)
    else:
        for origin in origins:
            changed = digests.write(origin)
            print(f"{origin} documents: {len(PAIRS)} pairs of dialects, {changed} changed")


def _show(origins: list[Origin], wanted: str) -> None:
    source, target, spelled_kind, variant, name = wanted.split(" ", 4)
    kind = next(known for known in get_args(Kind) if known == spelled_kind)
    for origin in origins:
        for one, document, outcome in outcomes(origin, source, target, kind):
            if document == name:
                # Earlier variants are translated too, because they may change the state of the memory.
                text = spelled(outcome())
                if one == variant:
                    print(text.encode("utf-8", "backslashreplace").decode())


def _write_each(origins: list[Origin], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number, (source, target) in enumerate(PAIRS, 1):
            for origin in origins:
                file.writelines(f"{digest} {name}\n" for name, digest in digests.each(origin, source, target))
            if number % 7 == 0:
                print(f"{number} of {len(PAIRS)} pairs of dialects", file=sys.stderr)


if __name__ == "__main__":
    main()
