"""The facts that a bug report needs: version, commit, Python, system, and the versions of the packages in use."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.resources import files

import msgspec

from .. import __version__
from .missing_packages import EXTRAS

_PACKAGES = ("msgspec", "click", "rich", "httptools", "uvloop")
_DISTRIBUTIONS = {"google": "google-auth", "jsonschema_rs": "jsonschema-rs", "opentelemetry": "opentelemetry-api"}


def version_lines() -> Iterator[str]:
    """The version, then one fact in each line."""
    built = _built()
    commit = f" (commit {built['commit'][:12]} of {built['date']})" if built.get("commit") else ""
    yield f"dragoman {__version__}{commit}"
    yield f"Python {platform.python_version()} ({platform.python_implementation()}) at {sys.executable}"
    yield f"System {platform.system()} {platform.release()} {platform.machine()}"
    yield "Packages " + ", ".join([f"{name} {version(name) or 'missing'}" for name in _PACKAGES])
    extras = {_DISTRIBUTIONS.get(name, name): version(name) for name in EXTRAS}
    yield "Extras " + (", ".join([f"{name} {found}" for name, found in extras.items() if found]) or "none")


def version(package: str) -> str:
    """The installed version of a package; "" where it is not installed."""
    try:
        return metadata.version(_DISTRIBUTIONS.get(package, package))
    except metadata.PackageNotFoundError:
        return ""


def _built() -> dict[str, str]:
    """The facts that the build wrote into the wheel; none in a work tree."""
    try:
        data = files("dragoman").joinpath("build-facts.json").read_bytes()
    except FileNotFoundError:
        return {}
    return msgspec.json.decode(data, type=dict[str, str])
