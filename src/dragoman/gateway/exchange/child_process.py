"""Runs long work in a child process, so that the event loop continues and `/healthz` answers meanwhile.

A thread would not help. Threads share the interpreter's lock, and decoding 37 MB holds that lock to the end. A forked
child sees all of the gateway's memory without a copy, costs a few milliseconds, and ends with its result. So no process
runs before the first large document comes.

The memory of a child is limited (on Linux only). A document that needs more is refused. When the caller is cancelled,
the child is killed at once. There are at most as many children as cores; further work waits for its turn.
"""

from __future__ import annotations

import asyncio
import gc
import io
import os
import pickle
import signal
import traceback
import warnings
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from ...errors import DragomanError
from ...seals.vault import Vault
from ...transport.large_body_joining import LARGE as LARGE_BODY
from ...transport.large_body_joining import join_pieces
from .fault_for_unserved_exchange import Refused

T = TypeVar("T")

LARGE = 2 * 1024 * 1024
"""Bytes. Longer documents are translated in a child: a document of 2 MB takes about 80 milliseconds."""
SMALL = 48 * 1024
"""Bytes. Shorter documents are translated at once, whatever they contain."""
DENSE = 12_000
"""Objects and arrays in a document. Each may become a part, which takes up to 6 microseconds and 600 bytes."""
STRINGS = 120_000
"""Quotation marks in a document."""
NICE = 5
"""Niceness of children. They give way to the event loop where cores are scarce."""
_READ = 1024 * 1024
_CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT)


def takes_long(document: bytes) -> bool:
    """Whether the translation of a document would hold up the event loop, judged by its size and by counts of some
    characters."""
    size = len(document)
    if size <= SMALL:
        return False
    if size > LARGE:
        return True
    return document.count(b"{") + document.count(b"[") > DENSE or document.count(b'"') > STRINGS


class OutOfMemory(Exception):
    """The work needs more memory than a child may use."""


class ChildDied(Exception):
    """The child ended without a result."""


class ChildFailed(Exception):
    """A mistake in our code, in the child. The text is the traceback."""


class ChildProcesses:
    """Runs work in children, a few at a time."""

    def __init__(self, memory: int, most: int = 0) -> None:
        """`memory`: bytes that one child may use. `most`: children at a time; 0: as many as there are cores."""
        self.memory = memory
        self._turns = asyncio.Semaphore(most or len(_cores()))
        self._alive: set[int] = set()

    async def run(self, work: Callable[[], T]) -> T:
        """The result of `work`, done in a child. The result must be picklable.

        A DragomanError, Refused or RecursionError of `work` is raised here too. Otherwise OutOfMemory, ChildDied or
        ChildFailed is raised.
        """
        async with self._turns:
            pieces = await self._written(work)
        try:
            kind, value = await _read_outcome(pieces)
        except (pickle.UnpicklingError, EOFError):
            raise ChildDied from None  # The child died while it wrote its result.
        if kind == "result":
            result: T = value
            return result
        if kind == "memory":
            raise OutOfMemory
        if kind == "nested":
            raise RecursionError("the document is nested too deeply")
        if kind == "error":
            raise _rebuild_exception(*value)
        raise ChildFailed(value)

    async def _written(self, work: Callable[[], Any]) -> list[bytes]:
        """The pieces that the child writes until it ends."""
        loop = asyncio.get_running_loop()
        reading, writing = os.pipe()
        try:
            # Python warns that a forked child may wait for locks of other threads. Our child takes no such lock.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                pid = os.fork()
        except OSError:
            os.close(reading)
            os.close(writing)
            raise ChildDied from None
        if not pid:
            _run_and_exit(work, writing, self.memory)
        os.close(writing)
        os.set_blocking(reading, False)
        self._alive.add(pid)
        pieces: list[bytes] = []
        over = loop.create_future()

        def readable() -> None:
            try:
                piece = os.read(reading, _READ)
            except BlockingIOError:
                return
            if piece:
                pieces.append(piece)
            elif not over.done():
                over.set_result(None)

        loop.add_reader(reading, readable)
        try:
            await over
        except asyncio.CancelledError:
            _kill(pid)
            self._reap(pid, loop)
            raise
        finally:
            loop.remove_reader(reading)
            os.close(reading)
        if pieces:
            self._reap(pid, loop)
            return pieces
        status = await self._status(pid)
        # Without memory, C extensions crash instead of raising an exception.
        raise OutOfMemory if os.WIFSIGNALED(status) and os.WTERMSIG(status) in _CRASHES else ChildDied

    async def _status(self, pid: int) -> int:
        """The exit status of a child."""
        status = 0
        with suppress(ChildProcessError):
            while (found := os.waitpid(pid, os.WNOHANG))[0] == 0:
                await asyncio.sleep(0.002)
            status = found[1]
        self._alive.discard(pid)
        return status

    def _reap(self, pid: int, loop: asyncio.AbstractEventLoop) -> None:
        """Collect the exit status of a child, now or soon: a child may need a moment to give its memory back."""
        with suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0] == 0:
                loop.call_later(0.02, self._reap, pid, loop)
                return
        self._alive.discard(pid)

    def close(self) -> None:
        """Kill all children."""
        for pid in tuple(self._alive):
            _kill(pid)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
        self._alive.clear()


