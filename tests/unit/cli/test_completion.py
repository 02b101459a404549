"""Shell completion of commands, dialects, models, upstreams and clients, without a network and without a prompt."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from dragoman.cli.main import main


@pytest.fixture(autouse=True)
def _empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "DRAGOMAN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")


def completed(*words: str) -> list[str]:
    found = ShellComplete(main, {}, "dragoman", "_DRAGOMAN_COMPLETE").get_completions(list(words[:-1]), words[-1])
    return [item.value for item in found]


def test_commands_dialects_models_upstreams_and_clients_are_completed() -> None:
    assert "translate" in completed("tr")
    assert completed("translate", "--to", "openai") == ["openai-chat", "openai-responses"]
    assert completed("lint", "--dialect", "mc") == ["mcp"]
    assert any(name.startswith("anthropic/claude-") for name in completed("ask", "--model", "anthropic/"))
    assert "rehearsal/rules" in completed("run", "--model", "re")
    assert "openai" in completed("login", "op")
    assert completed("run", "cl") == ["claude"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_calls_the_command(shell: str) -> None:
    done = CliRunner().invoke(main, ["completion", shell])
    assert done.exit_code == 0
    assert f"_DRAGOMAN_COMPLETE={shell}_complete" in done.stdout


def test_a_broken_configuration_completes_nothing_and_does_not_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.toml").write_text("nonsense")
    monkeypatch.setenv("DRAGOMAN_CONFIG", str(tmp_path / "own.toml"))
    assert completed("run", "--model", "an") == []
