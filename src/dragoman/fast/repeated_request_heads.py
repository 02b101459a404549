"""Remembers the heads of HTTP requests by their bytes. A client of the gateway sends the same head again and again,
except for the length of the body.

A head is kept only if all of these hold: the parser's headers, joined again, equal the bytes of the head; the head
belongs to a POST of HTTP/1.1 with one plain length; no header changes how the body is read. So for a head with the same
bytes, except for the digits of the length, the parser would give the same headers. A head that differs in any other
byte is parsed.

No head is kept while `dragoman.fast` is switched off.

Heads are looked up by hash, and compared only if the hashes are equal. So the time of a lookup reveals nothing about a
key in another client's head.

Measured alone (2026-11-18): without known heads a request from Anthropic's dialect to Chat Completions takes 5,335
bytecodes instead of 4,376, and 18 % more CPU (median over 18 cases of the lowest of 7 runs each).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from .. import fast
from ..codec.cache_memory_budget import TableCache

MAX_KNOWN = 256
"""Number of heads that are kept."""
MAX_LENGTH = 4096
"""Length of the longest head that is kept, in bytes."""
MAX_DIGITS = 15
"""Digits of a body's length. A longer number has leading zeros, or is far beyond the limit for bodies."""
LENGTH = b"ength: "
"""The end of the header name Content-Length. Clients differ only in the case of its first letters."""
_ROUND = len(LENGTH) + MAX_DIGITS + len(b"\r\n\r\n\r\n")
"""Bytes of a head that are neither in the part before the length nor in the part after the length."""
_UNUSUAL = frozenset({"expect", "http2-settings", "trailer", "transfer-encoding", "upgrade"})
"""Headers that change how a body is read, or that demand an answer before the body."""


class KnownHead(Struct, eq=False):
    """The parsed content of a head, without the length of the body."""

    url: bytes
    path: str
    query: str
    headers: Mapping[str, str]
    """Without the length. All requests with this head share the mapping."""
    size: int
    """Bytes of the head, with the longest length that is accepted here."""
    note: Any = None
    """The handler's own data for requests with this head. The data is valid as long as `rests` is unchanged."""
    rests: object = None
    """The object that must be unchanged for `note` to be valid."""


class KnownHeads:
    """The heads of recent requests."""

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: TableCache[tuple[bytes, bytes], KnownHead] = TableCache(MAX_KNOWN, 4 * MAX_LENGTH)
        """Heads by the bytes before the length and after the length. `learn` fills this dictionary. The server reads
        this dictionary itself, because it does so for every request."""

    def learn(
        self, head: bytes, url: bytes, lines: list[tuple[bytes, bytes]], headers: dict[str, str], path: str, query: str
    ) -> KnownHead | None:
        """Keep a head that the parser has read. The head must belong to a POST of HTTP/1.1 that leaves the connection
        open. Returns None for a head that cannot be kept."""
        if not fast.enabled() or len(head) > MAX_LENGTH or len(headers) < len(lines):
            return None
        if not _UNUSUAL.isdisjoint(headers):
            return None
        if headers.get("connection", "keep-alive").lower() != "keep-alive":
            return None
        if head != b"POST %b HTTP/1.1\r\n%b" % (url, b"\r\n".join(map(b": ".join, lines))):
            return None
        before, _, rest = head.partition(LENGTH)
        length, _, after = rest.partition(b"\r\n")
        if not before.lower().endswith(b"\r\ncontent-l") or not length.isdigit():
            return None
        others = {name: value for name, value in headers.items() if name != "content-length"}
        found = KnownHead(url, path, query, others, len(before) + len(after) + _ROUND)
        self.known.put((before, after), found)
        return found
