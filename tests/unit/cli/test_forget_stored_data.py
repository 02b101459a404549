"""`dragoman forget`: lists and deletes stored data, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from dragoman.cli.main import main
from dragoman.runtime.builtin_tools.save_memory import FILE
from dragoman.store import StoreEntry
from dragoman.store.sqlite_entry_store import SqliteStore, usual_file
from dragoman.store.upstream_keys import UpstreamKeys


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "DRAGOMAN_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    store = SqliteStore(usual_file({"HOME": str(tmp_path)}))
    store.put(StoreEntry("session", "one", b"{}"))
    store.close()
    UpstreamKeys({"HOME": str(tmp_path)}).store("OPENAI_API_KEY", "sk-secret")
    settings = tmp_path / ".config" / "dragoman"
    settings.mkdir(parents=True)
    (settings / FILE).write_text("- likes tea\n")
    (settings / "aliases.toml").write_text("")
    return tmp_path


def _files(home: Path) -> set[str]:
    return {path.name for path in home.rglob("*") if path.is_file()}


def test_the_list_names_every_stored_file_and_no_key(home: Path) -> None:
    done = CliRunner().invoke(main, ["forget"])
    assert done.exit_code == 0
    assert all(name in done.stdout for name in ("store.sqlite3", "keys.json", FILE))
    assert "sk-secret" not in done.output
    assert "aliases.toml" not in done.output


def test_named_kinds_of_data_are_deleted_and_others_stay(home: Path) -> None:
    assert CliRunner().invoke(main, ["forget", "conversations", "--yes"]).exit_code == 0
    assert _files(home) == {"keys.json", FILE, "aliases.toml"}


def test_deleting_everything_keeps_the_files_that_the_user_wrote(home: Path) -> None:
    assert CliRunner().invoke(main, ["forget", "everything", "--yes"]).exit_code == 0
    assert _files(home) == {"aliases.toml"}
    assert "none of these data" in CliRunner().invoke(main, ["forget", "everything", "--yes"]).output


def test_without_a_terminal_nothing_is_deleted_unless_confirmed(home: Path) -> None:
    before = _files(home)
    done = CliRunner().invoke(main, ["forget", "everything"])
    assert (done.exit_code, "--yes" in done.stderr) == (2, True)
    assert _files(home) == before
