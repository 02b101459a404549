"""Writes the suite: `python -m conformance.source`; `--check` only tests whether the files are current."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path

from . import (
    caching,
    calls,
    clients,
    controls,
    counts,
    custom,
    faults,
    hard,
    limits,
    media,
    quirks,
    schemas,
    seals,
    unknown,
)
from .documents import DIALECTS, reply, request
from .kit import DATE
from .streams import frames

SUITE = Path(__file__).resolve().parents[1] / DATE
MODULES = (
    calls,
    seals,
    schemas,
    media,
    controls,
    custom,
    clients,
    caching,
    counts,
    faults,
    limits,
    unknown,
    hard,
    quirks,
)


def written() -> dict[str, bytes]:
    """Every file of the suite by its name."""
    topics: dict[str, list[object]] = {}
    for module in MODULES:
        for found in module.cases():
            topics.setdefault(found["topic"], []).append(found)
    files: dict[str, bytes] = {}
    listed = []
    for topic, group in sorted(topics.items()):
        # One case in each line: a change of one case is one line of a diff.
        lines = ",\n".join([_line(one) for one in group])
        name = f"cases/{topic}.json"
        files[name] = f"[\n{lines}\n]\n".encode()
        listed.append({"file": name, "cases": len(group), "sha256": hashlib.sha256(files[name]).hexdigest()})
    documents = {one: _plain(one) for one in DIALECTS}
    files["plain.json"] = (json.dumps(documents, indent=1) + "\n").encode()
    manifest = {"date": DATE, "cases": sum(len(group) for group in topics.values()), "files": listed}
    files["suite.json"] = (json.dumps(manifest, indent=2) + "\n").encode()
    return files


def _plain(dialect: str) -> object:
    """The simplest documents of a dialect, for cases about other topics."""
    return {"request": request(dialect), "reply": reply(dialect, "Hi."), "frames": frames(dialect, "Hi.")}


def _line(one: object) -> str:
    """A case as JSON; "@number:1.50" means a number in this spelling, which Python would change."""
    return re.sub(r'"@number:([0-9.e+-]+)"', r"\1", json.dumps(one, ensure_ascii=False))


def main() -> int:
    files = written()
    on_disk = {str(path.relative_to(SUITE)) for path in (SUITE / "cases").glob("*.json")}
    stale = sorted(on_disk - set(files))
    changed = [
        name for name, data in files.items() if not (SUITE / name).exists() or (SUITE / name).read_bytes() != data
    ]
    if "--check" in sys.argv[1:]:
        for name in (*changed, *stale):
            print(f"not current: {name}")
        return 1 if changed or stale else 0
    (SUITE / "cases").mkdir(parents=True, exist_ok=True)
    for name in stale:
        (SUITE / name).unlink()
    for name in changed:
        (SUITE / name).write_bytes(files[name])
    total = json.loads(files["suite.json"])["cases"]
    print(f"{total} cases in {len(files) - 2} files; {len(changed)} written, {len(stale)} removed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
