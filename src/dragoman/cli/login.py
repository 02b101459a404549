"""`dragoman login` and `dragoman logout`: keys of upstreams, stored for the user."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import click

from ..errors import ConfigError
from ..store.upstream_keys import UpstreamKeys
from ..transport.upstream_record_and_environment import Upstream, known_environments
from .completion import complete_upstreams
from .config_lookup import user_config
from .loss_and_error_output import fail

_config = click.option(
    "--config",
    "file",
    type=click.Path(path_type=Path),
    envvar="DRAGOMAN_CONFIG",
    help="File with upstreams. Default: DRAGOMAN_CONFIG, else a trusted dragoman.toml in this folder.",
)


@click.command(epilog="Example: dragoman login openai")
@click.argument("upstream", required=False, shell_complete=complete_upstreams)
@_config
@click.option("--no-browser", is_flag=True, help="For a login at Google: only print the address.")
def login(upstream: str | None, file: Path | None, no_browser: bool) -> None:
    """Store the key of an UPSTREAM, so that no variable needs to hold the key. Without an UPSTREAM: list the upstreams.

    You are asked for the key, and the key is not shown. Without a terminal the key is the first line of standard input.
    The key goes into the keyring of the system (package keyring), else into a file that only you can read. A key in the
    environment wins over a stored key. No command prints a stored key.

    An upstream with `client_id_env` and `client_secret_env` (your own OAuth client) is signed in at Google, in your
    browser. If your browser runs on another machine, open the printed address there. The last page cannot be opened
    there. Paste its address here.
    """
    try:
        found = _with_oauth_client(upstream, file) if upstream is not None else None
        if upstream is not None and found is not None:
            _sign_in(upstream, found, browser=not no_browser)
            return
        keys = UpstreamKeys(os.environ)
        variables = _variables(file)
        if upstream is None:
            _list(variables, keys)
            return
        variable = _variable(upstream, variables)
        key = _ask_for_key(f"Key for {upstream}")
        where = keys.store(variable, key)
    except ConfigError as error:
        fail(str(error), 2)
    place = "the keyring of the system" if where == "keyring" else f"{keys.file} (only you can read it)"
    click.echo(f"the key for {upstream} is stored in {place}", err=True)
    if os.environ.get(variable):
        click.echo(f"note: the variable {variable} is set, and wins over the stored key", err=True)


@click.command(epilog="Example: dragoman logout openai")
@click.argument("upstream", shell_complete=complete_upstreams)
@_config
def logout(upstream: str, file: Path | None) -> None:
    """Forget the stored key of an UPSTREAM, or its login at Google."""
    try:
        if _with_oauth_client(upstream, file) is not None:
            from .google_login import sign_out

            if not sign_out(upstream):
                raise ConfigError("upstream", upstream, problem="no login is stored for this upstream")
        elif not UpstreamKeys(os.environ).drop(_variable(upstream, _variables(file))):
            raise ConfigError("upstream", upstream, problem="no key is stored for this upstream")
    except ConfigError as error:
        fail(str(error), 2)
    click.echo(f"the key or login for {upstream} is forgotten", err=True)


def _with_oauth_client(name: str, file: Path | None) -> Upstream | None:
    found = user_config(file, os.environ).upstreams.get(name)
    return found if found is not None and found.client_id_env else None


def _sign_in(name: str, upstream: Upstream, *, browser: bool) -> None:
    from .google_login import sign_in

    stored = asyncio.run(sign_in(name, upstream, os.environ, browser=browser))
    click.echo(f"signed in for {name}; the credentials are in {stored} (only you can read it)", err=True)


def _variables(file: Path | None) -> dict[str, tuple[str, ...]]:
    """The variables that may hold the key of each upstream. The configuration wins over the usual names."""
    usual = {one.name: one.keys for _, one in known_environments() if one.keys}
    named = user_config(file, os.environ).upstreams.items()
    return {**usual, **{name: (one.key_env,) for name, one in named if one.key_env and name not in usual}}


def _variable(upstream: str, variables: dict[str, tuple[str, ...]]) -> str:
    if upstream not in variables:
        raise ConfigError("upstream", upstream, tuple(variables))
    return variables[upstream][0]


def _ask_for_key(words: str) -> str:
    if sys.stdin is not None and sys.stdin.isatty():
        key = str(click.prompt(words, hide_input=True, err=True)).strip()
    else:
        key = sys.stdin.readline().strip() if sys.stdin is not None else ""
    if not key:
        raise ConfigError("key", "", problem="no key was given")
    if not key.isascii() or not key.isprintable() or " " in key:  # never repeat the key itself in a message
        raise ConfigError("key", "", problem="a key has printable ASCII characters only, and no spaces")
    return key


def _list(variables: dict[str, tuple[str, ...]], keys: UpstreamKeys) -> None:
    places = keys.stored_at()
    for name, known in variables.items():
        given = next((variable for variable in known if os.environ.get(variable)), "")
        stored = places.get(known[0])
        state = f"stored in the {stored}" if stored is not None else "no key"
        click.echo(f"{name:16} {known[0]:24} {f'in the variable {given}' if given else state}")
