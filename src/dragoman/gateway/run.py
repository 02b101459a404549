"""Start, reload and stop the gateway: one process for each worker, all on one port."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any

from .app import Gateway
from .config import Config
from .server import Bounds, Server

Load = Callable[[], Config]


def serve(load: Load, environment: Mapping[str, str], announce: Callable[[Config, int], None]) -> int:
    """Serve until told to stop. `load` gives the configuration, again on SIGHUP; `announce` is told the port."""
    config = load()
    workers = config.listen.workers
    if workers <= 1:
        return _run(load, environment, announce, shared=False)
    children = [_fork(load, environment) for _ in range(workers - 1)]
    try:
        return _run(load, environment, announce, shared=True)
    finally:
        for child in children:
            os.kill(child, signal.SIGTERM)
        for child in children:
            os.waitpid(child, 0)


def _fork(load: Load, environment: Mapping[str, str]) -> int:
    child = os.fork()
    if child:
        return child
    os._exit(_run(load, environment, lambda config, port: None, shared=True))


def _run(load: Load, environment: Mapping[str, str], announce: Callable[[Config, int], None], *, shared: bool) -> int:
    runner: Any = asyncio.run
    try:
        import uvloop

        runner = uvloop.run
    except ImportError:
        pass  # on systems without it the standard loop does the same work, more slowly
    return int(runner(_serve(load, environment, announce, shared)))


async def _serve(
    load: Load, environment: Mapping[str, str], announce: Callable[[Config, int], None], shared: bool
) -> int:
    config = load()
    gateway = Gateway(config, environment)
    server = Server(gateway.handle, Bounds(config.bounds.head, config.bounds.body))
    port = await server.start(config.listen.host, config.listen.port, reuse_port=shared)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, _reload, gateway, load)
    announce(config, port)
    await stop.wait()
    gateway.ready = False
    clean = await server.stop(config.listen.drain)
    gateway.close()
    return 0 if clean else 1


def _reload(gateway: Gateway, load: Load) -> None:
    """A configuration that is wrong changes nothing, and says so."""
    from ..errors import ConfigError

    try:
        gateway.reload(load())
    except ConfigError as error:
        print(f"dragoman: the configuration stays as it was: {error}", file=sys.stderr)
    else:
        print("dragoman: configuration read again", file=sys.stderr)
