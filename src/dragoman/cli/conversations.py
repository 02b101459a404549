"""Conversations in the store: found by their id or by their folder, and what they are called."""

from __future__ import annotations

from ..errors import ConfigError
from ..runtime.context import is_opening
from ..runtime.history import text_of
from ..runtime.session import Session
from ..store import Store

KIND = "conversation"
_TITLE = 80


def find(store: Store, id: str | None, folder: str = "") -> Session | None:
    """The conversation whose id begins so; without one, the last in the folder. ConfigError where several do."""
    if id is None:
        found = store.find(KIND, {"folder": folder}, 1)
    else:
        found = [entry for entry in store.find(KIND, most=10_000) if entry.id.startswith(id)]
        if len(found) > 1 and found[0].id != id:
            raise ConfigError("conversation", id, tuple([entry.id for entry in found]))
    entry = store.get(KIND, found[0].id) if found else None
    return Session.from_json(entry.body) if entry is not None else None


def title(session: Session) -> str:
    """The user's first words."""
    said = [text_of(turn.parts) for turn in session.turns if turn.role == "user" and not is_opening(turn)]
    line = " ".join(next((text for text in said if text.strip()), "").split())
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"
