"""Agents on a gateway without any upstream: the rehearsal runs a command by their tool, and says what came of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .agent_session import rehearse
from .agents import AGENTS, FOLDER, program

PROMPT = "Run the command `cat notes.txt`"
WITHOUT_COMMANDS = ("codex-programs",)
"""Agents whose one tool takes programs."""


@pytest.mark.skipif(FOLDER is None, reason="needs coding agents: make agents installs them and runs this")
@pytest.mark.parametrize("name", [name for name in AGENTS if name not in WITHOUT_COMMANDS])
def test_an_agent_rehearses(name: str, tmp_path: Path) -> None:
    if not program(AGENTS[name].program).exists():
        pytest.skip(f"{AGENTS[name].program} is not installed")
    status, said = rehearse(name, PROMPT, tmp_path)
    assert status == 0, said
    assert "Rehearsal (no model)" in said
    assert "alpha" in said.rpartition("Rehearsal (no model)")[2]
