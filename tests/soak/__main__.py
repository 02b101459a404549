"""`make soak`: a gateway under mixed load for minutes, and a verdict.

    python -m tests.soak [--minutes 10] [--clients 24] [--seed 1]

The verdict is green if all of this holds: every exchange ended as its scene demands, and none hung. No request brought
back a thought or a seal of another conversation. No seal of a distinct conversation was lost. No connection and no
open file is left. The memory did not grow beyond its limit in the second half.

A separate process measures the longest stall of the event loop. It calls /healthz twenty times a second, first under
the mixed load, then during the largest requests that the gateway accepts. A stall is a figure, not a finding, because
a busy machine stalls every process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp

from tests.e2e.scripted_upstream import MODELS
from tests.soak.conversations import Tenants
from tests.soak.upstream_behaviours import order

KEYS = [f"soak-key-{number}" for number in range(6)]
LARGEST = 60_000_000
"""Bytes of the largest requests; `bounds.body` is 64 MiB."""
GROWTH = 1.15
"""The largest allowed growth of memory from the middle of the run to its end."""
_SERVE = "from dragoman.cli.main import main; main()"
_LISTENS = "listens on "


class Measure(NamedTuple):
    """The resources of the gateway's process."""

    memory: int
    """Resident bytes."""
    files: int


def measure(process: int) -> Measure:
    """Read the figures from /proc (Linux)."""
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    return Measure(pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir(f"/proc/{process}/fd")))


def configuration(port: int) -> str:
    """All seven dialects at the scripted upstream, and keys for the clients."""
    text = '[listen]\nkey_env = "SOAK_KEYS"\n[bounds]\nfirst_byte = 20\nidle = 20\ntotal = 30\n'
    for dialect in MODELS:
        base = f"http://127.0.0.1:{port}"
        text += f'[upstreams.{dialect}]\ndialect = "{dialect}"\nbase_url = "{base}"\nauth = "none"\n'
    return text


class Processes:
    """The upstream, the gateway and the probe. All of them end with the context."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._all: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Processes:
        environment = {**os.environ, "SOAK_KEYS": ",".join(KEYS), "XDG_DATA_HOME": str(self._folder / "data")}
        self.upstream = self._start([sys.executable, "-m", "tests.soak.upstream"], environment)
        port = int(_line(self.upstream))
        file = self._folder / "dragoman.toml"
        file.write_text(configuration(port), encoding="utf-8")
        serve = [sys.executable, "-c", _SERVE, "serve", "--config", str(file), "--port", "0"]
        self.gateway = self._start(serve, environment)
        self.base = _line(self.gateway).partition(_LISTENS)[2].strip()
        self.report = f"http://127.0.0.1:{port}/soak/report"
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._all):
            process.terminate()
        for process in self._all:
            try:
                process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()

    def _start(self, command: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
        log = (self._folder / f"{len(self._all)}.log").open("w", encoding="utf-8")
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=environment
        )
        log.close()
        self._all.append(process)
        return process

    def watch(self) -> None:
        """Begin to measure the answering time of /healthz."""
        self._probe = self._start([sys.executable, "-m", "tests.soak.stall_probe", self.base], dict(os.environ))
        _line(self._probe)

    def stalls(self) -> dict[str, Any]:
        """End the measurement; the longest waits in milliseconds."""
        self._probe.send_signal(signal.SIGINT)
        found: dict[str, Any] = json.loads(self._probe.communicate(timeout=90)[0])
        return found

    def errors(self) -> str:
        """The exceptions on the gateway's standard error."""
        text = (self._folder / "1.log").read_text(encoding="utf-8")
        return text[text.find("Traceback") :][:2000] if "Traceback" in text else ""


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    found = process.stdout.readline()
    if not found:
        raise SystemExit(f"{process.args!r} did not start")
    return found.strip()


class Result(NamedTuple):
    """The figures of one run, and its findings."""

    figures: dict[str, Any]
    findings: list[str]


