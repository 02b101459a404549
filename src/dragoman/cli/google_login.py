"""The login at Google of `dragoman login`, for an upstream whose configuration names an OAuth client of the person."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import click
import msgspec

from ..errors import ConfigError
from ..store.user_files import google_login_file, write_own_file
from ..transport.google_login import GoogleLogin
from ..transport.oauth_redirect import LoopbackRedirect
from ..transport.upstream_record_and_environment import Upstream
from .loss_and_error_output import without_control_characters
from .terminal_line_reader import typed_line

SECONDS = 300.0
"""Seconds that a person has for a login."""


async def sign_in(name: str, upstream: Upstream, environment: Mapping[str, str], *, browser: bool = True) -> Path:
    """Sign in, and store the credentials in a file that only the user can read. ConfigError where that fails."""
    client_id = _value(name, "client_id_env", upstream.client_id_env, environment)
    secret = _value(name, "client_secret_env", upstream.client_secret_env, environment)
    terminal = sys.stdin is not None and sys.stdin.isatty()
    async with LoopbackRedirect() as redirect:
        login = GoogleLogin(client_id, secret, redirect.address)
        click.echo(f"Sign in for {name}, in your browser:\n\n{without_control_characters(login.address)}\n", err=True)
        if terminal:
            click.echo("Or paste the address of the last page here, and press Enter.", err=True)
        if browser:
            click.launch(login.address)
        found = await redirect.wait(login.state, SECONDS, typed_line if terminal else None)
        credentials = await login.exchange(found.code)
    file = google_login_file(environment, name)
    try:
        write_own_file(file, msgspec.json.encode(credentials))
    except OSError as error:
        raise ConfigError("login", str(file), problem=error.strerror or str(error)) from None
    return file


def sign_out(name: str) -> bool:
    """Delete the stored login of an upstream; False where there is none."""
    file = google_login_file(os.environ, name)
    if not file.exists():
        return False
    file.unlink()
    return True


def _value(name: str, key: str, variable: str, environment: Mapping[str, str]) -> str:
    value = environment.get(variable, "") if variable else ""
    if not value:
        problem = f"the variable {variable} is not set" if variable else "it is missing"
        raise ConfigError(f"upstreams.{name}.{key}", "", problem=f"{problem}; it holds a part of your OAuth client")
    return value
