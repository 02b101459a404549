"""Owns extras: fields that only one dialect has. Its reader collects them, its writer restores them.

The name of an extra is the field's name, or a path below the object that holds it ("function/foo", with steps escaped
as in a JSON pointer). So a field inside an object that the canon does not have can be restored.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ..canon.parts import Extra, Path
from ..context import Context
from .wire_decoding_with_unknown_fields import Indexed, Unknown

NULL = Raw(b"null")
# Most documents have no or very few unknown fields. An index would cost more than it saves.
_FEW = 4
"""Paths that are compared one by one, without an index."""
_encode = msgspec.json.Encoder().encode
_object = msgspec.json.Decoder(dict[str, Raw]).decode


class Fields(tuple[str, ...]):
    """Names of the fields of a Struct, read all at once."""

    values: Callable[[Struct], tuple[Any, ...]]

    def __new__(cls, *names: str) -> Fields:
        made = super().__new__(cls, names)
        # One call of attrgetter for many fields is much faster than one getattr for each.
        made.values = attrgetter(*names) if len(names) > 1 else lambda wire: (getattr(wire, names[0]),)
        return made

    @cached_property
    def any_sent(self) -> Callable[[Struct], object]:
        """Whether one of the fields is true. In most objects none is, so this check comes before a check of each
        field."""
        return _either(self, "")

    @cached_property
    def any_set(self) -> Callable[[Struct], object]:
        """Whether one of the fields is not None."""
        return _either(self, " is not None")


def _either(names: Fields, condition: str) -> Callable[[Struct], object]:
    # A written-out expression takes a fifth of the time of attrgetter and `any` (ten fields: 0.09 and 0.46 us).
    found: Callable[[Struct], object] = eval("lambda value: " + " or ".join([f"value.{x}{condition}" for x in names]))
    return found


def sent_fields(wire: Struct, names: tuple[str, ...]) -> dict[str, Raw] | None:
    """The raw fields among `names` that the source sent."""
    if type(names) is Fields and not names.any_sent(wire):
        return None
    return {name: value for name in names if (value := getattr(wire, name))} or None


def gather(context: Context, at: Path, unknown: Unknown, more: dict[str, Raw] | None = None) -> Extra | None:
    """The fields at and below `at` that the canon cannot hold, kept under the source dialect. None: there are none.

    `more`: fields that the wire Struct has and the canon does not. The fields are removed from `unknown`: readers
    gather for inner objects first, and for the whole document last.
    """
    # A name with a slash is a path. It is reported at the path of the field, not of the object that carries it.
    if more:
        if "/" in "".join(more):
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


def take_shared_fields(fields: dict[str, Raw], names: frozenset[str]) -> dict[str, Raw]:
    """The fields among `fields` that another dialect has with the same name and form. They are removed from `fields`,
    so that no loss is reported.
    """
    return {name: fields.pop(name) for name in names if name in fields and fields[name] != NULL}


def with_shared(extra: Extra | None, dialect: str, shared: dict[str, Raw]) -> Extra | None:
    """`extra` with fields that the writer of another dialect restores."""
    return {**(extra or {}), dialect: {**(extra or {}).get(dialect, {}), **shared}} if shared else extra


def without_cache_options(extra: Extra, dialect: str, context: Context) -> Extra:
    """`extra` without the cache options of another dialect, unless the model is known to accept them."""
    fields = extra.get(dialect, {})
    # Models from GPT-5.6 on take explicit cache options (openai 3.49.0, 2026-11).
    if CACHE_OPTIONS not in fields or context.profile.cache_marks:
        return extra
    context.lose("field.dropped", (CACHE_OPTIONS,), "the model is not known to take it", "info")
    return {**extra, dialect: {name: value for name, value in fields.items() if name != CACHE_OPTIONS}}


CACHE_OPTIONS = "prompt_cache_options"


def with_misplaced_fields(
    context: Context, at: Path, wire: Struct, names: tuple[str, ...], extra: Extra | None
) -> Extra | None:
    """`extra` with the sent fields among `names`: the dialect has these fields, but not in this kind of object."""
    if type(names) is Fields and not names.any_sent(wire):
        return extra
    # Fields of the Struct are encoded again: they were decoded before it was known that they are misplaced.
    found = {name: Raw(_encode(value)) for name in names if (value := getattr(wire, name))}
    if not found:
        return extra
    context.keep(at, found)
    return {context.source: {**(extra or {}).get(context.source, {}), **found}}


def restore(out: dict[str, Any], extra: Extra | None, dialect: str) -> dict[str, Any]:
    """Restore a dialect's own extra fields in the object that it writes. A field that is already written stays."""
    fields = extra.get(dialect) if extra is not None else None
    if fields is not None:
        for name, value in fields.items():
            if "/" not in name:
                # The order matters: `~01` is the name `~1`, not a slash (RFC 6901).
                out.setdefault(name.replace("~1", "/").replace("~0", "~"), value)
            else:
                _restore_below(out, name.split("/"), value)
    return out


def _restore_below(out: Any, steps: list[str], value: Raw) -> None:
    *path, last = [step.replace("~1", "/").replace("~0", "~") for step in steps]
    for i, step in enumerate(path):
        if isinstance(out, dict) and step in out:
            # A raw object is opened only if something must be written into it, so that its bytes stay exact otherwise.
            if isinstance(out[step], Raw) and bytes(memoryview(out[step])[:1]) == b"{":
                out[step] = _object(out[step])
            out = out[step]
        elif isinstance(out, list) and step.isdigit() and int(step) < len(out):
            if isinstance(out[int(step)], Raw) and bytes(memoryview(out[int(step)])[:1]) == b"{":
                out[int(step)] = _object(out[int(step)])
            out = out[int(step)]
        elif isinstance(out, dict) and i == len(path) - 1 and last.isdigit():
            out[step] = out = []  # a list that holds only unknown values
        else:
            # The object on the way was not written, so the field has no place. The reader reported it.
            return
    if isinstance(out, dict):
        out.setdefault(last, value)
    elif isinstance(out, list) and last.isdigit():
        # `insert`: unknown members were removed from the list, and their numbers count in the original list.
        out.insert(int(last), value)


def _name(steps: Path) -> str:
    first = steps[0]
    if len(steps) == 1 and type(first) is str and "/" not in first and "~" not in first:
        return first
    return "/".join([str(step).replace("~", "~0").replace("/", "~1") for step in steps])
