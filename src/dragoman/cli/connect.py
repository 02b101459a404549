"""`dragoman connect`: shows or writes the settings that connect a client to a running gateway."""

from __future__ import annotations

import os
import shlex

import click
import msgspec

from ..errors import ConfigError
from ..gateway.typed_toml_file import write_toml as toml_text
from . import client_table
from .client_settings_edits import SettingsEdits, expand_path, merge_settings, old_text
from .client_table import ClientFacts, ClientRow, SettingsFile, fill_placeholders
from .completion import complete_models
from .loss_and_error_output import fail
from .run_client import USUAL_GATEWAY


@click.command(epilog="Example: dragoman connect claude --model gemini/gemini-3-pro --write")
@click.argument("client", type=click.Choice(client_table.names()), metavar="CLIENT")
@click.option(
    "-m",
    "--model",
    default="",
    metavar="UPSTREAM/MODEL",
    shell_complete=complete_models,
    help="The model that the client uses.",
)
@click.option("--gateway", default=USUAL_GATEWAY, show_default=True, metavar="URL", help="The gateway's address.")
@click.option(
    "--key-env", metavar="VAR", help="Variable with the key for the gateway. Default: the gateway needs none."
)
@click.option("--write", is_flag=True, help="Write the settings into the client's own files, with a backup.")
@click.option("--undo", is_flag=True, help="Restore the old content of the client's files.")
def connect(client: str, model: str, gateway: str, key_env: str | None, write: bool, undo: bool) -> None:
    """Show or write the settings that connect a CLIENT to a running gateway.

    CLIENT is claude, codex, gemini, opencode, qwen, pi, aider or llm. Without --write nothing is changed. --write
    changes only the named settings; --undo takes the change back, unless the file has changed since then. For one
    session, `dragoman run CLIENT` needs no change at all.
    """
    row = client_table.rows()[client]
    if write and undo:
        raise click.UsageError("use --write or --undo, not both.")
    if key_env is not None and not os.environ.get(key_env):
        fail(f"the variable {key_env} is not set. Set it to the key for the gateway", 2)
    if not row.connect and (write or undo):
        fail(
            f"{row.title} has no settings file for this. Set the variables in your shell: dragoman connect {client}", 2
        )
    try:
        if undo:
            _undo(row)
            return
        if row.needs_model and not model:
            raise click.UsageError(f"{row.title} needs --model. `dragoman models` lists models.")
        # A shown text contains the name of the variable, so that no key appears on the screen.
        key = os.environ[key_env] if key_env and write else f"${key_env}" if key_env else "any"
        name = row.client_model if row.only_known_models else model
        facts = ClientFacts(gateway.rstrip("/"), key, key_env or "", name)
        if write:
            _write(row, facts)
        else:
            _show(row, facts)
    except (ConfigError, OSError) as error:
        fail(str(error), 1)


def _show(row: ClientRow, facts: ClientFacts) -> None:
    for one in row.connect:
        click.echo(f"# {one.path}")
        click.echo(settings_text(one, facts))
    if not row.connect:
        click.echo(exports(row, facts))


def settings_text(file: SettingsFile, facts: ClientFacts) -> str:
    """The settings in the form of their file."""
    content = fill_placeholders(file.content, facts)
    if file.form == "json":
        return msgspec.json.format(msgspec.json.encode(content), indent=2).decode()
    if file.form == "toml":
        return toml_text(content).rstrip()
    return "\n".join([f"{name}={value}" for name, value in content.items()])


def exports(row: ClientRow, facts: ClientFacts) -> str:
    """The lines that set a client's variables in a shell."""
    variables = client_table.environment(row, facts).items()
    return "\n".join([f"export {name}={shlex.quote(value)}" for name, value in variables])


def _write(row: ClientRow, facts: ClientFacts) -> None:
    texts = []
    for one in row.connect:  # all files are read before the first is written
        file = expand_path(one.path)
        texts.append((file, merge_settings(old_text(file), one.form, fill_placeholders(one.content, facts), file)))
    edits = SettingsEdits(os.environ)
    for file, text in texts:
        backup = edits.write(file, text)
        click.echo(f"{file} is written" + (f"; the old content is in {backup}" if backup is not None else ""))
    click.echo(f"{row.title} now uses {facts.base}. Take it back with --undo.")


def _undo(row: ClientRow) -> None:
    edits = SettingsEdits(os.environ)
    done = [file for file in [expand_path(one.path) for one in row.connect] if edits.undo(file)]
    if not done:
        fail(f"dragoman has not written any settings of {row.title}", 1)
    for file in done:
        click.echo(f"{file} is as it was before")
