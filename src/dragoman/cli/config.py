"""`dragoman config`: check, show, create or trust the gateway's configuration file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import msgspec

from ..errors import ConfigError
from ..gateway.config import EXAMPLE, REHEARSAL, Config, config_warnings, load, parse
from ..gateway.typed_toml_file import write_toml
from ..store.trusted_files import TrustedFiles, digest, real_path
from ..store.user_files import read_regular_file
from ..transport.secret_redaction import redacted_url
from .environment_with_stored_keys import user_environment
from .loss_and_error_output import count_with_noun, without_control_characters
from .untrusted_file_effects import CONFIG_FILE, effects_of_file, one_line
from .untrusted_files import show_effects
from .untrusted_files import trust as trust_file

USUAL_FILE = Path(CONFIG_FILE)
_SECRET_HEADERS = ("key", "auth", "token", "cookie", "secret")

_file = click.argument("file", type=click.Path(path_type=Path), required=False, envvar="DRAGOMAN_CONFIG")


@click.group()
def config() -> None:
    """Check, show, create or trust the gateway's configuration file.

    FILE: the default is the file that DRAGOMAN_CONFIG names, else dragoman.toml in this folder. Without any file only
    the environment is read.
    """


@config.command()
@_file
def check(file: Path | None) -> None:
    """Check whether the configuration is valid, and warn about probable mistakes. Exit 1 when it is not valid."""
    name, read = _read(file)  # Nothing is sent over the network, so the file need not be trusted.
    for warning in config_warnings(read, _environment()):
        click.echo(f"note: {one_line(warning)}", err=True)
    click.echo(one_line(f"{name}: {_count_line(read)}"))


@config.command()
@_file
@click.option("--all", "everything", is_flag=True, help="Include settings that have their default value.")
def show(file: Path | None, everything: bool) -> None:
    """Print the configuration of the file and the environment as one file. Instead of keys the output has the
    names of variables."""
    read = _read(file)[1]
    click.echo(without_control_characters(write_toml(config_tables(read, everything))), nl=False)


@config.command()
@click.argument("file", type=click.Path(path_type=Path), default=USUAL_FILE)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def init(file: Path, force: bool) -> None:
    """Write a first configuration file. Edit the file afterwards."""
    if os.path.lexists(file) and not force:
        raise click.ClickException(f"{file} exists already. Use --force to overwrite it.")
    data = EXAMPLE.encode()
    try:
        file.unlink(missing_ok=True)  # A link in the folder must not redirect the writing to another file.
        with file.open("xb") as out:
            out.write(data)
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror or error}") from None
    trust_file(TrustedFiles(os.environ), real_path(file), data)
    click.echo(
        f"wrote {file}. Edit it, then run `dragoman config check`, `dragoman config trust` and `dragoman serve`."
    )


@config.command()
@click.argument("file", type=click.Path(path_type=Path), default=USUAL_FILE)
@click.option("--remove", is_flag=True, help="Remove the file from the list of trusted files.")
@click.option("--list", "listing", is_flag=True, help="List the files that you trust.")
def trust(file: Path, remove: bool, listing: bool) -> None:
    """Trust FILE (dragoman.toml, .mcp.json) with its present content, and show what it does.

    A file in the working folder is used only after you have agreed to its content, at a terminal or by this command. A
    file that has changed or moved needs your agreement again. Files that you name with --config need none.
    """
    trusted = TrustedFiles(os.environ)
    try:
        if listing:
            _list(trusted)
        elif remove:
            if not trusted.remove(real_path(file)):
                raise click.ClickException(
                    f"{file} was not trusted. `dragoman config trust --list` shows the trusted files."
                )
            click.echo(f"{one_line(real_path(file))} is no longer trusted")
        else:
            _trust(trusted, file)
    except ConfigError as error:
        raise click.ClickException(one_line(error)) from None
    except OSError as error:
        raise click.ClickException(one_line(f"{file}: {error.strerror or error}")) from None


def _trust(trusted: TrustedFiles, file: Path) -> None:
    real = real_path(file)
    data, _ = read_regular_file(real)
    lines = effects_of_file(file.name, data)
    trusted.add(real, data)
    click.echo(f"{one_line(real)} is trusted with its present content. When it is used,", err=True)
    show_effects(lines)


def _list(trusted: TrustedFiles) -> None:
    now: dict[str, str] = {}
    for one in trusted.entries():
        try:
            same = digest(read_regular_file(one.path)[0]) == one.sha256
        except OSError:
            now.setdefault(one.path, "cannot be read")
        else:
            now[one.path] = (
                "trusted" if same or now.get(one.path) == "trusted" else "changed since you trusted it: not trusted"
            )
    for path, state in now.items():
        click.echo(f"{one_line(path)}: {state}")


def _environment() -> Mapping[str, str]:
    try:
        return user_environment()
    except ConfigError as error:
        raise click.ClickException(one_line(error)) from None


def _read(file: Path | None) -> tuple[str, Config]:
    """The configuration of the named file, else of the file in this folder, else of the environment; and its source."""
    try:
        if file is not None:
            return str(file), load(file, _environment())
        data, _ = read_regular_file(USUAL_FILE)
        return str(USUAL_FILE), parse(data, str(USUAL_FILE), _environment())
    except FileNotFoundError:
        return "the environment", load(None, _environment())
    except ConfigError as error:
        raise click.ClickException(one_line(error)) from None
    except OSError as error:
        raise click.ClickException(one_line(f"{USUAL_FILE}: {error.strerror or error}")) from None


def _count_line(read: Config) -> str:
    own = [name for name in read.upstreams if name != REHEARSAL]
    upstreams = (
        f"{count_with_noun(len(own), 'upstream')} ({', '.join(own)})"
        if own
        else "no upstreams: the rehearsal answers everything"
    )
    return f"{upstreams}, {count_with_noun(len(read.routes), 'route')}"


def config_tables(read: Config, everything: bool) -> dict[str, Any]:
    """A configuration as tables, without secrets."""
    value: dict[str, Any] = _tables(read) if everything else msgspec.to_builtins(read)
    for upstream in value.get("upstreams", {}).values():
        if "base_url" in upstream:
            upstream["base_url"] = redacted_url(upstream["base_url"])
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
