"""Conversations in the store: found by their id or by their folder, and stored after each step."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable

from ..errors import ConfigError
from ..store import Store, StoreEntry
from .history import text_of
from .resumable_conversation import Session
from .system_prompt_and_first_turns import is_opening

KIND = "conversation"
_TITLE = 80


def find(store: Store, id: str | None, folder: str = "") -> StoreEntry | None:
    """The conversation whose id has this beginning; without an id, the last conversation in the folder. ConfigError
    where several ids have this beginning."""
    if id is None:
        found = store.find(KIND, {"folder": folder}, 1)
    else:
        found = [entry for entry in store.find(KIND, most=10_000) if entry.id.startswith(id)]
        if len(found) > 1 and found[0].id != id:
            raise ConfigError(
                "conversation", id, tuple([entry.id for entry in found]), "several ids have this beginning"
            )
    return store.get(KIND, found[0].id) if found else None


class ConversationStore:
    """Stores a conversation after each step. If it cannot be stored, a message states that, and the conversation
    continues. If another process has continued the stored conversation meanwhile, the conversation of this process gets
    a new id."""

    def __init__(self, store: Store | None, folder: str, report: Callable[[str], None]) -> None:
        self._store, self._folder, self._report = store, folder, report
        self._seen, self._title = 0.0, ""
        self._failed = False

    def read(self, entry: StoreEntry) -> Session:
        """The session of a stored conversation, to be continued."""
        self._seen, self._title = entry.updated, entry.labels.get("title", "")
        return Session.from_json(entry.body)

    def __call__(self, session: Session) -> None:
        if self._store is None or not session.turns:
            return
        try:
            stored = self._store.get(KIND, session.id)
            if stored is not None and stored.updated != self._seen:
                session.id = secrets.token_hex(8)
                self._report(f"another process has continued this conversation; this one is stored as {session.id}")
            self._seen = time.time()
            self._title = self._title or title(session)  # a summary may have replaced the first text
            labels = {"title": self._title, "model": session.model, "folder": self._folder}
            self._store.put(StoreEntry(KIND, session.id, session.to_json(), labels, updated=self._seen))
        except ConfigError as error:
            # One message is enough. A full disk must not end the conversation.
            if not self._failed:
                self._report(f"the conversation could not be stored: {error}")
            self._failed = True


def title(session: Session) -> str:
    """The user's first text, as a title."""
    texts = [text_of(turn.parts) for turn in session.turns if turn.role == "user" and not is_opening(turn)]
    line = " ".join(next((text for text in texts if text.strip()), "").split())
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"
