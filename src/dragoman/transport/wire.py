"""Bytes of HTTP that are no state of a connection: heads of requests and of answers, compressed bodies."""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from functools import lru_cache
from typing import Any

import httptools

from ..errors import TransportError
from .client import Address, Headers

MAX_INFLATED = 16 * 1024 * 1024
"""What one piece of a compressed body may become."""


_FINAL = (b"HTTP/1.1 2", b"HTTP/1.1 4", b"HTTP/1.1 5", b"HTTP/1.1 3")
_NAMES = re.compile(r"\r\n([^:\s]+):")
_VALUES = re.compile(r"\r\n[^:\s]+:[ \t]*([^\r\n]*)")


class TooLarge(Exception):
    """A compressed body is too large."""


class Broken(Exception):
    """Raised inside the parser, which wraps it: the answer is none."""


class Inflate:
    """A compressed body, of one or several members."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._one = zlib.decompressobj(bits)

    def feed(self, data: bytes) -> bytes:
        out = b""
        while data:
            if self._one.eof:
                self._one = zlib.decompressobj(self._bits)
            out += self._one.decompress(data, MAX_INFLATED - len(out))
            if self._one.unconsumed_tail or len(out) >= MAX_INFLATED:
                raise TooLarge("a piece of it is too large")
            data = self._one.unused_data
        return out

    def close(self) -> None:
        if not self._one.eof:
            raise zlib.error("the compressed body is cut off")


@lru_cache(maxsize=512)
def lower(name: bytes) -> str:
    return name.decode("latin-1").lower()


def headers_of(head: bytes) -> tuple[list[str], Headers]:
    """The names of an answer's headers, and the headers. `head` is one that the parser takes, with all before it and
    some behind it.

    Two searches in C instead of two calls of the parser for every header, of which upstreams send twenty and more.
    """
    if head.startswith(_FINAL):
        text = head[: head.find(b"\r\n\r\n")].decode("latin-1")
        names = _NAMES.findall(text.lower())
        if len(names) == text.count("\n"):
            return names, list(zip(names, _VALUES.findall(text), strict=False))
    return _Told(head).headers


class _Told:
    """Headers as the parser tells them: of heads behind interim ones, and of odd ones."""

    def __init__(self, head: bytes) -> None:
        self._found: Headers = []
        self._final = False
        self._parser: Any = httptools.HttpResponseParser(self)
        with suppress(httptools.HttpParserError):  # who asks knows what it thinks of the rest
            self._parser.feed_data(head)
        self._parser = None  # it holds this object too
        self.headers = [name for name, _ in self._found], self._found

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._final:  # behind a body nobody looks for them
            self._found.append((lower(name), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        self._final = self._parser.get_status_code() >= 200
        if not self._final:
            self._found.clear()


@lru_cache(maxsize=128)
def request_head(address: Address, method: str, target: str, headers: tuple[tuple[str, str], ...]) -> bytes:
    """The head of a request up to its length: the same for most requests to one upstream."""
    host = f"[{address.host}]" if ":" in address.host else address.host
    usual = address.port == (443 if address.secure else 80)
    lines = [f"{method} {target} HTTP/1.1", f"host: {host}" if usual else f"host: {host}:{address.port}"]
    for name, value in headers:
        if "\r" in value or "\n" in value or "\0" in value or not name or any(c in name for c in "\r\n: "):
            raise TransportError("connect", f"the header {name[:40]!r} cannot be sent")
        lines.append(f"{name}: {value}")
    if any(c in target for c in "\r\n ") or any(c in address.host for c in "\r\n /"):
        raise TransportError("connect", f"{target[:80]!r} is no path")
    return ("\r\n".join(lines) + "\r\n").encode("latin-1", "replace")


def why(error: Exception | None) -> str:
    return f": {error}" if error is not None else ""
