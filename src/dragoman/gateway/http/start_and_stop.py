"""Starts, reloads and stops the gateway. With several workers a supervisor starts them on one port, and replaces those
that die.

SIGHUP reads the configuration again; exchanges under way keep the old one. SIGTERM and SIGINT stop the gateway:
`/readyz` answers 503 at once, the port is closed after `listen.grace` seconds, and exchanges under way then have
`listen.drain` seconds to finish. SIGINT comes from a person, so there is no grace. A second signal ends at once.
"""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import select
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...errors import ConfigError
from ...store.installation_secret import installation_secret
from ..app import Gateway
from ..config import Config
from ..exchange.exchange_log_lines import ExchangeLog
from .exchanges_of_other_workers import OtherWorkers
from .server import Server, ServerBounds
from .upstream_startup_checks import check_upstreams

Load = Callable[[], Config]
Announce = Callable[[Config, int], None]

_WORKER_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)
"""The signals that the supervisor sends to its workers."""
STABLE = 5.0
"""A worker that lived this many seconds counts as stable: the next one starts without a longer pause."""
MAX_PAUSE = 10.0
"""Seconds of the longest pause before a worker that keeps dying is started again."""


def serve(load: Load, environment: Mapping[str, str], announce: Announce) -> int:
    """Serve until a signal. `load` gives the configuration, again on SIGHUP. `announce` gets the configuration and the
    port."""
    config = load()
    # One secret for all workers, also where it cannot be kept in a file.
    secret = installation_secret(environment, _print_line)
    if config.listen.processes <= 1:
        return _run(_serve(load, environment, announce, secret))
    return _Supervisor(load, environment, config, secret).run(announce)


def _run(serving: Any) -> int:
    runner: Any = asyncio.run
    try:
        import uvloop

        runner = uvloop.run
    except ImportError:
        pass  # Without uvloop the standard loop does the same work, more slowly.
    return int(runner(serving))


async def _serve(load: Load, environment: Mapping[str, str], announce: Announce, secret: bytes) -> int:
    """Serve in one process."""
    config = load()
    gateway = Gateway(config, environment, secret=secret)
    gateway.log = ExchangeLog(config.log)
    server = Server(gateway.handle, _bounds(config))
    port = await server.start(config.listen.host, config.listen.port)
    loop = asyncio.get_running_loop()
    stop = _Stop(loop)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.request, number)
    loop.add_signal_handler(signal.SIGHUP, _reload, gateway, server, load, True)
    announce(config, port)
    checks = asyncio.create_task(check_upstreams(config, environment, gateway.log.warn))
    try:
        return await _until_stopped(gateway, server, stop)
    finally:
        checks.cancel()


async def _serve_as_worker(
    load: Load,
    environment: Mapping[str, str],
    secret: bytes,
    port_and_folder: tuple[int, Path],
    ready: int,
    alive: int,
    *,
    first: bool,
) -> int:
    """Serve as one worker among several. `place` holds the port and the folder of the workers' sockets. The worker
    writes to the pipe `ready` when it listens. When the pipe `alive` ends, the supervisor has died. The `first` worker
    checks the upstreams on behalf of all workers."""
    config, (port, folder) = load(), port_and_folder
    gateway = Gateway(config, environment, secret=secret)
    gateway.log = ExchangeLog(config.log)
    peers = gateway.peers = OtherWorkers(folder)
    await peers.start(gateway.exchanges_json)
    server = Server(gateway.handle, _bounds(config))
    await server.start(config.listen.host, port, reuse_port=True)
    loop = asyncio.get_running_loop()
    stop = _Stop(loop)
    loop.add_signal_handler(signal.SIGTERM, stop.request, signal.SIGTERM)
    loop.add_signal_handler(signal.SIGUSR1, stop.request, signal.SIGINT)
    # A terminal sends SIGINT to all processes. The supervisor decides, and sends SIGUSR1.
    loop.add_signal_handler(signal.SIGINT, lambda: None)
    loop.add_signal_handler(signal.SIGHUP, _reload, gateway, server, load, False)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _WORKER_SIGNALS)
    loop.add_reader(alive, stop.orphaned, alive)
    with suppress(BrokenPipeError):  # for a replacement worker the supervisor has closed the pipe
        os.write(ready, b".")
    os.close(ready)
    checks = asyncio.create_task(check_upstreams(config, environment, gateway.log.warn)) if first else None
    try:
        return await _until_stopped(gateway, server, stop)
    finally:
        peers.stop()
        if checks is not None:
            checks.cancel()


