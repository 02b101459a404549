"""Hosts that speak a dialect of somebody else with differences: rows of `hosts.json`, found by host or by short name.

A row with `names` declares a host: its short names, of which the first is its own, and the host names it listens on
(`match`, * stands for anything). That row and every one that has the host's own name in `of` tell facts about it; later
rows win, fact by fact, and within `fields`, `roles` and `switch` entry by entry. Every row says where its facts come
from and of which date they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from .crossing import Host
from .profiles import Loaded, Table


class HostRow(Struct, frozen=True, forbid_unknown_fields=True):
    """A host, or facts about some."""

    facts: dict[str, Any]
    source: str
    date: str
    names: tuple[str, ...] = ()
    match: tuple[str, ...] = ()
    of: tuple[str, ...] = ()
    dialects: tuple[str, ...] = ("openai-chat",)


def rows() -> tuple[HostRow, ...]:
    """The rows of the data file, and those loaded on top of them."""
    return _TABLE.rows()


def load(source: str | os.PathLike[str] | Iterable[HostRow | Mapping[str, Any]]) -> Loaded:
    """Add rows, or those of a JSON file, on top: they win over all before them. With `with` they are gone behind it."""
    return _TABLE.load(source)


@lru_cache(maxsize=256)
def lookup(host: str, dialect: str) -> Host | None:
    """What is known of the host that listens at `host`, or is called so, when it is spoken to in `dialect`."""
    found = _declared(host)
    return _facts(found, dialect) if found else None


def origin(host: str | None) -> str:
    """What a host is called where seals say whose they are: its short name, else its host name."""
    return (_declared(host) or _bare(host)) if host else ""


def _bare(host: str) -> str:
    """The host name in what may be an address."""
    return host.lower().partition("://")[2].partition("/")[0] if "://" in host else host.lower()


@lru_cache(maxsize=256)
def _declared(host: str) -> str:
    name = _bare(host)
    without_port = name.rpartition(":")[0] or name
    found = ""
    for row in rows():
        listens = [pattern for pattern in row.match if _listens(pattern, name) or _listens(pattern, without_port)]
        if row.names and (name in row.names or listens):
            found = row.names[0]
    return found


def _listens(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join([re.escape(piece) for piece in pattern.split("*")]), name) is not None


@lru_cache(maxsize=256)
def _facts(name: str, dialect: str) -> Host | None:
    facts: dict[str, Any] = {}
    for row in rows():
        if dialect in row.dialects and name in (*row.of, *row.names[:1]):
            for fact, value in row.facts.items():
                facts[fact] = {**facts.get(fact, {}), **value} if isinstance(value, dict) else value
    return msgspec.convert({**facts, "name": name}, Host) if facts else None


def _forget() -> None:
    lookup.cache_clear()
    _declared.cache_clear()
    _facts.cache_clear()


_TABLE = Table("hosts.json", HostRow, Host, _forget)
