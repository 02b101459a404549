"""Owns the view of a request that the rules work on: the user's last message, new results, calls since that message.

Client notes are removed here. No other module of the rehearsal looks into turns.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from msgspec import Struct

from ..canon.parts import Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from ..canon.request import Request
from ..canon.tools import Tool
from ..canon.turns import Turn

_MAX_WORDS = 16_000
"""Characters of the user's words that are read. Of longer words the beginning and the end are read."""

# Coding agents put notes of their own into the user's turns, each in a tag with a hyphen or an underscore in its name
# (`<system-reminder>`, `<environment_context>`).
_NOTE = re.compile(r"<([a-z]+(?:[-_][a-z]+)+)\b[^>]{0,200}>")
# The first turn of Gemini CLI and of `dragoman ask` describes the folder and the date.
_SETTING_UP = re.compile(r"\s*(?:This is the Gemini CLI\. )?We are setting up the context for our chat\.")
_MAX_NOTES = 200
"""Notes that are removed from one text."""
_CAPITALS = re.compile(r"\b(?:answer|reply|respond)\b[^.\n]{0,60}\bcapital", re.IGNORECASE)


class ConversationView(Struct):
    """One request, as the rules see the request."""

    words: str
    """The text of the user's last message."""
    earlier: list[str]
    """The user's words before, oldest first."""
    media: list[Media]
    """Media of the user's last turns."""
    results: list[ToolResult]
    """Results at the end of the conversation; empty if the last turn is the user's."""
    made: list[ToolCall]
    """Calls since the user's last message."""
    step: int
    """Number of the wanted answer in the conversation; 1 is the first."""
    capitals: bool
    """A system turn asks for capitals."""

    def tool_name(self, result: ToolResult) -> str:
        """The name of the tool that a result belongs to."""
        return result.name or next((call.name for call in self.made if call.id == result.call_id), "the tool")


def read_conversation(request: Request) -> ConversationView:
    """The view of a request."""
    turns = _without_note_turns(request.turns)
    last = max([number for number, turn in enumerate(turns) if turn.role == "user"], default=-1)
    first = last
    while first > 0 and turns[first - 1].role not in ("assistant", "tool"):
        first -= 1
    asked = [turn for turn in turns[max(first, 0) : last + 1] if turn.role == "user"]
    after = turns[last + 1 :]
    results: list[ToolResult] = []
    for turn in reversed([turn for turn in after if turn.role in ("assistant", "tool")]):
        if turn.role != "tool":
            break
        results[:0] = [part for part in turn.parts if isinstance(part, ToolResult)]
    spoken = [text for text in map(_texts, asked) if text.strip()]
    before = [_texts(turn) for turn in turns[: max(first, 0)] if turn.role == "user"]
    return ConversationView(
        user_words(spoken[-1]) if spoken else "",
        [user_words(text) for text in [*before, *spoken[:-1]]],
        [part for turn in asked for part in turn.parts if isinstance(part, Media)],
        results,
        [part for turn in after if turn.role == "assistant" for part in turn.parts if isinstance(part, ToolCall)],
        1 + sum([turn.role == "assistant" for turn in turns]),
        any(_CAPITALS.search(_texts(turn)[:100_000]) for turn in turns if turn.role in ("system", "developer")),
    )


def _without_note_turns(turns: tuple[Turn, ...]) -> list[Turn]:
    """The turns without the user's turns that hold only client notes. If all of them do, they stay."""
    kept = [turn for turn in turns if turn.role != "user" or _has_words(turn)]
    return kept if any(turn.role == "user" for turn in kept) else list(turns)


def _has_words(turn: Turn) -> bool:
    if any(not isinstance(part, Text) for part in turn.parts):
        return True
    text = _texts(turn)
    if _SETTING_UP.match(text):
        return False
    return not text.lstrip().startswith("<") or bool(_without_notes(text))


def user_words(text: str) -> str:
    """The user's words in a text of a user's turn: without client notes, and not longer than the limit."""
    text = _without_notes(text) or text.strip()
    if len(text) > 2 and text[0] == text[-1] == '"' and '"' not in text[1:-1]:
        text = text[1:-1]  # some clients put the prompt of their command line into quotes
    return text if len(text) <= _MAX_WORDS else text[: _MAX_WORDS // 2] + "\n" + text[-_MAX_WORDS // 2 :]


def _without_notes(text: str) -> str:
    out: list[str] = []
    at = 0
    for _ in range(_MAX_NOTES):
        note = _NOTE.search(text, at)
        end = text.find(f"</{note[1]}>", note.end()) if note is not None else -1
        if note is None or end < 0:
            break
        out.append(text[at : note.start()])
        at = end + len(note[1]) + 3
    return " ".join([*out, text[at:]]).strip()


def _texts(turn: Turn) -> str:
    return "\n".join([part.text for part in turn.parts if isinstance(part, Text)])


def result_text(result: ToolResult) -> str:
    """The texts of a result."""
    return "\n".join([part.text for part in result.parts if isinstance(part, Text)])


def fingerprint(request: Request, *more: str) -> str:
    """A digest of the request's content. The same content has the same digest in every dialect."""
    digest = hashlib.sha256()
    for piece in (*_pieces(request), *more):
        data = piece.encode("utf-8", "surrogatepass")
        # The length keeps two pieces apart: "ab" and "c" must differ from "a" and "bc".
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


def _pieces(request: Request) -> Iterator[str]:
    yield request.model
    for turn in request.turns:
        yield turn.role
        for part in turn.parts:
            yield from _part(part)
    for tool in request.tools:
        yield tool.name if isinstance(tool, Tool) else tool.kind


def _part(part: Part) -> Iterator[str]:
    if isinstance(part, Text | Reasoning):
        yield part.text
    elif isinstance(part, ToolCall):
        yield from (part.id, part.name, part.arguments)
    elif isinstance(part, ToolResult):
        yield part.call_id
        for piece in part.parts:
            yield from _part(piece)
    elif isinstance(part, Media):
        yield part.data or part.url or part.file
    else:
        assert isinstance(part, Opaque)
        yield bytes(part.value).decode("utf-8", "replace")
