"""`dragoman connect`: show settings, write them with a backup, and undo the change."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dragoman.cli import client_table
from dragoman.cli.client_settings_edits import merge_settings
from dragoman.cli.main import main
from dragoman.errors import ConfigError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def connect(*words: str) -> Result:
    return CliRunner().invoke(main, ["connect", *words])


def files(home: Path) -> dict[str, bytes]:
    found = [path for path in home.rglob("*") if path.is_file() and path.name != "connected.json"]
    return {str(path.relative_to(home)): path.read_bytes() for path in found}


@pytest.mark.parametrize("client", client_table.names())
def test_settings_are_shown_and_nothing_is_written(client: str, home: Path) -> None:
    done = connect(client, "--model", "gemini/gemini-3-pro", "--gateway", "http://127.0.0.1:9999/")
    assert done.exit_code == 0, done.output
    assert "http://127.0.0.1:9999" in done.stdout and "//v1" not in done.stdout.replace("://", "")
    assert files(home) == {}


@pytest.mark.parametrize("client", [name for name, row in client_table.rows().items() if row.connect])
def test_written_settings_can_be_undone(client: str, home: Path) -> None:
    done = connect(client, "--model", "gemini/gemini-3-pro", "--write")
    assert done.exit_code == 0, done.output
    assert files(home)
    assert connect(client, "--model", "gemini/gemini-3-pro", "--write").exit_code == 0
    assert connect(client, "--undo").exit_code == 0
    assert files(home) == {}
    assert connect(client, "--undo").exit_code == 1


def test_other_settings_stay_and_undo_restores_every_byte(home: Path) -> None:
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    old = b'{"permissions": {"allow": ["Bash"]}, "env": {"A": "1"}}'
    file.write_bytes(old)
    connect("claude", "--write")
    settings = json.loads(file.read_bytes())
    assert settings["permissions"] == {"allow": ["Bash"]}
    assert settings["env"] == {"A": "1", "ANTHROPIC_BASE_URL": "http://127.0.0.1:8484", "ANTHROPIC_AUTH_TOKEN": "any"}
    assert (file.stat().st_mode & 0o777) == 0o600
    connect("claude", "--undo")
    assert files(home) == {".claude/settings.json": old}


def test_a_file_that_was_changed_after_the_write_is_not_undone(home: Path) -> None:
    connect("claude", "--write")
    file = home / ".claude" / "settings.json"
    file.write_bytes(file.read_bytes() + b"\n")
    done = connect("claude", "--undo")
    assert (done.exit_code, "changed since" in done.stderr) == (1, True)
    assert file.exists()


def test_an_unknown_client_is_refused_with_the_known_ones() -> None:
    done = CliRunner().invoke(main, ["connect", "clade"])
    assert done.exit_code == 2
    assert done.stderr.startswith(
        "dragoman: CLIENT: 'clade' is not possible. Did you mean claude? Possible: claude, codex,"
    )
    assert all(name in (main.get_command(None, "connect").help or "") for name in client_table.names())  # type: ignore[arg-type, union-attr]


def test_toml_keeps_comments_and_other_tables() -> None:
    old = (
        '# mine\nmodel = "gpt-5"\napproval = "never" # keep\n\n'
        '[model_providers.dragoman]\nname = "old"\n\n[profiles.x]\na = 1\n'
    )
    content = {"model": "m", "model_provider": "dragoman", "model_providers": {"dragoman": {"name": "dragoman"}}}
    text = merge_settings(old, "toml", content, Path("config.toml"))
    assert "# mine" in text and "# keep" in text
    assert tomllib.loads(text) == {**content, "approval": "never", "profiles": {"x": {"a": 1}}}


@pytest.mark.parametrize(
    ("old", "form"),
    [
        ("{// a comment\n}", "json"),
        ("[]", "json"),
        ("a = ", "toml"),
        ('[model_providers]\ndragoman = {name = "x"}\n', "toml"),
    ],
)
def test_a_file_that_cannot_be_edited_safely_is_refused(old: str, form: str) -> None:
    with pytest.raises(ConfigError, match="Nothing was changed"):
        merge_settings(old, form, {"model_providers": {"dragoman": {"name": "dragoman"}}}, Path("file"))


def test_an_env_file_keeps_its_other_lines() -> None:
    text = merge_settings("# mine\nA=1\nexport B=2\n", "env", {"B": "3"}, Path(".env"))
    assert text == "# mine\nA=1\nB=3\n"


def test_a_key_is_shown_as_its_variable_and_written_as_its_value(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATE", "sk-gate")
    assert "sk-gate" not in connect("claude", "--key-env", "GATE").output
    connect("claude", "--key-env", "GATE", "--write")
    assert b"sk-gate" in (home / ".claude" / "settings.json").read_bytes()
    assert 'env_key = "GATE"' in connect("codex", "--key-env", "GATE").stdout
    assert connect("claude", "--key-env", "NO_SUCH_VARIABLE").exit_code == 2
