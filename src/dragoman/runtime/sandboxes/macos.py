"""Owns the sandbox `sandbox-exec`: a profile for the program of the same name, which every macOS has.

Apple calls the program deprecated (sandbox-exec(1)) and names no other for single commands. The probe shows whether it
still works.
"""

from __future__ import annotations

import os

from msgspec.structs import replace

from ..sandbox_interface import ProcessStart, Sandbox, writable_folders

_PROGRAM = "/usr/bin/sandbox-exec"
_DEVICES = r"^/dev/(null|zero|tty|ptmx|dtracehelper|fd/.*|tty[^/]*|pts/.*)$"


class SandboxExec(Sandbox):
    """Starts commands by `sandbox-exec`."""

    name = "sandbox-exec"

    def __call__(self, start: ProcessStart, /) -> ProcessStart:
        if not os.path.exists(_PROGRAM):
            raise FileNotFoundError(f"{_PROGRAM} does not exist: the sandbox is a part of macOS")
        folders = writable_folders(start)
        # The folders are parameters: no name of a folder can change the profile.
        parameters = [word for number, one in enumerate(folders) for word in ("-D", f"FOLDER{number}={one}")]
        words = (_PROGRAM, *parameters, "-p", profile(len(folders), network=start.network), *start.command)
        environment = start.environment
        if start.temporary is not None:
            environment = {**environment, "TMPDIR": str(start.temporary)}
        return replace(start, command=words, environment=environment)


def profile(folders: int, *, network: bool) -> str:
    """The profile with so many writable folders. A later rule wins over an earlier rule."""
    lines = ["(version 1)", "(allow default)", "(deny file-write*)"]
    lines += [f'(allow file-write* (subpath (param "FOLDER{number}")))' for number in range(folders)]
    lines.append(f'(allow file-write* (regex #"{_DEVICES}"))')
    lines += [] if network else ["(deny network*)"]
    return "\n".join(lines)
