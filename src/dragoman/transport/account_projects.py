"""Looks up the Google Cloud project that an upstream has given to an account, once for each account.

The dialect of the upstream declares the requests of the search (`UpstreamForm.project_search`) and the place of the
project in a request (`UpstreamForm.with_project`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from ..dialect.endpoints_record import ProjectSearch, UpstreamForm

Ask = Callable[[str, str, bytes], Awaitable[bytes]]
"""Sends a request to the upstream: method, path and body. b"" for an answer without success."""

STEP = 5.0
"""Seconds between two polls: the value of Gemini CLI."""


class AccountProjects:
    """Remembers the project of each account."""

    def __init__(self, step: float = STEP) -> None:
        self._step = step
        self._known: dict[str, str] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def with_project(self, account: str, body: bytes, form: UpstreamForm, ask: Ask) -> bytes:
        """A request with the project in it. A request that names a project keeps it. Where no project is found the
        request is sent unchanged, and the upstream reports the error."""
        search = form.project_search(body) if form.project_search is not None else None
        if search is None or form.with_project is None:
            return body
        # One request at a time for each account: two would create two projects.
        async with self._locks.setdefault(account, asyncio.Lock()):
            if account not in self._known:
                found = await self._ask_project(search, ask)
                if not found:
                    return body
                self._known[account] = found
        return form.with_project(body, self._known[account])

    async def _ask_project(self, search: ProjectSearch, ask: Ask) -> str:
        try:
            question = next(search)
            while True:
                if question.pauses:
                    await asyncio.sleep(self._step)
                question = search.send(await ask(question.method, question.path, question.body))
        except StopIteration as end:
            return str(end.value)
