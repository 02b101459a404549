"""Finds dialects by name: built-in ones by the folders here, installed ones by the entry points `dragoman.dialects`.

Nothing is imported before its first use: one translation needs two of the dialects.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from ..dialect import Dialect
from ..errors import ConfigError

if TYPE_CHECKING:
    from ..dialect.endpoints_record import Endpoints

GROUP = "dragoman.dialects"

DialectName = (
    Literal["anthropic", "code-assist", "gemini", "ollama", "openai-chat", "openai-responses", "openrouter"] | str
)
"""The type of parameters that name a dialect: editors offer the built-in ones, and an installed one is accepted."""

ALIASES = {"claude": "anthropic", "google": "gemini", "openai": "openai-chat"}
"""Names that people try first, for the command line and the configuration. The library takes the exact names only."""


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """The names of the built-in dialects."""
    import pkgutil  # late: keeps the import of the package short

    return tuple(sorted([module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__) if module.ispkg]))


@lru_cache(maxsize=1)
def installed() -> tuple[str, ...]:
    """The names of the built-in dialects and of the dialects in installed packages."""
    from importlib.metadata import entry_points

    return tuple(dict.fromkeys([*names(), *sorted([point.name for point in entry_points(group=GROUP)])]))


def dialect_name(word: str) -> str:
    """The name of the dialect that a person means: an alias, capitals and underscores are accepted."""
    plain = word.strip().lower().replace("_", "-")
    return word if is_known(word) else ALIASES.get(plain, plain)


def is_known(name: str) -> bool:
    """Whether there is a dialect called `name`. Installed packages are searched only if no built-in dialect has it."""
    return name in names() or name in installed()


@lru_cache(maxsize=64)
def get(name: str) -> Dialect:
    """The dialect called `name`; ConfigError if there is none."""
    if name in names():
        found = import_module(f"{__name__}.{name.replace('-', '_')}").DIALECT
    else:
        found = _plugged(name)
    if not isinstance(found, Dialect):
        meant = dialect_name(name)
        raise ConfigError("dialect", name, names(), meant=meant if is_known(meant) else "")
    return found


@lru_cache(maxsize=64)
def endpoints(name: str) -> Endpoints:
    """How servers serve the dialect called `name`, and how clients call it.

    Only the file `endpoints.py` of a folder is imported. A gateway needs the endpoints of all dialects when it starts,
    but the readers and writers of few dialects.
    """
    from importlib.util import find_spec  # late, like pkgutil

    folder = f"{__name__}.{name.replace('-', '_')}"
    if name in names() and find_spec(f"{folder}.endpoints") is not None:
        found: Endpoints = import_module(f"{folder}.endpoints").ENDPOINTS
        return found
    return get(name).endpoints()


def _plugged(name: str) -> object:
    # Late, and only for names that are not built in: importlib.metadata loads the socket module.
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name=name):
        return point.load()
    return None
