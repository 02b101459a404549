"""Stored conversations: listed, shown, exported in any dialect, deleted."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import click

from ..canon.parts import Media, Opaque, Reasoning, Text, ToolCall, ToolResult
from ..canon.turns import Turn
from ..errors import DragomanError
from ..runtime.conversation_store import KIND, find
from ..runtime.edit_journal import forget_edits
from ..runtime.edit_journal import undo as take_back
from ..runtime.resumable_conversation import Session
from ..runtime.seals_ids_and_names_for_upstream import export_request
from ..runtime.system_prompt_and_first_turns import is_opening
from ..store import StoreEntry
from ..store.sqlite_entry_store import SqliteStore, usual_file
from .ask_output import without_control_characters
from .loss_and_error_output import fail, print_losses

_MOST_SEARCHED = 1_000_000
_SHOWN = 120
"""Characters of a line that are shown around a word."""


@contextmanager
def _opened() -> Iterator[SqliteStore]:
    try:
        store = SqliteStore(usual_file(os.environ))
        try:
            yield store
        finally:
            store.close()
    except DragomanError as error:
        fail(str(error), 1)


def _found(id: str) -> Session:
    with _opened() as store:
        return Session.from_json(_entry(store, id).body)


def _entry(store: SqliteStore, id: str) -> StoreEntry:
    entry = find(store, id)
    if entry is None:
        fail(f"there is no conversation {id}. `dragoman log` lists them.", 2)
    return entry


def list_all(here: bool, most: int) -> None:
    """Print a line for each conversation, the latest first."""
    with _opened() as store:
        found = store.find(KIND, {"folder": os.getcwd()} if here else None, most)
    for entry in found:
        click.echo(_line(entry))
    if not found:
        click.echo("there are no stored conversations", err=True)


def search(words: tuple[str, ...], here: bool, most: int) -> None:
    """Print a line for each conversation that holds all words, the latest first, and the line with the first word."""
    wanted = [word.casefold() for word in words if word.strip()]
    shown = 0
    with _opened() as store:
        for entry in store.find(KIND, {"folder": os.getcwd()} if here else None, _MOST_SEARCHED):
            if shown == most:
                click.echo(f"there may be more (--most {most})", err=True)
                break
            kept = store.get(KIND, entry.id)
            if kept is None:  # another process has deleted the conversation
                continue
            lines = [line for turn in _turns(kept) for line in _text(turn).splitlines()]
            folded = "\n".join(lines).casefold()
            if all(word in folded for word in wanted):
                shown += 1
                click.echo(_line(entry))
                first = next((line for line in lines if wanted[0] in line.casefold()), "")
                click.echo(f"    {without_control_characters(_around(first.strip(), wanted[0]))}")
    if not shown:
        click.echo("no stored conversation contains these words", err=True)
        raise SystemExit(1)


def _turns(entry: StoreEntry) -> list[Turn]:
    """The turns of a conversation without the opening, which describes the folder and is in every conversation."""
    return [turn for turn in Session.from_json(entry.body).turns if not is_opening(turn)]


def _around(line: str, word: str) -> str:
    """The part of a long line that holds a word."""
    # Case folding may lengthen a line, so the place is only approximate.
    place = max(line.casefold().find(word), 0)
    start = max(place - _SHOWN // 2, 0)
    end = start + _SHOWN
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def _line(entry: StoreEntry) -> str:
    when = datetime.fromtimestamp(entry.updated).strftime("%Y-%m-%d %H:%M")
    return f"{entry.id}  {when}  {entry.labels.get('model', ''):32}  {entry.labels.get('title', '')}"


def forget(id: str) -> None:
    """Delete a conversation."""
    with _opened() as store:
        entry = _entry(store, id)
        store.drop(KIND, entry.id)
        forget_edits(store, entry.id)
    click.echo(f"deleted: {entry.id}", err=True)


def undo(id: str | None) -> None:
    """Take back the edits of the last prompt that changed files."""
    with _opened() as store:
        entry = find(store, id, os.getcwd())
        if entry is None:
            fail(
                f"there is no conversation {id}; dragoman log lists them" if id else "no conversation of this folder", 2
            )
        done = take_back(store, Session.from_json(entry.body), (Path(entry.labels.get("folder") or os.getcwd()),))
    for path in done.files:
        click.echo(f"taken back: {path}", err=True)
    for command in done.commands:
        click.echo(f"not taken back, because it was a command: {command}", err=True)


def export(id: str, dialect: str, model: str, form: str) -> None:
    """Write a conversation as a request of a dialect, with its losses on standard error."""
    session = _found(id)
    if session.results:  # In the middle of a step, the results so far are exported.
        session.close_step()
    body, losses = export_request(session.request(), dialect, model or session.model.partition("/")[2])
    _write(body)
    print_losses(losses, form)


def show(id: str, as_json: bool) -> None:
    """Show a conversation, as JSON or as text for people."""
    session = _found(id)
    if as_json:
        _write(session.to_json())
        return
    for turn in session.turns:
        click.echo(click.style(f"{turn.role}:", bold=True))
        click.echo(without_control_characters(_text(turn)) if sys.stdout.isatty() else _text(turn))
    if session.step != "idle":
        click.echo(f"(unfinished step: {session.step})", err=True)


def _text(turn: Turn) -> str:
    out: list[str] = []
    for part in turn.parts:
        if isinstance(part, Text):
            out.append(part.text)
        elif isinstance(part, Reasoning):
            out.append(f"[reasoning] {part.text}" if part.text else "[encrypted reasoning]")
        elif isinstance(part, ToolCall):
            out.append(f"[call {part.id}] {part.name} {part.arguments}")
        elif isinstance(part, ToolResult):
            inside = "\n".join([one.text if isinstance(one, Text) else f"[{_kind(one)}]" for one in part.parts])
            out.append(f"[{'error' if part.is_error else 'result'} of {part.call_id}] {inside}")
        else:
            out.append(f"[{_kind(part)}]")
    return "\n".join(out) + "\n"


def _kind(part: object) -> str:
    if isinstance(part, Media):
        return part.mime or part.kind
    return part.kind if isinstance(part, Opaque) else type(part).__name__


def _write(body: bytes) -> None:
    sys.stdout.buffer.write(body + b"\n")
    sys.stdout.buffer.flush()
