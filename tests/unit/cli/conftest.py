"""Fixtures: a home folder, a working folder, and a function that runs commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dragoman.cli.main import main

Runs = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder. The working folder is another empty folder."""
    user_home, work = tmp_path / "own", tmp_path / "work"
    user_home.mkdir()
    work.mkdir()
    monkeypatch.chdir(work)
    return user_home


@pytest.fixture
def model() -> str:
    """The value of DRAGOMAN_MODEL. A test module that uses the rehearsal replaces this fixture."""
    return ""


@pytest.fixture
def runs(home: Path, model: str) -> Runs:
    """A function that runs a command and returns its result."""

    def run(*words: str | Path, input: str | bytes = "", **more: str) -> Result:
        empty = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY")
        settings = ("OLLAMA_HOST", "DRAGOMAN_MODEL", "DRAGOMAN_CONFIG", "DRAGOMAN_STORE", "DRAGOMAN_MCP")
        folders = ("XDG_DATA_HOME", "XDG_CONFIG_HOME")
        env = {**dict.fromkeys((*empty, *settings, *folders), ""), "HOME": str(home), "DRAGOMAN_MODEL": model, **more}
        return CliRunner(env=env).invoke(main, [str(word) for word in words], input=input)

    return run
