"""`dragoman run CLIENT`: each client starts, calls one of its tools for a scripted model, and ends with the cost line.

`make agents` installs the clients and runs these tests. Without the clients they are skipped.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from dragoman.cli import client_table

from .agent_session import story
from .agents import FOLDER, program
from .upstream import Upstream

PROMPT = "Count the lines of notes.txt here, into count.txt."
COUNTING = "def count_lines() -> str:\n    open('count.txt', 'w').write('2')\n    return '2'\n"
"""A tool for llm, which has no tool that changes files."""
ARGUMENTS: dict[str, list[str]] = {
    "claude": ["-p", PROMPT, "--dangerously-skip-permissions"],
    "codex": ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT],
    "gemini": ["--skip-trust", "--yolo", "-p", PROMPT],
    "opencode": ["run", "--auto", PROMPT],
    "qwen": ["--yolo", PROMPT],
    "pi": ["-p", PROMPT],
    "aider": ["--yes-always", "--no-git", "--no-stream", "--edit-format", "whole", "--message", PROMPT],
    "llm": ["--functions", COUNTING, PROMPT],
}
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "IS_SANDBOX": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "PI_OFFLINE": "1",
    "AIDER_ANALYTICS_DISABLE": "1",
}
_SECONDS = 300


def test_every_client_of_the_table_is_tested() -> None:
    assert set(ARGUMENTS) == set(client_table.names())


@pytest.mark.skipif(FOLDER is None, reason="needs coding agents: make agents installs them and runs this")
@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize(("dialect", "model"), [("gemini", "gemini-3-pro-preview"), ("openai-chat", "gpt-4.1")])
def test_a_client_runs_on_another_model(name: str, dialect: str, model: str, tmp_path: Path) -> None:
    if not program(name).exists():
        pytest.skip(f"{name} is not installed")
    work, home, temporary = tmp_path / "work", tmp_path / "home", tmp_path / "temporary"
    for folder in (work, home, temporary):
        folder.mkdir()
    (work / "notes.txt").write_text("alpha\nbeta\n")
    whole_story = story(name, work)
    config = tmp_path / "own.toml"
    with Upstream(dialect, msgspec.structs.replace(whole_story, steps=whole_story.steps[-1:]), PROMPT) as upstream:
        config.write_text(
            f'upstreams.there = {{ dialect = "{dialect}", base_url = "{upstream.base}", key_env = "THERE_KEY" }}\n'
        )
        done = subprocess.run(
            [Path(sys.executable).with_name("dragoman"), "run", name, "--model", f"there/{model}", "--config", config]
            + ["--", *ARGUMENTS[name]],
            env={
                "PATH": f"{program(name).parent}:{os.environ['PATH']}",
                "HOME": str(home),
                "TMPDIR": str(temporary),
                "THERE_KEY": "upstream-key",
                **QUIET,
            },
            cwd=work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
    assert upstream.refused == []
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The notes have two lines." in done.stdout + done.stderr
    assert (work / "count.txt").read_text().strip() == "2"
    account = [line for line in done.stderr.splitlines() if line.startswith("dragoman: ")]
    assert "Cost: unknown" in account[1] and f"there/{model}" in account[1], account
    assert "upstream-key" not in done.stdout + done.stderr
    assert [path.name for path in temporary.iterdir() if path.name.startswith("dragoman-run-")] == []
