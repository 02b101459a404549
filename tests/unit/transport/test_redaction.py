"""Secrets are taken out of addresses, query strings and texts."""

from __future__ import annotations

import pytest

from dragoman.transport.redaction import redacted_query, redacted_url, without_secrets


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


def test_queries_keep_what_is_no_secret() -> None:
    query = "alt=sse&key=abc&pageSize=3&monkey=1&keyword=a&token=x;access_token=y"
    assert redacted_query(query) == "alt=sse&key=...&pageSize=3&monkey=1&keyword=a&token=...;access_token=..."
    assert without_secrets(query) == "alt=sse&pageSize=3&monkey=1&keyword=a"
