"""A conversion that is killed at random moments gives the same bytes as an unbroken one (`make kills` for longer)."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.unit.convert.killed_conversions import LINES, command, kill_and_continue, write_input

pytestmark = pytest.mark.skipif(shutil.which("ps") is None, reason="ps is needed to look for workers")


@pytest.mark.parametrize(("suffix", "kills"), [(".jsonl.gz", 3), (".parquet", 2)])
def test_killed_conversions_continue_to_the_same_bytes(tmp_path: Path, suffix: str, kills: int) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    kill_and_continue(tmp_path, suffix, kills, seed)


def test_after_ctrl_c_a_hint_is_printed_and_the_next_run_continues(tmp_path: Path) -> None:
    source, out, report = tmp_path / "in.jsonl", tmp_path / "out.jsonl", tmp_path / "report.json"
    write_input(source)
    words = [word for word in command(source, out, report) if word != "--quiet"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True)
    partial = Path(f"{out}.partial")
    while process.poll() is None and not (partial.exists() and partial.stat().st_size > 100_000):
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGINT)  # as from a terminal: the workers get the signal too
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Run the same command again to continue" in errors
    assert "Traceback" not in errors
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1  # bad lines
    assert "continuing after" in done.stderr
    assert out.read_bytes().count(b"\n") == sum([number % 97 != 5 for number in range(LINES)])
