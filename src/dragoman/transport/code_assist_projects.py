"""Looks up the Google Cloud project that Code Assist has given to an account.

A client of Code Assist gets the project when it sets up its session, and names the project in every request. Clients of
other dialects do not know the project. So this module asks for it once, as Gemini CLI does: for the account's project,
or for a new project of the default tier when the account has none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from ..codec import json_text

Ask = Callable[[str, str, bytes], Awaitable[bytes]]
"""Sends a request to the upstream: method, path and body. b"" for an answer without success."""

STEPS = 12
STEP = 5.0
"""Number of polls of a pending operation, and seconds between two polls: the values of Gemini CLI."""
# gemini-cli sends these three fields (sources, 2026-08).
_METADATA = {"ideType": "IDE_UNSPECIFIED", "platform": "PLATFORM_UNSPECIFIED", "pluginType": "GEMINI"}


class CodeAssistProjects:
    """Remembers the project of each account."""

    def __init__(self, step: float = STEP) -> None:
        self._step = step
        self._known: dict[str, str] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def fitted(self, account: str, body: bytes, ask: Ask) -> bytes:
        """A request with the project in it. A request that names a project keeps it. Where no project is found the
        request is sent unchanged, and the upstream reports the error."""
        if "project" in json_text.fields(body):
            return body
        # One request at a time for each account: two would create two projects.
        async with self._locks.setdefault(account, asyncio.Lock()):
            if account not in self._known:
                found = await self._asked(ask)
                if not found:
                    return body
                self._known[account] = found
        from ..dialects.code_assist.endpoints import with_project  # Few gateways use this dialect.

        return with_project(body, self._known[account])

    async def _asked(self, ask: Ask) -> str:
        loaded = _read(await ask("POST", "/v1internal:loadCodeAssist", json_text.encode({"metadata": _METADATA})))
        # An account with a tier is set up already.
        if loaded.get("currentTier"):
            return _text(loaded.get("cloudaicompanionProject"))
        tiers = loaded.get("allowedTiers")
        usual = [tier for tier in tiers if isinstance(tier, dict) and tier.get("isDefault")] if tiers else []
        # Code Assist has the tiers free, legacy and standard (gemini-cli sources, 2026-08).
        tier = _text(usual[0].get("id")) if usual else "legacy-tier"
        body = json_text.encode({"tierId": tier, "metadata": _METADATA})
        under_way = _read(await ask("POST", "/v1internal:onboardUser", body))
        for _ in range(STEPS):
            name = _text(under_way.get("name"))
            if under_way.get("done") or not name:
                break
            await asyncio.sleep(self._step)
            under_way = _read(await ask("GET", f"/v1internal/{name}", b""))
        given = under_way.get("response")
        project = given.get("cloudaicompanionProject") if isinstance(given, dict) else None
        return _text(project.get("id")) if isinstance(project, dict) else ""


def _read(body: bytes) -> dict[str, Any]:
    found = json_text.decode(body) if json_text.is_object(body) else {}
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
