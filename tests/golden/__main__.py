"""`python -m tests.golden` (or `make golden`): writes the golden files and the matrix that is made from them."""

from __future__ import annotations

from tests.golden.golden_files import HERE, PAIRS, golden, made, place, text

if __name__ == "__main__":
    (HERE / "pairs").mkdir(exist_ok=True)
    changed = 0
    wanted = {place(source, target): text(golden(source, target)) for source, target in PAIRS}
    for path in set((HERE / "pairs").glob("*.json")) - set(wanted):
        path.unlink()
        changed += 1
    for path, content in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != content:
            path.write_text(content, encoding="utf-8")
            changed += 1
    for path, content in made().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
    print(f"{len(wanted)} golden files, {changed} changed")
