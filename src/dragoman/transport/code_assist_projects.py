"""The Google Cloud project that Code Assist gave to whoever's credentials we have.

A client of Code Assist learns it when it sets up its session, and names it in every request. Clients of other dialects
know nothing of it, so it is asked for once, as such a client would: for the account's project, and for a new one of
the usual tier when it has none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from ..codec import json_text

Ask = Callable[[str, str, bytes], Awaitable[bytes]]
"""Asks the upstream by method, path and body. b"" when it did not answer as it should."""

STEPS = 12
STEP = 5.0
"""How often an operation under way is looked at, and the seconds between: as its own clients do."""
_METADATA = {"ideType": "IDE_UNSPECIFIED", "platform": "PLATFORM_UNSPECIFIED", "pluginType": "GEMINI"}


class CodeAssistProjects:
    """Remembers the project of each set of credentials."""

    def __init__(self, step: float = STEP) -> None:
        self._step = step
        self._known: dict[str, str] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def fitted(self, account: str, body: bytes, ask: Ask) -> bytes:
        """A request with the project in it. One that names a project keeps it; without one it goes as it is, and the
        upstream says what is wrong."""
        if "project" in json_text.fields(body):
            return body
        async with self._locks.setdefault(account, asyncio.Lock()):
            if account not in self._known:
                found = await self._asked(ask)
                if not found:
                    return body
                self._known[account] = found
        from ..dialects.code_assist.endpoints import with_project  # few gateways speak it

        return with_project(body, self._known[account])

    async def _asked(self, ask: Ask) -> str:
        loaded = _read(await ask("POST", "/v1internal:loadCodeAssist", json_text.encode({"metadata": _METADATA})))
        if loaded.get("currentTier"):
            return _text(loaded.get("cloudaicompanionProject"))
        tiers = loaded.get("allowedTiers")
        usual = [tier for tier in tiers if isinstance(tier, dict) and tier.get("isDefault")] if tiers else []
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
