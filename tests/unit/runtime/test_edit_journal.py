"""`undo` takes back all edits of the last prompt, or none of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from dragoman.canon import Text, ToolCall, Turn
from dragoman.cli.main import main
from dragoman.errors import ConfigError
from dragoman.runtime import Agent, Policy, Session
from dragoman.runtime.edit_journal import KIND, undo
from dragoman.store.sqlite_entry_store import SqliteStore
from tests.unit.agent.helpers import ModelByRequestNumber, answer_of, call

OLD = b"\xef\xbb\xbfold\r\n"


class EditingAgent:
    """An agent that makes the given calls in answer to one prompt."""

    def __init__(self, folder: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.store, self._patch = folder, store, monkeypatch
        self.session = Session(id="s1")

    def prompt(self, *calls: ToolCall) -> None:
        model = ModelByRequestNumber(*[answer_of(one) for one in calls], answer_of("Done."))
        self._patch.setattr("dragoman.runtime.agent.Upstreams", lambda upstreams, net, *own: lambda name: model)
        session = self.session.id if self.session.turns else self.session
        agent = Agent("m/m", folder=self.folder, store=self.store, session=session, policy=Policy("all"))
        agent.ask("Do something else.")
        self.session = agent.session

    def write(self, name: str, content: str) -> ToolCall:
        path = str(self.folder / name).replace("\\", "/")
        return call(f"w-{name}-{content}", "write_file", f'{{"file_path": "{path}", "content": "{content}"}}')

    def undo(self) -> tuple[list[str], list[str]]:
        done = undo(self.store, self.session, (self.folder,))
        return [Path(path).name for path in done.files], list(done.commands)


@pytest.fixture
def editing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EditingAgent:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("DRAGOMAN_STORE", raising=False)
    return EditingAgent(folder, SqliteStore(tmp_path / "store.sqlite3"), monkeypatch)


def test_undo_takes_back_the_edits_of_one_prompt(editing: EditingAgent) -> None:
    old = editing.folder / "old.txt"
    old.write_bytes(OLD)
    editing.prompt(editing.write("old.txt", "one"), editing.write("new.txt", "one"), editing.write("old.txt", "two"))
    editing.prompt(editing.write("new.txt", "three"), call("c", "run_shell_command", '{"command": "echo hi"}'))
    assert editing.undo() == (["new.txt"], ["echo hi"])
    assert (editing.folder / "new.txt").read_text() == "one"
    assert sorted(editing.undo()[0]) == ["new.txt", "old.txt"]
    assert old.read_bytes() == OLD and not (editing.folder / "new.txt").exists()
    with pytest.raises(ConfigError, match="no edit"):
        editing.undo()


def test_undo_changes_nothing_if_a_file_has_changed_since(editing: EditingAgent) -> None:
    editing.prompt(editing.write("a.txt", "one"), editing.write("b.txt", "one"))
    (editing.folder / "b.txt").write_text("mine")
    with pytest.raises(ConfigError, match=r"b\.txt has changed since the edit\. Nothing was taken back"):
        editing.undo()
    assert (editing.folder / "a.txt").read_text() == "one" and (editing.folder / "b.txt").read_text() == "mine"
    (editing.folder / "b.txt").write_text("one")
    assert editing.undo() == (["a.txt", "b.txt"], [])


def test_undo_changes_nothing_if_a_file_changed_between_two_edits(editing: EditingAgent) -> None:
    editing.prompt(
        editing.write("a.txt", "one"),
        call("c", "run_shell_command", '{"command": "echo mine > a.txt"}'),
        editing.write("a.txt", "two"),
    )
    with pytest.raises(ConfigError, match="between two edits"):
        editing.undo()
    assert (editing.folder / "a.txt").read_text() == "two"


def test_undo_follows_no_link_out_of_the_workspace(editing: EditingAgent, tmp_path: Path) -> None:
    editing.prompt(editing.write("a.txt", "one"))
    (tmp_path / "secret").write_text("one")
    (editing.folder / "a.txt").unlink()
    (editing.folder / "a.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(ConfigError, match="not within the workspace"):
        editing.undo()
    assert (tmp_path / "secret").read_text() == "one"


def test_the_undo_command_takes_back_an_edit(editing: EditingAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_STORE", str(editing.folder.parent / "store.sqlite3"))
    monkeypatch.chdir(editing.folder)
    editing.prompt(editing.write("a.txt", "one"))
    done = CliRunner().invoke(main, ["undo"])
    assert (done.exit_code, done.stderr) == (0, f"taken back: {editing.folder}/a.txt\n")
    assert not (editing.folder / "a.txt").exists()
    second = CliRunner().invoke(main, ["undo", "s1"])
    assert second.exit_code == 1 and "no edit" in second.stderr


def test_deleting_a_conversation_deletes_its_file_contents(
    editing: EditingAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRAGOMAN_STORE", str(editing.folder.parent / "store.sqlite3"))
    editing.prompt(editing.write("a.txt", "one"))
    assert editing.store.find(KIND, {"session": "s1"})
    assert CliRunner().invoke(main, ["log", "s1", "--forget"]).exit_code == 0
    assert editing.store.find(KIND) == []


def test_undo_lists_the_commands_of_the_same_prompt_also_after_a_summary(editing: EditingAgent) -> None:
    def command(text: str) -> ToolCall:
        return call(f"c-{text}", "run_shell_command", f'{{"command": "{text}"}}')

    editing.prompt(editing.write("a", "one"), command("echo first"))
    editing.prompt(command("echo second"))
    editing.prompt(editing.write("b", "two"), command("echo third"))
    turns = editing.session.turns
    third = [place for place, turn in enumerate(turns) if turn.role == "user"][3]  # The first user turn is the opening.
    summary = (Turn("user", (Text("They wrote a file."),)), Turn("assistant", (Text("Yes."),)))
    editing.session.turns = (*summary, *turns[third:])
    assert editing.undo() == (["b"], ["echo third"])
    assert editing.undo() == (["a"], []), "a summary contains no commands"
