"""Owns the end of an OAuth login in a browser: the redirect to loopback (RFC 8252, section 7.3), or a pasted address.

An authorisation server sends the browser to an address of this machine, with a code and the `state` of the request.
Only a redirect with the right `state` counts, so no other page can end a login. Where the browser runs on another
machine, the person pastes the address that the browser could not open, or the code alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from ..errors import ConfigError

PATH = "/callback"
_HEAD = 16_384
"""Bytes of the largest request that is read."""
_SECONDS = 10.0
"""Seconds in which a request must arrive."""
_PAGE = "<!doctype html><meta charset=utf-8><title>dragoman</title><p>{}"


class Redirect(NamedTuple):
    """The parameters of a redirect. `issuer` names the authorisation server (RFC 9207); "": not sent."""

    code: str
    state: str
    issuer: str = ""


class LoginError(ConfigError):
    """A login did not end with a code or a token."""

    def __init__(self, problem: str) -> None:
        super().__init__("login", "", problem=problem)


class LoopbackRedirect:
    """A listener on loopback for one redirect."""

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self._server: asyncio.Server | None = None
        self._queries: asyncio.Queue[str] = asyncio.Queue(maxsize=16)
        self._state = ""

    @property
    def address(self) -> str:
        """The redirect address to register and to send."""
        return f"http://127.0.0.1:{self._port}{PATH}"

    async def __aenter__(self) -> LoopbackRedirect:
        try:
            # 127.0.0.1, not localhost: the name may lead elsewhere (RFC 8252, 8.3, October 2017).
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port, limit=_HEAD)
        except OSError as error:
            raise LoginError(f"cannot listen on port {self._port}: {error.strerror or error}") from None
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def wait(self, state: str, seconds: float, pasted: Callable[[], Awaitable[str]] | None = None) -> Redirect:
        """The redirect with this state. `pasted` gives lines that the person types; the first that is a redirect or a
        code counts. LoginError: the person or the server refused, or the time is over."""
        self._state = state
        tasks = [asyncio.create_task(self._arrived())]
        if pasted is not None:
            tasks.append(asyncio.create_task(_typed_redirect(pasted, state)))
        try:
            done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if not done:
            raise LoginError(f"nobody signed in within {seconds:g} seconds")
        return done.pop().result()

    async def _arrived(self) -> Redirect:
        return read_redirect(await self._queries.get(), self._state)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_SECONDS):
                line = (await reader.readline()).decode("ascii", "replace").split()
                while (await reader.readline()).strip():
                    pass
        except (TimeoutError, ValueError, OSError):  # ValueError: a line is too long
            writer.close()
            return
        status, text = self._answer(line)
        body = _PAGE.format(text).encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        writer.write(f"{head}Connection: close\r\nCache-Control: no-store\r\n\r\n".encode() + body)
        with contextlib.suppress(OSError):  # the browser may have left; the redirect counts all the same
            await writer.drain()
        writer.close()

    def _answer(self, line: list[str]) -> tuple[str, str]:
        """The answer to a request. A redirect with the right state is kept for `wait`."""
        target = urlsplit(line[1]) if len(line) == 3 and line[0] == "GET" else None
        if target is None or target.path != PATH:
            return "404 Not Found", "There is nothing here."
        given = parse_qs(target.query).get("state", [""])[0]
        # `compare_digest` takes the same time for every wrong value.
        if not self._state or not hmac.compare_digest(given.encode(), self._state.encode()):
            return "400 Bad Request", "This redirect does not belong to a login that is open here."
        if not self._queries.full():
            self._queries.put_nowait(target.query)
        return "200 OK", "dragoman has received the answer. You can close this page."


async def _typed_redirect(pasted: Callable[[], Awaitable[str]], state: str) -> Redirect:
    while True:
        line = (await pasted()).strip()
        if line:
            return read_redirect(urlsplit(line).query or line, state)


def read_redirect(text: str, state: str) -> Redirect:
    """The redirect in a query, or in a code that a person pasted alone. LoginError: the server or the person refused,
    or the text belongs to another login."""
    if "=" not in text:
        # A pasted code alone comes from the person, so it needs no state.
        return Redirect(text, state)
    fields = {name: values[0] for name, values in parse_qs(text).items()}
    if not hmac.compare_digest(fields.get("state", "").encode(), state.encode()):
        raise LoginError("the address belongs to another login (its state differs)")
    if "error" in fields:
        why = fields.get("error_description", "")
        raise LoginError(f"the authorisation server refused: {fields['error']}{f' ({why})' if why else ''}")
    if not fields.get("code"):
        raise LoginError("the address has no code")
    return Redirect(fields["code"], state, fields.get("iss", ""))
