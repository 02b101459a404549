"""Takes secrets out of what is shown: query strings, addresses, texts."""

from __future__ import annotations

import re
from urllib.parse import unquote_plus, urlsplit

HIDDEN = "..."
"""Stands where a secret was."""
_QUERY_NAMES = re.compile(
    r"(?:.*[._-])?(?:key|(?:api|access|auth|subscription|secret)_?key|.*token|secret|client_?secret|passw(?:or)?d|pwd"
    r"|auth|authorization|bearer|jwt|sig|signature|credentials?|code|assertion)",
    re.IGNORECASE,
)
"""Names under which the providers' APIs, OAuth and signed addresses carry secrets in a query."""


def query_secrets(query: str) -> set[str]:
    """The values in a query that are secrets, as they stand there and decoded."""
    found = set()
    for pair in query.replace(";", "&").split("&"):
        name, _, value = pair.partition("=")
        if value and _is_secret_name(name):
            found |= {value, unquote_plus(value)}
    return found


def redacted_query(query: str) -> str:
    """The query without the values that are secrets."""
    return re.sub(r"([^&;=]+)=([^&;]*)", _without_value, query)


def _without_value(pair: re.Match[str]) -> str:
    return f"{pair[1]}={HIDDEN}" if _is_secret_name(pair[1]) else pair[0]


def _is_secret_name(name: str) -> bool:
    """Whether a name in a query, as it stands there, is one for secrets."""
    return _QUERY_NAMES.fullmatch(unquote_plus(name).strip()) is not None


def without_secrets(query: str) -> str:
    """The query without the parameters that are secrets."""
    pairs = re.split("[&;]", query)
    return "&".join(
        [pair for pair in pairs if not _QUERY_NAMES.fullmatch(unquote_plus(pair.partition("=")[0]).strip())]
    )


def redacted_url(url: str) -> str:
    """The address without the user, the password and the keys that may stand in it, also where it is no address."""
    place, mark, query = url.partition("?")
    if "@" in query and not _is_host(place.partition("://")[2].partition("/")[0].rpartition("@")[2]):
        place, mark, query = url, "", ""  # the password may have a question mark in it
    if "@" in place:
        scheme, found, rest = place.partition("://")
        start, rest = (f"{scheme}://", rest) if found else ("", place)
        host, slash, path = rest.partition("/")
        if not _is_host(host.rpartition("@")[2]):  # the password may have a slash in it
            host, slash, path = rest, "", ""
        if "@" in host:
            host = f"{HIDDEN}@{host.rpartition('@')[2]}"
        place = f"{start}{host}{slash}{path}"
    return f"{place}{mark}{redacted_query(query)}"


def _is_host(place: str) -> bool:
    try:
        parts = urlsplit(f"//{place}")
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
