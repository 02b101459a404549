"""Takes secrets out of what is shown: query strings, addresses, texts."""

from __future__ import annotations

import re
from urllib.parse import unquote_plus, urlsplit, urlunsplit

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
        if value and _QUERY_NAMES.fullmatch(unquote_plus(name).strip()):
            found |= {value, unquote_plus(value)}
    return found


def redacted_query(query: str) -> str:
    """The query without the values that are secrets."""
    return re.sub(r"([^&;=]+)=([^&;]*)", _without_value, query)


def _without_value(pair: re.Match[str]) -> str:
    return f"{pair[1]}={HIDDEN}" if _QUERY_NAMES.fullmatch(unquote_plus(pair[1]).strip()) else pair[0]


def redacted_url(url: str) -> str:
    """The address without the password and the keys that may stand in it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return HIDDEN
    place = parts.netloc
    if "@" in place:
        user, _, host = place.rpartition("@")
        name, colon, _ = user.partition(":")
        place = f"{name}:{HIDDEN}@{host}" if colon else f"{HIDDEN}@{host}"
    return urlunsplit(parts._replace(netloc=place, query=redacted_query(parts.query)))
