"""Owns the communication with the peers' environment: start one worker for each peer, run its rounds, collect numbers.

`make bench-peers` creates that environment; without it every peer is reported as not installed.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".venv-bench" / "bin" / "python"
NAMES = ("llm-rosetta", "litellm")


@dataclass
class Peer:
    """One worker process. `state` is empty while the worker runs well; otherwise it is the reason for missing
    numbers."""

    name: str
    version: str = ""
    state: str = ""
    measured: dict[str, dict[str, float]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[str] | None = None

    def start(self, seconds: float, log: Path) -> None:
        if not PYTHON.exists():
            self.state = "not installed"
            return
        with log.open("w") as errors:
            self.process = subprocess.Popen(
                [str(PYTHON), "-m", "bench.peer_worker", self.name, str(seconds)],
                cwd=ROOT,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        hello = self._answer(log)
        self.version = hello.get("version", "")

    def round(self) -> None:
        if self._say("round"):
            self._answer(None)

    def finish(self, log: Path) -> None:
        if self._say("end"):
            last = self._answer(log)
            self.measured, self.refused = last.get("measured", {}), last.get("refused", {})
        if self.process:
            self.process.communicate()

    def _say(self, word: str) -> bool:
        if self.state or not self.process or not self.process.stdin:
            return False
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        return True

    def _answer(self, log: Path | None) -> dict[str, Any]:
        assert self.process and self.process.stdout
        line = self.process.stdout.readline()
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        code = self.process.wait()
        missing = log is not None and "No module named" in log.read_text()
        self.state = "not installed" if missing else f"worker ended with status {code}"
        return {}


def start_all(seconds: float, folder: Path) -> list[Peer]:
    peers = [Peer(name) for name in NAMES]
    for peer in peers:
        peer.start(seconds, folder / f"peer-{peer.name}.log")
    return peers


def finish_all(peers: list[Peer], folder: Path) -> None:
    for peer in peers:
        peer.finish(folder / f"peer-{peer.name}.log")
