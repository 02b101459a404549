"""Path, method and headers of a request, from the bytes that the parser reports."""

from __future__ import annotations

from ...codec.cache_memory_budget import small_cache
from ...transport.request_head_and_decompression import lower


def parted(url: bytes) -> tuple[str, str]:
    """Path and query of an address."""
    # This function has no cache, because a query may hold a key (Gemini's clients send `?key=`).
    path, _, query = url.decode("latin-1").partition("?")
    return path, query


@small_cache(64)
def method(name: bytes) -> str:
    """The name of an HTTP method as text."""
    return name.decode("latin-1")


def joined(lines: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers as a mapping, where some names came more than once. Their values are joined by commas (RFC 9110, 5.3,
    June 2022)."""
    out: dict[str, str] = {}
    for name, value in lines:
        key, text = lower(name), value.decode("latin-1")
        out[key] = f"{out[key]}, {text}" if key in out else text
    return out
