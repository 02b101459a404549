"""Bytes of HTTP without the state of a connection: heads of requests, compressed bodies. `response_head_reader.py` owns
the heads of answers."""

from __future__ import annotations

import zlib

from ..codec.cache_memory_budget import small_cache
from ..errors import TransportError
from .http_client_interface import Address, Post

# A small compressed piece can become a thousand times larger. Without a limit it would fill the memory.
MAX_INFLATED = 16 * 1024 * 1024
"""Bytes that one piece of a compressed body may become."""


class TooLarge(Exception):
    """A compressed body is too large."""


class BrokenAnswer(Exception):
    """Raised inside the parser, which wraps it: the bytes are not a valid answer."""


class Inflate:
    """Decompresses a body of one or several members."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._one = zlib.decompressobj(bits)
        self._members = 1

    def feed(self, data: bytes) -> bytes:
        """The decompressed bytes of a piece."""
        out = b""
        while data:
            if self._one.eof:
                self._members += 1
                if self._members > MAX_MEMBERS:  # each member copies the bytes behind it
                    raise TooLarge("the compressed body has too many members")
                self._one = zlib.decompressobj(self._bits)
            out += self._one.decompress(data, MAX_INFLATED - len(out))
            if self._one.unconsumed_tail or len(out) >= MAX_INFLATED:
                raise TooLarge("a piece of the compressed body is too large")
            data = self._one.unused_data
        return out

    def close(self) -> None:
        """Check that the body is complete."""
        if not self._one.eof:
            raise zlib.error("the compressed body is cut off")


@small_cache(512)
def lower_name(name: bytes) -> str:
    """A header name in lower case. Names do not depend on the case (RFC 9110, 5.1, June 2022)."""
    return name.decode("latin-1").lower()


def request_head(address: Address, method: str, target: str, headers: tuple[tuple[str, str], ...]) -> bytes:
    """The head of a request up to its length."""
    # This function has no cache, because a head holds a key. Callers that send many requests keep a Post instead.
    host = f"[{address.host}]" if ":" in address.host else address.host
    usual = address.port == (443 if address.secure else 80)
    lines = [f"{method} {target} HTTP/1.1", f"host: {host}" if usual else f"host: {host}:{address.port}"]
    for name, value in headers:
        # A line end in a value would add headers of the client's choice to our request.
        if "\r" in value or "\n" in value or "\0" in value or not name or any(c in name for c in "\r\n: "):
            raise TransportError("connect", f"the header {name[:40]!r} has a forbidden character, and cannot be sent")
        lines.append(f"{name}: {value}")
    if any(c in target for c in "\r\n ") or any(c in address.host for c in "\r\n /"):
        raise TransportError("connect", f"{target[:80]!r} is not a valid path: it has a space or a line break")
    return ("\r\n".join(lines) + "\r\n").encode("latin-1", "replace")


def prepare_post(address: Address, target: str, headers: tuple[tuple[str, str], ...]) -> Post:
    """A POST without its body. TransportError where it cannot be sent."""
    return Post(address, target, headers, request_head(address, "POST", target, headers))


def reason_text(error: Exception | None) -> str:
    """An error as the end of a message; "" for no error."""
    return f": {error}" if error is not None else ""


MAX_MEMBERS = 1_000
"""Members of one compressed body. Servers send one, or a few."""
