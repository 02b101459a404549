"""Owns a gateway in a separate process. It starts on a free port and stops at the end of the test."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SERVE = "from dragoman.cli.main import main; main()"
_LISTENS = "dragoman listens on "


@contextmanager
def served(config: str, place: Path, *more: str) -> Iterator[str]:
    """The address of a gateway with this configuration; `more` are further options of `dragoman serve`."""
    file = place / "dragoman.toml"
    file.write_text(config, encoding="utf-8")
    command = [sys.executable, "-c", _SERVE, "serve", "--config", str(file), "--port", "0", *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=place)
    assert process.stdout is not None
    try:
        first_line = process.stdout.readline()
        assert first_line.startswith(_LISTENS), first_line + process.stdout.read()
        yield first_line.removeprefix(_LISTENS).strip()
    finally:
        process.terminate()
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def upstreams(port: int, **dialects: str) -> str:
    """The configuration of upstreams, by name. All listen on one port of loopback and have no circuit breaker."""
    return "".join([_upstream(name, dialect, port) for name, dialect in dialects.items()])


def _upstream(name: str, dialect: str, port: int) -> str:
    host = f'host = "{name}"\n' if "." in name else ""
    address = f"http://127.0.0.1:{port}"
    return f'[upstreams."{name}"]\ndialect = "{dialect}"\nbase_url = "{address}"\nauth = "none"\ntrip = 0\n{host}'
