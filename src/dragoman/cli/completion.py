"""`dragoman completion`: the completion script of a shell, and the words that it offers for models and upstreams.

A completion requests nothing from an upstream and uses no file of the working folder, because it must be quick and must
not ask a question.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, get_completion_class

from ..errors import ConfigError

if TYPE_CHECKING:
    from ..gateway.config import Config

_PLACES = {
    "bash": "~/.bashrc",
    "zsh": "~/.zshrc",
    "fish": "~/.config/fish/completions/dragoman.fish",
}


@click.command(epilog="Example: echo 'eval \"$(dragoman completion bash)\"' >> ~/.bashrc")
@click.argument("shell", type=click.Choice(list(_PLACES)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for a SHELL. It knows commands, options, dialects, models, upstreams and clients.

    bash and zsh: put `eval "$(dragoman completion SHELL)"` into ~/.bashrc or ~/.zshrc. fish: write the script into
    ~/.config/fish/completions/dragoman.fish.
    """
    found = get_completion_class(shell)
    if found is None:
        raise click.ClickException(f"there is no completion for {shell}. Name bash, zsh or fish")
    click.echo(found(ctx.find_root().command, {}, "dragoman", "_DRAGOMAN_COMPLETE").source())


def complete_models(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names for --model: aliases, names of routes, and the known models of each upstream."""
    from ..facts import profiles
    from ..gateway.exchange.routes import Routes
    from .model_aliases import read_aliases

    try:
        config = _config()
        found = [*read_aliases(os.environ), *[name for name, _ in Routes(config).named_models()]]
    except ConfigError:
        return []
    for name, upstream in config.upstreams.items():
        found += [f"{name}/{model}" for model in profiles.names(upstream.dialect)]
    return _items([*found, "rehearsal/rules"], incomplete)


def complete_upstreams(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of upstreams: the configured upstreams, and the upstreams that a key would add."""
    from ..transport.upstream_record_and_environment import known_environments

    try:
        found = list(_config().upstreams)
    except ConfigError:
        found = []
    return _items([*found, *[usual.name for _, usual in known_environments()]], incomplete)


def complete_clients(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of clients for `dragoman run`."""
    from .client_table import names

    return _items(names(), incomplete)


def _config() -> Config:
    from ..gateway.config import load
    from .environment_with_stored_keys import user_environment

    named = os.environ.get("DRAGOMAN_CONFIG")
    return load(Path(named) if named else None, user_environment())


def _items(words: list[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(word) for word in dict.fromkeys(words) if word.startswith(incomplete)]
