"""`python -m tests.manifest.compare COMMIT` (`make same BASE=COMMIT`): translates all documents with the library of
another commit and with the library of this folder, and shows where the outcomes differ. Exits 1 if any outcome differs.

The documents and the comparison are those of this folder; of the other commit only `src` is used. DRAGOMAN_FAST=0
compares without the memory.
"""

from __future__ import annotations

import argparse
import difflib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHOWN = 10
BODY = ' "body": '
"""The prefix of the line with the body in the text of an outcome."""
BEFORE, LONGEST = 80, 600
"""Characters that are shown before the first difference of two bodies, and in all."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.manifest.compare", description=__doc__)
    parser.add_argument("commit", help="the commit to compare with")
    parser.add_argument("--shown", type=int, default=SHOWN, help="how many documents are shown with their outcomes")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        archive = subprocess.run(["git", "archive", given.commit, "src"], cwd=ROOT, capture_output=True, check=False)
        if archive.returncode:
            print(archive.stderr.decode(), end="", file=sys.stderr)
            return 2
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(base, filter="data")
        return _compare(base / "src", Path(folder), given.shown)


def _compare(base: Path, folder: Path, shown: int) -> int:
    files = {name: folder / name for name in ("before", "after")}
    sources = {"before": base, "after": ROOT / "src"}
    started = [_manifest(sources[name], "--each", str(file)) for name, file in files.items()]
    failed = [name for name, process in zip(files, started, strict=True) if process.wait()]
    if failed:
        print(f"the documents could not be translated with the library of: {', '.join(failed)}", file=sys.stderr)
        return 2
    before, after = (_lines(file) for file in files.values())
    found = differing(before, after)
    for name in found:
        print(name)
    named = examples(found, shown)
    texts = [_shown(sources[side], named) for side in files] if named else []
    for name in named:
        print(f"\n== {name}")
        old, new = cut(*[text.get(name, "").splitlines() for text in texts])
        was, now = files
        print("\n".join(difflib.unified_diff(old, new, was, now, lineterm="", n=0)))
    print()
    for kind, count in by_kind(found).items():
        print(f"{count:6} {kind}")
    print(f"{len(after)} outcomes, {len(found)} differ")
    return 1 if found else 0


def differing(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Return the names of the outcomes that differ, or that only one side has."""
    return [name for name in {**before, **after} if before.get(name) != after.get(name)]


def examples(names: Iterable[str], count: int) -> list[str]:
    """Return the first outcome of each document, for at most `count` documents."""
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(name.split(" ", 4)[4], name)
    return list(first.values())[:count]


def by_kind(names: Iterable[str]) -> Counter[str]:
    """Count the outcomes of each source, target and kind."""
    return Counter(" ".join(name.split(" ", 3)[:3]) for name in names)


def cut(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    """Return the lines of two outcomes. A long body is cut to the place where both bodies begin to differ."""
    bodies = [line for lines in (before, after) for line in lines if line.startswith(BODY)]
    start = 0
    if len(bodies) == 2:
        places = (i for i, (one, other) in enumerate(zip(*bodies, strict=False)) if one != other)
        start = max(next(places, 0) - BEFORE, 0)
    head = BODY + "..." if start > len(BODY) else ""
    for lines in (before, after):
        lines[:] = [head + line[start if head else 0 :][:LONGEST] if line in bodies else line for line in lines]
    return before, after


def _shown(source: Path, names: list[str]) -> dict[str, str]:
    """The texts of the named outcomes."""
    text = _manifest(source, "--show", *names, capture=True).communicate()[0]
    return dict(part.split("\n", 1) for part in ("\n" + text).split("\n== ")[1:])


def _manifest(source: Path, *given: str, capture: bool = False) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source), str(ROOT)])}
    command = [sys.executable, "-m", "tests.manifest", *given]
    return subprocess.Popen(command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE if capture else None)


def _lines(file: Path) -> dict[str, str]:
    lines = [line.rstrip("\n").split(" ", 1) for line in file.open(encoding="utf-8")]
    return {name: digest for digest, name in lines}


if __name__ == "__main__":
    sys.exit(main())
