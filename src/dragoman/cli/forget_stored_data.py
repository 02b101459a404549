"""`dragoman forget`: shows what dragoman stores on this machine, and deletes what the user names."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import click
from msgspec import Struct

from ..errors import ConfigError
from ..store.sqlite_entry_store import usual_file
from ..store.trusted_files import NAME as TRUSTED_FILES
from ..store.upstream_keys import UpstreamKeys
from ..store.user_files import config_folder, data_folder
from .loss_and_error_output import fail


class StoredDataKind(Struct, frozen=True):
    """One kind of stored data."""

    meaning: str
    files: tuple[Path, ...]

    def present(self) -> list[Path]:
        """The files that exist."""
        return [file for file in self.files if file.is_file()]


def kinds(environment: Mapping[str, str]) -> dict[str, StoredDataKind]:
    """All data that dragoman stores for this user, except settings that the user wrote."""
    data, store = data_folder(environment), usual_file(environment)
    # SQLite keeps two more files beside a file in use.
    beside = [store.with_name(f"{store.name}{end}") for end in ("", "-wal", "-shm")]
    return {
        "conversations": StoredDataKind(
            "conversations of ask and chat, with edits to undo and lasting permissions", (*beside,)
        ),
        "history": StoredDataKind("lines that you typed in dragoman chat", (data / "chat_history",)),
        "memory": StoredDataKind("what the tool save_memory stored", (config_folder(environment) / "memory.md",)),
        "keys": StoredDataKind("keys of upstreams (dragoman login)", (UpstreamKeys(environment).file,)),
        "trust": StoredDataKind("the list of files that you trust (dragoman config trust)", (data / TRUSTED_FILES,)),
        "secret": StoredDataKind("the secret by which the gateway distinguishes its clients", (data / "secret",)),
    }


@click.command(epilog="Example: dragoman forget conversations history")
@click.argument("kind", nargs=-1, type=click.Choice([*kinds({}), "everything"]))
@click.option("--yes", is_flag=True, help="Do not ask before the deletion.")
def forget(kind: tuple[str, ...], yes: bool) -> None:
    """Show what dragoman stores on this machine, or delete the data of each named KIND.

    dragoman sends nothing to its makers: no telemetry, no update check. The gateway keeps recent exchanges in memory,
    and writes none to a file. Without a KIND this command lists the stored data. `dragoman log ID --forget` deletes one
    conversation, `dragoman logout UPSTREAM` one key. The files that you wrote (dragoman.toml, aliases, templates) are
    never deleted.
    """
    stored = kinds(os.environ)
    if not kind:
        _list(stored)
        return
    chosen = list(stored) if "everything" in kind else list(dict.fromkeys(kind))
    found = {name: stored[name].present() for name in chosen}
    if not any(found.values()):
        click.echo("none of these data are stored")
        return
    for name, files in found.items():
        for file in files:
            click.echo(f"{name}: {file}")
    if not yes:
        if not sys.stdin.isatty():
            fail("nothing was deleted. Without a terminal, confirm with --yes.", 2)
        if not click.confirm("Delete these files?", err=True):
            fail("nothing was deleted", 1)
    try:
        if "keys" in chosen:  # the keyring of the system may hold keys too
            keys = UpstreamKeys(os.environ)
            for variable in list(keys.stored_at()):
                keys.drop(variable)
        for files in found.values():
            for file in files:
                file.unlink(missing_ok=True)
    except (OSError, ConfigError) as error:
        fail(f"not everything was deleted: {error}", 1)
    click.echo("deleted")


def _list(stored: Mapping[str, StoredDataKind]) -> None:
    wide = max(map(len, stored))
    for name, one in stored.items():
        files = one.present()
        size = sum([file.stat().st_size for file in files])
        state = f"{size:,} bytes in {files[0]}" if files else "nothing"
        click.echo(f"{name:{wide}}  {one.meaning}: {state}")
    click.echo("\nDelete with: dragoman forget KIND... or dragoman forget everything")
