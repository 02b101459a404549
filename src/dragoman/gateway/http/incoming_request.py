"""One request of a client, as the server hands it on."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from .known_request_heads import KnownHead


class IncomingRequest(Struct, eq=False):
    """One request of a client."""

    method: str
    path: str
    """As it was sent: not decoded."""
    query: str
    headers: Mapping[str, str]
    """Names in lower case; of several with one name the values are joined. Those of a known head are the same for all
    its requests, and say nothing of the body's length."""
    body: bytes
    """Empty as long as `pieces` has some."""
    known: KnownHead | None = None
    """Its head, where others have come with the same."""
    keep_alive: bool = True
    """The client may ask more on this connection."""
    chunks: bool = True
    """It understands a body in chunks."""
    refusal: tuple[int, str] | None = None
    """Why the server itself refuses the request, for the handler to say in the client's words."""
    owner: str = ""
    """Hex digest that says who the client is (`gateway/client_identity.py`); "" until the client is admitted. Whatever
    is kept for a client is kept under this name."""
    admin: bool = False
    """The client showed an admin key."""
    pieces: list[bytes] | None = None
    """A large body that is not joined yet."""

    def told(self) -> Mapping[str, str]:
        """All its headers, that of the length too."""
        if self.known is None or self.headers is not self.known.headers:
            return self.headers
        return {**self.headers, "content-length": f"{len(self.body)}"}
