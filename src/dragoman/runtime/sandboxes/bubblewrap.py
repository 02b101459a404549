"""Owns the sandbox `bubblewrap`: namespaces by the program `bwrap` (https://github.com/containers/bubblewrap).

The whole file system is visible and read-only. The workspace is writable, and `/tmp` is a folder of the command's own.
The processes stay visible under their usual ids, so that a later command can end them.
"""

from __future__ import annotations

import shutil

from msgspec.structs import replace

from ..sandbox_interface import ProcessStart, Sandbox, writable_folders

_PLACES = "/usr/bin:/bin:/usr/local/bin:/run/wrappers/bin:/run/current-system/sw/bin"
"""The folders in which `bwrap` is searched. PATH may name a folder of the workspace, such as that of a virtual
environment. A command could put a program of the same name there, which would then run without a sandbox."""

_KEPT = ("/run/current-system", "/run/opengl-driver", "/run/systemd/resolve")
"""Folders in /run that hold programs (NixOS) or the addresses of name servers. /run also holds the sockets of services
that would do for the command what the sandbox refuses, so the rest of /run is hidden."""

_ALWAYS = (
    # A user namespace also for root: without one, root could mount the file system again, writable.
    *("--unshare-user", "--unshare-ipc", "--unshare-cgroup-try", "--cap-drop", "ALL"),
    *("--ro-bind", "/", "/", "--dev", "/dev", "--tmpfs", "/run"),
    *[word for folder in _KEPT for word in ("--ro-bind-try", folder, folder)],
)


class Bubblewrap(Sandbox):
    """Starts commands by `bwrap`."""

    name = "bubblewrap"

    def __call__(self, start: ProcessStart, /) -> ProcessStart:
        program = shutil.which("bwrap", path=_PLACES)
        if program is None:
            raise FileNotFoundError("the program bwrap is not installed (package bubblewrap)")
        words = [program, *_ALWAYS]
        environment = start.environment
        # The /tmp of the machine has files and sockets of other programs.
        if start.temporary is not None:
            words += ["--bind", str(start.temporary), "/tmp"]
            environment = {**environment, "TMPDIR": "/tmp"}
        # After /tmp: a workspace inside /tmp must stay visible.
        for folder in writable_folders(replace(start, temporary=None)):
            words += ["--bind", folder, folder]
        words += [] if start.network else ["--unshare-net"]
        words += ["--chdir", str(start.folder), "--", *start.command]
        return replace(start, command=tuple(words), environment=environment)
