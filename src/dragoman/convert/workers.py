"""Runs chunks on several processes, in order.

Each worker is a process that reads chunks from its standard input and writes results to its standard output. A worker
ends when its input ends, so no worker outlives the program that started it. One thread for each worker passes on the
chunks. At most two chunks for each worker are under way, so memory does not grow with the file.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import IO, TypeVar

import msgspec
from msgspec import Struct

from ..errors import DragomanError
from .lines.chunk import ChunkConverter, ChunkSettings, ConversionChunk, ConvertedChunk

AHEAD = 2
"""Chunks under way for each worker."""
COMMAND = ("-m", "dragoman.convert.worker_program")
_LENGTH = struct.Struct("<Q")
_Tag = TypeVar("_Tag")


class WorkerError(DragomanError):
    """A worker process ended before its work did."""


class WorkerMessage(Struct, array_like=True):
    """The first message to a worker has the settings, all others have a chunk."""

    settings: ChunkSettings | None = None
    chunk: ConversionChunk | None = None


def cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_order(
    chunks: Iterable[tuple[_Tag, ConversionChunk]], settings: ChunkSettings, jobs: int
) -> Iterator[tuple[_Tag, ConvertedChunk]]:
    """The results of all chunks, in order. With one job the work is done in this process."""
    if jobs <= 1:
        convert = ChunkConverter(settings)
        for tag, chunk in chunks:
            yield tag, convert(chunk)
        return
    pool = _Pool(settings, jobs)
    try:
        yield from pool.run(chunks)
    finally:
        pool.close()


class _Pool:
    def __init__(self, settings: ChunkSettings, jobs: int) -> None:
        self._settings = settings
        self._jobs = jobs
        self._own = threading.local()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._ready: set[subprocess.Popen[bytes]] = set()
        """Workers that have the settings."""
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="convert")

    def run(self, chunks: Iterable[tuple[_Tag, ConversionChunk]]) -> Iterator[tuple[_Tag, ConvertedChunk]]:
        waiting: deque[tuple[_Tag, Future[ConvertedChunk]]] = deque()
        for tag, chunk in chunks:
            waiting.append((tag, self._threads.submit(self._convert, chunk)))
            if len(waiting) >= self._jobs * AHEAD:
                first, future = waiting.popleft()
                yield first, future.result()
        for tag, future in waiting:
            yield tag, future.result()

    def _convert(self, chunk: ConversionChunk) -> ConvertedChunk:
        process = getattr(self._own, "process", None)
        if process is None:
            process = self._own.process = self._start()
        try:
            if process not in self._ready:
                self._ready.add(process)
                send(process.stdin, WorkerMessage(settings=self._settings))
            send(process.stdin, WorkerMessage(chunk=chunk))
            found = receive(process.stdout)
        except OSError:
            found = None
        if found is None:
            last = chunk.first + chunk.data.count(b"\n")
            raise WorkerError(
                f"a worker process ended with code {process.wait()} at {chunk.file}, lines {chunk.first} to {last}. "
                "Run the same command again to continue; with --jobs 1 if it happens again"
            )
        return msgspec.msgpack.decode(found, type=ConvertedChunk)

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen([sys.executable, *COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with self._lock:
            self._processes.append(process)
        return process

    def close(self) -> None:
        """End all workers."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        # The processes end first, because each thread waits for the answer of its process.
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
        self._threads.shutdown(wait=True)
        for process in self._processes:
            for pipe in (process.stdin, process.stdout):
                _close(pipe)


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is not None:
        with suppress(BrokenPipeError):  # the worker is gone, with bytes that it had not read
            pipe.close()


def send(pipe: IO[bytes] | None, message: Struct) -> None:
    """Write one message: its length, then its bytes."""
    assert pipe is not None
    data = msgspec.msgpack.encode(message)
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def receive(pipe: IO[bytes] | None) -> bytes | None:
    """Read one message; None at the end of the pipe."""
    assert pipe is not None
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = pipe.read(length)
    return data if len(data) == length else None
