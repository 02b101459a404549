"""Owns the fetch of a page from the public web only. A model chooses the address, so the address and the server are
untrusted.

A name is resolved once. The address is checked, and the connection goes to the checked address. So no second lookup can
return a private address. Every redirect is checked in the same way. Size and time are bounded. The upstreams' HTTP
client is not used here, because it keeps connections and connects to any address.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
import string
import zlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import SplitResult, quote, urljoin, urlsplit

import httptools

from ..errors import DragomanError
from .tool_interface import FetchedPage

# Longer pages would not fit the model's window anyway.
MAX_SIZE = 5 * 1024 * 1024
MAX_HEAD = 64 * 1024
# A page rarely needs more than http to https, another host and a language.
MAX_REDIRECTS = 5
SECONDS = 20.0
CONNECT = 5.0
"""Seconds for the connection to one of several addresses."""
# The other statuses of 3xx name no new address to follow (RFC 9110, 15.4, June 2022).
_REDIRECTS = frozenset({301, 302, 303, 307, 308})

Resolve = Callable[[str, int], Awaitable[list[str]]]
IsPublic = Callable[[str], bool]


class FetchError(DragomanError):
    """No page was fetched from the address, or the address must not be fetched."""


def is_public(address: str) -> bool:
    """Whether an address is on the public internet. An IPv6 address that embeds an IPv4 address counts as that IPv4
    address."""
    # An address may carry a zone (fe80::1%eth0), which `ipaddress` reads as part of it.
    found: Any = ipaddress.ip_address(address.partition("%")[0])
    if found.version == 6:
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo or (None, None))[1]
        if inner is None and found in _NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    special = found.is_multicast or found.is_reserved or any(found in network for network in _SPECIAL)
    return bool(found.is_global and not special)


# The prefix of addresses that embed an IPv4 address (RFC 6052, 2.1, October 2010).
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# RFC 6890 (April 2013), RFC 7526 (May 2015) and RFC 3879 (September 2004), in this order.
_SPECIAL = tuple([ipaddress.ip_network(text) for text in ("192.0.0.0/24", "192.88.99.0/24", "fec0::/10")])
"""Special networks that some versions of Python report as public."""


async def resolve_host(host: str, port: int) -> list[str]:
    """The addresses of a name."""
    try:
        rows = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise FetchError(f"{host} was not found: {error.strerror or error}") from error
    return [str(row[4][0]) for row in rows]


async def fetch(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    resolve: Resolve = resolve_host,
    public: IsPublic = is_public,
    tls: ssl.SSLContext | None = None,
    seconds: float = SECONDS,
    limit: int = MAX_SIZE,
) -> FetchedPage:
    """The page at an address, after redirects. `public` decides which addresses may be fetched. With a `body` of JSON
    the request is a POST. The headers and the body go only to the first host, not to the hosts of redirects."""
    first = url
    try:
        async with asyncio.timeout(seconds):
            for _ in range(MAX_REDIRECTS + 1):
                # A header may contain a key, which only the first host may get.
                same = _origin(url) == _origin(first)
                given, sent = (headers or {}, body) if same else ({}, None)
                page, onward = await _fetch_once(url, given, sent, resolve, public, tls, limit)
                if not onward:
                    return page
                url = onward
    except TimeoutError:
        raise FetchError(f"{url} did not answer within {seconds:g} seconds") from None
    raise FetchError(f"{url} redirects more than {MAX_REDIRECTS} times")


async def _fetch_once(
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    resolve: Resolve,
    public: IsPublic,
    tls: ssl.SSLContext | None,
    limit: int,
) -> tuple[FetchedPage, str]:
    """One request: the page, and the address of its redirect."""
    parts, host, port = _split(url)
    addresses = await resolve(host, port)
    for address in addresses:
        # All addresses must be public: a name with one private address is an attack or a mistake.
        if not public(address):
            raise FetchError(f"{url} leads to {address}, which is not on the public internet")
    if not addresses:
        raise FetchError(f"{host} has no address")
    secure = parts.scheme == "https"
    context = (tls or ssl.create_default_context()) if secure else None
    try:
        reader, writer = await _connect_to_any(addresses, port, context, host)
        try:
            writer.write(_request(parts, headers, body))
            answer = _Answer(limit)
            while not answer.done and (data := await reader.read(65536)):
                answer.feed(data)
            if not answer.whole:
                raise FetchError(f"{url}: the connection was closed before the answer was complete")
        finally:
            # `abort`, because an untrusted server may never end the connection in order.
            writer.transport.abort()
    except (OSError, ssl.SSLError) as error:
        raise FetchError(f"{url}: {error.strerror or error}") from error
    except httptools.HttpParserError as error:
        raise FetchError(f"{url}: the answer is not HTTP: {error}") from error
    onward = urljoin(url, answer.headers.get("location", "")) if answer.status in _REDIRECTS else ""
    return answer.page(url), onward if answer.headers.get("location") else ""


async def _connect_to_any(
    addresses: list[str], port: int, context: ssl.SSLContext | None, host: str
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to the first address that accepts."""
    for address in addresses[:-1]:
        try:
            async with asyncio.timeout(CONNECT):
                return await _open_connection(address, port, context, host)
        except OSError:  # a timeout is an OSError too
            continue
    # The last address may use all remaining time.
    return await _open_connection(addresses[-1], port, context, host)


