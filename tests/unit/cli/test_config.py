"""`dragoman config`: write a first file, check a file, show the resulting configuration."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dragoman.cli.main import main
from dragoman.gateway.config import EXAMPLE, load


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Remove the files and variables of the user who runs the tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in ("OPENAI", "ANTHROPIC", "GEMINI", "GOOGLE", "OPENROUTER"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
    monkeypatch.delenv("OLLAMA_HOST", raising=False)


def config(*words: str) -> Result:
    return CliRunner().invoke(main, ["config", *words])


def test_an_existing_file_is_not_overwritten() -> None:
    assert config("init").exit_code == 0
    assert Path("dragoman.toml").read_text() == EXAMPLE
    second = config("init")
    assert second.exit_code == 1
    assert "Use --force to overwrite it" in second.stderr
    assert config("init", "--force").exit_code == 0
    assert config("init", "none/such.toml").exit_code == 1


def test_check_lists_upstreams_and_probable_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    config("init")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OLLAMA_HOST", "box")
    done = config("check")
    assert done.exit_code == 0
    assert done.stdout == "dragoman.toml: 4 upstreams (openai, anthropic, gemini, ollama), 1 route\n"
    assert "note: upstreams.gemini: the variable GEMINI_API_KEY is empty, so each request there fails\n" in done.stderr
    assert "OPENAI_API_KEY" not in done.stderr


def test_check_names_the_mistake_and_fails() -> None:
    Path("own.toml").write_text("[upstreams.a]\ndialect = 'gemni'\n")
    done = config("check", "own.toml")
    assert done.exit_code == 1
    assert done.stderr.startswith(
        "dragoman: own.toml, line 2: upstreams.a.dialect: there is no dialect 'gemni'; did you mean gemini?"
    )
    assert config("check", "none.toml").exit_code == 1


def test_a_missing_configuration_is_a_message() -> None:
    assert config("check").stdout == "the environment: no upstreams: the rehearsal answers everything, 0 routes\n"


@pytest.mark.parametrize("options", [(), ("--all",)])
def test_the_output_of_show_is_a_file_with_the_same_configuration(options: tuple[str, ...]) -> None:
    Path("dragoman.toml").write_text(
        EXAMPLE
        + """
[upstreams."with space"]
dialect = "openai-chat"
base_url = "https://h/v1"
headers = { x-a = "1" }
stream = "always"

[[routes]]
match = "a\\"b"
to = [{ upstream = "openai", weight = 2 }, "rehearsal/rules"]
retries = 0
client_key = true
"""
    )
    done = config("show", *options)
    assert done.exit_code == 0
    Path("again.toml").write_text(done.stdout)
    assert load(Path("again.toml"), {}) == load(Path("dragoman.toml"), {})


def test_the_output_of_show_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "very-secret")
    Path("dragoman.toml").write_text(
        """
[upstreams.a]
dialect = "openai-chat"
base_url = "https://user:very-secret@h/v1"
key_env = "MY_KEY"
headers = { x-team-key = "very-secret", x-team = "blue" }
"""
    )
    shown = config("show").stdout
    assert "very-secret" not in shown
    upstream = tomllib.loads(shown)["upstreams"]["a"]
    assert upstream == {
        "dialect": "openai-chat",
        "base_url": "https://...@h/v1",
        "key_env": "MY_KEY",
        "headers": {"x-team-key": "...", "x-team": "blue"},
    }


def test_serve_names_a_mistake_in_the_configuration_too() -> None:
    Path("own.toml").write_text("[listen]\nprt = 1\n")
    done = CliRunner().invoke(main, ["serve", "--config", "own.toml"])
    assert done.exit_code == 1
    assert "own.toml, line 2: listen.prt: there is no such key; did you mean port?" in done.stderr
    assert CliRunner().invoke(main, ["serve", "--workers", "many"]).exit_code == 2
