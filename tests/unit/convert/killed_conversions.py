"""Kills `dragoman convert` at random moments, lets it continue, and compares the output with that of an unbroken run.

    python -m tests.unit.convert.killed_conversions --kills 50 --seed 7      # `make kills` does the same

A moment is a length of the unfinished output, or a time after the start. The test fails if a byte differs, or if a
worker process outlives its parent.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LINES = 900
SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet")
PATIENCE = 60.0
"""Seconds after which a run or a worker counts as stuck."""


def write_input(path: Path, lines: int = LINES) -> None:
    """Different requests, and some bad lines."""
    words = random.Random(1)
    with path.open("wb") as file:
        for number in range(lines):
            if number % 97 == 5:
                file.write(b'{"messages": [{"role": "user", "content": \xff\n')
                continue
            text = " ".join([f"word{words.randrange(10_000)}" for _ in range(120)])
            request = {
                "model": "claude-sonnet-4-5",
                "max_tokens": 100 + number,
                "stop_sequences": ["END"],
                "messages": [{"role": "user", "content": text}],
            }
            file.write(json.dumps(request).encode() + b"\n")


def command(source: Path, output: Path, report: Path) -> list[str]:
    """The command of one run. All chunks are small, and every chunk is followed by a checkpoint."""
    options = ["--to", "openai-batch", "--jobs", "2", "--chunk-size", "8K", "--checkpoint-seconds", "0"]
    return [
        *(sys.executable, "-m", "dragoman", "convert", str(source), "-o", str(output)),
        *(*options, "--quiet", "--report", str(report)),
    ]


def contents(output: Path) -> dict[str, bytes]:
    """The bytes of an output: a file, or the files of a folder."""
    if output.is_dir():
        return {path.name: path.read_bytes() for path in sorted(output.iterdir())}
    return {"": output.read_bytes()}


def kill_and_continue(folder: Path, suffix: str, kills: int, seed: int) -> int:
    """Run one conversion with kills, and compare. Returns how many kills hit a run that was at work."""
    moments = random.Random(seed)
    source = folder / "in.jsonl"
    if not source.exists():
        write_input(source)
    whole, broken = folder / f"whole{suffix}", folder / f"broken{suffix}"
    if not whole.exists():
        assert subprocess.run(command(source, whole, folder / f"whole{suffix}.json")).returncode == 1  # bad lines
    size = sum([len(data) for data in contents(whole).values()])
    hits = 0
    while kills > 0:
        kills -= 1
        hits += _killed(command(source, broken, folder / "broken.json"), Path(f"{broken}.partial"), size, moments)
        if broken.exists():  # the run ended before the kill
            break
    if not broken.exists():
        assert subprocess.run(command(source, broken, folder / "broken.json")).returncode == 1
    assert contents(broken) == contents(whole), f"seed {seed}: the output differs"
    bad = [Path(f"{one}.bad.jsonl").read_bytes() for one in (broken, whole)]
    assert bad[0] == bad[1], f"seed {seed}: the bad lines differ"
    reports = [json.loads(path.read_bytes()) for path in (folder / "broken.json", folder / f"whole{suffix}.json")]
    for one in reports:
        del one["output"], one["bad_lines"]
    assert reports[0] == reports[1], f"seed {seed}: the summary differs"
    left = [path.name for path in folder.iterdir() if path.name.endswith((".partial", ".progress.json", ".new"))]
    assert not left, f"seed {seed}: files are left: {left}"
    for path in (broken, Path(f"{broken}.bad.jsonl")):
        subprocess.run(["rm", "-rf", str(path)], check=True)
    return hits


def _killed(arguments: list[str], partial: Path, size: int, moments: random.Random) -> int:
    process = subprocess.Popen(arguments, start_new_session=True)
    reached = _size(partial) + moments.random() * max(size - _size(partial), 1)
    end = time.monotonic() + (moments.random() if moments.random() < 0.3 else PATIENCE)
    while process.poll() is None and _size(partial) < reached and time.monotonic() < end:
        time.sleep(0.002)
    hit = process.poll() is None
    if hit:
        process.kill()
    process.wait()
    end = time.monotonic() + PATIENCE
    while _lives(process.pid):
        assert time.monotonic() < end, "a worker process outlived its parent"
        time.sleep(0.01)
    return hit


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return any(_state(group))


def _state(group: int) -> list[str]:
    """The processes of a group without zombies. An orphan may stay a zombie, because no parent waits for it."""
    listed = subprocess.run(["ps", "-o", "stat=", "-g", str(group)], capture_output=True, text=True).stdout
    return [line for line in listed.splitlines() if not line.strip().startswith("Z")]


def _size(path: Path) -> int:
    try:
        if path.is_dir():
            return sum([one.stat().st_size for one in path.iterdir()])
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def main() -> None:
    """Kill conversions of all kinds of output until the number of kills is reached."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    chosen = parser.parse_args()
    print(f"seed {chosen.seed}")
    hits = rounds = 0
    with tempfile.TemporaryDirectory() as folder:
        while hits < chosen.kills:
            suffix = SUFFIXES[rounds % len(SUFFIXES)]
            hits += kill_and_continue(Path(folder), suffix, min(5, chosen.kills - hits), chosen.seed + rounds)
            rounds += 1
            print(f"{hits} kills, {rounds} conversions: all bytes are the same")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    main()
