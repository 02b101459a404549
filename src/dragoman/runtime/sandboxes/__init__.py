"""Owns the list of the built-in sandboxes, and the choice of one. A sandbox is chosen only after a probe has worked."""

from __future__ import annotations

import sys
from functools import cache
from typing import NamedTuple

from ...errors import ConfigError
from ..sandbox_interface import Sandbox
from .bubblewrap import Bubblewrap
from .escape_probe import probe
from .landlock import Landlock
from .macos import SandboxExec

OFF, AUTO = "off", "auto"


class SandboxChoice(NamedTuple):
    """The sandbox for commands, or why there is none."""

    sandbox: Sandbox | None
    why: str = ""


def sandboxes() -> tuple[Sandbox, ...]:
    """All built-in sandboxes, the strictest first."""
    return (Bubblewrap(), Landlock(), SandboxExec())


def names() -> tuple[str, ...]:
    """The names of the built-in sandboxes."""
    return tuple([one.name for one in sandboxes()])


def choose_sandbox(wanted: str) -> SandboxChoice:
    """The sandbox with this name, the first that works (`auto`), or none (`off`). ConfigError: the named sandbox does
    not work here, or the name is unknown. The probes run processes, so this takes some time."""
    if wanted == OFF:
        return SandboxChoice(None)
    found = {one.name: one for one in sandboxes()}
    if wanted == AUTO:
        return _first_working()
    if wanted not in found:
        raise ConfigError("sandbox", wanted, (OFF, AUTO, *found))
    failure = _probe_failure(wanted)
    if failure:
        raise ConfigError("sandbox", wanted, problem=f"the sandbox does not work here: {failure}")
    return SandboxChoice(found[wanted])


def _first_working() -> SandboxChoice:
    failures: list[str] = []
    for one in sandboxes():
        # sandbox-exec is a part of macOS, and the others need Linux.
        if (sys.platform == "darwin") == (one.name == SandboxExec.name):
            failure = _probe_failure(one.name)
            if not failure:
                return SandboxChoice(one)
            failures.append(f"{one.name}: {failure}")
    return SandboxChoice(None, "; ".join(failures))


@cache
def _probe_failure(name: str) -> str:
    """The failure of a sandbox's probe; "" if the probe worked. One probe in a process is enough."""
    return probe(next(one for one in sandboxes() if one.name == name))
