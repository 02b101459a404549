"""What a model family takes and refuses: rows of `profiles.json`, matched by dialect and model name.

Later rows win over earlier ones, field by field. Every row says where the fact comes from and of which date it is.
`load` adds rows of your own on top.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from ..errors import ConfigError
from .profile import DEFAULT_PROFILE, Profile

R = TypeVar("R", bound=Struct)


class Row(Struct, frozen=True, forbid_unknown_fields=True):
    """Facts about the models of one dialect whose name matches one of the patterns (* stands for anything)."""

    dialects: tuple[str, ...]
    match: tuple[str, ...]
    facts: dict[str, Any]
    source: str
    date: str
    names: tuple[str, ...] = ()
    """Models of the row that can be asked for by these names, for lists where the upstream has none."""


class Loaded:
    """Rows that were added. They stay until `unload`, or until the end of a `with`."""

    def __init__(self, unload: Callable[[], None]) -> None:
        self.unload = unload

    def __enter__(self) -> Loaded:
        return self

    def __exit__(self, *_: object) -> None:
        self.unload()


def _bytes(path: str | os.PathLike[str]) -> bytes:
    # Not by pathlib, which would load six more modules with every import of the package.
    with open(path, "rb") as file:
        return file.read()


class Table(Generic[R]):
    """Rows of a data file beside this module, and those that were loaded on top of them."""

    def __init__(self, file: str, row: type[R], facts: type[Struct], forget: Callable[[], None]) -> None:
        self._file = file
        self._row = row
        self._known = tuple([field.name for field in msgspec.structs.fields(facts)])
        self._facts = facts
        self._forget = forget
        self._own: tuple[R, ...] | None = None
        self._loaded: tuple[tuple[R, ...], ...] = ()

    def rows(self) -> tuple[R, ...]:
        own = self._own
        if own is None:
            shipped = _bytes(os.path.join(os.path.dirname(__file__), self._file))
            own = msgspec.json.decode(shipped, type=tuple[self._row, ...])  # type: ignore[name-defined]
            self._own = own
        return own + tuple([row for batch in self._loaded for row in batch])

    def load(self, source: str | os.PathLike[str] | Iterable[R | Mapping[str, Any]]) -> Loaded:
        try:
            given = msgspec.json.decode(_bytes(source)) if isinstance(source, str | os.PathLike) else source
            batch = tuple([self._checked(row) for row in given])
        except (msgspec.DecodeError, RecursionError, UnicodeError, TypeError) as error:
            raise ConfigError("rows", str(error), tuple(self._row.__struct_fields__)) from None
        self._loaded = (*self._loaded, batch)
        self._forget()

        def unload() -> None:
            self._loaded = tuple([one for one in self._loaded if one is not batch])
            self._forget()

        return Loaded(unload)

    def _checked(self, row: R | Mapping[str, Any]) -> R:
        made = row if isinstance(row, self._row) else msgspec.convert(row, self._row)
        facts: Mapping[str, Any] = made.facts  # type: ignore[attr-defined]
        for name in facts:
            if name not in self._known:
                raise ConfigError("fact", name, self._known)
        msgspec.convert(facts, self._facts)
        return made


def rows() -> tuple[Row, ...]:
    """The rows of the data file, and those loaded on top of them."""
    return _TABLE.rows()


def load(source: str | os.PathLike[str] | Iterable[Row | Mapping[str, Any]]) -> Loaded:
    """Add rows, or those of a JSON file, on top: they win over all before them. With `with` they are gone behind it."""
    return _TABLE.load(source)


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[frozenset[str], re.Pattern[str], dict[str, Any]], ...]:
    return tuple([(frozenset(row.dialects), compiled(row.match), row.facts) for row in rows()])


def compiled(match: tuple[str, ...]) -> re.Pattern[str]:
    """What finds the names of models that one of the patterns is about."""
    words = ["[^/]*".join([re.escape(piece) for piece in pattern.split("*")]) for pattern in match]
    # A model may be named with its route or publisher in front: "anthropic/claude-opus-5", "models/gemini-3",
    # "eu.anthropic.claude-opus-5".
    return re.compile(rf"(?:.*/)?(?:(?:[a-z]+\.)?anthropic\.)?(?:{'|'.join(words)})\Z", re.IGNORECASE)


def lookup(dialect: str, model: str) -> Profile:
    """What is known about `model` when it is asked in `dialect`."""
    return _known(dialect, model) if len(model) <= LONGEST else _found(dialect, model)


def _found(dialect: str, model: str) -> Profile:
    facts: dict[str, Any] = {}
    for dialects, pattern, known in _patterns():
        if dialect in dialects and pattern.match(model):
            facts.update(known)
    return msgspec.convert(facts, Profile) if facts else DEFAULT_PROFILE


_known = lru_cache(maxsize=1024)(_found)
LONGEST = 200
"""Longer names, which a client may choose as it likes, are not remembered."""


def changes(dialect: str, asked: str, model: str) -> bool:
    """Whether `model` takes or refuses other things than `asked`, the model that a request was written for."""
    if asked == model:
        return False
    fits = len(asked) <= LONGEST and len(model) <= LONGEST
    return _changes(dialect, asked, model) if fits else _differ(dialect, asked, model)


def _differ(dialect: str, asked: str, model: str) -> bool:
    known = lookup(dialect, model)
    return known != DEFAULT_PROFILE and known != lookup(dialect, asked)


_changes = lru_cache(maxsize=1024)(_differ)


def names(dialect: str) -> tuple[str, ...]:
    """Models that are known to be served in `dialect`, those of later rows first, each once."""
    return tuple(dict.fromkeys([name for row in reversed(rows()) if dialect in row.dialects for name in row.names]))


def _forget() -> None:
    _patterns.cache_clear()
    _known.cache_clear()
    _changes.cache_clear()


_TABLE = Table("profiles.json", Row, Profile, _forget)