async def _largest(processes: Processes) -> dict[str, Any]:
    """The longest stall while requests of nearly `bounds.body` bytes are translated, and the answers to them."""
    turns: list[dict[str, Any]] = []
    for number in range(LARGEST // 370):  # The turns are small, because the number of turns costs the time.
        call = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": "weather", "arguments": '{"city":"Paris"}'},
        }
        turns += [
            {"role": "user", "content": f"{number}: tell me more of the weather there"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "mild and clear"},
        ]
    turns.append({"role": "user", "content": "and now?"})
    system = {"role": "system", "content": order("distinct.large", "text", 1)}
    statuses = []
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=300)) as http:
        for upstream in ("anthropic", "gemini", "openai-responses"):
            body = {"model": f"{upstream}/{MODELS[upstream]}", "messages": [system, *turns]}
            headers = {"authorization": f"Bearer {KEYS[0]}"}
            async with http.post(f"{processes.base}/v1/chat/completions", json=body, headers=headers) as answer:
                statuses.append(answer.status)
    return {**processes.stalls(), "statuses": statuses}


async def soak(
    processes: Processes, seconds: float, clients: int, seed: int, *, quiet: bool = False, large: bool = True
) -> Result:
    """Create load for some seconds, drain, and measure. `large`: send the largest requests at the end."""
    gateway = processes.gateway.pid
    started = measure(gateway)
    tenants = Tenants(processes.base, KEYS, seed)
    middle = started
    processes.watch()
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None)) as http:
        running = [asyncio.create_task(tenants.run(http)) for _ in range(clients)]
        start = time.monotonic()
        while (passed := time.monotonic() - start) < seconds:
            await asyncio.sleep(min(10.0, seconds - passed))
            if middle is started and time.monotonic() - start >= seconds / 2:
                middle = measure(gateway)
            if not quiet:
                now = measure(gateway)
                print(
                    f"{passed:6.0f} s  {tenants.exchanges:8,} exchanges  wrong {tenants.wrong.total()}  "
                    f"{now.memory / 2**20:6.1f} MiB  {now.files} files",
                    flush=True,
                )
        tenants.stopping.set()
        await asyncio.gather(*running)
        loaded = measure(gateway)
        answer = await http.get(processes.report)
        report = await answer.json()
    stalls = processes.stalls()
    if large:
        processes.watch()
        stalls["with the largest requests"] = await _largest(processes)
    await asyncio.sleep(3.0)  # The gateway closes the connections that its clients left open.
    return _result(tenants, report, stalls, (started, middle, loaded, measure(gateway)), processes)


def _result(
    tenants: Tenants, report: dict[str, Any], stalls: dict[str, Any], measured: tuple[Measure, ...], run: Processes
) -> Result:
    started, middle, loaded, ended = measured
    counts = report["counts"]
    figures = {
        "exchanges": tenants.exchanges,
        "wrong endings": tenants.wrong.total() - tenants.wrong["hang"],
        "hangs": tenants.wrong["hang"],
        "mixed tenants": len(report["mixed"]),
        "seals back": counts.get("seals back", 0),
        "seals expected": counts.get("seals expected", 0),
        "seals lost": report["lost"],
        "memory MiB": [round(one.memory / 2**20, 1) for one in (started, middle, loaded, ended)],
        "open files": [one.files for one in (started, middle, loaded, ended)],
        "stalls ms": stalls,
        "exchanges looked at": dict(sorted(tenants.looks.items())),
        "scenes": dict(sorted(tenants.scenes.items())),
    }
    findings = [f"wrong: {one}" for one in tenants.examples]
    findings += [f"mixed: {one}" for one in report["mixed"]]
    findings += [f"seals lost: {pair} {number} times" for pair, number in report["lost"].items()]
    if loaded.memory > middle.memory * GROWTH + 8 * 2**20:
        findings.append(f"memory grew from {middle.memory} bytes in the middle to {loaded.memory} at the end")
    if ended.files > started.files + 4 + 7 * 8:
        findings.append(f"{ended.files} open files at the end, {started.files} at the start")
    if text := run.errors():
        findings.append(f"the gateway printed an exception: {text}")
    if run.gateway.poll() is not None:
        findings.append(f"the gateway ended with {run.gateway.returncode}")
    return Result(figures, findings)


def main() -> None:
    """Run the soak, print the figures, exit with 1 for findings."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=24, help="conversations at a time")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Processes(Path(folder)) as processes:
        result = asyncio.run(soak(processes, chosen.minutes * 60, chosen.clients, chosen.seed))
    for name, value in result.figures.items():
        print(f"{name:18} {value}")
    for finding in result.findings:
        print(f"FINDING {finding}")
    print("green" if not result.findings else f"{len(result.findings)} findings")
    raise SystemExit(bool(result.findings))


if __name__ == "__main__":
    main()
