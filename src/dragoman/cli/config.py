"""`dragoman config`: look at the gateway's configuration, show what it comes to, write a first one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
import msgspec

from ..errors import ConfigError
from ..gateway.config import EXAMPLE, REHEARSAL, Config, advice, load
from ..gateway.tomlfile import written

USUAL_FILE = Path("dragoman.toml")
_SECRET_HEADERS = ("key", "auth", "token", "cookie", "secret")

_file = click.argument("file", type=click.Path(path_type=Path), required=False)


@click.group()
def config() -> None:
    """Check, show or begin the gateway's configuration file.

    FILE is dragoman.toml if none is named and there is one; without any file the environment alone is looked at.
    """


@config.command()
@_file
def check(file: Path | None) -> None:
    """Say whether the configuration holds, and what in it is probably not meant. Exit 1 when it does not hold."""
    found = _found(file)
    read = _read(found)
    for said in advice(read, os.environ):
        click.echo(f"note: {said}", err=True)
    click.echo(f"{found or 'the environment'}: {_count(read)}")


@config.command()
@_file
@click.option("--all", "everything", is_flag=True, help="With every setting that has its default value.")
def show(file: Path | None, everything: bool) -> None:
    """Print what the file and the environment come to, as one file. Keys are not in it: it names their variables."""
    read = _read(_found(file))
    click.echo(written(plain(read, everything)), nl=False)


@config.command()
@click.argument("file", type=click.Path(path_type=Path), default=USUAL_FILE)
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def init(file: Path, force: bool) -> None:
    """Write a first configuration, to be edited."""
    if file.exists() and not force:
        raise click.ClickException(f"{file} is there already; --force writes over it")
    try:
        file.write_text(EXAMPLE)
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror or error}") from None
    click.echo(f"wrote {file}: edit it, `dragoman config check` it, then `dragoman serve`")


def _found(file: Path | None) -> Path | None:
    return file if file is not None else USUAL_FILE if USUAL_FILE.exists() else None


def _read(file: Path | None) -> Config:
    try:
        return load(file, os.environ)
    except ConfigError as error:
        raise click.ClickException(str(error)) from None


def _count(read: Config) -> str:
    own = [name for name in read.upstreams if name != REHEARSAL]
    upstreams = f"{len(own)} upstreams ({', '.join(own)})" if own else "no upstreams: everything is a rehearsal"
    return f"{upstreams}, {len(read.routes)} routes"


def plain(read: Config, everything: bool) -> dict[str, Any]:
    """A configuration as tables, without what may be secret in it."""
    value: dict[str, Any] = _tables(read) if everything else msgspec.to_builtins(read)
    for upstream in value.get("upstreams", {}).values():
        if "base_url" in upstream:
            upstream["base_url"] = _without_password(upstream["base_url"])
        if upstream.get("headers"):
            upstream["headers"] = _hidden(upstream["headers"])
    if not everything:
        value.get("upstreams", {}).pop(REHEARSAL, None)
    return value


def _tables(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return {field: _tables(getattr(value, field)) for field in value.__struct_fields__}
    if isinstance(value, Mapping):
        return {key: _tables(one) for key, one in value.items()}
    return [_tables(one) for one in value] if isinstance(value, tuple) else value


def _hidden(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name: "..." if any(word in name.lower() for word in _SECRET_HEADERS) else value
        for name, value in headers.items()
    }


def _without_password(address: str) -> str:
    parts = urlsplit(address)
    if not parts.username and not parts.password:
        return address
    return parts._replace(netloc=f"...@{parts.netloc.rpartition('@')[2]}").geturl()
