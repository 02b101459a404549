"""A user with a home and a working folder, who runs commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dragoman.cli.main import main

Runs = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home; the working folder is another empty folder."""
    own, work = tmp_path / "own", tmp_path / "work"
    own.mkdir()
    work.mkdir()
    monkeypatch.chdir(work)
    return own


@pytest.fixture
def model() -> str:
    """The value of DRAGOMAN_MODEL. A module of tests that asks the rehearsal replaces this."""
    return ""


@pytest.fixture
def runs(home: Path, model: str) -> Runs:
    """Runs a command, and gives its result."""

    def run(*words: str | Path, input: str | bytes = "", **more: str) -> Result:
        empty = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY")
        rest = ("OLLAMA_HOST", "DRAGOMAN_MODEL", "DRAGOMAN_CONFIG", "DRAGOMAN_STORE", "DRAGOMAN_MCP")
        folders = ("XDG_DATA_HOME", "XDG_CONFIG_HOME")
        env = {**dict.fromkeys((*empty, *rest, *folders), ""), "HOME": str(home), "DRAGOMAN_MODEL": model, **more}
        return CliRunner(env=env).invoke(main, [str(word) for word in words], input=input)

    return run
