"""A program for a test: it runs a session with tools, is killed at every possible moment, and resumes the session.

Run as `python -m tests.e2e.killed_sessions PORT FOLDER`. For every moment the program writes one line of JSON. Each run
is a forked process. So a kill is real, and only the store survives.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dragoman.canon import Text, ToolCall, ToolResult
from dragoman.errors import ConfigError
from dragoman.runtime import Agent, Session, tool
from dragoman.store import StoreEntry
from dragoman.store.sqlite_entry_store import SqliteStore
from dragoman.transport.upstream_record_and_environment import Upstream

ID = "session"
PROMPT = "Write three lines."


class Killer:
    """Kills this process at the n-th call."""

    def __init__(self, number: int) -> None:
        self._remaining = number

    def __call__(self) -> None:
        self._remaining -= 1
        if self._remaining == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class KillingStore(SqliteStore):
    """The user's store. The process is killed before or after a write."""

    def __init__(self, file: Path, before: Callable[[], None], after: Callable[[], None]) -> None:
        super().__init__(file)
        self._before, self._after = before, after

    def put(self, entry: StoreEntry, *more: Any, **named: Any) -> None:
        self._before()
        super().put(entry, *more, **named)
        self._after()


def run(port: int, folder: Path, moment: str, number: int) -> None:
    """Begin the session, or resume it. The process is killed at the given moment. Number 0: it is not killed."""
    killers = {name: Killer(number if name == moment else 0) for name in ("before", "after", "tool")}

    def write(line: str) -> str:
        """Write a line."""
        with (folder / "lines").open("a") as file:
            file.write(f"{line}\n")
        killers["tool"]()
        return f"wrote {line}"

    store = KillingStore(folder / "store", killers["before"], killers["after"])
    settings: dict[str, Any] = {
        "folder": folder,
        "tools": [tool(write)],
        "store": store,
        "upstreams": {"it": Upstream("openai-chat", f"http://127.0.0.1:{port}/v1", auth="none", stream="never")},
        "environment": {"HOME": str(folder)},
    }
    try:
        agent = Agent("it/m", session=ID, **settings)
    except ConfigError:  # The process was killed before the first write.
        agent = Agent("it/m", session=Session(id=ID), **settings)
    if not agent.session.turns:
        agent.ask(PROMPT)
    elif agent.session.step != "idle":

        async def resume() -> None:
            async for _ in agent.resume():
                pass

        asyncio.run(resume())
    parts = [part for turn in agent.session.turns for part in turn.parts]
    report = {
        "calls": [part.id for part in parts if isinstance(part, ToolCall)],
        "results": [(part.call_id, part.is_error) for part in parts if isinstance(part, ToolResult)],
        "said": [part.text for part in agent.session.turns[-1].parts if isinstance(part, Text)],
        "step": agent.session.step,
    }
    (folder / "report").write_text(json.dumps(report))


def run_in_child(port: int, folder: Path, moment: str, number: int) -> bool:
    """Run in a child process. Returns False if the child was killed."""
    child = os.fork()
    if not child:
        code = 1
        try:
            run(port, folder, moment, number)
            code = 0
        finally:
            if code:
                traceback.print_exc()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        sys.exit(1)
    return not os.WIFSIGNALED(status)


def main() -> None:
    port, folder = int(sys.argv[1]), Path(sys.argv[2])
    for moment in ("before", "after", "tool"):
        number = 0
        killed = True
        while killed:
            number += 1
            run_folder = folder / f"{moment}-{number}"
            run_folder.mkdir()
            killed = not run_in_child(port, run_folder, moment, number)
            if killed:
                assert run_in_child(port, run_folder, moment, 0)
            report_of_moment = {
                "moment": moment,
                "number": number,
                "killed": killed,
                **json.loads((run_folder / "report").read_text()),
            }
            report_of_moment["lines"] = (
                (run_folder / "lines").read_text().split() if (run_folder / "lines").exists() else []
            )
            print(json.dumps(report_of_moment), flush=True)


if __name__ == "__main__":
    main()
