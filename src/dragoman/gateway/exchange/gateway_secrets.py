"""Owns the list of the gateway's secrets. A `Redactor` removes them, so that no client, log or report shows them."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from ...transport.secret_redaction import Redactor, upstream_secrets
from ..config import Config
from .client_ownership import passes_client_keys, read_keys, shown_keys

_PROXIES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
PASSED_ON = 8
"""Characters of the shortest client key that is searched. Clients that need no key send words such as `none`."""


def redactor(config: Config, environment: Mapping[str, str]) -> Redactor:
    """A redactor of every secret in the configuration: keys of upstreams, clients and administrators, and passwords."""
    listen = config.listen
    found = {*read_keys(listen.key_env, environment, "key_env")}
    found |= {*read_keys(listen.admin_key_env, environment, "admin_key_env")}
    for upstream in config.upstreams.values():
        found |= upstream_secrets(upstream, environment)
    for variable in _PROXIES:
        found.add(_password(environment.get(variable, "")))
    return Redactor(found)


def passed_on(config: Config, headers: Mapping[str, str]) -> list[str]:
    """The keys that a client shows, where some upstream gets them."""
    return [key for key in shown_keys(headers) if len(key) >= PASSED_ON] if passes_client_keys(config) else []


def print_failure(error: BaseException, hidden: Redactor) -> None:
    """Print a failure of the gateway itself, for the operator."""
    sys.stderr.write(hidden.text("".join(traceback.format_exception(error))))


def _password(address: str) -> str:
    try:
        return unquote(urlsplit(address).password or "")
    except ValueError:
        return ""
