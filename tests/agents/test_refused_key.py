"""Agents on a gateway with a wrong key for its upstream: no request is repeated, and the person sees the key's name."""

from __future__ import annotations

from pathlib import Path

import pytest

from .agent_session import refused_key
from .agents import AGENTS, FOLDER, program


@pytest.mark.skipif(FOLDER is None, reason="needs coding agents: make agents installs them and runs this")
@pytest.mark.parametrize("name", [name for name in AGENTS if name != "codex-programs"])
def test_an_agent_shows_a_refused_key_at_once(name: str, tmp_path: Path) -> None:
    if not program(AGENTS[name].program).exists():
        pytest.skip(f"{AGENTS[name].program} is not installed")
    output, requests = refused_key(name, tmp_path)
    assert "refused the key in THERE_KEY" in output
    with_tools = [one for one in requests if '"tools"' in one]  # Requests of opencode for a title may repeat.
    assert with_tools and len(with_tools) == len(set(with_tools)), "a request was repeated"
