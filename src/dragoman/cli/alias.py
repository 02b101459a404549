"""`dragoman alias`: names of your own for models."""

from __future__ import annotations

import os

import click

from ..errors import ConfigError
from .loss_and_error_output import fail, without_control_characters
from .model_aliases import read_aliases, write_aliases


@click.group(epilog="Example: dragoman alias set fast openai/gpt-5-mini")
def alias() -> None:
    """Give names of your own to models. `--model` takes such a name."""


@alias.command("list")
def list_() -> None:
    """List the aliases."""
    try:
        found = read_aliases(os.environ)
    except ConfigError as error:
        fail(str(error), 1)
    for name, model in found.items():
        click.echo(without_control_characters(f"{name:20} {model}"))
    if not found:
        click.echo("there are no aliases", err=True)


@alias.command("set")
@click.argument("name")
@click.argument("model", metavar="UPSTREAM/MODEL")
def set_(name: str, model: str) -> None:
    """Give a name to a model, or give the name to another model."""
    try:
        found = read_aliases(os.environ)
        if model in found or model == name:
            raise ConfigError(
                "model", model, problem="an alias cannot name another alias. Name the model: UPSTREAM/MODEL"
            )
        write_aliases({**found, name: model}, os.environ)
    except ConfigError as error:
        fail(str(error), 2)


@alias.command()
@click.argument("name")
def remove(name: str) -> None:
    """Remove an alias."""
    try:
        found = read_aliases(os.environ)
        if name not in found:
            raise ConfigError("alias", name, tuple(found))
        write_aliases({one: model for one, model in found.items() if one != name}, os.environ)
    except ConfigError as error:
        fail(str(error), 2)
