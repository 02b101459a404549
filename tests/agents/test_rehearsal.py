"""Agents on a gateway without any upstream: the rehearsal calls their tool for commands and repeats its result."""

from __future__ import annotations

from pathlib import Path

import pytest

from .agent_session import rehearse
from .agents import AGENTS, FOLDER, program

PROMPT = "Run the command `cat notes.txt`"
WITHOUT_COMMANDS = ("codex-programs",)
"""Agents with only one tool, which runs programs."""


@pytest.mark.skipif(FOLDER is None, reason="needs coding agents: make agents installs them and runs this")
@pytest.mark.parametrize("name", [name for name in AGENTS if name not in WITHOUT_COMMANDS])
def test_an_agent_runs_a_command_for_the_rehearsal(name: str, tmp_path: Path) -> None:
    if not program(AGENTS[name].program).exists():
        pytest.skip(f"{AGENTS[name].program} is not installed")
    status, output = rehearse(name, PROMPT, tmp_path)
    assert status == 0, output
    assert "Rehearsal (no model)" in output
    assert "alpha" in output.rpartition("Rehearsal (no model)")[2]
