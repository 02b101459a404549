"""`python -m tests.manifest.compare COMMIT` (`make same BASE=COMMIT`): translates all documents with the library of
another commit and with the library of this folder, and shows where the outcomes differ. Exits 1 if any outcome differs.

The documents and the comparison are those of this folder; of the other commit only `src` is used.
"""

from __future__ import annotations

import argparse
import difflib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHOWN = 10


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.manifest.compare", description=__doc__)
    parser.add_argument("commit", help="the commit to compare with")
    parser.add_argument("--shown", type=int, default=SHOWN, help="how many outcomes are shown in full")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        _git("worktree", "add", "--quiet", "--detach", str(base), given.commit)
        try:
            return _compare(base / "src", Path(folder), given.shown)
        finally:
            _git("worktree", "remove", "--force", str(base))


def _compare(base: Path, folder: Path, shown: int) -> int:
    files = {name: folder / name for name in ("before", "after")}
    sources = {"before": base, "after": ROOT / "src"}
    started = [_manifest(sources[name], "--each", str(file)) for name, file in files.items()]
    failed = [name for name, process in zip(files, started, strict=True) if process.wait()]
    if failed:
        print(f"the documents could not be translated with the library of: {', '.join(failed)}", file=sys.stderr)
        return 2
    before, after = (_lines(file) for file in files.values())
    differing = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    for name in differing[:shown]:
        print(f"\n== {name}")
        texts = [_manifest(sources[side], "--show", name, capture=True).communicate()[0] for side in files]
        lines = [text.splitlines() for text in texts]
        print("\n".join(line[:2000] for line in difflib.unified_diff(*lines, *files, lineterm="", n=0)))
    for name in differing[shown:]:
        print(name)
    print(f"\n{len(after)} outcomes, {len(differing)} differ")
    return 1 if differing else 0


def _manifest(source: Path, *given: str, capture: bool = False) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source), str(ROOT)])}
    command = [sys.executable, "-m", "tests.manifest", *given]
    return subprocess.Popen(command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE if capture else None)


def _lines(file: Path) -> dict[str, str]:
    lines = [line.rstrip("\n").split(" ", 1) for line in file.open(encoding="utf-8")]
    return {name: digest for digest, name in lines}


def _git(*given: str) -> None:
    subprocess.run(["git", *given], cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main())
