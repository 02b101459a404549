"""Who a client is: the owner of everything the gateway keeps for it, and whether the client may see other owners' data.

The owner is a digest under the installation's secret. It names the client's key without giving the key away, and it is
the same in every worker and after a restart.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple

from ..canon.events import Fault
from ..errors import ConfigError
from .config import Config
from .exchange.upstream_request_headers import auth, client_key, key_headers

_FORWARDED = frozenset(
    {"cf-connecting-ip", "forwarded", "true-client-ip", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"}
)
"""Headers by which a proxy tells that it asks for somebody else."""


class Client(NamedTuple):
    """Who asks."""

    owner: str
    """Hex digest. Whatever is kept for a client is kept under this name."""
    admin: bool = False
    """The client showed an admin key: it sees what is kept for all owners."""


class Identities:
    """Knows clients by the key that they show."""

    def __init__(self, config: Config, environment: Mapping[str, str], secret: bytes) -> None:
        """ConfigError when the configuration wants keys and the variable holds none: nobody is let in by mistake."""
        listen = config.listen
        self._secret = secret
        self._admins = [_digest(key) for key in listed(listen.admin_key_env, environment, "admin_key_env")]
        self._keys = [_digest(key) for key in listed(listen.key_env, environment, "key_env")]
        self._open = not listen.key_env
        self._passed = passes_client_keys(config)
        self.nobody = Client(self._owner("no key", ""))
        """Who shows no key that counts. All of them are one client."""
        self.no_keys = self._open and not listen.admin_key_env
        """Neither clients nor administrators have keys here."""

    def client(self, headers: Mapping[str, str]) -> Client | Fault:
        """Who sends a request with these headers, or why such a client is not served.

        A head that was admitted once is admitted again until the configuration changes: this is not asked each time.
        """
        key = client_key(headers)
        if key and (self._admins or self._keys):
            shown = _digest(key)
            if _among(shown, self._admins):
                return Client(self._owner("key", key), True)
            if _among(shown, self._keys):
                return Client(self._owner("key", key))
        if not self._open:
            if key:
                why = (
                    "the key is not one of this gateway's. Use one of those in the variable that listen.key_env names."
                )
                return Fault("auth", why, 401)
            return Fault("auth", "no key was sent; this gateway wants one, as any dialect sends it", 401)
        # An upstream that gets the client's key gets all of them within one dialect.
        passed = shown_keys(headers) if self._passed else ()
        return Client(self._owner("passed", "\n".join(passed))) if passed else self.nobody

    def _owner(self, kind: str, key: str) -> str:
        keyed = hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=16, key=self._secret, person=kind.encode())
        return keyed.hexdigest()


def listed(variable: str, environment: Mapping[str, str], setting: str) -> list[str]:
    """The keys in a variable, divided by spaces or commas; none where no variable is named. ConfigError when it is
    empty."""
    if not variable:
        return []
    found = environment.get(variable, "").replace(",", " ").split()
    if not found:
        raise ConfigError("key", "", problem=f"listen.{setting}: the variable {variable} is empty")
    return found


def passes_client_keys(config: Config) -> bool:
    """Whether some upstream gets the key that the client sent: then clients are told apart by it."""
    return any(route.client_key for route in config.routes) or any(
        auth(upstream) == "client" for upstream in config.upstreams.values()
    )


def local(peer: str, headers: Mapping[str, str]) -> bool:
    """Whether a request comes from this machine: from loopback, and not by way of a proxy on this machine."""
    try:
        address = ip_address(peer.partition("%")[0])
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback and _FORWARDED.isdisjoint(headers)


def apart(config: Config) -> bool:
    """Whether clients have identities of their own; else all of them are one."""
    return bool(config.listen.key_env or config.listen.admin_key_env) or passes_client_keys(config)


def shown_keys(headers: Mapping[str, str]) -> list[str]:
    """Every key that a client shows, in whichever header."""
    return sorted({_bare(headers[name]) for name in key_headers() if name in headers})


def _bare(value: str) -> str:
    """A key without the scheme in front of it: clients of different dialects show the same key in different headers."""
    scheme, _, token = value.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else value


def _among(shown: bytes, known: Iterable[bytes]) -> bool:
    # All are compared, so that the time it takes tells nothing.
    return any([hmac.compare_digest(shown, one) for one in known])  # noqa: C419


def _digest(key: str) -> bytes:
    # blake2b costs less to set up than OpenSSL's hashes.
    return hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=32).digest()
