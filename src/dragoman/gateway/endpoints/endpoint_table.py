"""The table of all endpoints, made at the start from the declarations of the dialects (`dialects/*/endpoints.py`).

An address gives the dialect and the verb, in some dialects also the model and whether the answer is streamed. Where
several dialects claim one address, a header or a query parameter decides. Two claims that no header or parameter
distinguishes are a ConfigError at the start.

People configure clients with different base addresses (`/v1`, `/openai/v1`, `/v1beta/openai`, nothing). So known words
in front of an endpoint's own path are removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from urllib.parse import parse_qs, unquote

from msgspec import structs

from ...dialect.endpoints_record import Claim, Endpoints, Query, Served
from ...dialect.endpoints_record import EndpointCall as EndpointCall
from ...errors import ConfigError


def _one_exchange(path: str, query: Query, decode: Callable[[str], str]) -> EndpointCall:
    return EndpointCall("exchanges", "", rest=path.removeprefix("/dragoman/exchanges/"))


def _page_file(path: str, query: Query, decode: Callable[[str], str]) -> EndpointCall:
    return EndpointCall("home", "", rest=path.removeprefix("/dragoman/"))


OWN = (
    Claim(("GET",), "/healthz", EndpointCall("health", "")),
    Claim(("GET",), "/readyz", EndpointCall("ready", "")),
    Claim(("GET",), "/dragoman/exchanges", EndpointCall("exchanges", "")),
    Claim(("GET",), "/dragoman/exchanges/", read=_one_exchange, verbs=("exchanges",)),
    Claim(("GET",), "/dragoman/live", EndpointCall("live", "")),
    Claim(("GET",), "/dragoman/matrix", EndpointCall("matrix", "")),
    Claim(("GET",), "/", EndpointCall("home", "")),
    # the page and its files are served without a key, because the page itself asks for the key
    Claim(("GET",), "/dragoman", EndpointCall("home", "", rest="page")),
    Claim(("GET",), "/dragoman/page/", read=_page_file, verbs=("home",)),
    Claim(("GET",), "/dragoman/about", EndpointCall("page", "", rest="about")),
    Claim(("POST",), "/dragoman/translate", EndpointCall("page", "", rest="translate")),
)
"""The endpoints of the gateway itself."""
# Some clients add /v1 to a base address that ends with /v1 already.
_DOUBLED = ("/v1/v1/", "/v1/v1beta/", "/v1/v1internal")


class EndpointTable:
    """The endpoint of each request."""

    def __init__(self, dialects: Mapping[str, Endpoints], verbs: Collection[str]) -> None:
        """`dialects`: the declared endpoints by the dialect's name. `verbs`: the verbs that the gateway can answer.
        Raises ConfigError for claims that contradict each other."""
        served = {name: one.served for name, one in dialects.items() if one.served.claims}
        claims = [("", claim) for claim in OWN]
        claims += [(name, claim) for name in sorted(served) for claim in served[name].claims]
        _check(claims, verbs)
        self.shown = {name: served[name].shown for name in sorted(served)}
        """The endpoints of each dialect, as text for people."""
        self.wrong_method = {name: one.wrong_method for name, one in served.items()}
        """For each dialect: the status for a request with the wrong method."""
        self.key_parameter = {name: one.key_parameter for name, one in served.items() if one.key_parameter[0]}
        """For each dialect: the query parameter in which clients may send a key, and the header with the same
        meaning."""
        self.timed = {name: one.timed for name, one in served.items() if one.timed is not None}
        """For each dialect whose answers contain durations: the function that adds the durations."""
        self.stored = frozenset([name for name, one in served.items() if one.stored])
        """Dialects whose responses the gateway can store."""
        whole = [claim for _, claim in claims if claim.read is None]
        with_signs = [claim for claim in whole if claim.headers or claim.query]
        places = {(method, claim.path) for claim in with_signs for method in claim.methods}
        self._streaming_by_default = frozenset([name for name in served if dialects[name].stream.streams_by_default])
        self._exact = {
            (method, claim.path): self.with_dialect_facts(claim.call)
            for claim in whole
            for method in claim.methods
            if claim.call is not None and (method, claim.path) not in places
        }
        """Addresses that belong to one dialect."""
        self._shared = {
            place: [claim for claim in _signs_first(whole) if claim.path == place[1] and place[0] in claim.methods]
            for place in places
        }
        """Addresses that several dialects claim. A header or a query parameter shows which dialect the client uses."""
        families = [claim for _, claim in claims if claim.read is not None]
        # Longer paths first, because a longer path is a more exact claim.
        self._families = sorted(_signs_first(families), key=lambda claim: -len(claim.path))
        self._near = sorted([(start, name) for name, one in served.items() for start in one.near], key=_longer)
        self._signs = [(header, name) for name in sorted(served) for header in served[name].headers]
        usual = [name for name in sorted(served) if served[name].usual]
        if len(usual) > 1:
            why = f"{' and '.join(usual)} both claim clients of unknown dialect. Only one dialect may set `usual`."
            raise ConfigError("dialect", usual[1], problem=why)
        self.usual = usual[0] if usual else next(iter(self.shown), "")
        """The dialect of clients whose requests do not reveal their dialect."""
        words = sorted({word for one in served.values() for word in one.before})
        self._before = re.compile(rf"(?:/v1beta)?/(?:{'|'.join(map(re.escape, words))})(?=/)")
        self._bare = tuple(sorted({start for one in served.values() for start in one.bare}))
        self._check_reached(served)

    def match(self, method: str, path: str, query: str, headers: Mapping[str, str]) -> EndpointCall | None:
        """The call for a request, or None when no endpoint matches."""
        found = self._exact.get((method, path))
        if found is not None:
            return found
        trimmed = path.rstrip("/") or "/"
        return self._match_exactly(method, trimmed, query, headers) or self._match_changed_path(
            method, trimmed, query, headers
        )

    def with_dialect_facts(self, call: EndpointCall) -> EndpointCall:
        """The call, marked with the facts that its dialect declares for all calls."""
        return structs.replace(call, streams_by_default=True) if call.dialect in self._streaming_by_default else call

    def nearest_dialect(self, path: str, headers: Mapping[str, str]) -> str:
        """The dialect that a client at an unknown address most likely uses."""
        for start, dialect in self._near:
            if path.startswith(start):
                return dialect
        return next((dialect for header, dialect in self._signs if header in headers), self.usual)

    def methods_of_path(self, path: str, headers: Mapping[str, str]) -> tuple[str, ...]:
        """The methods that an address takes."""
        return tuple([method for method in ("GET", "POST") if self.match(method, path, "", headers) is not None])

    def shows_key(self, query: str) -> bool:
        """Whether a query may contain a key."""
        return bool(query) and any(f"{parameter}=" in query for parameter, _ in self.key_parameter.values())

    def _check_reached(self, served: Mapping[str, Served]) -> None:
        """ConfigError where a dialect takes an address that another dialect shows to people as its own."""
        for name, one in served.items():
            for method, _, path in [address.partition(" ") for address in one.shown]:
                found = self._match_exactly(method, path, "", {})
                if (
                    found is None
                    or found.dialect == name
                    or not any(_matches_address(claim, method, path) for claim in one.claims)
                ):
                    continue
                both = f"{found.dialect or 'the gateway'} and {name} both claim {method} {path}"
                raise ConfigError(
                    "dialect", name, problem=f"{both}, and no header or query parameter distinguishes them"
                )

    def _match_exactly(self, method: str, path: str, query: str, headers: Mapping[str, str]) -> EndpointCall | None:
        found = self._exact.get((method, path))
        if found is not None:
            return found
        asked = parse_qs(query) if query else {}
        for claim in self._shared.get((method, path), ()):
            if _has_sign(claim, headers, asked):
                return self.with_dialect_facts(claim.call) if claim.call is not None else None
        for claim in self._families:
            if not path.startswith(claim.path) or (claim.methods and method not in claim.methods):
                continue
            if claim.read is not None and _has_sign(claim, headers, asked):
                call = claim.read(path, asked, unquote)
                if call is not None:
                    return self.with_dialect_facts(call)
                if claim.alone:
                    return None
        return None

    def _match_changed_path(
        self, method: str, path: str, query: str, headers: Mapping[str, str]
    ) -> EndpointCall | None:
        """The call after a known prefix is removed from the path, or after a missing `/v1` is added."""
        before = self._before.match(path)
        shorter = path[before.end() :] if before is not None else path
        if shorter.startswith(_DOUBLED):
            shorter = shorter[3:]
        if shorter.startswith(self._bare):
            shorter = f"/v1{shorter}"
        return self._match_exactly(method, shorter, query, headers) if shorter != path else None


def _longer(row: tuple[str, str]) -> tuple[int, str]:
    return -len(row[0]), row[1]


def _signs_first(claims: Iterable[Claim]) -> list[Claim]:
    """Claims, those with a sign (a header or a query parameter) first."""
    return sorted(claims, key=lambda claim: not (claim.headers or claim.query))


def _check(claims: Sequence[tuple[str, Claim]], verbs: Collection[str]) -> None:
    """ConfigError for a verb that the gateway cannot answer, and for two claims that nothing distinguishes."""
    for name, claim in claims:
        for verb in (*claim.verbs, *([claim.call.verb] if claim.call is not None else ())):
            if verb not in verbs:
                owner = f"the dialect {name}" if name else "the gateway's own table"
                why = f"{owner} declares this verb for {claim.path}, and the gateway has no handler for it"
                raise ConfigError("verb", verb, tuple(sorted(verbs)), why)
    for i, (name, claim) in enumerate(claims):
        for other, second in claims[:i]:
            if _are_ambiguous(claim, second):
                both = f"{other or 'the gateway'} and {name} both claim {' and '.join(claim.methods)} {claim.path}"
                raise ConfigError(
                    "dialect", name, problem=f"{both}, and no header or query parameter distinguishes them"
                )


def _are_ambiguous(claim: Claim, other: Claim) -> bool:
    """Whether two claims match the same requests."""
    if claim.path != other.path or (claim.read is None) != (other.read is None):
        return False
    if claim.methods and other.methods and not set(claim.methods) & set(other.methods):
        return False
    signs, others = ({*one.headers, *[f"?{word}" for word in one.query]} for one in (claim, other))
    return bool(signs & others) or not (signs or others)


def _matches_address(claim: Claim, method: str, path: str) -> bool:
    """Whether a claim without a sign takes an address."""
    if claim.headers or claim.query or (claim.methods and method not in claim.methods):
        return False
    if claim.read is None:
        return claim.path == path
    return path.startswith(claim.path) and claim.read(path, {}, unquote) is not None


def _has_sign(claim: Claim, headers: Mapping[str, str], query: Mapping[str, object]) -> bool:
    """Whether a request has one of the headers or query parameters that the claim demands."""
    if not claim.headers and not claim.query:
        return True
    return any(name in headers for name in claim.headers) or any(name in query for name in claim.query)
