"""The `dragoman` command: collects the sub-commands, and gives all failures one form.

Exit 0: success. 1: findings, losses over the tolerance, or a failure. 2: wrong usage.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

try:
    import click
except ModuleNotFoundError:  # an installation without its dependencies
    sys.stderr.write("dragoman: the package click is missing. Install dragoman again: pip install dragoman\n")
    raise SystemExit(2) from None

from ..errors import DragomanError

_VERBS = {
    "alias": "alias.alias",
    "ask": "ask.ask",
    "chat": "chat.chat",
    "completion": "completion.completion",
    "config": "config.config",
    "conform": "conform.conform",
    "connect": "connect.connect",
    "convert": "convert.convert",
    "demo": "demo.demo",
    "dialects": "dialects.dialects",
    "doctor": "doctor.doctor",
    "forget": "forget.forget",
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
    "run": "run.run",
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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if word not in _VERBS and not word.startswith("-"):
            near = difflib.get_close_matches(word, _VERBS, 1)
            ctx.fail(f"there is no command {word!r}." + (f" Did you mean {near[0]}?" if near else ""))
        return super().resolve_command(ctx, args)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command. A failure is one line that begins with `dragoman:`."""
        given = (args, prog_name, complete_var)
        if not standalone_mode:
            return super().main(*given, standalone_mode=False, windows_expand_args=windows_expand_args, **extra)
        try:
            done = super().main(*given, standalone_mode=False, windows_expand_args=windows_expand_args, **extra)
        except click.UsageError as error:
            path = error.ctx.command_path if error.ctx is not None else "dragoman"
            _end(f"{error.format_message()}\nRun {path} --help for its options.", error.exit_code)
        except click.ClickException as error:
            _end(error.format_message(), error.exit_code)
        except click.Abort:
            _end("stopped", 1)
        except DragomanError as error:
            _end(str(error), 1)
        except ModuleNotFoundError as error:
            from .missing_packages import advice

            words = advice(error.name or "")
            if not words:
                raise
            _end(words, 1)
        sys.exit(done if isinstance(done, int) else 0)


def _end(message: str, code: int) -> NoReturn:
    click.echo(f"dragoman: {message}", err=True)
    sys.exit(code)


def _print_version(ctx: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from .build_facts import version_lines

        click.echo("\n".join(version_lines()))
        ctx.exit()


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version, and the facts that a bug report needs.",
)
def main() -> None:
    """Translate LLM tool calling between wire protocols, and report every loss."""
