"""Owns the messages about a wrongly typed command: in one style, and with a suggestion if a known word is similar.

click's own messages have another style than ours, and seldom name the next step.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

import click

_GIVEN = re.compile(r"'?(?P<value>.*?)'? is not (?:one of|a valid|in the range)\b", re.S)
_NAMED = re.compile(r"No such command '(?P<name>.*?)'")


def usage_message(error: click.UsageError) -> str:
    """The wrongly typed word, and the most similar known word."""
    if isinstance(error, click.NoSuchOption):
        known = [name for one in _parameters(error) for name in (*one.opts, *one.secondary_opts)]
        return f"there is no option {error.option_name}.{did_you_mean(error.option_name, known)}"
    if isinstance(error, click.MissingParameter):
        return _missing(error)
    if isinstance(error, click.BadParameter):
        return _bad(error)
    found = _NAMED.match(error.message)
    if found is not None and error.ctx is not None and isinstance(error.ctx.command, click.Group):
        known = error.ctx.command.list_commands(error.ctx)
        near = did_you_mean(found["name"], known) or f" There are {', '.join(known)}."
        return f"there is no command {found['name']!r}.{near}"
    return error.format_message()


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question with the most similar known word, after a space; "" where no word is similar."""
    near = difflib.get_close_matches(word.lower(), list(known), 1)
    return f" Did you mean {near[0]}?" if near else ""


def _parameters(error: click.UsageError) -> list[click.Parameter]:
    return error.ctx.command.get_params(error.ctx) if error.ctx is not None else []


def _missing(error: click.MissingParameter) -> str:
    one = error.param
    if one is None:
        return error.format_message()
    if not isinstance(one, click.Option):
        return f"{_name(one)} is missing."
    more = f" {one.help}" if one.help else ""
    return f"the option {_name(one)} is missing.{more}"


def _bad(error: click.BadParameter) -> str:
    """The parameter, and the mistake in its value."""
    one = error.param
    if one is None:
        return error.message
    found = _GIVEN.match(error.message)
    value, kind, words = found["value"] if found else "", one.type, error.message
    if isinstance(kind, click.Choice) and found:
        known = [str(choice) for choice in kind.choices]
        words = f"{value!r} is not possible.{did_you_mean(value, known)} Possible: {', '.join(known)}."
    elif isinstance(kind, click.IntRange) and found:
        words = f"{value!r} is not possible. Give a whole number{_bounds(kind)}."
    elif isinstance(kind, click.File | click.Path):
        words = error.message.replace("No such file or directory", "there is no such file")
    return f"{_name(one)}: {words}"


def _bounds(kind: click.IntRange) -> str:
    if kind.min is not None and kind.max is not None:
        return f" from {kind.min} to {kind.max}"
    return f", {kind.min} or more" if kind.min is not None else ""


def _name(one: click.Parameter) -> str:
    """The name of a parameter, as it is typed."""
    if isinstance(one, click.Option):
        # The long name of an option explains more than its letter.
        return max(one.opts, key=len)
    name = one.metavar or (one.name or "").upper()
    return name.strip("[].")
