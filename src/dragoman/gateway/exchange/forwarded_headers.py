"""Which headers cross: from the client to the upstream, and from the upstream's answer to the client.

Both ways by a list of what may go, so hop-by-hop headers, cookies and keys never do. A header that belongs to one
family of upstreams goes to that family alone; where it changes what a model does and has nowhere to go, it is a loss.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...canon.loss_codes import CODES
from ...canon.losses import Loss, Severity
from ...codec.caches import small_cache
from ...transport.client_interface import Headers
from ...transport.response_heads import HeadShape, ResponseHead

_FAMILY = {"openai-chat": "openai", "openai-responses": "openai", "gemini": "google", "code-assist": "google"}
"""Dialects that share their headers; the others are families of their own."""
_OWN: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    # family: headers by name, headers by how they begin
    "anthropic": ((), ("anthropic-", "x-claude-code-")),
    "openai": (
        ("x-client-request-id", "idempotency-key", "originator", "session_id", "session-id", "conversation_id"),
        ("openai-", "x-openai-", "x-codex-", "chatgpt-"),
    ),
    "google": (("x-server-timeout",), ("x-goog-", "x-gemini-")),
    "openrouter": (("http-referer", "x-title"), ("x-openrouter-",)),
}
_ALL = frozenset({"x-request-id", "traceparent", "tracestate"})
"""Headers that say the same to everybody."""
_NEVER = frozenset({"x-goog-api-key", "x-goog-api-client", "anthropic-dangerous-direct-browser-access"})
_OF_THE_BODY = frozenset({"anthropic-version"})
"""Headers that describe the body: true only while it is the client's own."""
_TOLD: dict[str, Severity] = {
    "anthropic-beta": "info",  # most flags go with fields of the body, which are accounted for there
    "openai-beta": "warning",
    "openai-organization": "info",
    "openai-project": "info",
    "x-goog-user-project": "info",
    "http-referer": "info",
    "x-title": "info",
}
"""Headers whose loss is reported, and how grave it is. The others say nothing that an upstream acts on."""
_ALONE = ("context-1m-", "output-128k-")
"""Flags of anthropic-beta that act without any field of the body."""
_ANSWERED = ("x-ratelimit-", "anthropic-", "openai-", "x-codex-", "x-openrouter-", "x-goog-", "x-gemini-")
_ANSWERED_NAMES = frozenset({"x-should-retry", "x-generation-id", "x-models-etag", "cf-ray", "server-timing"})
_IDS = {"x-request-id": 0, "request-id": 1, "x-goog-request-id": 2, "apim-request-id": 3, "x-generation-id": 4}
"""Where upstreams say what they call a request; the first of them that is there counts."""


def family(dialect: str) -> str:
    return _FAMILY.get(dialect, dialect)


def to_upstream(upstream: str, client: str, asked: Mapping[str, str]) -> dict[str, str]:
    """The client's headers that go to an upstream of that dialect."""
    taken = plan(upstream, client, tuple(asked))[0]
    return {name: asked[name] for name in taken} if taken else {}


def not_forwarded(upstream: str, client: str, asked: Mapping[str, str]) -> tuple[Loss, ...]:
    """The client's headers that have nowhere to go, as losses."""
    lost = plan(upstream, client, tuple(asked))[1]
    if not lost:
        return ()
    return tuple([_loss(name, asked[name]) for name in lost])


def _loss(name: str, value: str) -> Loss:
    severity = _TOLD[name]
    if name == "anthropic-beta" and any(flag in value for flag in _ALONE):
        severity = "warning"
    return Loss("header.dropped", CODES["header.dropped"].effect, severity, "", f"{name}: {value}")


@small_cache(512)
def plan(upstream: str, client: str, names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of some headers, those that go on and those whose loss is told. Clients send the same names again and again."""
    own, begin = _OWN.get(family(upstream), ((), ()))
    taken = [
        name
        for name in names
        if (name in _ALL or name in own or name.startswith(begin or ("\n",)))
        and name not in _NEVER
        and (name not in _OF_THE_BODY or upstream == client)
    ]
    return tuple(taken), tuple([name for name in names if name in _TOLD and name not in taken])


def to_client(client: str, upstream: str, answer: ResponseHead, called: str, out: Headers) -> Headers:
    """Headers for the client: behind our own in `out` what the request is called, and what the upstream says that the
    client understands.

    A request keeps the name that the upstream gave it, since that is the one its makers know; else it is `called` as
    the client or the gateway does.
    """
    notes = answer.shape.notes
    found = notes.get((client, upstream))
    if found is None:
        found = notes[client, upstream] = _understood(client, upstream, answer.shape)
    taken, ids = found
    for place in ids:
        if name := answer.value(place):
            called = name
            break
    out.append(("x-request-id", called))
    if client == "anthropic":
        out.append(("request-id", called))
    if taken:
        out += [(name, answer.value(place)) for name, place in taken]
    return out


def _understood(client: str, upstream: str, shape: HeadShape) -> tuple[tuple[tuple[str, int], ...], tuple[int, ...]]:
    """Of an answer's headers, those that the client understands with their places, and the places of those that say
    what the request is called, the most telling first."""
    kindred = family(client) == family(upstream)
    names = list(enumerate(shape.names, 1))
    ids = sorted([(_IDS[name], place) for place, name in names if name in _IDS])
    taken = [
        (name, place)
        for place, name in names
        if kindred and name not in _IDS and (name in _ANSWERED_NAMES or name.startswith(_ANSWERED))
    ]
    return tuple(taken), tuple([place for _, place in ids])
