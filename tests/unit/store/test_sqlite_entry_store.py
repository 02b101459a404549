"""The store in a file: entries are kept, found, replaced and dropped. Processes share the file, other users cannot."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.errors import ConfigError
from dragoman.store import StoreEntry, sqlite_entry_store
from dragoman.store.sqlite_entry_store import SqliteStore, usual_file


class Clock:
    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        self.at += 1
        return self.at


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(tmp_path / "a" / "b" / "store.sqlite3", Clock())


def test_a_stored_entry_is_found(store: SqliteStore) -> None:
    store.put(StoreEntry("talk", "1", b"one", {"folder": "/x"}))
    assert store.get("talk", "1") == StoreEntry("talk", "1", b"one", {"folder": "/x"}, 101.0, 101.0)
    assert store.get("talk", "2") is None
    assert store.get("other", "1") is None


def test_a_replaced_entry_keeps_its_time_of_creation(store: SqliteStore) -> None:
    store.put(StoreEntry("talk", "1", b"one", {"a": "b"}))
    store.put(StoreEntry("talk", "1", b"two", {"c": "d"}))
    assert store.get("talk", "1") == StoreEntry("talk", "1", b"two", {"c": "d"}, 101.0, 102.0)


def test_entries_are_found_by_labels_newest_first_without_bodies(store: SqliteStore) -> None:
    for name, folder in (("1", "/x"), ("2", '/"y" \' z'), ("3", "/x"), ("4", "/x")):
        store.put(StoreEntry("talk", name, b"body", {"folder": folder, "model": "m"}))
    store.put(StoreEntry("talk", "1", b"body", {"folder": "/x"}))
    assert [entry.id for entry in store.find("talk", {"folder": "/x"})] == ["1", "4", "3"]
    assert [entry.id for entry in store.find("talk", {"folder": '/"y" \' z'})] == ["2"]
    assert [entry.id for entry in store.find("talk", {"folder": "/x", "model": "m"})] == ["4", "3"]
    assert [entry.id for entry in store.find("talk", most=2)] == ["1", "4"]
    assert store.find("talk")[0].body == b""
    assert store.find("nothing") == []


def test_a_dropped_entry_is_not_found(store: SqliteStore) -> None:
    store.put(StoreEntry("talk", "1", b"one"))
    assert store.drop("talk", "1") is True
    assert store.drop("talk", "1") is False
    assert store.get("talk", "1") is None


def test_another_process_finds_an_entry_at_once(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite3"
    store = SqliteStore(file)
    store.put(StoreEntry("talk", "1", b"one"))
    program = (
        "import sys; from pathlib import Path; from dragoman.store import StoreEntry; "
        "from dragoman.store.sqlite_entry_store import SqliteStore; s = SqliteStore(Path(sys.argv[1])); "
        "print(s.get('talk', '1').body.decode()); s.put(StoreEntry('talk', '2', b'two'))"
    )
    done = subprocess.run([sys.executable, "-c", program, str(file)], capture_output=True, text=True, check=True)
    assert done.stdout == "one\n"
    found = store.get("talk", "2")
    assert found is not None and found.body == b"two"
    store.close()


def test_only_the_owner_may_read_the_file(tmp_path: Path) -> None:
    file = tmp_path / "new" / "store.sqlite3"
    SqliteStore(file).close()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_file_of_another_program_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite3"
    file.write_bytes(b"something else entirely, which is no database" * 50)
    with pytest.raises(ConfigError, match="cannot be used"):
        SqliteStore(file)
    later = tmp_path / "later.sqlite3"
    base = sqlite3.connect(later)
    base.execute("PRAGMA user_version = 99")
    base.close()
    with pytest.raises(ConfigError, match="later version"):
        SqliteStore(later)


def test_later_errors_of_the_database_are_configuration_errors_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_entry_store, "WAIT", 0.0)
    file = tmp_path / "store.sqlite3"
    store = SqliteStore(file)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(ConfigError, match=r"store '.*': it cannot be used: database is locked"):
        store.put(StoreEntry("a", "1", b"x"))
    other.execute("ROLLBACK")
    store.put(StoreEntry("a", "1", b"x"))
    other.execute("DROP TABLE entries")
    other.close()
    for refused in (lambda: store.get("a", "1"), lambda: store.find("a"), lambda: store.drop("a", "1")):
        with pytest.raises(ConfigError, match="no such table"):
            refused()
    store.close()


def test_the_environment_sets_the_place_of_the_file() -> None:
    assert usual_file({"HOME": "/users/u"}) == Path("/users/u/.local/share/dragoman/store.sqlite3")
    assert usual_file({"HOME": "/users/u", "XDG_DATA_HOME": "/data"}) == Path("/data/dragoman/store.sqlite3")
    assert usual_file({"DRAGOMAN_STORE": "/my/own.db"}) == Path("/my/own.db")
