"""Owns one session of `dragoman run`: a gateway of its own on a loopback port, the client in the foreground, the end.

The client shares the terminal and the process group, so the terminal's signals reach the client directly. A signal that
is sent to this process alone is passed on. When the client has ended, the gateway stops and its files are gone.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ..errors import ConfigError
from ..gateway.app import Gateway
from ..gateway.config import Config, Listen, Route, Target
from ..gateway.http.server import Server
from ..store.installation_secret import installation_secret
from . import client_table
from .client_table import ClientFacts, ClientRow
from .run_client_summary import SessionLog, SessionSums

KEY_VARIABLE = "DRAGOMAN_SESSION_KEY"
_STOP_SECONDS = 2.0
"""Seconds that exchanges under way have after the client's end."""
_KILL_SECONDS = 10.0
"""Seconds that a client has to end after a signal to stop."""
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP)
"""Signals that only dragoman gets. They are passed on, so that the client does not outlive its gateway."""
_OF_THE_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
"""Signals that the terminal sends to both processes. The client decides what they mean."""

Check = Callable[[str, str], Awaitable[None]]
"""Called with the gateway's address and key before the client starts. An exception ends the session."""


def session_config(config: Config, upstream: str, model: str) -> Config:
    """The configuration of a gateway for one session, on a free loopback port. With an upstream, every model name goes
    to its `model`."""
    routes = config.routes
    if upstream:
        routes = (Route("*", (Target(upstream, model),)),)
    # A key keeps other users of this machine out. If the upstream gets the client's own key, the gateway cannot have a
    # key of its own.
    passes_key = any(one.auth == "client" for one in config.upstreams.values())
    listen = Listen(port=0, key_env="" if passes_key else KEY_VARIABLE)
    return msgspec.structs.replace(config, listen=listen, routes=routes, log="off")


async def run_with_gateway(
    config: Config,
    environment: Mapping[str, str],
    sums: SessionSums,
    command: Callable[[ClientFacts], PreparedClient],
    check: Check,
) -> int:
    """Serve while the client runs. Returns the client's exit code."""
    key = secrets.token_hex(16) if config.listen.key_env else "any"
    own = {**environment, KEY_VARIABLE: key}
    # The client owns the terminal, so no warning is printed.
    gateway = Gateway(config, own, secret=installation_secret(environment, lambda words: None))
    gateway.log = SessionLog(sums, config)
    server = Server(gateway.handle)
    port = await server.start(config.listen.host, 0)
    try:
        base = f"http://127.0.0.1:{port}"
        await check(base, key)
        return await run_client(command(ClientFacts(base, key)))
    finally:
        await server.stop(_STOP_SECONDS)
        gateway.close()


class PreparedClient(msgspec.Struct, frozen=True):
    """A client that is ready to start."""

    row: ClientRow
    program: str
    """The path of the program."""
    given: tuple[str, ...]
    """The user's own arguments."""
    environment: Mapping[str, str]
    facts: ClientFacts


async def run_client(client: PreparedClient) -> int:
    """Run a client in the foreground, and wait for its end. Returns its exit code, or 128 and the number of the signal
    that ended it."""
    row, facts = client.row, client.facts
    with tempfile.TemporaryDirectory(prefix="dragoman-run-") as folder:
        if row.settings_name:
            file = Path(folder) / row.settings_name
            facts = msgspec.structs.replace(facts, settings=str(file))
            # The mode comes before the content, which may hold the key.
            file.touch(mode=0o600)
            file.write_text(client_table.settings_text(row, facts), encoding="utf-8")
        variables = {name: value for name, value in client.environment.items() if name not in row.unset}
        variables.update(client_table.environment(row, facts))
        command = [client.program, *client_table.arguments(row, facts), *client.given]
        with _SameTerminal():
            return await _wait(command, variables)


async def _wait(command: list[str], variables: Mapping[str, str]) -> int:
    loop = asyncio.get_running_loop()
    started: list[subprocess.Popen[bytes]] = []
    # Set before the start: an earlier signal would end only this process, and the client would stay.
    for number in _OF_THE_TERMINAL:
        loop.add_signal_handler(number, lambda: None)
    for number in _PASSED_ON:
        loop.add_signal_handler(number, _pass_on, started, number, loop)
    try:
        process = subprocess.Popen(command, env=dict(variables))
        started.append(process)
        code = await loop.run_in_executor(None, process.wait)
    except OSError as error:
        raise ConfigError("program", command[0], problem=error.strerror or str(error)) from None
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
                process.wait()
        for number in (*_OF_THE_TERMINAL, *_PASSED_ON):
            loop.remove_signal_handler(number)
    return code if code >= 0 else 128 - code


def _pass_on(started: list[subprocess.Popen[bytes]], number: int, loop: asyncio.AbstractEventLoop) -> None:
    """The loop calls this after the client has started, also for a signal that came during the start."""
    for process in started:
        process.send_signal(number)
        loop.call_later(_KILL_SECONDS, process.kill)  # no effect on a process that has ended


class _SameTerminal:
    """Restores the settings that the terminal had before the client. A crashed client may leave the terminal without
    echo."""

    def __enter__(self) -> None:
        self._before: list[Any] | None = None
        if sys.stdin is not None and sys.stdin.isatty():
            import termios

            self._before = termios.tcgetattr(sys.stdin.fileno())

    def __exit__(self, *reason: object) -> None:
        if self._before is None:
            return
        import termios

        # The next line would stop a process that is not in the foreground.
        if os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp():
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, self._before)
