"""Shared helpers of the case modules: a case as a document, its sources, and pairs of dialects."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any

from .documents import DIALECTS, MODELS, Doc

DATE = "2026-11-15"
CLEAN = {"lint": "clean"}
GRAMMAR = {"stream_grammar": True}
HARMLESS = {"no_loss_worse_than": "info"}
WELL = {"ends": "well"}
BROKEN = {"ends": "fault"}
CUT = {"path": "/cut_anywhere", "equals": True, "optional": True}
"""The client gets the same stream for any cut of the bytes; a runner that cannot cut skips this fact."""

Cases = Iterator[Doc]


def src(page: str, section: str, evidence: str) -> Doc:
    """The source of a requirement, in the frozen form of the first suite."""
    if DATE != "2026-11-15":
        raise ValueError("a later suite names the provider's page, and the date of that page, for each source")
    return {"page": f"protocols/{page}.md", "section": section, "evidence": evidence, "date": DATE}


def case(
    topic: str,
    what: str,
    kind: str,
    origin: str,
    target: str,
    *,
    requirement: str,
    sources: list[Doc],
    given: Any,
    expect: list[Doc],
    model: str = "",
    request: Doc | None = None,
    headers: dict[str, str] | None = None,
    host: str = "",
) -> Doc:
    """Return a case. `given` is its input. `request` is the client's request if the input is an upstream's answer.
    `host` is the host of the upstream, if the result depends on it."""
    client_first = kind in ("request", "tools", "conversation", "count")
    out: Doc = {
        "id": f"{topic}.{what}.{origin}-to-{target}" if what else f"{topic}.{origin}-to-{target}",
        "topic": topic,
        "requirement": requirement,
        "source": sources,
        "kind": kind,
        "from": origin,
        "to": target,
        "model": model or MODELS[target if client_first else origin],
        "input": given,
        "expect": expect,
    }
    if request is not None:
        out["request"] = request
    if headers:
        out["headers"] = headers
    if host:
        out["host"] = host
    return out


def pairs() -> list[tuple[str, str]]:
    """All ordered pairs of different dialects."""
    return list(permutations(DIALECTS, 2))


def others(*but: str) -> list[str]:
    return [dialect for dialect in DIALECTS if dialect not in but]
