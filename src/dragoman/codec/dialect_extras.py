"""Extras: fields one dialect alone knows, gathered by its reader and put back by its writer.

An extra's name is the field's name, or a path below the object it hangs on ("function/foo", steps escaped as in a JSON
pointer), so that a field the canon has no object for finds its place again.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ..canon.parts import Extra, Path
from ..context import Context
from .admit import Indexed, Unknown

NULL = Raw(b"null")
EMPTY_VALUES = (NULL, Raw(), Raw(b"[]"), Raw(b"{}"), Raw(b'""'))
"""A field that is absent, and the values that are no loss where they are left out of an answer
(`canon.loss_severity.field_severity`)."""
_FEW = 4
"""Paths of which all are looked at, without an index."""
_encode = msgspec.json.Encoder().encode
_object = msgspec.json.Decoder(dict[str, Raw]).decode


class Fields(tuple[str, ...]):
    """Names of a wire Struct's fields, all of which are looked up at once."""

    values: Callable[[Struct], tuple[Any, ...]]

    def __new__(cls, *names: str) -> Fields:
        made = super().__new__(cls, names)
        made.values = attrgetter(*names) if len(names) > 1 else lambda wire: (getattr(wire, names[0]),)
        return made


def carried(wire: Struct, names: tuple[str, ...]) -> dict[str, Raw] | None:
    """The raw fields of `names` that were sent."""
    values = names.values(wire) if type(names) is Fields else tuple([getattr(wire, name) for name in names])
    if not any(values):
        return None
    return {name: value for name, value in zip(names, values, strict=True) if value}


def gather(context: Context, at: Path, unknown: Unknown, more: dict[str, Raw] | None = None) -> Extra | None:
    """What the canon has no place for, at `at` and below it, kept under the source dialect; None if nothing.

    `more`: fields the wire Struct knows and the canon does not, named as above.

    Takes it out of `unknown`: readers gather for the inner objects first, and for the whole document last.
    """
    if more:
        if any("/" in name for name in more):
            for name, value in more.items():
                *below, last = name.split("/")
                context.keep((*at, *below), {last: value})
        else:
            context.kept.append((at, more))
    if unknown:
        depth = len(at)
        if len(unknown) > _FEW and isinstance(unknown, Indexed):
            taken = unknown.below(at)
        else:
            taken = [path for path in unknown if path[:depth] == at]
        for path in taken:
            fields = unknown.pop(path)
            context.keep(path, fields)
            steps = path[depth:]
            more = {**(more or {}), **{_name((*steps, key)): value for key, value in fields.items()}}
    return {context.source: more} if more else None


def take_shared(fields: dict[str, Raw], names: frozenset[str]) -> dict[str, Raw]:
    """Those of `fields` that another dialect has under the same name and in the same form. They leave `fields`, so that
    no loss reports them."""
    return {name: fields.pop(name) for name in names if name in fields and fields[name] != NULL}


def with_shared(extra: Extra | None, dialect: str, shared: dict[str, Raw]) -> Extra | None:
    """`extra` with fields for another dialect's writer to put back."""
    return {**(extra or {}), dialect: {**(extra or {}).get(dialect, {}), **shared}} if shared else extra


def without_cache_options(extra: Extra, dialect: str, context: Context) -> Extra:
    """`extra` without options of the prompt's cache from another dialect, if the model is not known to take them."""
    fields = extra.get(dialect, {})
    if CACHE_OPTIONS not in fields or context.profile.cache_marks:
        return extra
    context.lose("field.dropped", (CACHE_OPTIONS,), "the model is not known to take it", "info")
    return {**extra, dialect: {name: value for name, value in fields.items() if name != CACHE_OPTIONS}}


CACHE_OPTIONS = "prompt_cache_options"


def misplaced(context: Context, at: Path, wire: Struct, names: tuple[str, ...], extra: Extra | None) -> Extra | None:
    """`extra` with those of `names` that were sent: fields the dialect has, but not in an object of this kind."""
    found = {name: Raw(_encode(value)) for name in names if (value := getattr(wire, name))}
    if not found:
        return extra
    context.keep(at, found)
    return {context.source: {**(extra or {}).get(context.source, {}), **found}}


def restore(out: dict[str, Any], extra: Extra | None, dialect: str) -> dict[str, Any]:
    """Put a dialect's own extra fields back into the object it writes; what is written already stays."""
    if extra is not None:
        for name, value in extra.get(dialect, {}).items():
            if "/" not in name:
                out.setdefault(name.replace("~1", "/").replace("~0", "~"), value)
            else:
                _restore_below(out, name.split("/"), value)
    return out


def _restore_below(out: Any, steps: list[str], value: Raw) -> None:
    *path, last = [step.replace("~1", "/").replace("~0", "~") for step in steps]
    for i, step in enumerate(path):
        if isinstance(out, dict) and step in out:
            if isinstance(out[step], Raw) and bytes(memoryview(out[step])[:1]) == b"{":
                out[step] = _object(out[step])
            out = out[step]
        elif isinstance(out, list) and step.isdigit() and int(step) < len(out):
            if isinstance(out[int(step)], Raw) and bytes(memoryview(out[int(step)])[:1]) == b"{":
                out[int(step)] = _object(out[int(step)])
            out = out[int(step)]
        elif isinstance(out, dict) and i == len(path) - 1 and last.isdigit():
            out[step] = out = []  # a list of nothing but what was not understood
        else:
            return
    if isinstance(out, dict):
        out.setdefault(last, value)
    elif isinstance(out, list) and last.isdigit():
        out.insert(int(last), value)


def _name(steps: Path) -> str:
    first = steps[0]
    if len(steps) == 1 and type(first) is str and "/" not in first and "~" not in first:
        return first
    return "/".join([str(step).replace("~", "~0").replace("/", "~1") for step in steps])
