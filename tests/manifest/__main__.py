"""`python -m tests.manifest`: writes the digests of all outcomes. With `--each FILE` it writes one line for every
outcome to a file instead; with `--show NAME` it prints one outcome."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.manifest import digests
from tests.manifest.documents import PAIRS
from tests.manifest.outcomes import outcomes, spelled


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.manifest", description=__doc__)
    parser.add_argument("--each", type=Path, metavar="FILE", help="write a name and a digest for every outcome")
    parser.add_argument("--show", metavar="NAME", help='print one outcome: "SOURCE TARGET KIND VARIANT ID"')
    given = parser.parse_args()
    if given.show:
        source, target, kind, variant, name = given.show.split(" ", 4)
        for one, document, outcome in outcomes(source, target, kind):
            if document == name:
                # Earlier variants are translated too, because the memory may keep something of them.
                text = spelled(outcome())
                if one == variant:
                    print(text.encode("utf-8", "backslashreplace").decode())
    elif given.each:
        with given.each.open("w", encoding="utf-8") as file:
            for number, (source, target) in enumerate(PAIRS, 1):
                file.writelines(f"{digest} {name}\n" for name, digest in digests.each(source, target))
                if number % 7 == 0:
                    print(f"{number} of {len(PAIRS)} pairs of dialects", file=sys.stderr)
    else:
        changed = digests.write()
        print(f"{len(PAIRS)} pairs of dialects, {changed} changed")


if __name__ == "__main__":
    main()
