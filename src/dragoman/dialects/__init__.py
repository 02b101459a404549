"""The dialects: one folder each, found by listing this one; others by the entry-point group `dragoman.dialects`."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from ..dialect import Dialect
from ..errors import ConfigError

if TYPE_CHECKING:
    from ..endpoints.records import Endpoints

GROUP = "dragoman.dialects"


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """The built-in dialects."""
    import pkgutil  # and two more modules, which the import of the package can do without

    return tuple(sorted([module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__) if module.ispkg]))


@lru_cache(maxsize=1)
def installed() -> tuple[str, ...]:
    """The built-in dialects, and those that installed packages bring."""
    from importlib.metadata import entry_points

    return tuple(dict.fromkeys([*names(), *sorted([point.name for point in entry_points(group=GROUP)])]))


def is_known(name: str) -> bool:
    """Whether there is a dialect called `name`. Installed packages are looked at only where no built-in one is."""
    return name in names() or name in installed()


@lru_cache(maxsize=64)
def get(name: str) -> Dialect:
    """The dialect called `name`."""
    if name in names():
        found = import_module(f"{__name__}.{name.replace('-', '_')}").DIALECT
    else:
        found = _plugged(name)
    if not isinstance(found, Dialect):
        raise ConfigError("dialect", name, names())
    return found


@lru_cache(maxsize=64)
def endpoints(name: str) -> Endpoints:
    """How the dialect called `name` is served, asked and judged.

    The file `endpoints.py` of a folder is read alone: a gateway needs the endpoints of all dialects when it starts, and
    the readers and writers of few.
    """
    from importlib.util import find_spec  # late, like pkgutil

    folder = f"{__name__}.{name.replace('-', '_')}"
    if name in names() and find_spec(f"{folder}.endpoints") is not None:
        found: Endpoints = import_module(f"{folder}.endpoints").ENDPOINTS
        return found
    return get(name).endpoints()


def _plugged(name: str) -> object:
    # Looked up only on a miss: importlib.metadata loads the socket module.
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name=name):
        return point.load()
    return None
