"""Owns the probe of a sandbox: a process that tries to write outside and to use the network, inside the sandbox.

The verdict depends on visible effects, not on the report of the process: a file outside, a connection, or a datagram
shows that the sandbox does not hold. A file in the workspace shows that commands can work.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from ..sandbox_interface import ProcessStart, Sandbox

_SECONDS = 20.0
_ATTEMPTS = """
import os, socket, sys
inside, tcp, udp, *outside = sys.argv[1:]
for path in outside:
    try:
        open(path, "w").close()
    except OSError:
        pass
for kind, port in ((socket.SOCK_STREAM, tcp), (socket.SOCK_DGRAM, udp)):
    try:
        one = socket.socket(socket.AF_INET, kind)
        one.settimeout(1)
        one.connect(("127.0.0.1", int(port)))
        one.send(b"x")
    except OSError:
        pass
open(inside, "w").close()
"""


def probe(sandbox: Sandbox) -> str:
    """Why a sandbox does not work here; "" if it works."""
    try:
        with ExitStack() as stack:
            return _failure(sandbox, stack)
    except subprocess.TimeoutExpired:
        return f"its test did not end within {_SECONDS:g} seconds"
    except OSError as error:
        return error.strerror or str(error)
    except RuntimeError as error:  # the user has no home
        return str(error)


def _failure(sandbox: Sandbox, stack: ExitStack) -> str:
    own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dragoman-probe-"))).resolve()
    workspace, temporary = own / "workspace", own / "temporary"
    workspace.mkdir()
    temporary.mkdir()
    # A sandbox may hide the folder of temporary files, so a second place is tried as well.
    name = f".dragoman-probe-{secrets.token_hex(8)}"
    outside = [one / name for one in (own, Path.home()) if os.access(one, os.W_OK)]
    for file in outside:
        stack.callback(file.unlink, missing_ok=True)
    tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    udp.bind(("127.0.0.1", 0))
    inside = workspace / "written"
    ports = [str(one.getsockname()[1]) for one in (tcp, udp)]
    # `-I -S`: the person's own Python settings must not change the probe.
    command = (sys.executable, "-I", "-S", "-c", _ATTEMPTS, str(inside), *ports, *map(str, outside))
    start = sandbox(ProcessStart(command, workspace, {"PATH": os.defpath}, (workspace,), temporary))
    done = subprocess.run(
        start.command,
        cwd=start.folder,
        env=dict(start.environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_SECONDS,
        check=False,
        start_new_session=True,
    )
    if any(file.exists() for file in outside):
        return "a command can write outside of the workspace"
    for one in (tcp, udp):
        one.setblocking(False)
        try:
            if one is tcp:
                one.accept()[0].close()
            else:
                one.recv(1)
        except BlockingIOError:
            continue
        return "a command can use the network"
    if done.returncode or not inside.exists():
        last_line = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        return last_line or f"its test ended with code {done.returncode}"
    return ""
