"""Edits that the file tools made, kept by conversation, and taken back on request.

Edits are taken back by prompt: first all edits since the user's last prompt, then the edits of the prompt before it. If
a file has changed since, no file is touched. The effects of commands cannot be taken back: they are listed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from ..canon.parts import ToolCall, ToolResult
from ..errors import ConfigError
from ..store import Store, StoreEntry
from . import workspace_file_access
from .resumable_conversation import Session
from .system_prompt_and_first_turns import is_opening
from .tool_interface import FileEdit, ToolError

KIND = "edit"
_MOST = 10_000
_LIMIT = 64 * 1024 * 1024


class UndoneEdits(Struct, frozen=True):
    """The files with their earlier content, and the commands whose effects stay."""

    files: tuple[str, ...]
    commands: tuple[str, ...] = ()
    """Commands of the same prompt. Their effects are not taken back."""


class EditJournal:
    """Keeps the edits of one conversation."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def record(self, session: Session, edit: FileEdit) -> None:
        """Keep an edit that was made. ConfigError where it cannot be kept."""
        labels = {"session": session.id, "prompt": str(session.prompts)}
        # Names of equal length sort by time.
        name = f"{session.id}/{time.time_ns():020}"
        self._store.put(StoreEntry(KIND, name, msgspec.msgpack.encode(edit), labels))


def undo(store: Store, session: Session, workspace: Sequence[Path]) -> UndoneEdits:
    """Take back the edits of the last prompt that changed files. ConfigError: a file has changed since, or no edit is
    left to take back."""
    entries = sorted(store.find(KIND, {"session": session.id}, _MOST), key=lambda entry: entry.id)
    if not entries:
        raise ConfigError("undo", session.id, problem="no edit of this conversation is left to take back")
    prompt = entries[-1].labels.get("prompt", "")
    last = [entry for entry in entries if entry.labels.get("prompt", "") == prompt]
    edits = [msgspec.msgpack.decode(_body(store, entry), type=FileEdit) for entry in last]
    try:
        _take_back(edits, workspace)
    except ToolError as error:
        raise ConfigError("undo", session.id, problem=f"{error.message} Nothing was taken back.") from error
    # Dropped only now, because the entries are still needed if the files cannot be written.
    for entry in last:
        store.drop(KIND, entry.id)
    paths = tuple(dict.fromkeys([edit.path for edit in edits]))
    return UndoneEdits(paths, commands_of_prompt(session, int(prompt) if prompt.isdigit() else 0))


def forget_edits(store: Store, session_id: str) -> None:
    """Drop all edits of a conversation: an edit holds the content of a file."""
    # `find` gives a limited number of entries, so one search may not be enough.
    while entries := store.find(KIND, {"session": session_id}, _MOST):
        for entry in entries:
            store.drop(KIND, entry.id)


def _body(store: Store, entry: StoreEntry) -> bytes:
    found = store.get(entry.kind, entry.id)
    if found is None:
        raise ConfigError("undo", entry.id, problem="another process took the edit back meanwhile")
    return found.body


def _take_back(edits: Sequence[FileEdit], workspace: Sequence[Path]) -> None:
    """Give each file its bytes from before the first of these edits. All files are checked before one is touched."""
    first: dict[str, FileEdit] = {}
    last: dict[str, FileEdit] = {}
    for edit in edits:
        if edit.path in last and last[edit.path].after != edit.before:
            raise ToolError("file_changed", f"{edit.path} was changed between two edits.")
        first.setdefault(edit.path, edit)
        last[edit.path] = edit
    ready = []
    for path, edit in last.items():
        where = workspace_file_access.path_in_workspace(path, workspace)
        data, was = workspace_file_access.read(where, _LIMIT)
        if data != edit.after:
            raise ToolError("file_changed", f"{path} has changed since the edit.")
        ready.append((where, was, first[path].before))
    for where, was, before in ready:
        if before is None:
            workspace_file_access.remove(where, was)
        else:
            workspace_file_access.write(where, before, was)


def commands_of_prompt(session: Session, prompt: int) -> tuple[str, ...]:
    """The commands that ran for the person's prompt with this number. Prompts are counted from the last, because a
    summary may have replaced the first."""
    words = [turn for turn in session.turns if turn.role == "user" and not is_opening(turn)]
    number, found, ran = session.prompts - len(words), dict[str, str](), list[str]()
    for turn in session.turns:
        if turn.role == "user" and not is_opening(turn):
            number += 1
        for part in turn.parts if number == prompt else ():
            if isinstance(part, ToolCall) and part.name == "run_shell_command":
                found[part.id] = _command(part)
            elif isinstance(part, ToolResult) and part.call_id in found and not part.is_error:
                ran.append(found[part.call_id])
    return tuple(ran)


def _command(call: ToolCall) -> str:
    try:
        arguments = call.input
    except (ValueError, RecursionError):
        return call.arguments
    return str(arguments.get("command", "")) if isinstance(arguments, dict) else call.arguments