def _cores() -> set[int]:
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


# Format of an outcome between child and gateway: its pickle, and then each large body as raw bytes, so that the event
# loop need not wait for a copy. Each block has its length in front.

_LENGTH = 8


class _Pickler(pickle.Pickler):
    """Pickles a value without its large bodies, and collects them."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, 5)
        self.bodies: list[bytes] = []

    def persistent_id(self, value: Any) -> int | None:
        if type(value) is not bytes or len(value) <= LARGE_BODY:
            return None
        self.bodies.append(value)
        return len(self.bodies) - 1


class _Unpickler(pickle.Unpickler):
    """Puts the large bodies back into a pickled value."""

    def __init__(self, data: bytes, bodies: list[bytes]) -> None:
        super().__init__(io.BytesIO(data))
        self._bodies = bodies

    def persistent_load(self, place: int) -> bytes:
        if place >= len(self._bodies):
            raise EOFError
        return self._bodies[place]


def _outcome_pieces(value: Any) -> list[bytes]:
    """An outcome as pieces to write."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(value)
    return [piece for data in (file.getvalue(), *pickler.bodies) for piece in (len(data).to_bytes(_LENGTH), data)]


async def _read_outcome(pieces: list[bytes]) -> Any:
    """The outcome in the pieces that a child wrote. Raises EOFError where they are incomplete."""
    left = deque(pieces)
    pieces.clear()
    found: list[bytes] = []
    while left:
        size = int.from_bytes(b"".join(_take_bytes(left, _LENGTH)))
        found.append(await join_pieces(_take_bytes(left, size)))
    gc.disable()  # The collector would search the growing value again and again.
    try:
        return _Unpickler(found[0], found[1:]).load()
    finally:
        gc.enable()


def _take_bytes(pieces: deque[bytes], size: int) -> list[bytes]:
    """Take the first `size` bytes off the pieces."""
    found: list[bytes] = []
    while size:
        if not pieces:
            raise EOFError
        piece = pieces.popleft()
        if len(piece) > size:
            pieces.appendleft(piece[size:])
            piece = piece[:size]
        found.append(piece)
        size -= len(piece)
    return found


# Code that runs in the child.

_NO_MEMORY = _outcome_pieces(("memory", None))


def _run_and_exit(work: Callable[[], Any], writing: int, memory: int) -> None:
    """Do the work, write the outcome, and exit. The child uses neither the gateway's event loop nor its connections."""
    status = 1
    try:
        # The child ends soon, and a collection would copy the memory that it shares with the gateway.
        gc.disable()
        os.nice(NICE)
        # A signal to the child must not write into the pipe of the gateway's event loop.
        signal.set_wakeup_fd(-1)
        # The handlers of the gateway must not run in the child.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        # A connection that the gateway closes must not stay open because a child inherited it.
        os.closerange(3, writing)
        os.closerange(writing + 1, 65_536)
        _limit_memory(memory)
        with open(writing, "wb", buffering=0) as out:
            for piece in _outcome_of(work):
                left = memoryview(piece)
                while left:
                    left = left[out.write(left) :]
        status = 0
    except MemoryError:
        # The message was made earlier, because the memory may be used up now.
        os.write(writing, b"".join(_NO_MEMORY))
        status = 0
    finally:
        # `_exit` runs none of the gateway's clean-up.
        os._exit(status)


def _outcome_of(work: Callable[[], Any]) -> list[bytes]:
    try:
        return _outcome_pieces(("result", work()))
    except MemoryError:
        return _NO_MEMORY
    except RecursionError:
        return _outcome_pieces(("nested", None))
    except (DragomanError, Refused) as error:
        return _outcome_pieces(("error", (type(error), error.args, error.__dict__)))
    except Exception:  # noqa: BLE001 The caller gets the traceback.
        return _outcome_pieces(("failed", traceback.format_exc()))


def _rebuild_exception(kind: type[Exception], args: tuple[Any, ...], fields: dict[str, Any]) -> Exception:
    # The constructors of these errors take other arguments than `args` holds.
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(fields)
    return error


def _limit_memory(memory: int) -> None:
    """Limit this process to `memory` more bytes than it uses now."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return  # Not Linux: only the limit on the size of documents applies.
    import resource

    # The limit counts the whole address space, and the gateway's own part is in it.
    most = pages * resource.getpagesize() + memory
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


class VaultInChild:
    """A vault in the child. It reads the gateway's vault, and collects new entries. The gateway then stores the new
    entries."""

    def __init__(self, inner: Vault) -> None:
        self._inner = inner
        self.put_here: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        """The entry for a key, from this process or from the gateway's vault."""
        return self.put_here.get(key) or self._inner.get(key)

    def put(self, key: str, value: str) -> None:
        """Collect an entry."""
        self.put_here[key] = value

    def if_filled(self) -> VaultInChild:
        """This vault, which may always hold entries."""
        return self
