"""The `dragoman` command: collects the sub-commands, and gives all failures one form.

Exit 0: success. 1: findings, losses over the tolerance, or a failure. 2: wrong usage.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

try:
    import click
except ModuleNotFoundError:  # the dependencies are not installed
    sys.stderr.write("dragoman: the package click is missing. Install dragoman again: pip install dragoman\n")
    raise SystemExit(2) from None

from ..errors import DragomanError

_SECTIONS = {
    "Start here": {
        "demo": ("demo.demo", "Run one tool cycle between all dialects: no key, no network."),
        "doctor": ("doctor.doctor", "Find out what is wrong here, and what to do next."),
        "login": ("login.login", "Store the key of an upstream."),
        "logout": ("login.logout", "Forget the stored key of an upstream."),
    },
    "Gateway and coding agents": {
        "run": ("run_client.run", "Run a coding agent, or any command, on any model."),
        "serve": ("serve.serve", "Run the gateway."),
        "connect": ("connect.connect", "Show or write the settings that connect a client to a gateway."),
        "models": ("models.models", "List the models that you can use."),
        "alias": ("alias.alias", "Give names of your own to models."),
        "config": ("config.config", "Check, show, create or trust a configuration file."),
    },
    "Documents and files": {
        "translate": ("translate.translate", "Translate a request, an answer or a stream."),
        "convert": ("convert.convert", "Convert files: logs, batches, fine-tuning sets."),
        "lint": ("lint.lint", "Find mistakes that an upstream would refuse."),
        "repair": ("repair.repair", "Repair the history of a request."),
    },
    "Agent": {
        "ask": ("ask.ask", "Ask a model that has tools."),
        "chat": ("chat.chat", "Talk with a model that has tools."),
        "log": ("conversation_log.log", "List, search, export or delete conversations."),
        "undo": ("undo.undo", "Take back the last file edits."),
        "template": ("template.template", "Keep prompts that you use often."),
        "mcp": ("mcp.mcp", "Use MCP servers, or serve our own tools."),
        "forget": ("forget_stored_data.forget", "Show or delete the data that dragoman stores here."),
    },
    "Reference": {
        "dialects": ("dialects.dialects", "List the dialects."),
        "loss": ("loss.loss", "Explain a loss code."),
        "rule": ("rule.rule", "Explain a rule of the linter."),
        "matrix": ("matrix.matrix_command", "Show the losses between all pairs of dialects."),
        "show": ("show_sample_conversation.show", "Show one conversation in all dialects."),
        "conform": ("conform.conform", "Test any gateway, or this library."),
        "completion": ("completion.completion", "Print the completion script for a shell."),
    },
}
"""The sub-commands as the help lists them: module and function, and a line of help. A module is loaded when its command
runs, not for the list: tables and colours would take half of the time that `dragoman serve` needs to start."""
_VERBS = {name: row for section in _SECTIONS.values() for name, row in section.items()}


class _Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_VERBS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max([len(name) for name in _VERBS])
        for title, section in _SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:{width}}", line) for name, (_, line) in section.items()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        module, _, name = _VERBS[cmd_name][0].partition(".")
        found: click.Command = getattr(import_module(f".{module}", __package__), name)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if word not in _VERBS and not word.startswith("-"):
            from .usage_messages import did_you_mean

            ctx.fail(f"there is no command {word!r}.{did_you_mean(word, _VERBS)}")
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
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            sys.exit(error.exit_code)
        except click.UsageError as error:
            from .usage_messages import usage_message

            path = error.ctx.command_path if error.ctx is not None else "dragoman"
            _end(f"{usage_message(error)}\nHelp: {path} --help", error.exit_code)
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
        from .version_facts import version_lines

        click.echo("\n".join(version_lines()))
        ctx.exit()


@click.group(
    cls=_Verbs,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit 0: success. 1: findings, losses over the tolerance, or a failure. 2: wrong usage.",
)
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
