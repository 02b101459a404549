"""Owns the lists of forwarded headers: from the client to the upstream, and from the upstream's answer to the client.

Both directions use a list of allowed headers, so hop-by-hop headers, cookies and keys are never forwarded. A header of
one family of upstreams goes to that family alone. If a header changes the behaviour of the model and is not forwarded,
its loss is reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...canon.loss_codes import CODES
from ...canon.losses import Loss, Severity
from ...codec.cache_memory_budget import small_cache
from ...dialects import endpoints, installed
from ...transport.http_client_interface import Headers
from ...transport.response_head_reader import HeadShape, ResponseHead
from ...transport.secret_redaction import Redactor
from ...transport.upstream_record_and_environment import REHEARSAL

_ALL = frozenset({"x-request-id", "traceparent", "tracestate"})
"""Headers with the same meaning for all upstreams."""
_ANSWERED = ("x-ratelimit-",)
_ANSWERED_NAMES = ("x-should-retry", "cf-ray", "server-timing")
"""Headers of answers that are forwarded only to clients of the upstream's family."""


class _AllRules(NamedTuple):
    """The header rules of all dialects together. Any client may send any of these headers."""

    never: frozenset[str]
    of_body: frozenset[str]
    lost: dict[str, Severity]
    acting: dict[str, tuple[str, ...]]
    answered: frozenset[str]
    answered_begins: tuple[str, ...]
    ids: dict[str, int]
    """Headers that hold an upstream's id of a request. If an answer has several, the one with the least number
    counts."""


@small_cache(1)
def _all_rules() -> _AllRules:
    rules = [endpoints(name).headers for name in installed()]
    ids = dict.fromkeys(["x-request-id", *[name for one in rules for name in one.ids]])
    return _AllRules(
        frozenset([name for one in rules for name in one.never]),
        frozenset([name for one in rules for name in one.of_body]),
        {name: severity for one in rules for name, severity in one.lost.items()},
        {name: words for one in rules for name, words in one.acting.items()},
        frozenset([*_ANSWERED_NAMES, *[name for one in rules for name in one.answered]]),
        (*_ANSWERED, *[begin for one in rules for begin in one.answered_begins]),
        {name: place for place, name in enumerate(ids)},
    )


def family(dialect: str) -> str:
    """The family of a dialect. Dialects of one family share their headers. "" and the rehearsal belong to no family."""
    return (endpoints(dialect).headers.family or dialect) if dialect not in ("", REHEARSAL) else dialect


def to_upstream(upstream: str, client: str, client_headers: Mapping[str, str]) -> dict[str, str]:
    """The client's headers that go to an upstream of that dialect."""
    taken = choose_headers(upstream, client, tuple(client_headers))[0]
    return {name: client_headers[name] for name in taken} if taken else {}


def not_forwarded(upstream: str, client: str, client_headers: Mapping[str, str]) -> tuple[Loss, ...]:
    """The client's headers that are dropped, as losses."""
    lost = choose_headers(upstream, client, tuple(client_headers))[1]
    if not lost:
        return ()
    return tuple([_loss(name, client_headers[name]) for name in lost])


def _loss(name: str, value: str) -> Loss:
    rules = _all_rules()
    severity = rules.lost[name]
    if any(word in value for word in rules.acting.get(name, ())):
        severity = "warning"
    return Loss("header.dropped", CODES["header.dropped"].effect, severity, "", f"{name}: {value}")


@small_cache(512)
def choose_headers(upstream: str, client: str, names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which of these header names are forwarded, and which are dropped with a loss. Clients send the same names again
    and again, so the result is remembered."""
    rules, own = _all_rules(), endpoints(upstream).headers
    taken = [
        name
        for name in names
        if (name in _ALL or name in own.names or name.startswith(own.begins or ("\n",)))
        and name not in rules.never
        and (name not in rules.of_body or upstream == client)
    ]
    return tuple(taken), tuple([name for name in names if name in rules.lost and name not in taken])


def to_client(
    client: str, upstream: str, answer: ResponseHead, called: str, out: Headers, redactor: Redactor
) -> Headers:
    """Headers for the client: our own in `out`, the id of the request, and the upstream's headers that the client
    understands. The upstream's values lose the secrets that `redactor` knows.

    A request keeps the id that the upstream gave, because the upstream's support knows that id. Otherwise the id is
    `called`, from the client or the gateway.
    """
    notes = answer.shape.notes
    found = notes.get((client, upstream))
    if found is None:
        found = notes[client, upstream] = _plan_for_shape(client, upstream, answer.shape)
    taken, ids, also = found
    for position in ids:
        if name := answer.value(position):
            called = redactor.text(name)
            break
    out.append(("x-request-id", called))
    if also:
        out.append((also, called))
    if taken:
        out += redactor.headers([(name, answer.value(place)) for name, place in taken])
    return out


def _plan_for_shape(
    client: str, upstream: str, shape: HeadShape
) -> tuple[tuple[tuple[str, int], ...], tuple[int, ...], str]:
    """The plan for the headers of an answer: the names and places of headers that the client understands; the places of
    headers with the request's id, best first; and the client's own header for that id."""
    rules, same_family = _all_rules(), family(client) == family(upstream)
    names = list(enumerate(shape.names, 1))
    ids = sorted([(rules.ids[name], place) for place, name in names if name in rules.ids])
    taken = [
        (name, place)
        for place, name in names
        if same_family and name not in rules.ids and (name in rules.answered or name.startswith(rules.answered_begins))
    ]
    return tuple(taken), tuple([place for _, place in ids]), endpoints(client).headers.request_id
