"""Owns the digests of outcomes: one for each source, target, kind and variant, over all documents of an origin in
order. Each origin has a separate file: a clone without the recordings checks the synthetic documents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

from tests.manifest.documents import PAIRS, Kind, Origin
from tests.manifest.outcomes import outcomes, spelled

KINDS: tuple[Kind, ...] = get_args(Kind)
ORIGINS: tuple[Origin, ...] = get_args(Origin)
FOLDER = Path(__file__).parent
LENGTH = 16
"""Hexadecimal digits of a digest that are kept."""

Digests = dict[str, dict[str, str]]
"""By kind, then by variant."""


def digests(origin: Origin, source: str, target: str) -> Digests:
    """The digests of one pair of dialects."""
    found: Digests = {}
    for kind in KINDS:
        sums: dict[str, hashlib._Hash] = {}
        for variant, name, outcome in outcomes(origin, source, target, kind):
            digest = sums.setdefault(variant, hashlib.sha256())
            digest.update(f"{name}\n{spelled(outcome())}\n".encode("utf-8", "backslashreplace"))
        found[kind] = {variant: digest.hexdigest()[:LENGTH] for variant, digest in sums.items()}
    return found


def each(origin: Origin, source: str, target: str) -> Iterator[tuple[str, str]]:
    """A name and a digest for every outcome of one pair of dialects."""
    for kind in KINDS:
        for variant, name, outcome in outcomes(origin, source, target, kind):
            text = spelled(outcome()).encode("utf-8", "backslashreplace")
            yield f"{source} {target} {kind} {variant} {name}", hashlib.sha256(text).hexdigest()[:LENGTH]


def path(origin: Origin) -> Path:
    return FOLDER / f"{origin}.json"


@cache
def known(origin: Origin) -> dict[str, Digests]:
    """The digests that the repository holds, by pair: "anthropic to gemini"."""
    return json.loads(path(origin).read_text(encoding="utf-8")) if path(origin).exists() else {}


def pair(source: str, target: str) -> str:
    return f"{source} to {target}"


def write(origin: Origin) -> int:
    """Write the digests of all pairs; the number of pairs that changed."""
    before = known(origin)
    found = {pair(source, target): digests(origin, source, target) for source, target in PAIRS}
    path(origin).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return sum(before.get(name) != value for name, value in found.items())
