"""Hosts that speak a dialect of somebody else with differences: rows of `hosts.json`, found by host or by short name.

A row with `names` declares a host: its short names, of which the first is its own, and the host names it listens on
(`match`, * stands for anything). That row and every one that has the host's own name in `of` tell facts about it; later
rows win, fact by fact, and within `fields`, `roles` and `switch` entry by entry. A row with `models` is about the
models of these names alone: a host may take for one model what it refuses for another. Every row says where its facts
come from and of which date they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from .host import Host
from .profiles import LONGEST, Loaded, Table, compiled


class HostRow(Struct, frozen=True, forbid_unknown_fields=True):
    """A host, or facts about some."""

    facts: dict[str, Any]
    source: str
    date: str
    names: tuple[str, ...] = ()
    match: tuple[str, ...] = ()
    of: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    """The models that the facts are about; empty: all that the host serves."""
    dialects: tuple[str, ...] = ("openai-chat",)


def rows() -> tuple[HostRow, ...]:
    """The rows of the data file, and those loaded on top of them."""
    return _TABLE.rows()


def load(source: str | os.PathLike[str] | Iterable[HostRow | Mapping[str, Any]]) -> Loaded:
    """Add rows, or those of a JSON file, on top: they win over all before them. With `with` they are gone behind it."""
    return _TABLE.load(source)


def lookup(host: str, dialect: str, model: str = "") -> Host | None:
    """What is known of the host that listens at `host`, or is called so, when it is spoken to in `dialect`. Without a
    model: what holds for all its models."""
    found = _declared(host)
    if not found:
        return None
    return _facts(found, dialect, model if len(model) <= LONGEST else "")


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


@lru_cache(maxsize=1024)
def _facts(name: str, dialect: str, model: str) -> Host | None:
    facts: dict[str, Any] = {}
    for row in rows():
        if row.models and not (model and compiled(row.models).match(model)):
            continue
        if dialect in row.dialects and name in (*row.of, *row.names[:1]):
            for fact, value in row.facts.items():
                facts[fact] = {**facts.get(fact, {}), **value} if isinstance(value, dict) else value
    return msgspec.convert({**facts, "name": name}, Host) if facts else None


def _forget() -> None:
    _declared.cache_clear()
    _facts.cache_clear()


_TABLE = Table("hosts.json", HostRow, Host, _forget)
