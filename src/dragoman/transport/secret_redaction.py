"""Removes secrets from texts that are shown: query strings, addresses, and an upstream's error messages.

An upstream that refuses a key may repeat the key in its message: unchanged, escaped for JSON, encoded for an address,
in base64 or in hexadecimal digits. `Redactor` finds all of these. It is for faults, headers and reports; good answers
are not searched.
"""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cached_property
from urllib.parse import unquote_plus, urlsplit

import msgspec
from msgspec import Raw

from ..canon.events import Fault
from ..canon.parts import Extra
from .upstream_record_and_environment import Upstream

SHORTEST = 4
"""Characters of the shortest secret that is searched. A shorter one occurs in too many words."""
HIDDEN = "..."
"""The text in place of a secret."""
_QUERY_NAMES = re.compile(
    r"(?:.*[._-])?(?:key|(?:api|access|auth|subscription|secret)_?key|.*token|secret|client_?secret|passw(?:or)?d|pwd"
    r"|auth|authorization|bearer|jwt|sig|signature|credentials?|code|assertion)",
    re.IGNORECASE,
)
"""Names of query parameters that hold secrets in the providers' APIs, in OAuth and in signed addresses."""


def query_secrets(query: str) -> set[str]:
    """The secret values in a query, as written and decoded."""
    found = set()
    # A semicolon also separates parameters, in older forms of queries.
    for pair in query.replace(";", "&").split("&"):
        name, _, value = pair.partition("=")
        if value and _is_secret_name(name):
            found |= {value, unquote_plus(value)}
    return found


def redacted_query(query: str) -> str:
    """The query, with its secret values replaced."""
    return re.sub(r"([^&;=]+)=([^&;]*)", _without_value, query)


def _without_value(pair: re.Match[str]) -> str:
    return f"{pair[1]}={HIDDEN}" if _is_secret_name(pair[1]) else pair[0]


def _is_secret_name(name: str) -> bool:
    """Whether a name in a query, as written, is a name for secrets."""
    return _QUERY_NAMES.fullmatch(unquote_plus(name).strip()) is not None


def without_secrets(query: str) -> str:
    """The query without its secret parameters."""
    pairs = re.split("[&;]", query)
    return "&".join(
        [pair for pair in pairs if not _QUERY_NAMES.fullmatch(unquote_plus(pair.partition("=")[0]).strip())]
    )


def redacted_url(url: str) -> str:
    """The address without user, password and keys, also where the text is not a valid address."""
    text, mark, query = url.partition("?")
    if "@" in query and not _is_host(text.partition("://")[2].partition("/")[0].rpartition("@")[2]):
        text, mark, query = url, "", ""  # The password may contain a question mark.
    if "@" in text:
        scheme, found, rest = text.partition("://")
        start, rest = (f"{scheme}://", rest) if found else ("", text)
        host, slash, path = rest.partition("/")
        if not _is_host(host.rpartition("@")[2]):  # The password may contain a slash.
            host, slash, path = rest, "", ""
        if "@" in host:
            host = f"{HIDDEN}@{host.rpartition('@')[2]}"
        text = f"{start}{host}{slash}{path}"
    return f"{text}{mark}{redacted_query(query)}"


def _is_host(text: str) -> bool:
    try:
        parts = urlsplit(f"//{text}")
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


