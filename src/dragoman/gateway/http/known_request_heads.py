"""Heads of requests that are known by their bytes: a client sends the same again and again, but for the length of what
follows.

A head is kept only if the parser's headers, joined again, equal its bytes. It belongs to a POST of HTTP/1.1 with one
plain length, and nothing in it changes how the body is read. So a head with the same bytes, but for the digits of the
length, would be parsed to the same headers. A head that differs in any other byte is parsed.

They are looked up by hash and compared only where that is the same, so the time it takes tells nobody about a key in
somebody else's head.

Measured alone (2026-11-18): without known heads a request from Anthropic's dialect to Chat Completions takes 5,335
bytecodes instead of 4,376, and 18 % more CPU (median over 18 cases of the lowest of 7 runs each).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ...codec.cache_budget import small_cache
from ...transport.http_bytes import lower

MAX_KNOWN = 256
"""Most heads kept."""
MAX_LENGTH = 4096
"""Longest head kept, in bytes."""
MAX_DIGITS = 15
"""Of a body's length; whoever sends more has zeros in front, or a body that nobody wants."""
LENGTH = b"ength: "
"""How the name of the length ends, with whichever capitals it is written."""
_ROUND = len(LENGTH) + MAX_DIGITS + len(b"\r\n\r\n\r\n")
"""Bytes of a head that stand neither before the length nor behind it."""
_UNUSUAL = frozenset({"expect", "http2-settings", "trailer", "transfer-encoding", "upgrade"})
"""Headers that change how a body is read, or what is said before it comes."""


class KnownHead(Struct, eq=False):
    """What a head says, but for the length of the body."""

    url: bytes
    path: str
    query: str
    headers: Mapping[str, str]
    """But for the length. All requests with this head have the same."""
    size: int
    """Its bytes, where the length has as many digits as are read here."""
    note: Any = None
    """What the handler has found out about requests with this head,"""
    rests: object = None
    """and what that rests on."""


class KnownHeads:
    """Those that came lately."""

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: dict[tuple[bytes, bytes], KnownHead] = {}
        """By what stands before the length and behind it, as `learn` has it. The server looks here itself, since it
        does so with every request."""

    def learn(
        self, head: bytes, url: bytes, lines: list[tuple[bytes, bytes]], headers: dict[str, str], path: str, query: str
    ) -> KnownHead | None:
        """Keep a head of which the parser told all the rest: that of a POST of HTTP/1.1 which leaves the connection
        open. None where it is not as plain as it must be."""
        if len(head) > MAX_LENGTH or len(headers) < len(lines) or not _UNUSUAL.isdisjoint(headers):
            return None
        if headers.get("connection", "keep-alive").lower() != "keep-alive":
            return None
        if head != b"POST %b HTTP/1.1\r\n%b" % (url, b"\r\n".join(map(b": ".join, lines))):
            return None
        before, _, rest = head.partition(LENGTH)
        length, _, after = rest.partition(b"\r\n")
        if not before.lower().endswith(b"\r\ncontent-l") or not length.isdigit():
            return None
        if len(self.known) >= MAX_KNOWN:
            self.known.clear()
        others = {name: value for name, value in headers.items() if name != "content-length"}
        self.known[before, after] = found = KnownHead(url, path, query, others, len(before) + len(after) + _ROUND)
        return found


@small_cache(512)  # clients ask for the same few again and again
def parted(url: bytes) -> tuple[str, str]:
    """Path and query."""
    path, _, query = url.decode("latin-1").partition("?")
    return path, query


@small_cache(64)
def method(name: bytes) -> str:
    return name.decode("latin-1")


def joined(lines: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers of which some came more than once."""
    out: dict[str, str] = {}
    for name, value in lines:
        key, told = lower(name), value.decode("latin-1")
        out[key] = f"{out[key]}, {told}" if key in out else told
    return out
