"""Owns helpers that start processes for tests, stop them and list them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
WAYS = ["stdio", "stdio-handshake", "http", "http-handshake"]
"""The ways to connect to a server: two transports, each with the older and the newer protocol."""


@contextmanager
def started(*command: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process and the first line of its output. The process ends with the context."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def children() -> set[int]:
    """The ids of the direct children of this process."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # The process has ended.
        if int(fields[1]) == os.getpid():
            found.add(int(stat.parent.name))
    return found


def sleepers(mark: str) -> list[str]:
    """The commands that contain the mark."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # The process has ended.
        if mark in command and "dragoman.cli" not in command:
            found.append(command)
    return found