class _Stop:
    """The order to stop, and whether it is urgent."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.requested = asyncio.Event()
        self.hurry = asyncio.Event()
        self.grace = True

    def request(self, number: int) -> None:
        if self.requested.is_set():
            self.hurry.set()
        self.grace = number == signal.SIGTERM
        self.requested.set()

    def orphaned(self, alive: int) -> None:
        self._loop.remove_reader(alive)
        self.request(signal.SIGTERM)


async def _until_stopped(gateway: Gateway, server: Server, stop: _Stop) -> int:
    _spare_the_collector()
    _open_many()
    await stop.requested.wait()
    gateway.ready = False
    listen = gateway.config.listen
    ending = asyncio.ensure_future(_drain(server, listen.grace if stop.grace else 0.0, listen.drain))
    hurry = asyncio.ensure_future(stop.hurry.wait())
    await asyncio.wait({ending, hurry}, return_when=asyncio.FIRST_COMPLETED)
    hurry.cancel()
    if not ending.done():
        ending.cancel()
        await server.stop(0)
    clean = ending.done() and not ending.cancelled() and ending.result()
    gateway.close()
    return 0 if clean else 1


def _spare_the_collector() -> None:
    """Spare the garbage collector work. Loaded modules are never freed, so they are excluded from collections.
    Exchanges make no cycles, so collections may be rare."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 100)


