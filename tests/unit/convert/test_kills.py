"""A conversion that is killed at random moments gives the same bytes as an unbroken one (`make kills` for longer)."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from tests.unit.convert.kills import kill_and_continue

pytestmark = pytest.mark.skipif(shutil.which("ps") is None, reason="ps is needed to look for workers")


@pytest.mark.parametrize(("suffix", "kills"), [(".jsonl.gz", 3), (".parquet", 2)])
def test_killed_conversions_continue_to_the_same_bytes(tmp_path: Path, suffix: str, kills: int) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    kill_and_continue(tmp_path, suffix, kills, seed)