class Redactor:
    """Knows some secrets, and removes them from texts."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # The longest comes first: a shorter secret may be a part of it.
        known = sorted({secret for secret in secrets if len(secret) >= SHORTEST}, key=len, reverse=True)
        self.secrets = tuple(known)
        self._needles = [needle for secret in known for needle in _spellings(secret.encode("utf-8", "replace"))]
        self._plain = {*self._needles, *map(_without_escapes, self._needles)}
        self._escapes = _escapes(b"".join(self._needles))
        self.shortest = min(map(len, self._needles), default=sys.maxsize)
        """Bytes of the shortest spelling. A shorter text contains no secret."""

    def with_secrets(self, secrets: Iterable[str]) -> Redactor:
        """A redactor of further secrets too."""
        more = [secret for secret in secrets if secret not in self.secrets]
        return Redactor([*self.secrets, *more]) if more else self

    def data(self, data: bytes) -> bytes:
        """The bytes without secrets; the same object where there are none."""
        return self._pattern.sub(HIDDEN.encode(), data) if self._needles and self._suspicious(data) else data

    def text(self, text: str) -> str:
        """The text without secrets; the same object where there are none."""
        data = text.encode("utf-8", "surrogatepass")
        found = self.data(data)
        return text if found is data else found.decode("utf-8", "replace")

    def headers(self, headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """The headers, with secrets removed from their values."""
        return [(name, self.text(value) if len(value) >= self.shortest else value) for name, value in headers]

    def fault(self, fault: Fault) -> Fault:
        """The fault without secrets; the same object where there are none."""
        words = fault.message, fault.code, fault.param, fault.request_id
        found = tuple(map(self.text, words))
        extra = self._extra(fault.extra) if fault.extra is not None else None
        if found == words and extra == fault.extra:
            return fault
        message, code, param, request_id = found
        return msgspec.structs.replace(
            fault, message=message, code=code, param=param, request_id=request_id, extra=extra
        )

    def _extra(self, extra: Extra) -> Extra:
        return {
            dialect: {name: Raw(self.data(bytes(value))) for name, value in fields.items()}
            for dialect, fields in extra.items()
        }

    def _suspicious(self, data: bytes) -> bool:
        """Whether a secret is there: a search without the pattern, which costs more."""
        # Most texts are short, and need no search.
        if len(data) < self.shortest:
            return False
        if any(needle in data for needle in self._needles):
            return True
        # `_plain` costs far more than this search.
        if not any(escape in data for escape in self._escapes):
            return False
        once = _without_escapes(data)
        # A message may be escaped twice: JSON inside a JSON string.
        twice = _without_escapes(once)
        return any(needle in once or needle in twice for needle in self._plain)

    @cached_property
    def _pattern(self) -> re.Pattern[bytes]:
        """The pattern of all spellings. It is made only when a secret was found, because few upstreams repeat one."""
        spelled = [needle.decode("utf-8", "replace") for needle in self._needles]
        return re.compile(b"|".join([b"".join(map(_escapable, letters)) for letters in spelled]))


_ESCAPED = re.compile(rb"\\{1,8}u([0-9a-fA-F]{4})|%(?:25){0,4}([0-9a-fA-F]{2})|\\{1,8}([\"\\/])")


def _escapes(needles: bytes) -> list[bytes]:
    """The beginnings of all escapes that may stand for a character of the needles."""
    found = [b"%", b"\\u00" if needles.isascii() else b"\\u"]
    return found + [b"\\" + character for character in (b'"', b"\\", b"/") if character in needles]


def _without_escapes(data: bytes) -> bytes:
    """The bytes without escapes. Other bytes may be mistaken for escapes. That is good enough, because both sides of
    the comparison are treated alike."""
    return _ESCAPED.sub(_unescaped, data).replace(b"+", b" ")  # + stands for a space in a query


def _unescaped(found: re.Match[bytes]) -> bytes:
    if found[1] is not None:
        return chr(int(found[1], 16)).encode("utf-8", "replace")
    return bytes([int(found[2], 16)]) if found[2] is not None else found[3]


def _escapable(character: str) -> bytes:
    """A pattern for a character, plain or escaped once or several times."""
    data = character.encode("utf-8", "replace")
    ways = [re.escape(data), rb"%b" % b"".join([rb"%%(?:25){0,4}(?i:%02x)" % byte for byte in data])]
    if ord(character) < 0x10000:
        ways.append(rb"\\{1,8}u(?i:%04x)" % ord(character))
    if character in '"\\/':
        ways.append(rb"\\{1,8}" + re.escape(data))
    if character == " ":
        ways.append(rb"\+")
    return b"(?:" + b"|".join(ways) + b")"


def _spellings(secret: bytes) -> list[bytes]:
    """A secret in plain text, in hexadecimal digits, and in base64 at any offset of a longer text."""
    found = [secret, secret.hex().encode(), secret.hex().upper().encode()]
    for before in range(3):
        whole = base64.b64encode(bytes(before) + secret)
        # Keep only the characters that depend on the secret alone.
        core = whole[(before * 8 + 5) // 6 : (before + len(secret)) * 8 // 6]
        # Fewer than eight characters occur in other texts by chance.
        if len(core) >= 8:
            found += [core, core.replace(b"+", b"-").replace(b"/", b"_")]
    return list(dict.fromkeys(found))


def upstream_secrets(upstream: Upstream, environment: Mapping[str, str]) -> set[str]:
    """The secrets of an upstream: its key, its secret headers, and the password in its address."""
    found = {environment.get(upstream.key_env, "") if upstream.key_env else ""}
    found |= {_without_scheme(value) for name, value in upstream.headers.items() if _SECRET_HEADER.search(name)}
    text, _, query = upstream.base_url.partition("?")
    found |= query_secrets(query)
    if "@" in text:
        user = text.rpartition("@")[0].partition("://")[2]
        found |= {user, user.partition(":")[2]}
    return {secret for secret in found if secret}


_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password|credential", re.IGNORECASE)


def _without_scheme(value: str) -> str:
    """A header's value without the scheme in front of it."""
    scheme, _, secret = value.partition(" ")
    return secret.strip() if secret and scheme.lower() in ("bearer", "basic", "token") else value
