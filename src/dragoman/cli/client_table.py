"""Owns the table of clients (`clients.toml`): its rows, and the values that fill a row for one gateway and one model.

Nothing here starts a program or writes a file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import msgspec
from msgspec import Struct

ANY = "any"
"""The row for commands that have no row of their own."""

# `{context or 200000}` contains the number that is used if the value is unknown.
_PLACEHOLDER = re.compile(r"\{(base|key|key_env|model|context|output|settings)(?: or (\d+))?\}")
_MISSING = object()


class SettingsFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A file of the client, and what `dragoman connect` writes into it."""

    path: str
    form: Literal["json", "toml", "env"]
    content: dict[str, Any]


class ClientRow(Struct, frozen=True, forbid_unknown_fields=True):
    """One client: how it is started on a gateway, and which of its files name the gateway."""

    title: str
    install: str
    """The command that installs the client."""
    tried: str = ""
    """The version that was tried; "": none was."""
    dialects: tuple[str, ...] = ()
    """The dialects of the client. The settings below use the first one."""
    tested: str = ""
    """How the client was tested, for its page."""
    notes: tuple[str, ...] = ()
    """Paragraphs about other ways to set up the client, for its page."""
    client_model: str = ""
    only_known_models: bool = False
    """The client refuses every model name that is not in its own list."""
    needs_model: bool = False
    """The client has no default model that could be used."""
    arguments: tuple[tuple[str, ...], ...] = ()
    """Arguments before the user's own, in groups that belong together."""
    environment: dict[str, str] = {}
    unset: tuple[str, ...] = ()
    """Variables that would point the client at another server."""
    settings_name: str = ""
    settings_form: str = "{json}"
    settings: dict[str, Any] = {}
    """The content of the file for one session."""
    connect: tuple[SettingsFile, ...] = ()


class ClientFacts(Struct, frozen=True):
    """The values that fill a row. An empty value is unknown."""

    base: str
    key: str = ""
    key_env: str = ""
    """The variable that holds the key."""
    model: str = ""
    context: int = 0
    output: int = 0
    settings: str = ""


@cache
def rows() -> dict[str, ClientRow]:
    """All rows by the name of the client's program."""
    text = files("dragoman.cli").joinpath("clients.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, ClientRow])


def names() -> list[str]:
    """The clients that have a row of their own."""
    return [name for name in rows() if name != ANY]


def arguments(row: ClientRow, facts: ClientFacts) -> list[str]:
    """The arguments that point the client at the gateway."""
    groups = [fill_placeholders(list(group), facts) for group in row.arguments]
    return [
        word for group, wanted in zip(groups, row.arguments, strict=True) if len(group) == len(wanted) for word in group
    ]


def environment(row: ClientRow, facts: ClientFacts) -> dict[str, str]:
    """The variables that point the client at the gateway."""
    return {name: str(value) for name, value in fill_placeholders(row.environment, facts).items()}


def settings_text(row: ClientRow, facts: ClientFacts) -> str:
    """The text of the settings file for one session."""
    text = msgspec.json.format(msgspec.json.encode(fill_placeholders(row.settings, facts)), indent=2).decode()
    return row.settings_form.replace("{json}", text)


def fill_placeholders(value: Any, facts: ClientFacts) -> Any:
    """A value of a row with its placeholders replaced, at any depth. Entries with an unknown value are left out."""
    found = _filled(value, facts)
    return {} if found is _MISSING else found


def _filled(value: Any, facts: ClientFacts) -> Any:
    if isinstance(value, str):
        return _text(value, facts)
    if isinstance(value, Mapping):
        pairs = [(_text(key, facts), _filled(one, facts)) for key, one in value.items()]
        kept = {key: one for key, one in pairs if key is not _MISSING and one is not _MISSING}
        return kept if kept or not value else _MISSING
    if isinstance(value, list | tuple):
        return [one for one in (_filled(item, facts) for item in value) if one is not _MISSING]
    return value


def _text(text: str, facts: ClientFacts) -> Any:
    whole = _PLACEHOLDER.fullmatch(text)
    if whole is not None:
        return getattr(facts, whole[1]) or (int(whole[2]) if whole[2] else _MISSING)
    if any(not getattr(facts, found[1]) and not found[2] for found in _PLACEHOLDER.finditer(text)):
        return _MISSING
    return _PLACEHOLDER.sub(lambda found: str(getattr(facts, found[1]) or found[2]), text)
