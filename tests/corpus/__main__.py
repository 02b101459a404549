"""Writes the corpus: `python -m tests.corpus` reads ../shared/wire and writes one file for each dialect into data/."""

from __future__ import annotations

import json
from typing import Any

from tests.corpus import key_paths_and_values, synthetic_exchanges
from tests.corpus.corpus_files import DATA, DIALECTS
from tests.oracles.exchanges import require_shared

Json = Any
_PRICE = 1500
"""Cost in bytes of one more exchange, besides its size: few exchanges are better than small ones."""


def cover(exchanges: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """Choose a small number of exchanges that together have every fact of all exchanges, in the given order."""
    found = [key_paths_and_values.of_exchange(one) for one in exchanges]
    sizes = [_PRICE + len(json.dumps(one)) for one in exchanges]
    missing = set().union(*found)
    chosen: list[int] = []
    while missing:
        best = max(range(len(exchanges)), key=lambda i: (len(found[i] & missing) / sizes[i], -i))
        chosen.append(best)
        missing -= found[best]
    for i in sorted(chosen, key=lambda i: -sizes[i]):
        others = set().union(*[found[j] for j in chosen if j != i])
        if found[i] <= others:
            chosen.remove(i)
    return [exchanges[i] for i in sorted(chosen)]


def main() -> None:
    folder = require_shared("wire")
    DATA.mkdir(exist_ok=True)
    for dialect in DIALECTS:
        lines = (folder / f"{dialect}.jsonl").read_text(encoding="utf-8").splitlines()
        recorded = [json.loads(line) for line in lines if line]
        chosen = cover([synthetic_exchanges.exchange(one) for one in recorded])
        text = "".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in chosen)
        (DATA / f"{dialect}.jsonl").write_text(text, encoding="utf-8")
        print(f"{dialect}: {len(chosen)} of {len(recorded)} exchanges, {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main()
