"""What every module of cases uses: a case as a document, its sources, and pairs of dialects."""

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
"""However the bytes are cut, the client sees the same; a runner that cannot cut leaves it out."""

Cases = Iterator[Doc]


def src(page: str, section: str, evidence: str) -> Doc:
    return {"page": f"protocols/{page}.md", "section": section, "evidence": evidence, "date": DATE}


def case(
    topic: str,
    what: str,
    kind: str,
    origin: str,
    target: str,
    *,
    says: str,
    sources: list[Doc],
    given: Any,
    expect: list[Doc],
    model: str = "",
    request: Doc | None = None,
    headers: dict[str, str] | None = None,
    host: str = "",
) -> Doc:
    """A case. `given` is its input, `request` what the client asked where the upstream speaks first, `host` whose the
    upstream is where that matters."""
    client_first = kind in ("request", "tools", "conversation", "count")
    out: Doc = {
        "id": f"{topic}.{what}.{origin}-to-{target}" if what else f"{topic}.{origin}-to-{target}",
        "topic": topic,
        "requirement": says,
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
