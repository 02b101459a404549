"""What a request says, as the rehearsal sees it: the user's last words, the results that came, what was called."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from msgspec import Struct

from ..canon.parts import Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from ..canon.request import Request
from ..canon.tools import Tool
from ..canon.turns import Turn

_MOST = 16_000
"""Of what the user said, how much is looked at: the beginning and the end of anything longer."""

# Clients put notes of their own into the user's turns, each in a tag with a hyphen or an underscore in its name.
_NOTE = re.compile(r"<([a-z]+(?:[-_][a-z]+)+)\b[^>]{0,200}>")
_NOTES = 200
"""How many of them are looked for."""

_MANNER = re.compile(
    r"\b(?:answer|reply|respond|speak|write|say|be)\b[^.\n]{0,60}?\b(?:in\s+)?(?:all\s+)?"
    r"(capitals|capital letters|upper[\s-]?case|caps|lower[\s-]?case|small letters|normal(?:ly)?)\b",
    re.IGNORECASE,
)
_FRAME = re.compile(
    r"\b(begin|start|end|finish)\b[^.\n]{0,40}?\b(?:answer|reply|response|message|sentence)s?\b[^.\n]{0,20}?\bwith\s*:?\s*"
    r"[\"“'`]([^\"”'`\n]{1,200})[\"”'`]",
    re.IGNORECASE,
)


class Manner(Struct):
    """How the answer is to be spoken, by what system turns (and the user) ask for in so many words."""

    case: str = ""
    begin: str = ""
    end: str = ""

    def spoken(self, text: str) -> str:
        """The text in this manner."""
        text = self.begin + (" " if self.begin else "") + text + (" " if self.end else "") + self.end
        if self.case == "upper":
            return text.upper()
        return text.lower() if self.case == "lower" else text


class Talk(Struct):
    """One request, looked at."""

    words: str
    """What the user said last."""
    earlier: list[str]
    """What the user said before."""
    media: list[Media]
    """What the user showed last."""
    results: list[ToolResult]
    """What tools gave back, when nothing was said since."""
    made: list[ToolCall]
    """Calls since the user spoke last."""
    step: int
    """Which answer of the conversation is wanted: 1 is the first."""
    manner: Manner

    def named(self, result: ToolResult) -> str:
        """The tool that a result is of."""
        return result.name or next((call.name for call in self.made if call.id == result.call_id), "the tool")


def listen(request: Request) -> Talk:
    """Look at a request."""
    turns = _without_notes(request.turns)
    last = max([number for number, turn in enumerate(turns) if turn.role == "user"], default=-1)
    first = last
    while first > 0 and turns[first - 1].role not in ("assistant", "tool"):
        first -= 1
    asked = [turn for turn in turns[max(first, 0) : last + 1] if turn.role == "user"]
    after = turns[last + 1 :]
    speaking = [turn for turn in after if turn.role in ("assistant", "tool")]
    results: list[ToolResult] = []
    for turn in reversed(speaking):
        if turn.role != "tool":
            break
        results[:0] = [part for part in turn.parts if isinstance(part, ToolResult)]
    spoken = [text for text in map(_texts, asked) if text.strip()]
    return Talk(
        said(spoken[-1]) if spoken else "",
        [said(text) for text in [*map(_texts, _of_user(turns[: max(first, 0)])), *spoken[:-1]]],
        [part for turn in asked for part in turn.parts if isinstance(part, Media)],
        results,
        [part for turn in after if turn.role == "assistant" for part in turn.parts if isinstance(part, ToolCall)],
        1 + sum([turn.role == "assistant" for turn in turns]),
        _manner(turns),
    )


def _of_user(turns: list[Turn]) -> list[Turn]:
    return [turn for turn in turns if turn.role == "user"]


def _without_notes(turns: tuple[Turn, ...]) -> list[Turn]:
    """The turns without those of the user in which only the client speaks, if the user speaks in others."""
    silent = [turn for turn in turns if turn.role == "user" and not _speaks(turn)]
    if not silent or len(silent) == len(_of_user(list(turns))):
        return list(turns)
    return [turn for turn in turns if turn.role != "user" or _speaks(turn)]


def _speaks(turn: Turn) -> bool:
    if any(not isinstance(part, Text) for part in turn.parts):
        return True
    text = _texts(turn)
    return not text.lstrip().startswith("<") or bool(_uttered(text))


def said(text: str) -> str:
    """What the user said of it: without the notes of the client, and of something long the beginning and the end."""
    text = _uttered(text) or text.strip()
    if len(text) > 2 and text[0] == text[-1] == '"' and '"' not in text[1:-1]:
        text = text[1:-1]  # some clients put what they were given on their command line into quotes
    return text if len(text) <= _MOST else text[: _MOST // 2] + "\n" + text[-_MOST // 2 :]


def _uttered(text: str) -> str:
    """The text without the client's notes."""
    out: list[str] = []
    at = 0
    for _ in range(_NOTES):
        note = _NOTE.search(text, at)
        end = text.find(f"</{note[1]}>", note.end()) if note is not None else -1
        if note is None or end < 0:
            break
        out.append(text[at : note.start()])
        at = end + len(note[1]) + 3
    return " ".join([*out, text[at:]]).strip()


def _texts(turn: Turn) -> str:
    return "\n".join([part.text for part in turn.parts if isinstance(part, Text)])


def _manner(turns: list[Turn]) -> Manner:
    """Later turns count more than earlier ones; of the user's only the last."""
    manner = Manner()
    last = max([number for number, turn in enumerate(turns) if turn.role == "user"], default=-1)
    for number, turn in enumerate(turns):
        if turn.role not in ("system", "developer") and number != last:
            continue
        text = _texts(turn)[:100_000]
        for match in _MANNER.finditer(text):
            word = match[1].lower()
            manner.case = (
                "" if word.startswith("normal") else "lower" if word.startswith(("lower", "small")) else "upper"
            )
        for match in _FRAME.finditer(text):
            if match[1].lower() in ("begin", "start"):
                manner.begin = match[2]
            else:
                manner.end = match[2]
    return manner


def told(result: ToolResult) -> str:
    """The texts of a result."""
    return "\n".join([part.text for part in result.parts if isinstance(part, Text)])


def fingerprint(request: Request, *more: str) -> str:
    """By what a request is known: the same for the same words, in whatever dialect they came."""
    digest = hashlib.sha256()
    for piece in (*_pieces(request), *more):
        data = piece.encode("utf-8", "surrogatepass")
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
