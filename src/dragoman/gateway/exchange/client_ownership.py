"""Identity of clients: the owner of everything that the gateway keeps for a client, and whether a client may see other
owners' data.

The owner is a keyed digest of the client's key, under the secret of the installation. The digest does not reveal the
key. The digest is the same in every worker and after a restart.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple

from ...canon.events import Fault
from ...errors import ConfigError
from ..config import Config
from .upstream_headers_and_key import auth_of_upstream, client_key, key_headers

_FORWARDED = frozenset(
    {"cf-connecting-ip", "forwarded", "true-client-ip", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"}
)
"""Headers that a proxy adds to a forwarded request."""


class AdmittedClient(NamedTuple):
    """An admitted client."""

    owner: str
    """Hex digest. Everything that is kept for a client is kept under this name."""
    admin: bool = False
    """The client showed an admin key, and may see what is kept for all owners."""


class Identities:
    """Recognises clients by the key that they show."""

    def __init__(self, config: Config, environment: Mapping[str, str], secret: bytes) -> None:
        """Raises ConfigError when the configuration demands keys and the variable is empty. An empty variable must not
        open the gateway to everybody."""
        listen = config.listen
        self._secret = secret
        self._admins = [_digest(key) for key in read_keys(listen.admin_key_env, environment, "admin_key_env")]
        self._keys = [_digest(key) for key in read_keys(listen.key_env, environment, "key_env")]
        self._open = not listen.key_env
        self._passed = passes_client_keys(config)
        self.nobody = AdmittedClient(self._owner("no key", ""))
        """The identity of all clients without a valid key. They count as one client."""
        self.no_keys = self._open and not listen.admin_key_env
        """The configuration has neither keys for clients nor keys for administrators."""

    def client(self, headers: Mapping[str, str]) -> AdmittedClient | Fault:
        """The client that sends a request with these headers, or the refusal.

        The server remembers an admitted request head until the configuration changes. So this function does not run for
        each request.
        """
        key = client_key(headers)
        if key and (self._admins or self._keys):
            shown = _digest(key)
            if _is_one_of(shown, self._admins):
                return AdmittedClient(self._owner("key", key), True)
            if _is_one_of(shown, self._keys):
                return AdmittedClient(self._owner("key", key))
        if not self._open:
            if key:
                why = (
                    "the key is not one of this gateway's keys. Send a key from the variable that listen.key_env names."
                )
                return Fault("auth", why, 401)
            why = (
                "the request has no key. Send one in the header that your dialect has for keys, such as Authorization."
            )
            return Fault("auth", why, 401)
        # Within one dialect an upstream that gets the client's key gets every key header of the client.
        passed = shown_keys(headers) if self._passed else ()
        return AdmittedClient(self._owner("passed", "\n".join(passed))) if passed else self.nobody

    def _owner(self, kind: str, key: str) -> str:
        # `person` keeps the kinds apart: a passed key must not give the identity of one of our own keys.
        keyed = hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=16, key=self._secret, person=kind.encode())
        return keyed.hexdigest()


def read_keys(variable: str, environment: Mapping[str, str], setting: str) -> list[str]:
    """The keys in a variable, separated by spaces or commas; none where no variable is named. ConfigError when the
    variable is empty."""
    if not variable:
        return []
    found = environment.get(variable, "").replace(",", " ").split()
    if not found:
        problem = f"listen.{setting}: the variable {variable} is empty. Put at least one key into it."
        raise ConfigError("key", "", problem=problem)
    return found


def passes_client_keys(config: Config) -> bool:
    """Whether some upstream gets the key that the client sent. Then that key identifies the client."""
    return any(route.client_key for route in config.routes) or any(
        auth_of_upstream(upstream) == "client" for upstream in config.upstreams.values()
    )


def is_local(peer: str, headers: Mapping[str, str]) -> bool:
    """Whether a request comes from this machine: the connection comes from loopback, and no proxy on this machine
    forwarded it."""
    try:
        # An address may carry a zone, as in fe80::1%eth0.
        address = ip_address(peer.partition("%")[0])
    except ValueError:
        return False
    # A socket for IPv6 shows a client of IPv4 as ::ffff:127.0.0.1.
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback and _FORWARDED.isdisjoint(headers)


def has_client_identities(config: Config) -> bool:
    """Whether clients have identities of their own. If not, all clients count as one."""
    return bool(config.listen.key_env or config.listen.admin_key_env) or passes_client_keys(config)


def shown_keys(headers: Mapping[str, str]) -> list[str]:
    """Every key that a client shows, in any header."""
    return sorted({_key_without_scheme(headers[name]) for name in key_headers() if name in headers})


def _key_without_scheme(value: str) -> str:
    """A key without its scheme, such as Bearer. Clients of different dialects show the same key in different
    headers."""
    scheme, _, token = value.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else value


def _is_one_of(shown: bytes, known: Iterable[bytes]) -> bool:
    # Compare with all keys, so that the time does not reveal which key is similar.
    return any([hmac.compare_digest(shown, one) for one in known])  # noqa: C419


def _digest(key: str) -> bytes:
    # blake2b starts faster than OpenSSL's hashes.
    return hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=32).digest()
