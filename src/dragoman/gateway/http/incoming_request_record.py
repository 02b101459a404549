"""One request of a client. The server makes it, and the gateway reads it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ...fast.repeated_request_heads import KnownHead


class IncomingRequest(Struct, eq=False):
    """One request of a client."""

    method: str
    path: str
    """The path in the client's bytes. Percent signs are not decoded."""
    query: str
    headers: Mapping[str, str]
    """Names in lower case; values of a repeated name are joined. All requests with a known head share one mapping,
    which leaves out the length of the body."""
    body: bytes
    """The body; empty as long as `pieces` holds the body."""
    known: KnownHead | None = None
    """The remembered head, if an earlier request had the same one."""
    keep_alive: bool = True
    """The client may send more requests on this connection."""
    chunks: bool = True
    """The client understands a chunked body."""
    refusal: tuple[int, str] | None = None
    """Status and reason with which the server itself refuses the request. The handler writes them in the client's
    dialect."""
    owner: str = ""
    """Hex digest that identifies the client (`exchange/client_ownership.py`); "" until the client is admitted.
    Everything that is kept for a client is kept under this name."""
    admin: bool = False
    """The client showed an admin key."""
    pieces: list[bytes] | None = None
    """The pieces of a large body that is not joined yet."""

    def all_headers(self) -> Mapping[str, str]:
        """All headers of the request, with the length of the body."""
        if self.known is None or self.headers is not self.known.headers:
            return self.headers
        return {**self.headers, "content-length": f"{len(self.body)}"}
