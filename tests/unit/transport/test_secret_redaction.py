"""Secrets are removed from addresses, query strings and texts."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from msgspec import Raw

from dragoman.canon.events import Fault
from dragoman.transport.secret_redaction import (
    Redactor,
    redacted_query,
    redacted_url,
    upstream_secrets,
    without_secrets,
)
from dragoman.transport.upstream_record_and_environment import Upstream


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://host/path", "https://host/path"),
        ("https://user:hunter22@host/path", "https://...@host/path"),
        ("https://hunter22@host:80/p?key=hunter22&x=2", "https://...@host:80/p?key=...&x=2"),
        ("https://host/@scope/x", "https://host/@scope/x"),
        ("http://user:hunter22/x@host", "http://...@host"),
        ("http://user:hunter22?x@host/y", "http://...@host/y"),
        ("http://user:hunter22#x@host/y", "http://...@host/y"),
        ("http://user:hunter@22@host", "http://...@host"),
        ("user:hunter22@host", "...@host"),
        ("http://user:hunter22@[::1", "http://...@[::1"),
        ("http://user:hunter22@host/x@y", "http://...@host/x@y"),
        ("https://host?api_key=hunter22", "https://host?api_key=..."),
        ("", ""),
    ],
)
def test_an_address_is_shown_without_user_password_and_keys(url: str, shown: str) -> None:
    assert redacted_url(url) == shown


def test_query_parameters_that_are_no_secret_stay() -> None:
    query = "alt=sse&key=abc&pageSize=3&monkey=1&keyword=a&token=x;access_token=y"
    assert redacted_query(query) == "alt=sse&key=...&pageSize=3&monkey=1&keyword=a&token=...;access_token=..."
    assert without_secrets(query) == "alt=sse&pageSize=3&monkey=1&keyword=a"


SECRET = 'sk-ant-"quoted"\\and/slashed+%41-0123456789 ä'


def in_base64(before: str, after: str) -> str:
    return base64.b64encode(f"{before}{SECRET}{after}".encode()).decode()


@pytest.mark.parametrize(
    "spelled",
    [
        SECRET,
        json.dumps(SECRET),
        json.dumps(SECRET, ensure_ascii=False),
        json.dumps(json.dumps({"error": SECRET})),
        json.dumps(SECRET).replace("/", "\\/"),
        "".join([f"\\u{ord(letter):04X}" for letter in SECRET]),
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        quote(quote(SECRET, safe=""), safe=""),
        "".join([f"%{byte:02x}" for byte in SECRET.encode()]),
        in_base64("", ""),
        in_base64("u:", ""),
        in_base64("user:", "!"),
        in_base64("a", "bc"),
        base64.urlsafe_b64encode(f"user:{SECRET}".encode()).decode(),
        json.dumps(in_base64("", "")).replace("/", "\\/"),
        quote(in_base64("x", ""), safe=""),
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
    ],
)
def test_a_secret_is_found_in_every_spelling(spelled: str) -> None:
    hidden = Redactor([SECRET, "another-secret"])
    assert "..." in hidden.text(f"before {spelled} behind")
    shown = hidden.text(f"before {spelled} behind")
    assert shown.startswith("before ")
    assert shown.endswith(" behind")
    assert len(shown) < len("before  behind") + 30
    assert hidden.data(spelled.encode()) != spelled.encode()


def test_data_without_a_secret_stays_the_same_object() -> None:
    hidden = Redactor([SECRET])
    data, fault = (
        b'{"error": {"message": "50% \\u0041 \\" of it"}}',
        Fault("auth", "no", 401, extra={"x": {"y": Raw(b"1")}}),
    )
    assert hidden.data(data) is data
    assert hidden.fault(fault) is fault
    assert Redactor([]).data(data) is data
    assert Redactor(["", "abc"]).data(b"abc abc") == b"abc abc"  # too short: it could be an ordinary word
    assert hidden.with_secrets([SECRET]) is hidden
    assert hidden.with_secrets(["more-of-it"]).text("more-of-it") == "..."


def test_every_field_of_a_fault_is_searched() -> None:
    extra = {"anthropic": {"details": Raw(json.dumps({"key": SECRET}).encode())}}
    found = Redactor([SECRET]).fault(Fault("auth", f"no {SECRET}", 401, SECRET, SECRET, 3.0, SECRET, extra))
    assert (found.message, found.code, found.param, found.request_id) == ("no ...", "...", "...", "...")
    assert found.extra == {"anthropic": {"details": Raw(b'{"key": "..."}')}}
    assert (found.status, found.retry_after) == (401, 3.0)


@pytest.mark.parametrize("piece", [b"\\", b"%", b"%25", b"\\u00", b"a", b"+"])
def test_the_search_is_linear(piece: bytes) -> None:
    """Counted, not timed: the pattern has no unbounded repetition that can overlap with itself."""
    hidden = Redactor([SECRET])
    data = piece * 200_000 + SECRET.encode()
    assert hidden.data(data).endswith(b"...")


def test_secrets_of_an_upstream_come_from_its_key_address_and_headers() -> None:
    upstream = Upstream(
        "openai-chat",
        "https://user:hunter22@host/v1?api_key=in-the-query",
        "KEY",
        headers={"Authorization": "Bearer in-the-header", "x-api-key": "another", "x-title": "a title"},
    )
    found = upstream_secrets(upstream, {"KEY": "the-key"})
    assert found == {"the-key", "in-the-header", "another", "hunter22", "user:hunter22", "in-the-query"}


def test_a_plain_secret_is_found_in_every_escape() -> None:
    """A frame without escaped letters is not unescaped: a letter has only two escapes."""
    secret = "sk-plain.0123~4567"
    encoded = base64.b64encode(secret.encode()).decode()
    redactor = Redactor([secret])
    letters = "".join([f"\\u{ord(letter):04x}" for letter in secret])
    for spelled in (secret, letters, quote(secret).replace("-", "%2D"), encoded):
        assert secret[3:] not in redactor.text(f"a {spelled} z")
        assert redactor.text(f"a {spelled} z") != f"a {spelled} z", spelled
    harmless = 'data: {"a": "{\\"b\\": \\"c\\\\n\\"}"}\n\n'
    assert redactor.text(harmless) == harmless