async def _open_connection(
    address: str, port: int, context: ssl.SSLContext | None, host: str
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    # The certificate must be for the name, because the connection goes to an address.
    return await asyncio.open_connection(address, port, ssl=context, server_hostname=host if context else None)


def _origin(url: str) -> tuple[str, str, int]:
    parts, host, port = _split(url)
    return parts.scheme, host, port


def _split(url: str) -> tuple[SplitResult, str, int]:
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        raise FetchError(f"{url} is not an address: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise FetchError(f"{url} is not an address of the web")
    # An address with a user name is refused, because the user name often hides the real host.
    if "@" in parts.netloc or any(char <= " " or char == "\x7f" for char in url):
        raise FetchError(f"{url} contains a user name, or characters that an address cannot have")
    try:
        # A name with other letters is sent in ASCII (RFC 5890, August 2010).
        host = parts.hostname.encode("idna").decode() if not parts.hostname.isascii() else parts.hostname
    except UnicodeError as error:
        raise FetchError(f"{url} is not an address: {error}") from error
    return parts, host, port


def _request(parts: SplitResult, headers: Mapping[str, str], body: bytes | None) -> bytes:
    # The percent sign is not quoted, so that an escaped address is not escaped again.
    target = quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe=string.punctuation)
    netloc = parts.netloc if parts.netloc.isascii() else parts.netloc.encode("idna").decode()
    lines = [
        f"{'GET' if body is None else 'POST'} {target} HTTP/1.1",
        f"host: {netloc}",
        "connection: close",
        "accept-encoding: identity",
    ]
    given = {"user-agent": "dragoman", "accept": "text/html,text/plain,application/json;q=0.9,*/*;q=0.5", **headers}
    if body is not None:
        given |= {"content-type": "application/json", "content-length": str(len(body))}
    lines += [f"{name}: {value}" for name, value in given.items()]
    # A line end inside a value would begin another header.
    head = "".join([line.replace("\r", "").replace("\n", "") + "\r\n" for line in lines] + ["\r\n"]).encode()
    return head + (body or b"")


class _Answer:
    """The parser's callbacks for one response. They keep the head and the body within limits."""

    def __init__(self, limit: int) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.headed = False
        self.done = False
        self._limit = limit
        self._body = bytearray()
        self._head = 0
        self._inflate: Any = None
        self._parser = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserCallbackError as error:
            # The parser wraps every exception of a callback in its own.
            if isinstance(error.__context__, FetchError):
                raise error.__context__ from None
            raise

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head += len(name) + len(value)
        if self._head > MAX_HEAD:
            raise FetchError("the answer's head is too long")
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        # An interim answer comes before the final one (RFC 9110, 15.2, June 2022).
        if self.status < 200:
            self.headers.clear()
            return
        self.headed = True
        encoding = self.headers.get("content-encoding", "identity").lower()
        if encoding in ("gzip", "deflate"):
            # 47 means gzip or zlib, by the header of the data (zlib manual).
            self._inflate = zlib.decompressobj(47)
        elif encoding != "identity":
            raise FetchError(f"the answer has a compression that was not requested: {encoding}")

    def on_body(self, data: bytes) -> None:
        # One byte more than allowed shows that the limit is exceeded.
        room = self._limit - len(self._body) + 1
        try:
            piece = data if self._inflate is None else self._inflate.decompress(data, room)
        except zlib.error as error:
            raise FetchError(f"the answer cannot be decompressed: {error}") from error
        self._body += piece[:room]
        if len(self._body) > self._limit:
            raise FetchError(f"the answer is longer than {self._limit} bytes")

    @property
    def whole(self) -> bool:
        """Whether the response is complete. Without a length the end of the connection ends the body. A redirect needs
        no complete body."""
        if self._inflate is not None and self._body and not self._inflate.eof:
            return False
        unbounded = "content-length" not in self.headers and "transfer-encoding" not in self.headers
        return self.done or (self.headed and (unbounded or self.status in _REDIRECTS))

    def on_message_complete(self) -> None:
        if self.status >= 200:
            self.done = True

    def page(self, url: str) -> FetchedPage:
        mime, _, rest = self.headers.get("content-type", "").partition(";")
        # The value of a parameter may be in quotes (RFC 9110, 5.6.6, June 2022).
        charset = rest.partition("charset=")[2].partition(";")[0].strip(" \"'")
        return FetchedPage(url, self.status, mime.strip().lower(), bytes(self._body), charset)
