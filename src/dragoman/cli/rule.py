"""`dragoman rule`: shows the page of a rule, or lists all rules."""

from __future__ import annotations

import difflib
import inspect

import click

from ..lint.runner import all_rules
from .loss_and_error_output import COLOURS, fail


@click.command()
@click.argument("id", required=False)
def rule(id: str | None) -> None:
    """Explain the rule ID; without it, list all rules."""
    rules = all_rules()
    if id is None:
        for name, (known, _) in rules.items():
            mark = click.style(f"{known.severity:7}", fg=COLOURS[known.severity])
            click.echo(f"{name:9} {mark} {' '.join(page(known.text)[0].split())}")
        return
    wanted = id.upper()
    found = next((name for name in rules if name.replace("-", "") == wanted.replace("-", "")), None)
    if found is None:
        near = difflib.get_close_matches(wanted, rules, 1, 0.4)
        fail(f"there is no rule {id!r}" + (f"; did you mean {near[0]}?" if near else "; `dragoman rule` lists all"), 2)
    known, dialects = rules[found]
    click.echo(f"{known.id}: {known.severity}, {', '.join(dialects)} ({', '.join(known.kinds)})\n")
    click.echo("\n\n".join(page(known.text)))


def page(text: str) -> list[str]:
    """The paragraphs of a rule's page."""
    return inspect.cleandoc(text).split("\n\n")
