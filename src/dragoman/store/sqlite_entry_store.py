"""The store in an SQLite file that only its owner may read and write."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ..errors import ConfigError
from . import StoreEntry
from .user_files import data_folder, require_only_owner_writes

VERSION = 1
WAIT = 10.0
"""Seconds to wait for another process that writes."""

_TABLE = """
CREATE TABLE entries (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    created REAL NOT NULL,
    updated REAL NOT NULL,
    labels TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE INDEX entries_by_time ON entries (kind, updated DESC);
"""

_labels = msgspec.json.Decoder(dict[str, str]).decode


def usual_file(environment: Mapping[str, str]) -> Path:
    """The file of a user's store: DRAGOMAN_STORE, or else a file in the data folder."""
    chosen = environment.get("DRAGOMAN_STORE")
    if chosen:
        return Path(chosen).expanduser()
    return data_folder(environment) / "store.sqlite3"


class SqliteStore:
    """A store in one file. Threads take turns, and so do processes."""

    def __init__(self, file: Path, now: Callable[[], float] = time.time) -> None:
        self._file, self._now = file, now
        with self._open_database():
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # SQLite itself would make the file with the usual mode, which lets others read it.
            handle = os.open(file, os.O_CREAT | os.O_RDWR, 0o600)
            try:  # The file holds the user's lasting permissions, so nobody else may change it.
                require_only_owner_writes(file, os.fstat(handle), folder=False)
            finally:
                os.close(handle)
            # `isolation_level=None`: each statement is committed at once, so that other processes read the entry.
            self._base = sqlite3.connect(file, timeout=WAIT, isolation_level=None, check_same_thread=False)
            self._prepare()

    @contextmanager
    def _open_database(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            why = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise ConfigError("store", str(self._file), problem=f"it cannot be used: {why}") from None

    def _prepare(self) -> None:
        base = self._base
        # With a write-ahead log, readers do not wait for a writer (SQLite documentation, WAL).
        base.execute("PRAGMA journal_mode = WAL")
        # The lock is taken before the version is read: only one of two processes may make the table.
        base.execute("BEGIN IMMEDIATE")
        try:
            version = base.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                # `executescript` would commit this transaction first.
                for statement in _TABLE.split(";"):
                    base.execute(statement)
                base.execute(f"PRAGMA user_version = {VERSION}")
        finally:
            base.execute("COMMIT")
        if version > VERSION:
            base.close()
            problem = f"a later version of dragoman made this file (format {version}; this version reads {VERSION})"
            raise ConfigError("store", str(self._file), problem=problem)

    def put(self, entry: StoreEntry) -> None:
        """As in `Store`."""
        now = self._now()
        labels = msgspec.json.encode(entry.labels, order="sorted").decode()
        with self._open_database():
            self._base.execute(
                "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, id) DO UPDATE SET"
                " updated = excluded.updated, labels = excluded.labels, body = excluded.body",
                (entry.kind, entry.id, entry.created or now, entry.updated or now, labels, entry.body),
            )

    def get(self, kind: str, id: str) -> StoreEntry | None:
        """As in `Store`."""
        with self._open_database():
            found = self._base.execute(
                "SELECT body, labels, created, updated FROM entries WHERE kind = ? AND id = ?", (kind, id)
            ).fetchone()
        return None if found is None else StoreEntry(kind, id, found[0], _labels(found[1]), found[2], found[3])

    def drop(self, kind: str, id: str) -> bool:
        """As in `Store`."""
        with self._open_database():
            return self._base.execute("DELETE FROM entries WHERE kind = ? AND id = ?", (kind, id)).rowcount > 0

    def find(self, kind: str, labels: Mapping[str, str] | None = None, most: int = 100) -> list[StoreEntry]:
        """As in `Store`."""
        wanted = labels or {}
        tests = "".join([" AND json_extract(labels, ?) = ?" for _ in wanted])
        values = [value for name, label in wanted.items() for value in (f'$."{name}"', label)]
        order = "ORDER BY updated DESC, id LIMIT ?"
        with self._open_database():
            rows = self._base.execute(
                f"SELECT id, labels, created, updated FROM entries WHERE kind = ?{tests} {order}",
                (kind, *values, most),
            ).fetchall()
        return [StoreEntry(kind, row[0], b"", _labels(row[1]), row[2], row[3]) for row in rows]

    def close(self) -> None:
        """As in `Store`."""
        self._base.close()
