"""Conversations in the store: how they are saved, found and titled."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dragoman import lint
from dragoman.canon import Text, Turn
from dragoman.cli import conversation_log_run
from dragoman.errors import ConfigError
from dragoman.runtime.conversation_store import KIND, ConversationStore, find
from dragoman.runtime.resumable_conversation import Session
from dragoman.store import StoreEntry
from dragoman.store.sqlite_entry_store import SqliteStore
from tests.unit.agent.helpers import FakeTool, ScriptedModel, answer_of, call, loop, new_session, run_events


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    found = SqliteStore(tmp_path / "store.sqlite3")
    yield found
    found.close()


def _session(words: str = "Is Paris warmer than Rome?", id: str = "abc1") -> Session:
    session = Session(id=id, model="up/m")
    session.say(words)
    return session


def _found(store: SqliteStore, id: str | None = None) -> StoreEntry:
    entry = find(store, id, "/w")
    assert entry is not None
    return entry


def test_a_conversation_is_saved_and_continued(store: SqliteStore) -> None:
    messages: list[str] = []
    ConversationStore(store, "/w", messages.append)(_session())
    conversation_store = ConversationStore(store, "/w", messages.append)
    session = conversation_store.read(_found(store))
    session.say("And Oslo?")
    conversation_store(session)
    conversation_store(session)
    (entry,) = store.find(KIND)
    assert (entry.id, entry.labels) == (
        "abc1",
        {"title": "Is Paris warmer than Rome?", "model": "up/m", "folder": "/w"},
    )
    assert len(Session.from_json(_found(store).body).turns) == 2 and messages == []


def test_an_empty_conversation_is_not_saved(store: SqliteStore) -> None:
    ConversationStore(store, "/w", pytest.fail)(Session(id="abc1", model="up/m"))
    assert store.find(KIND) == []


def test_two_continuations_of_one_conversation_are_both_saved(store: SqliteStore) -> None:
    messages: list[str] = []
    ConversationStore(store, "/w", messages.append)(_session())
    one, other = ConversationStore(store, "/w", messages.append), ConversationStore(store, "/w", messages.append)
    first, second = one.read(_found(store)), other.read(_found(store))
    first.say("And Oslo?")
    one(first)
    second.say("And Bergen?")
    other(second)
    other(second)
    one(first)
    assert len(messages) == 1 and second.id in messages[0] and first.id == "abc1"
    words = {entry.id: _found(store, entry.id).body for entry in store.find(KIND)}
    assert b"And Oslo?" in words["abc1"] and b"And Bergen?" in words[second.id] and len(words) == 2


def test_a_summary_does_not_change_the_title(store: SqliteStore) -> None:
    conversation_store = ConversationStore(store, "/w", pytest.fail)
    session = _session()
    conversation_store(session)
    session.turns = (Turn("user", (Text("This is a summary"),)),)
    conversation_store(session)
    assert _found(store).labels["title"] == "Is Paris warmer than Rome?"
    later = ConversationStore(store, "/w", pytest.fail)
    later(later.read(_found(store)))
    assert _found(store).labels["title"] == "Is Paris warmer than Rome?"


def test_a_failed_save_is_reported_once_and_ends_no_run(store: SqliteStore) -> None:
    messages: list[str] = []
    conversation_store = ConversationStore(store, "/w", messages.append)
    store.close()
    conversation_store(_session())
    conversation_store(_session())
    assert len(messages) == 1 and messages[0].startswith("the conversation could not be stored: store ")


def test_an_ambiguous_beginning_of_an_id_is_refused(store: SqliteStore) -> None:
    for id in ("abc1", "abc2"):
        ConversationStore(store, "/w", pytest.fail)(_session(id=id))
    assert _found(store, "abc2").id == "abc2" and find(store, "b") is None
    with pytest.raises(ConfigError, match="conversation 'abc': several ids have this beginning; valid: abc2, abc1"):
        find(store, "abc")


def test_an_export_in_the_middle_of_a_step_has_the_results_so_far(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRAGOMAN_STORE", str(tmp_path / "store.sqlite3"))
    model = ScriptedModel(answer_of(call("a", "look"), call("b", "look")))
    session = new_session()
    with closing(SqliteStore(tmp_path / "store.sqlite3")) as store:
        conversation_store = ConversationStore(store, "/w", pytest.fail)
        run_events(loop(model, [FakeTool("look", kind="edit")], save=conversation_store), session, most=3)
    assert session.step == "calls" and list(session.results) == ["a"]
    conversation_log_run.export(session.id, "openai-chat", "", "text")
    written = capsysbinary.readouterr().out
    results = {one["tool_call_id"]: one["content"] for one in json.loads(written)["messages"] if one["role"] == "tool"}
    assert results["a"] == "18 degrees" and "not run" in results["b"]
    assert [one for one in lint(written, dialect="openai-chat", kind="request") if one.severity == "error"] == []
