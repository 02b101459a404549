"""The `dragoman` command: collects the sub-commands.

Exit 0: success. 1: findings, losses over the tolerance, or a failure. 2: wrong usage.
"""

from __future__ import annotations

import sys
from importlib import import_module

try:
    import click
except ModuleNotFoundError:  # the library alone needs no click
    sys.stderr.write("dragoman: the command line needs click and rich. Run pip install 'dragoman[cli]'\n")
    raise SystemExit(2) from None

from .. import __version__

_VERBS = {
    "alias": "alias.alias",
    "ask": "ask.ask",
    "chat": "chat.chat",
    "config": "config.config",
    "conform": "conform.conform",
    "convert": "convert.convert",
    "dialects": "dialects.dialects",
    "lint": "lint.lint",
    "log": "log.log",
    "login": "login.login",
    "logout": "login.logout",
    "loss": "loss.loss",
    "matrix": "matrix.matrix_command",
    "mcp": "mcp.mcp",
    "models": "models.models",
    "repair": "repair.repair",
    "rule": "rule.rule",
    "serve": "serve.serve",
    "show": "show.show",
    "template": "template.template",
    "translate": "translate.translate",
    "undo": "undo.undo",
}
"""The module and function of each sub-command. A module is loaded when its command runs: tables and colours would take
half of the time that `dragoman serve` needs to start."""


class _Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        module, _, name = _VERBS[cmd_name].partition(".")
        found: click.Command = getattr(import_module(f".{module}", __package__), name)
        return found


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dragoman")
def main() -> None:
    """Translate LLM tool calling between wire protocols, and report every loss."""