def _open_many() -> None:
    """Raise the limit of open files as far as the system allows. An exchange has two connections, and the usual 1,024
    are soon used up."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def _drain(server: Server, grace: float, seconds: float) -> bool:
    await asyncio.sleep(grace)
    return await server.stop(seconds)


def _bounds(config: Config) -> ServerBounds:
    bounds = config.bounds
    return ServerBounds(bounds.head, bounds.body, request_seconds=bounds.request, bodies=bounds.requests)


def _reload(gateway: Gateway, server: Server, load: Load, alone: bool) -> None:
    """Read the configuration again. A wrong configuration changes nothing. `alone`: no supervisor prints the
    messages."""
    try:
        config = load()
    except ConfigError as error:
        if alone:
            _print_line(f"the old configuration stays in use: {error}")
        return
    before = gateway.config
    gateway.reload(config)
    server.bounds = _bounds(config)
    if gateway.log is not None:
        gateway.log.form = config.log
    if alone:
        _print_reload(before, config)


def _print_reload(before: Config, after: Config) -> None:
    _print_line("the new configuration is in use")
    if _unchangeable_settings(before) != _unchangeable_settings(after):
        _print_line("host, port, workers and client keep their old values until the gateway is started again")


def _unchangeable_settings(config: Config) -> tuple[object, ...]:
    """The settings that cannot change while the gateway runs."""
    return config.listen.host, config.listen.port, config.listen.workers, config.client


def _print_line(words: str) -> None:
    print(f"dragoman: {words}", file=sys.stderr, flush=True)


class _Supervisor:
    """Starts workers, replaces dead ones, and passes signals on. It serves no client itself."""

    def __init__(self, load: Load, environment: Mapping[str, str], config: Config, secret: bytes) -> None:
        self._load = load
        self._environment = environment
        self._config = config
        self._secret = secret
        self._workers: dict[int, float] = {}  # process id: when it was started
        self._port = 0
        self._folder = Path()
        self._alive = os.pipe()
        self._wake, self._poke = os.pipe()
        self._signals: list[int] = []
        self._ending = False
        self._failed = False

    def run(self, announce: Announce) -> int:
        listen = self._config.listen
        # The supervisor binds the port: then the system chooses one port for all workers, and a used port is an error
        # at once. This socket does not listen, so it gets no connections.
        family = socket.AF_INET6 if ":" in listen.host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as claim, tempfile.TemporaryDirectory("-dragoman") as folder:
            self._folder = Path(folder)
            claim.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            claim.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            claim.bind((listen.host, listen.port))
            self._port = claim.getsockname()[1]
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
                signal.signal(number, self._note)
            os.set_blocking(self._wake, False)
            os.set_blocking(self._poke, False)
            # A signal may come just before `select` begins to wait. The byte in the pipe ends that wait.
            signal.set_wakeup_fd(self._poke, warn_on_full_buffer=False)
            ready = [self._start(first=not number) for number in range(listen.processes)]
            if all(_has_begun_to_listen(one) for one in ready):
                announce(self._config, self._port)
            else:
                _print_line("a worker could not start; its error is printed above")
                self._failed = True
                self._end(signal.SIGTERM)
            self._watch()
        return 1 if self._failed else 0

    def _start(self, *, first: bool = False) -> int:
        """Start a worker. Returns the pipe to which the worker writes when it listens."""
        ready, ready_writer = os.pipe()
        # Signals to a new worker wait until the worker can handle them.
        signal.pthread_sigmask(signal.SIG_BLOCK, _WORKER_SIGNALS)
        child = os.fork()
        if not child:
            status = 1
            try:
                signal.set_wakeup_fd(-1)
                for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
                    signal.signal(number, signal.SIG_DFL)
                for end in (ready, self._alive[1], self._wake, self._poke):
                    os.close(end)
                port_and_folder = self._port, self._folder
                given = self._load, self._environment, self._secret, port_and_folder, ready_writer, self._alive[0]
                status = _run(_serve_as_worker(*given, first=first))
            finally:
                # The child process ends here in any case: the code above belongs to the supervisor.
                error = sys.exc_info()[1]
                if isinstance(error, ConfigError):
                    _print_line(str(error))
                elif error is not None:
                    traceback.print_exception(error)
                os._exit(status)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _WORKER_SIGNALS)
        os.close(ready_writer)
        self._workers[child] = time.monotonic()
        return ready

    def _note(self, number: int, frame: Any) -> None:
        self._signals.append(number)

    def _watch(self) -> None:
        pause = 0.1
        starts: list[float] = []  # when to start the replacements of dead workers
        while self._workers or (starts and not self._ending):
            now = time.monotonic()
            while starts and starts[0] <= now and not self._ending:
                starts.pop(0)
                os.close(self._start())
            self._sleep(max(0.0, starts[0] - now) if starts and not self._ending else None)
            while self._signals:
                self._handle(self._signals.pop(0))
            for lived in self._collect_ended_workers():
                if not self._ending:
                    pause = 0.1 if lived > STABLE else min(pause * 2, MAX_PAUSE)
                    starts.append(time.monotonic() + pause)

    def _sleep(self, seconds: float | None) -> None:
        select.select([self._wake], [], [], seconds)
        try:
            while os.read(self._wake, 512):
                pass
        except BlockingIOError:
            pass  # the signals were already noted by the handlers

    def _collect_ended_workers(self) -> list[float]:
        """Seconds that each ended worker lived."""
        out = []
        while self._workers:
            try:
                child, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if not child:
                break
            if child not in self._workers:
                continue
            lived = time.monotonic() - self._workers.pop(child)
            if not self._ending:
                _print_line(f"worker {child} ended ({_exit_reason(status)}); another takes its place")
            elif os.waitstatus_to_exitcode(status):
                self._failed = True
            out.append(lived)
        return out

    def _handle(self, number: int) -> None:
        if number == signal.SIGHUP:
            try:
                config = self._load()
            except ConfigError as error:
                _print_line(f"the old configuration stays in use: {error}")
                return
            self._signal_workers(signal.SIGHUP)
            _print_reload(self._config, config)
        elif number in (signal.SIGTERM, signal.SIGINT):
            if self._ending:
                self._failed = True
                self._signal_workers(signal.SIGKILL)
            else:
                self._end(number)

    def _end(self, number: int) -> None:
        self._ending = True
        # SIGUSR1 stands for a person's SIGINT. Workers also get the terminal's SIGINT, and cannot distinguish the
        # terminal's signal from the supervisor's.
        self._signal_workers(signal.SIGTERM if number == signal.SIGTERM else signal.SIGUSR1)

    def _signal_workers(self, number: int) -> None:
        for child in self._workers:
            os.kill(child, number)


def _has_begun_to_listen(ready: int) -> bool:
    """Whether a worker has begun to listen."""
    try:
        return os.read(ready, 1) == b"."
    finally:
        os.close(ready)


def _exit_reason(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"signal {-code}" if code < 0 else f"exit code {code}"
