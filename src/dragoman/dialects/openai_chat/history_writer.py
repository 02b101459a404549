"""Turns as messages: the results of a step right after its calls, one for each, whatever the history is like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ...canon.parts import Media, Opaque, Part, Path, Text, ToolCall, plain_text
from ...canon.request import Request
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.extras import restore
from ...context import Context
from ...fast.prefix import Begun, Written
from . import wire
from .message import write_assistant, write_content, write_plain
from .reasoning_details import FIELD, among_others
from .tool_results import answer_for, write_plain_results, write_results_messages

_OPENAI = frozenset({wire.NAME, "openai-responses"})
NO_INPUT = "(nothing was said)"

Prepare = Callable[[Turn], Turn]
"""A kin's last word on a turn before it is written. Plain turns are not asked about: they are the same in every kin."""


def write_own(turns: tuple[Turn, ...], messages: list[Any], context: Context, prepare: Prepare | None) -> None:
    """What comes from this dialect keeps its shape."""
    for turn in turns:
        turn = turn if prepare is None else prepare(turn)
        if context.gated and not context.profile.system and turn.role in ("system", "developer"):
            context.lose("system.demoted", turn.at)
            turn = msgspec.structs.replace(turn, role="user")
        if turn.role == "tool":
            write_results_messages(turn, None, messages, context)
        else:
            _write_turn(turn, messages, context)


class History:
    """Messages written so far, and the calls of the last step that have no result yet."""

    __slots__ = ("_calls", "_context", "_failed", "_first", "_messages", "_prepare", "_sound")

    def __init__(self, messages: list[Any], context: Context, prepare: Prepare | None) -> None:
        self._messages = messages
        self._context = context
        self._prepare = prepare
        self._calls: Sequence[ToolCall] = ()
        self._sound = False  # they were written as they are
        self._failed: list[Path] = []  # results of which that is said in words

    def system(self, turns: tuple[Turn, ...]) -> None:
        """The turns that a request begins with."""
        for turn in turns:
            _write_turn(self._prepared(turn), self._messages, self._context)

    def write(self, turns: tuple[Turn, ...], begin: int) -> None:
        """All turns of a request from `begin` on, behind the system's."""
        run = self._context.run
        if run is not None:
            self._first = len(self._messages)
            begin = _WRITTEN.begin(self, run, turns, begin)
        for turn in turns[begin:]:
            if not self.plain(turn):
                self._turn(turn)
        if self._calls:
            answer_for(self._calls, self._messages, self._context)

    def plain(self, turn: Turn) -> bool:
        """What nearly all turns are: one text, text and calls, or the results of the calls before, and nothing hangs on
        them. Written here in one go; False, with nothing written, for any other."""
        role, calls = turn.role, self._calls
        if role == "tool":
            failed = write_plain_results(turn.parts, calls, self._messages) if self._sound else None
            if failed:
                self._told(failed)
            elif failed is None:
                return False
            self._calls = ()
            return True
        if calls or turn.extra is not None or turn.name:
            return False
        if role == "user":
            words: Any = plain_text(turn.parts)
            if words is None:
                words = _plain_texts(turn.parts)
                if not words:
                    return False
            self._messages.append({"role": "user", "content": words})
            return True
        message = write_plain(turn.parts) if role == "assistant" else None
        if message is None:
            return False
        self._messages.append(message)
        self._calls = [part for part in turn.parts if type(part) is ToolCall]
        self._sound = True
        return True

    def stands(self) -> tuple[list[Any], Any, Any]:
        return self._messages[self._first :], None, (self._calls, self._sound, [*self._failed])

    def resume(self, known: Begun) -> bool:
        self._messages.append(known.text)
        _, self._calls, self._sound, failed = known.state
        if failed:
            self._told(failed)
        return True

    def _told(self, failed: list[Path]) -> None:
        for at in failed:
            self._context.lose("result.error.as_text", at)
        self._failed += failed

    def _turn(self, turn: Turn) -> None:
        """Any turn that is not plain here."""
        calls, messages, context = self._calls, self._messages, self._context
        self._calls = ()
        if turn.role == "tool":
            write_results_messages(self._prepared(turn), calls, messages, context)
            return
        if calls:
            answer_for(calls, messages, context)
            if self.plain(turn):
                return
        if turn.role == "assistant":
            self._calls = [part for part in turn.parts if type(part) is ToolCall]
            self._sound = False
        _write_turn(self._prepared(turn), messages, context)

    def _prepared(self, turn: Turn) -> Turn:
        return turn if self._prepare is None else self._prepare(turn)


_WRITTEN = Written()


def some_input(turns: tuple[Turn, ...], context: Context) -> dict[str, Any]:
    """What is said where there is nothing to say: the host would refuse it."""
    what = "nothing is left of the conversation" if turns else "nothing was said"
    context.lose("turn.invented", turns[0].at if turns else (), what)
    return {"role": "user", "content": NO_INPUT}


def say_json(messages: list[Any], request: Request, context: Context) -> None:
    """JSON mode is refused unless some message has the word. Only the head of the conversation is looked at, so that
    the answer is the same in every later turn."""
    if context.source in _OPENAI or context.source == context.target:
        return  # there it holds too
    for message in messages:
        text = json_text.encode(message).lower()
        if b"json" in text:
            return
        if b'"role":"user"' in text:
            break
    role = _system_role(context)
    messages.insert(0, {"role": role, "content": "Answer with one valid JSON object and nothing else."})
    context.lose("turn.invented", request.settings.at.get("format", ()), "JSON mode wants the word JSON in a message")


def _plain_texts(parts: tuple[Part, ...]) -> list[Any]:
    """Several texts that say something, on which nothing hangs; nothing for anything else."""
    texts = [plain_text((part,)) for part in parts]
    return [{"type": "text", "text": text} for text in texts] if len(texts) > 1 and all(texts) else []


def _write_turn(turn: Turn, messages: list[Any], context: Context) -> None:
    role: str = turn.role
    message: dict[str, Any] | None
    if role == "assistant":
        message = write_assistant(turn.parts, context, request=True)
        if (
            message is not None
            and FIELD in message
            and turn.extra is not None
            and FIELD in turn.extra.get(wire.NAME, {})
        ):
            message[FIELD] = among_others(message[FIELD], turn.extra[wire.NAME][FIELD])
    else:
        parts = turn.parts
        if role != "user" and context.source != wire.NAME:
            role = _system_role(context)
            if role == "user":
                context.lose("system.demoted", turn.at, "the model has no system role")
            parts = _words_only(parts, context)
        if (
            len(parts) == 1
            and isinstance(parts[0], Opaque)
            and parts[0].dialect == wire.NAME
            and parts[0].at == turn.at
        ):
            messages.append(parts[0].value)  # a whole message of a role nobody knows
            return
        content = write_content(parts, context)
        message = {"role": role, "content": content}
        if not content and turn.parts and not all(type(part) is Text for part in turn.parts):
            message = None
    if message is None:
        context.lose("turn.dropped", turn.at)
        return
    if turn.name:
        message["name"] = turn.name
    messages.append(message if turn.extra is None else restore(message, turn.extra, wire.NAME))


def _system_role(context: Context) -> str:
    if not context.profile.system:
        return "user"
    return "developer" if context.profile.reasoning else "system"


def _words_only(parts: tuple[Part, ...], context: Context) -> tuple[Part, ...]:
    """A system message holds text only."""
    kept = []
    for part in parts:
        if isinstance(part, Media):
            context.lose("system.media.dropped", part.at, part.mime or part.kind)
        else:
            kept.append(part)
    return tuple(kept)
