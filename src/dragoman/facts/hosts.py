"""Finds the facts about a host by host name or short name: rows of `hosts.json`.

A row with `names` declares a host: its short names (the first is the main name) and its host names (`match`, * matches
any text). That row, and every row with the main name in `of`, states facts about the host. A later row wins for each
fact, and in `fields`, `roles` and `switch` for each entry. A row with `models` states facts about these models only: a
host may accept a field for one model and refuse it for another. Every row names the source and the date of its facts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from . import lookup_cache
from .host import Host
from .profiles import LONGEST, FactTable, Loaded, compile_patterns


class HostRow(Struct, frozen=True, forbid_unknown_fields=True):
    """The declaration of a host, or facts about declared hosts."""

    facts: dict[str, Any]
    source: str
    date: str
    names: tuple[str, ...] = ()
    match: tuple[str, ...] = ()
    of: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    """The models that the facts apply to. Empty: all models of the host."""
    dialects: tuple[str, ...] = ("openai-chat",)


def rows() -> tuple[HostRow, ...]:
    """The rows of the data file, then the rows that were loaded."""
    return _TABLE.rows()


def load(source: str | os.PathLike[str] | Iterable[HostRow | Mapping[str, Any]]) -> Loaded:
    """Add rows, or the rows of a JSON file. They win over all earlier rows. As a context manager, the result removes
    them at the end.
    """
    return _TABLE.load(source)


def lookup(host: str, dialect: str, model: str = "") -> Host | None:
    """The facts about the host with this host name or short name, for requests in `dialect`. Without a model: the facts
    that hold for all models of the host.
    """
    found = _declared_host(host)
    if not found:
        return None
    return _facts(found, dialect, model if len(model) <= LONGEST else "")


def origin_name(host: str | None) -> str:
    """The name of a host in the origin of a seal: its short name, else its host name."""
    return (_declared_host(host) or _host_name(host)) if host else ""


def _host_name(host: str) -> str:
    """The host name of an address; `host` itself if it is not an address."""
    return host.lower().partition("://")[2].partition("/")[0] if "://" in host else host.lower()


@lookup_cache(256)
def _declared_host(host: str) -> str:
    name = _host_name(host)
    without_port = name.rpartition(":")[0] or name
    found = ""
    for row in rows():
        listens = [
            pattern for pattern in row.match if _matches_name(pattern, name) or _matches_name(pattern, without_port)
        ]
        # A later row wins, so the search continues.
        if row.names and (name in row.names or listens):
            found = row.names[0]
    return found


def _matches_name(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join([re.escape(piece) for piece in pattern.split("*")]), name) is not None


@lookup_cache(1024)
def _facts(name: str, dialect: str, model: str) -> Host | None:
    facts: dict[str, Any] = {}
    for row in rows():
        if row.models and not (model and compile_patterns(row.models).match(model)):
            continue
        if dialect in row.dialects and name in (*row.of, *row.names[:1]):
            for fact, value in row.facts.items():
                facts[fact] = {**facts.get(fact, {}), **value} if isinstance(value, dict) else value
    return msgspec.convert({**facts, "name": name}, Host) if facts else None


def _forget() -> None:
    _declared_host.cache_clear()
    _facts.cache_clear()


_TABLE = FactTable("hosts.json", HostRow, Host, _forget)
