"""Owns commands in process groups of their own: start, output, and the end of all their processes.

A process of a command may move to another group or session, and outlive its parent. So before the end, the command's
processes are found by group, by session, by descent, and (with /proc) by an environment variable that all inherit. Only
a process that drops all of these on purpose is not found.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

MARK = "DRAGOMAN_COMMAND"
"""The environment variable that marks a command's processes."""
# A person who cancels does not want to wait longer.
GRACE = 0.5
"""Seconds between SIGTERM and SIGKILL."""
_CHECKS = 20
"""How often a process that may be replacing its program is looked at again."""


_NAMES = {int(sign): sign.name for sign in signal.Signals}

PIECES = 16
"""Pieces of 64 kB that are read in one go: as much as a pipe can hold."""


class _ProcessRow(NamedTuple):
    pid: int
    parent: int
    group: int
    session: int
    started: int
    """Start time by the system's clock. A process id may be used again; id and start time together are unique."""


def _process_table() -> list[_ProcessRow]:
    """All running processes."""
    if not os.path.isdir("/proc/self"):
        # macOS has no /proc.
        listing = subprocess.run(["/bin/ps", "-axo", "pid=,ppid=,pgid=,stat="], capture_output=True, check=False).stdout
        found = [line.split() for line in listing.decode("ascii", "replace").splitlines()]
        return [_ProcessRow(int(row[0]), int(row[1]), int(row[2]), 0, 0) for row in found if row[3][:1] != "Z"]
    rows: list[_ProcessRow] = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                # The name of a program is in parentheses and may itself
                # contain them, so the last one counts (proc(5)).
                fields = Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split()
                # Z: ended, and not collected by its parent yet; X: dead (proc(5)).
                if fields[0] not in (b"Z", b"X"):
                    rows.append(_ProcessRow(int(name), int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19])))
    return rows


def _environment(pid: int) -> bytes:
    return Path("/proc", str(pid), "environ").read_bytes()


def _has_mark(pid: int, mark: str) -> bool:
    """Whether a process has a command's mark in its environment."""
    try:
        return f"{MARK}={mark}".encode() in _environment(pid).split(b"\0")
    except OSError:  # ended, of another user, or no /proc
        return False


def _clock() -> int:
    """The time of this moment or a little before, as start times of processes count. 0 without /proc."""
    if not os.path.isdir("/proc/self"):
        return 0
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK")) - 1


def _replaces_program(pid: int) -> bool:
    """Whether a process may be replacing its program. It then has, for a moment, a program and no environment
    (execve(2))."""
    try:
        return not _environment(pid) and bool(os.readlink(f"/proc/{pid}/exe"))
    except OSError:  # ended, of another user, or a thread of the kernel
        return False


def _replacing(group: int, since: int) -> list[int]:
    """The processes outside of a group that started at `since` or later, and may be replacing their program."""
    rows = [row for row in _process_table() if row.started >= since and group not in (row.pid, row.group, row.session)]
    return [row.pid for row in rows if _replaces_program(row.pid)]


async def _background_processes(group: int, mark: str, since: int) -> frozenset[tuple[int, int]]:
    """The background processes of a command that began at `since`."""
    # A process that left the session while it replaces its program has no mark in that moment.
    unknown = _replacing(group, since) if since else []
    for _ in range(_CHECKS):
        if not unknown:
            break
        await asyncio.sleep(0.005)
        unknown = [pid for pid in unknown if _replaces_program(pid)] or _replacing(group, since)
    return _processes_of_group(group, mark, frozenset())


