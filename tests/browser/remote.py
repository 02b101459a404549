"""A Chromium that is told what to do: its DevTools protocol over two pipes, no more of it than the tests need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_PIPED = """import fcntl, os, sys
reads, writes = [fcntl.fcntl(int(one), fcntl.F_DUPFD, 10) for one in sys.argv[1:3]]
os.dup2(reads, 3)
os.dup2(writes, 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""
_SEEN = "document.querySelector('main') && (%s) ? document.querySelector('main').innerText : ''"
_TRIES = 600


class Tab:
    """A page that is open."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._number = 0
        self._session = ""
        self._rest = b""

    def open(self, url: str) -> None:
        target = self._ask("Target.createTarget", url=url)["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def run(self, script: str) -> Any:
        """What a script gives."""
        got = self._ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in got, got
        return got["result"].get("value")

    def seen(self, condition: str) -> str:
        """What stands on the page as soon as something is so."""
        for _ in range(_TRIES):
            found = str(self.run(_SEEN % condition))
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(self.run("document.body.innerText"))

    def _ask(self, method: str, **given: Any) -> Any:
        self._number += 1
        asked: dict[str, Any] = {"id": self._number, "method": method, "params": given}
        if self._session:
            asked["sessionId"] = self._session
        os.write(self._commands, json.dumps(asked).encode() + b"\0")
        while True:
            told = json.loads(self._next())
            if told.get("id") != self._number:
                continue
            if "error" in told:  # the page is just being left for another one
                assert "context" in told["error"]["message"], told
                return {"result": {"value": ""}}
            return told["result"]

    def _next(self) -> bytes:
        while b"\0" not in self._rest:
            more = os.read(self._answers, 65536)
            assert more, "the browser has gone"
            self._rest += more
        one, _, self._rest = self._rest.partition(b"\0")
        return one


@contextmanager
def browser(program: str, options: tuple[str, ...], folder: Path) -> Iterator[Tab]:
    reads, commands = os.pipe()
    answers, writes = os.pipe()
    command = [program, *options, f"--user-data-dir={folder}", "--remote-debugging-pipe"]
    process = subprocess.Popen(
        [sys.executable, "-c", _PIPED, str(reads), str(writes), *command],
        pass_fds=(reads, writes),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(reads)
    os.close(writes)
    try:
        yield Tab(commands, answers)
    finally:
        os.close(commands)  # it ends by itself then
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(answers)
