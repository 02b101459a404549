"""The program of a worker process: reads chunks from standard input, writes results to standard output."""

from __future__ import annotations

import os
import signal
import sys

import msgspec

from .lines.chunk import ChunkConverter
from .workers import WorkerMessage, receive, send


def main() -> None:
    """Convert chunks until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program that started the worker decides
    # Nothing else may write to the pipe of the results.
    results = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    convert: ChunkConverter | None = None
    while (data := receive(sys.stdin.buffer)) is not None:
        task = msgspec.msgpack.decode(data, type=WorkerMessage)
        if task.settings is not None:
            convert = ChunkConverter(task.settings)
        elif task.chunk is not None and convert is not None:
            try:
                send(results, convert(task.chunk))
            except BrokenPipeError:  # the program that started the worker is gone
                os._exit(1)


if __name__ == "__main__":
    main()
