"""Searches the Google Cloud project that Code Assist has given to an account. Pure: the caller sends the requests.

A client of Code Assist gets the project when it sets up its session, and names the project in every request. Clients of
other dialects do not know the project. So the search asks as Gemini CLI does: for the account's project, or for a new
project of the default tier when the account has none.
"""

from __future__ import annotations

from typing import Any

from ...codec import json_text
from ...dialect.endpoints_record import ProjectQuestion, ProjectSearch

POLLS = 12
"""Number of polls of a pending operation: the value of Gemini CLI."""
# gemini-cli sends these three fields (sources, 2026-08).
_METADATA = {"ideType": "IDE_UNSPECIFIED", "platform": "PLATFORM_UNSPECIFIED", "pluginType": "GEMINI"}


def project_search() -> ProjectSearch:
    """The requests of the search, one after the other. The result is the project; "" where none is found."""
    loaded = _read((yield _post("/v1internal:loadCodeAssist", {"metadata": _METADATA})))
    # An account with a tier is set up already.
    if loaded.get("currentTier"):
        return _text(loaded.get("cloudaicompanionProject"))
    tiers = loaded.get("allowedTiers")
    usual = [tier for tier in tiers if isinstance(tier, dict) and tier.get("isDefault")] if tiers else []
    # Code Assist has the tiers free, legacy and standard (gemini-cli sources, 2026-08).
    tier = _text(usual[0].get("id")) if usual else "legacy-tier"
    under_way = _read((yield _post("/v1internal:onboardUser", {"tierId": tier, "metadata": _METADATA})))
    for _ in range(POLLS):
        name = _text(under_way.get("name"))
        if under_way.get("done") or not name:
            break
        under_way = _read((yield ProjectQuestion("GET", f"/v1internal/{name}", pauses=True)))
    given = under_way.get("response")
    project = given.get("cloudaicompanionProject") if isinstance(given, dict) else None
    return _text(project.get("id")) if isinstance(project, dict) else ""


def _post(path: str, fields: dict[str, Any]) -> ProjectQuestion:
    return ProjectQuestion("POST", path, json_text.encode(fields))


def _read(body: bytes) -> dict[str, Any]:
    found = json_text.decode(body) if json_text.is_object(body) else {}
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