def _processes_of_group(group: int, mark: str, known: frozenset[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    """The processes of a group, of its session, with its mark, or known from before, and all their descendants."""
    rows = _process_table()
    found = {row.pid for row in rows if group in (row.pid, row.group, row.session) or (row.pid, row.started) in known}
    found |= {row.pid for row in rows if mark and _has_mark(row.pid, mark)}
    size = -1
    while size != len(found):
        size = len(found)
        found |= {row.pid for row in rows if row.parent in found}
    return frozenset({(row.pid, row.started) for row in rows if row.pid in found and row.pid != os.getpid()})


def members(group: int, mark: str = "") -> list[int]:
    """The processes of a group, as far as they can be found now."""
    return sorted([pid for pid, _ in _processes_of_group(group, mark, frozenset())])


class BackgroundProcesses(NamedTuple):
    """The background processes of a finished command: the group, and its processes."""

    group: int
    processes: frozenset[tuple[int, int]]
    mark: str = ""

    async def end(self) -> None:
        """End the processes, unless the group has ended and its id belongs to another group."""
        if not self.processes.isdisjoint({(row.pid, row.started) for row in _process_table()}):
            await end_group(self.group, self.mark, self.processes)


def _signal(processes: frozenset[tuple[int, int]], sign: signal.Signals) -> None:
    for pid, _ in processes:
        # The process has ended meanwhile, or belongs to another user.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, sign)


async def end_group(group: int, mark: str = "", known: frozenset[tuple[int, int]] = frozenset()) -> None:
    """End all processes of a group: first SIGTERM, then SIGKILL, also if this function is cancelled. A process that was
    found once stays in the list, even after its parent has ended."""
    known = _processes_of_group(group, mark, known)
    _signal(known, signal.SIGTERM)
    try:
        waited = 0.0
        while waited < GRACE and known:
            await asyncio.sleep(0.02)
            waited += 0.02
            known = _processes_of_group(group, mark, known)
    finally:
        stopped: frozenset[tuple[int, int]] = frozenset()
        # Without these stops, a program that starts copies of itself could be faster than the signals.
        for _ in range(100):  # a stopped process starts no further processes
            known = _processes_of_group(group, mark, known)
            if known <= stopped:
                break
            _signal(known - stopped, signal.SIGSTOP)
            stopped |= known
        for _ in range(200):
            known = _processes_of_group(group, mark, known)
            if not known:
                break
            _signal(known, signal.SIGKILL)
            time.sleep(0.01)  # the processes need CPU time to end; a cancelled task cannot await


class PipeOutput:
    """The output of a pipe. Its beginning and its end are kept."""

    def __init__(self, limit: int) -> None:
        self._limit = limit // 2
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0
        self.changed = False
        self.discarding = False

    def ready(self) -> bool:
        """Read the available output, up to a limit: some programs never stop writing. False: the pipe is closed."""
        for _ in range(PIECES):
            try:
                data = os.read(self.read_end, 65536)
            except BlockingIOError:
                return True
            if not data:
                return False
            if not self.discarding:
                self._keep(data)
        return True

    def _keep(self, data: bytes) -> None:
        self.changed = True
        room = self._limit - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        over = len(self._tail) - self._limit
        # Bytes are removed in larger steps, because moving the rest after each piece would cost too much.
        if over > self._limit:  # not after every piece
            self._dropped += over
            del self._tail[:over]

    @property
    def text(self) -> str:
        """The kept output as text, with a note about omitted bytes."""
        over = max(len(self._tail) - self._limit, 0)
        head, tail = bytes(self._head), bytes(self._tail[over:])
        dropped = self._dropped + over
        if dropped:
            return f"{_text(head)}\n[{dropped} bytes left out]\n{_text(tail)}"
        return _text(head + tail)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


class EndedCommand(NamedTuple):
    """The end of a command."""

    output: str
    error: str
    code: int | None
    """The exit code. None: a signal ended the command."""
    sign: str
    left: BackgroundProcesses
    """The processes that still run in the background."""
    late: bool
    """The command was ended at its time limit."""


async def start_command(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], out: int, err: int
) -> asyncio.subprocess.Process:
    """Start a command in a session of its own. A cancellation during the start ends the command and its processes."""
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *command,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    )
    try:
        # Without `shield`, a cancellation would lose the process that starts at this moment.
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        process = await starting
        await end_group(process.pid, environment.get(MARK, ""))
        await process.wait()
        raise


async def run_command(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    seconds: float,
    limit: int,
    report: Callable[[str], None] = lambda text: None,
    interval: float = 1.0,
) -> EndedCommand:
    """Run a command until it ends, until its time limit, or until a cancellation. Its background processes continue,
    but their output is not kept."""
    loop = asyncio.get_running_loop()
    mark, since = os.urandom(8).hex(), _clock()
    out, err = PipeOutput(limit), PipeOutput(limit)
    open_ones = {stream.read_end: stream for stream in (out, err)}

    def listen(stream: PipeOutput) -> None:
        if not stream.ready():
            loop.remove_reader(stream.read_end)
            os.close(stream.read_end)
            del open_ones[stream.read_end]

    try:
        process = await start_command(command, folder, {**environment, MARK: mark}, out.write_end, err.write_end)
    except BaseException:
        os.close(out.read_end)
        os.close(err.read_end)
        raise
    finally:
        # Only the command may hold the write ends, because a pipe ends when its last writer has closed it.
        os.close(out.write_end)
        os.close(err.write_end)
    for stream in (out, err):
        loop.add_reader(stream.read_end, listen, stream)
    late = ended = False
    try:
        try:
            async with asyncio.timeout(seconds):
                await _watch(process, (out, err), report, interval)
        except TimeoutError:
            late = True
        ended = not late
    finally:
        if not ended:
            await end_group(process.pid, mark)
            await process.wait()
        for stream in list(open_ones.values()):
            listen(stream)  # output of the last moment
        # Background processes may continue to write. A full pipe would block them.
        for stream in open_ones.values():
            stream.discarding = True
        if not ended:
            for handle in list(open_ones):
                loop.remove_reader(handle)
                os.close(handle)
    code = process.returncode
    assert code is not None
    sign = _NAMES.get(-code, f"SIG{-code}") if code < 0 else ""
    try:
        left = BackgroundProcesses(process.pid, await _background_processes(process.pid, mark, since), mark)
    except BaseException:
        # After a cancellation, no caller gets the list of the background processes.
        await end_group(process.pid, mark)
        raise
    return EndedCommand(out.text, err.text, None if code < 0 else code, sign, left, late)


async def _watch(
    process: asyncio.subprocess.Process,
    streams: tuple[PipeOutput, PipeOutput],
    report: Callable[[str], None],
    interval: float,
) -> None:
    """Wait for the end of a command, and report its output from time to time."""
    waiting = asyncio.ensure_future(process.wait())
    try:
        while not (await asyncio.wait({waiting}, timeout=interval))[0]:
            if any(stream.changed for stream in streams):
                for stream in streams:
                    stream.changed = False
                report("\n".join([stream.text for stream in streams if stream.text]))
    finally:
        waiting.cancel()
