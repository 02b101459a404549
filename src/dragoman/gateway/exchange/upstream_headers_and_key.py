"""The headers of a request to an upstream: those of the client that pass, and the gateway's or the client's key."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from ...dialects import endpoints, installed
from ...transport import upstream_url_and_headers
from ...transport.http_client_interface import Post
from ...transport.request_head_and_decompression import prepare_post
from ...transport.upstream_record_and_environment import Upstream
from ...transport.upstream_url_and_headers import (
    address_of_upstream,
    auth_of_upstream,
    counting_path,
    generation_path,
    host_of_upstream,
    join_address,
    path_of_upstream,
    with_cloud_project,
)
from .forwarded_headers import to_upstream

__all__ = [
    "address_of_upstream",
    "auth_of_upstream",
    "client_key",
    "counting_path",
    "generation_path",
    "headers",
    "host_of_upstream",
    "join_address",
    "key_headers",
    "path_of_upstream",
    "with_cloud_project",
    "with_headers",
]

_KEYS = ("authorization", "x-api-key", "x-goog-api-key", "api-key")


@lru_cache(maxsize=1)
def key_headers() -> tuple[str, ...]:
    """Headers in which clients send a key. The value of the first header begins with a scheme, before the key."""
    declared = [endpoints(name).upstream.auth for name in installed()]
    return tuple(dict.fromkeys([*_KEYS, *[name for name in declared if name not in ("bearer", "google", "none")]]))


def headers(
    upstream: Upstream,
    environment: Mapping[str, str],
    client_dialect: str,
    client_headers: Mapping[str, str],
    token: str = "",
    *,
    pass_key: bool = False,
) -> list[tuple[str, str]]:
    """The headers of a request to an upstream. `token`: an access token of Google. `pass_key`: the client's own key is
    sent."""
    more = to_upstream(upstream.dialect, client_dialect, client_headers)
    own = pass_key or auth_of_upstream(upstream) == "client"
    shown = _client_key_header(upstream.dialect, client_dialect, client_headers) if own else None
    return upstream_url_and_headers.request_headers(upstream, environment, token, more, shown)


def with_headers(post: Post, wanted: Mapping[str, str]) -> Post:
    """A request with further headers, which something in its body needs."""
    return prepare_post(post.address, post.target, tuple(upstream_url_and_headers.merge_headers(post.headers, wanted)))


def _client_key_header(dialect: str, client: str, client_headers: Mapping[str, str]) -> dict[str, str]:
    """The client's own key, in the header that the upstream uses."""
    if dialect == client:
        return {name: client_headers[name] for name in key_headers() if name in client_headers}
    key = client_key(client_headers)
    if not key:
        return {}
    kind = endpoints(dialect).upstream.auth
    # Google's access tokens are always sent as bearer tokens (RFC 6750, October 2012).
    if kind in ("google", "none") or key.startswith("ya29."):
        kind = "bearer"
    return {"authorization": f"Bearer {key}"} if kind == "bearer" else {kind: key}


def client_key(client_headers: Mapping[str, str]) -> str:
    """The key that a client sent, in any header."""
    for name in key_headers()[1:]:
        if key := client_headers.get(name):
            return key
    scheme, _, token = client_headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
