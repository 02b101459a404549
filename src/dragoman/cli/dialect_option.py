"""Owns dialects on the command line: names and their aliases, advice about a wrong name, completion, detection."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, NoReturn

import click
import msgspec
from click.shell_completion import CompletionItem

from ..codec.json_error_location import json_mistake
from ..dialects import ALIASES, dialect_name, installed
from ..translate.detect import detect, is_ambiguous
from .loss_and_error_output import fail

if TYPE_CHECKING:
    TextType = click.ParamType[str]
else:
    TextType = click.ParamType  # click 8.1 has no type parameter


class DialectType(TextType):
    """The name of a dialect, or an alias of one."""

    name = "dialect"

    def __init__(self, *more: str) -> None:
        self._more = more
        """Further names that the option takes, besides the dialects."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        known = (*installed(), *self._more)
        found = dialect_name(value)
        if found not in known:
            self._refuse(value, known, param, ctx)
        return found

    def _refuse(
        self, value: str, known: tuple[str, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> NoReturn:
        near = difflib.get_close_matches(value.lower(), [*known, *ALIASES], 1)
        hint = f"Did you mean {near[0]}? " if near else ""
        self.fail(f"there is no dialect {value!r}. {hint}Dialects: {', '.join(known)}.", param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in (*installed(), *self._more) if name.startswith(incomplete)]


DIALECT = DialectType()


def detected_dialect(body: bytes, option: str) -> str:
    """The dialect of a document or stream, with a line about the reasons on standard error. `option`: the option that
    names the dialect instead."""
    dialect, reasons = detect(body)
    if not dialect:
        if mistake := mistake_in_json(body):
            fail(mistake, 1)
        fail(f"the dialect could not be detected. Name it with {option}.", 2)
    click.echo(f"reading as {dialect}: {', '.join(reasons)}", err=True)
    if is_ambiguous(reasons):
        words = f"warning: the dialect is ambiguous. Use {option} {dialect}, or {option} with another dialect."
        click.echo(words, err=True)
    return dialect


def mistake_in_json(body: bytes) -> str:
    """The mistake in a document that is not JSON, with line and column; "" for JSON and for streams."""
    if body.lstrip()[:6].startswith((b"event:", b"data:", b":")):
        return ""
    try:
        msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return f"not valid JSON: {json_mistake(body, str(error))}"
    except RecursionError:
        return "the JSON is nested too deeply"
    return ""
