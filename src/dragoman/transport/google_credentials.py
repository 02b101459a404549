"""Google's credentials: access tokens for Vertex and Code Assist, from the google-auth library, refreshed in time.

Tokens are fetched in a thread, because google-auth blocks while it waits for the network. For each set of credentials
there is one fetch at a time. A token that will soon expire is still used while the next one is fetched.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from ..errors import ConfigError

SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
EARLY = 300.0
"""Seconds before a token expires at which the next one is fetched."""
LATE = 20.0
"""Seconds before a token expires at which it is no longer used."""

_MOST = 65_536
"""Bytes of a credentials file that are read."""
_log = logging.getLogger("dragoman")

Fetch = Callable[[], tuple[str, float]]
"""Returns a token and its expiry, in seconds since 1970. The call may block."""


class NoToken(ConfigError):
    """There are no credentials, or they give no token."""

    def __init__(self, file: str, why: str) -> None:
        super().__init__("credentials", file)
        self.args = (f"Google credentials{f' of {file}' if file else ''}: {why}",)


class Tokens:
    """Tokens by the file of their credentials ("" for the application's default credentials)."""

    def __init__(self, now: Callable[[], float], fetcher: Callable[[str], Fetch] | None = None) -> None:
        self._now = now
        self._fetcher = fetcher or credentials
        self._fetch: dict[str, Fetch] = {}
        self._known: dict[str, tuple[str, float]] = {}
        self._under_way: dict[str, asyncio.Task[str]] = {}

    async def get(self, file: str) -> str:
        """A valid token. NoToken when none can be fetched."""
        token, end = self._known.get(file, ("", 0.0))
        left = end - self._now()
        if left > EARLY:
            return token
        task = self._under_way.get(file)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._fetch_token(file))
            task.add_done_callback(_retrieve_exception)
            self._under_way[file] = task
        # `shield`: a client that leaves must not end the fetch that others wait for.
        return token if left > LATE else await asyncio.shield(task)

    def known(self) -> list[str]:
        """The tokens in use."""
        return [token for token, _ in self._known.values()]

    async def _fetch_token(self, file: str) -> str:
        try:
            token, end = await asyncio.to_thread(self._fetch_blocking, file)
        finally:
            # Also after an error, so that the next request tries again.
            del self._under_way[file]
        self._known[file] = (token, end)
        return token

    def _fetch_blocking(self, file: str) -> tuple[str, float]:
        if file not in self._fetch:
            self._fetch[file] = self._fetcher(file)
        return self._fetch[file]()


def _retrieve_exception(task: asyncio.Task[str]) -> None:
    """Mark the error of a fetch as seen. The next request tries again, and requests that wait for the fetch get the
    error."""
    if not task.cancelled():
        task.exception()


class _GeminiCliFile(Struct, frozen=True):
    """The file `oauth_creds.json` of gemini-cli: no `type`, and no client."""

    access_token: str
    expiry_date: float
    """Milliseconds since 1970."""
    type: str = ""
    client_id: str = ""


def _of_gemini_cli(file: str) -> _GeminiCliFile | None:
    """The content of a file of gemini-cli; None for any other file."""
    try:
        with open(os.path.expanduser(file), "rb") as opened:
            found = msgspec.json.decode(opened.read(_MOST), type=_GeminiCliFile)
    # Other files belong to google-auth, which reports what is wrong with them.
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return None if found.type or found.client_id else found


def _gemini_cli_token(file: str) -> tuple[str, float]:
    """The token in a file of gemini-cli. It is never refreshed here: that would need the client id of gemini-cli."""
    found = _of_gemini_cli(file)
    if found is None:
        raise NoToken(file, "the file no longer has a token")
    end = found.expiry_date / 1000
    if end <= time.time():
        raise NoToken(file, "the token has expired, and only gemini-cli itself can renew it")
    return found.access_token, end


def credentials(file: str) -> Fetch:
    """A function that fetches tokens with the credentials of a file, or with the application's default credentials.

    A file may hold a service account, a user's own credentials (`authorized_user`), or a federated identity. A file of
    gemini-cli is read too, because the user named it; its token is used as long as it is valid.
    """
    if file and not os.path.exists(os.path.expanduser(file)):
        raise NoToken(file, "the file does not exist. For a login at Google run: dragoman login UPSTREAM")
    if file and _of_gemini_cli(file) is not None:
        _log.warning(
            "%s belongs to gemini-cli. Google's terms forbid other programs to use its login, and Google may block your"
            " account. Use an API key, Vertex, or an OAuth client of your own (dragoman login).",
            file,
        )
        return lambda: _gemini_cli_token(file)
    try:
        import google.auth
        from google.auth.exceptions import GoogleAuthError
        from google.auth.transport.requests import Request
    except ModuleNotFoundError as error:
        raise NoToken(file, f"the package {error.name} is missing. Run pip install 'dragoman[google]'") from None
    try:
        if file:
            path = os.path.expanduser(file)
            found: Any = google.auth.load_credentials_from_file(path, scopes=list(SCOPES))[0]  # type: ignore[no-untyped-call]
        else:
            found = google.auth.default(scopes=list(SCOPES))[0]
    except (GoogleAuthError, OSError, ValueError) as error:
        raise NoToken(file, str(error)) from None

    def fetch() -> tuple[str, float]:
        try:
            found.refresh(Request())
        except GoogleAuthError as error:
            raise NoToken(file, str(error)) from None
        end = found.expiry
        # google-auth gives times in UTC without a time zone.
        # Credentials without an expiry stay valid.
        return str(found.token), end.replace(tzinfo=UTC).timestamp() if isinstance(end, datetime) else float("inf")

    return fetch
