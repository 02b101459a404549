"""Finds the facts about a model by dialect and model name: rows of `profiles.json`.

A later row wins over earlier rows, for each field. Every row names the source and the date of its facts. `load` adds
more rows.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from ..errors import ConfigError
from . import lookup_cache
from .profile import DEFAULT_PROFILE, Profile

R = TypeVar("R", bound=Struct)


class ProfileRow(Struct, frozen=True, forbid_unknown_fields=True):
    """Facts about the models of one dialect whose name matches one of the patterns (* matches any text)."""

    dialects: tuple[str, ...]
    match: tuple[str, ...]
    facts: dict[str, Any]
    source: str
    date: str
    names: tuple[str, ...] = ()
    """Model names for lists of models, if the upstream offers no list of its own."""


class Loaded:
    """Rows that were added. They stay until `unload` is called, or until the `with` block ends."""

    def __init__(self, unload: Callable[[], None]) -> None:
        self.unload = unload

    def __enter__(self) -> Loaded:
        return self

    def __exit__(self, *_: object) -> None:
        self.unload()


def _bytes(path: str | os.PathLike[str]) -> bytes:
    # pathlib is avoided: it would load six more modules with every import of the package.
    with open(path, "rb") as file:
        return file.read()


class FactTable(Generic[R]):
    """The rows of a data file beside this module, and the rows that were loaded."""

    def __init__(self, file: str, row: type[R], facts: type[Struct], forget: Callable[[], None]) -> None:
        self._file = file
        self._row = row
        self._known = tuple([field.name for field in msgspec.structs.fields(facts)])
        self._facts = facts
        self._forget = forget
        self._own: tuple[R, ...] | None = None
        self._loaded: tuple[tuple[R, ...], ...] = ()

    def rows(self) -> tuple[R, ...]:
        """The rows of the data file, then the rows that were loaded."""
        own = self._own
        if own is None:
            shipped = _bytes(os.path.join(os.path.dirname(__file__), self._file))
            own = msgspec.json.decode(shipped, type=tuple[self._row, ...])  # type: ignore[name-defined]
            self._own = own
        return own + tuple([row for batch in self._loaded for row in batch])

    def load(self, source: str | os.PathLike[str] | Iterable[R | Mapping[str, Any]]) -> Loaded:
        """Add rows, or the rows of a JSON file. Raises ConfigError for a row with a wrong or unknown fact."""
        try:
            given = msgspec.json.decode(_bytes(source)) if isinstance(source, str | os.PathLike) else source
            batch = tuple([self._checked(row) for row in given])
        except (msgspec.DecodeError, RecursionError, UnicodeError, TypeError) as error:
            raise ConfigError("rows", str(error), tuple(self._row.__struct_fields__)) from None
        self._loaded = (*self._loaded, batch)
        self._forget()

        def unload() -> None:
            # Two equal batches may be loaded. Only this one is removed.
            self._loaded = tuple([one for one in self._loaded if one is not batch])
            self._forget()

        return Loaded(unload)

    def _checked(self, row: R | Mapping[str, Any]) -> R:
        made = row if isinstance(row, self._row) else msgspec.convert(row, self._row)
        facts: Mapping[str, Any] = msgspec.structs.asdict(made)["facts"]
        for name in facts:
            if name not in self._known:
                raise ConfigError("fact", name, self._known)
        # The result is not used. A fact with a wrong type must fail now, not at its first use.
        msgspec.convert(facts, self._facts)
        return made


def rows() -> tuple[ProfileRow, ...]:
    """The rows of the data file, then the rows that were loaded."""
    return _TABLE.rows()


def load(source: str | os.PathLike[str] | Iterable[ProfileRow | Mapping[str, Any]]) -> Loaded:
    """Add rows, or the rows of a JSON file. They win over all earlier rows. As a context manager, the result removes
    them at the end.
    """
    return _TABLE.load(source)


@cache  # one table: compiling its expressions takes a millisecond
def _patterns() -> tuple[tuple[frozenset[str], re.Pattern[str], dict[str, Any]], ...]:
    return tuple([(frozenset(row.dialects), compile_patterns(row.match), row.facts) for row in rows()])


def compile_patterns(match: tuple[str, ...]) -> re.Pattern[str]:
    """The regular expression of the model names that match one of the patterns."""
    words = ["[^/]*".join([re.escape(piece) for piece in pattern.split("*")]) for pattern in match]
    # A route or a publisher may be before the model name: "anthropic/claude-opus-5", "models/gemini-3",
    # "eu.anthropic.claude-opus-5".
    return re.compile(rf"(?:.*/)?(?:(?:[a-z]+\.)?anthropic\.)?(?:{'|'.join(words)})\Z", re.IGNORECASE)


def lookup(dialect: str, model: str) -> Profile:
    """The facts about `model` for requests in `dialect`."""
    return _known(dialect, model) if len(model) <= LONGEST else _found(dialect, model)


def _found(dialect: str, model: str) -> Profile:
    facts: dict[str, Any] = {}
    for dialects, pattern, known in _patterns():
        if dialect in dialects and pattern.match(model):
            facts.update(known)
    return msgspec.convert(facts, Profile) if facts else DEFAULT_PROFILE


_known = lookup_cache(1024)(_found)
LONGEST = 200
"""Longer names are not cached: a client may choose any name."""


def facts_differ(dialect: str, requested: str, model: str) -> bool:
    """Whether `model` differs in its facts from `requested`, the model that the client wrote the request for."""
    if requested == model:
        return False
    fits = len(requested) <= LONGEST and len(model) <= LONGEST
    return _changes(dialect, requested, model) if fits else _compare_facts(dialect, requested, model)


def _compare_facts(dialect: str, requested: str, model: str) -> bool:
    known = lookup(dialect, model)
    return known != DEFAULT_PROFILE and known != lookup(dialect, requested)


_changes = lookup_cache(1024)(_compare_facts)


def names(dialect: str) -> tuple[str, ...]:
    """The model names that are known for `dialect`, each once. Names of later rows come first."""
    return tuple(dict.fromkeys([name for row in reversed(rows()) if dialect in row.dialects for name in row.names]))


def _forget() -> None:
    _patterns.cache_clear()
    _known.cache_clear()
    _changes.cache_clear()


_TABLE = FactTable("profiles.json", ProfileRow, Profile, _forget)
