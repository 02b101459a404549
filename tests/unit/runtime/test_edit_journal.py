"""Edits of the file tools are taken back by prompt, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from dragoman.canon import ToolCall
from dragoman.cli.main import main
from dragoman.errors import ConfigError
from dragoman.runtime import Agent, Policy, Session
from dragoman.runtime.edit_journal import KIND, undo
from dragoman.store.sqlite_entry_store import SqliteStore
from tests.unit.agent.rig import InTurn, call, says

OLD = b"\xef\xbb\xbfold\r\n"


class Rig:
    """An agent that makes the given calls, one prompt for each list of them."""

    def __init__(self, folder: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.store, self._patch = folder, store, monkeypatch
        self.session = Session(id="s1")

    def prompt(self, *calls: ToolCall) -> None:
        model = InTurn(*[says(one) for one in calls], says("Done."))
        self._patch.setattr("dragoman.runtime.agent.Upstreams", lambda upstreams, net, *own: lambda name: model)
        kept = self.session.id if self.session.turns else self.session
        agent = Agent("m/m", folder=self.folder, store=self.store, session=kept, policy=Policy("all"))
        agent.ask("Do something else.")
        self.session = agent.session

    def write(self, name: str, content: str) -> ToolCall:
        path = str(self.folder / name).replace("\\", "/")
        return call(f"w-{name}-{content}", "write_file", f'{{"file_path": "{path}", "content": "{content}"}}')

    def undo(self) -> tuple[list[str], list[str]]:
        done = undo(self.store, self.session, (self.folder,))
        return [Path(path).name for path in done.files], list(done.commands)


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rig:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("DRAGOMAN_STORE", raising=False)
    return Rig(folder, SqliteStore(tmp_path / "store.sqlite3"), monkeypatch)


def test_edits_are_taken_back_by_prompt(rig: Rig) -> None:
    old = rig.folder / "old.txt"
    old.write_bytes(OLD)
    rig.prompt(rig.write("old.txt", "one"), rig.write("new.txt", "one"), rig.write("old.txt", "two"))
    rig.prompt(rig.write("new.txt", "three"), call("c", "run_shell_command", '{"command": "echo hi"}'))
    assert rig.undo() == (["new.txt"], ["echo hi"])
    assert (rig.folder / "new.txt").read_text() == "one"
    assert sorted(rig.undo()[0]) == ["new.txt", "old.txt"]
    assert old.read_bytes() == OLD and not (rig.folder / "new.txt").exists()
    with pytest.raises(ConfigError, match="no edit"):
        rig.undo()


def test_a_file_that_changed_since_keeps_all_of_them(rig: Rig) -> None:
    rig.prompt(rig.write("a.txt", "one"), rig.write("b.txt", "one"))
    (rig.folder / "b.txt").write_text("mine")
    with pytest.raises(ConfigError, match=r"b\.txt has changed since the edit\. Nothing was taken back"):
        rig.undo()
    assert (rig.folder / "a.txt").read_text() == "one" and (rig.folder / "b.txt").read_text() == "mine"
    (rig.folder / "b.txt").write_text("one")
    assert rig.undo() == (["a.txt", "b.txt"], [])


def test_a_file_that_changed_between_two_edits(rig: Rig) -> None:
    rig.prompt(
        rig.write("a.txt", "one"),
        call("c", "run_shell_command", '{"command": "echo mine > a.txt"}'),
        rig.write("a.txt", "two"),
    )
    with pytest.raises(ConfigError, match="between two edits"):
        rig.undo()
    assert (rig.folder / "a.txt").read_text() == "two"


def test_a_link_that_leaves_the_workspace_is_not_followed(rig: Rig, tmp_path: Path) -> None:
    rig.prompt(rig.write("a.txt", "one"))
    (tmp_path / "secret").write_text("one")
    (rig.folder / "a.txt").unlink()
    (rig.folder / "a.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(ConfigError, match="not within the workspace"):
        rig.undo()
    assert (tmp_path / "secret").read_text() == "one"


def test_the_command(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_STORE", str(rig.folder.parent / "store.sqlite3"))
    monkeypatch.chdir(rig.folder)
    rig.prompt(rig.write("a.txt", "one"))
    done = CliRunner().invoke(main, ["undo"])
    assert (done.exit_code, done.stderr) == (0, f"taken back: {rig.folder}/a.txt\n")
    assert not (rig.folder / "a.txt").exists()
    again = CliRunner().invoke(main, ["undo", "s1"])
    assert again.exit_code == 1 and "no edit" in again.stderr


def test_a_forgotten_conversation_leaves_no_content_of_files(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_STORE", str(rig.folder.parent / "store.sqlite3"))
    rig.prompt(rig.write("a.txt", "one"))
    assert rig.store.find(KIND, {"session": "s1"})
    assert CliRunner().invoke(main, ["log", "s1", "--forget"]).exit_code == 0
    assert rig.store.find(KIND) == []
