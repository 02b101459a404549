"""Reads and writes Ollama requests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...canon.parts import Extra, Media, Opaque, Part, Path, ToolCall
from ...canon.request import Request
from ...canon.turns import Role, Turn
from ...codec import json_text
from ...codec.dialect_extras import gather, take_shared_fields, with_misplaced_fields, with_shared
from ...codec.request_read_and_write_steps import PlainDocument, leading, read, write
from ...codec.results_after_calls import results_after_calls
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from . import wire
from .call_pairing import Ids
from .message_content import read_assistant, read_content, write_assistant, write_content
from .original_values import NO_STREAM_FIELD, TRUE, own, put_back, with_field
from .settings import read_extras, read_settings, write_settings
from .tool_results import read_result, write_results_messages
from .tools import MEMO, offered

NO_INPUT = "(nothing was said)"
_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}

_OPENROUTER = {"options/min_p": "min_p", "options/repeat_penalty": "repetition_penalty"}
"""Options that are fields of their own in OpenRouter."""


def read_request(body: bytes, context: Context) -> Request:
    """Read a request into canon."""
    request, unknown, context.spelled = wire.REQUEST.admit(body)
    return read(RequestReader(context, unknown), request, request.messages)


class RequestReader:
    """Reads one request. Adjacent results become one turn."""

    __slots__ = ("_after_assistant", "_context", "_ids", "_results", "_unknown", "resumable", "turns")

    def __init__(self, context: Context, unknown: Unknown | None = None) -> None:
        self._context = context
        self._unknown: Unknown = {} if unknown is None else unknown
        self._ids = Ids(context)
        self._results: list[Part] = []
        self._after_assistant = False  # the last message was the assistant's
        self.turns: list[Turn] = []
        self.resumable = True

    def begin(self, head: wire.ChatRequest) -> None:
        """Nothing to read before the messages."""

    def restore(self, turns: Iterable[Turn]) -> None:
        """Continue after these turns."""
        self.turns = [*turns]
        self._after_assistant = bool(self.turns) and self.turns[-1].role == "assistant"

    def message(self, message: wire.Message, i: int) -> None:
        """Read one message."""
        context, unknown, turns, ids = self._context, self._unknown, self.turns, self._ids
        at: Path = ("messages", i)
        role = _ROLES.get(message.role) or _ROLES.get(message.role.lower())
        if role == "tool":
            # A step may continue after the last remembered message, and one step is one turn.
            if not self._results and turns and turns[-1].role == "tool":
                self._results = [*turns.pop().parts]  # earlier messages come from the memory
            self._results.append(read_result(message, i, ids, unknown))
            self._after_assistant = False
            return
        self._end_step()
        if role is None:
            turns.append(_read_unknown_role(message, at, context, unknown))
            self._after_assistant = False
            return
        if role == "assistant":
            if not self._after_assistant:
                # Results without an id are paired by name and order, so a call of an earlier step must not wait any
                # longer.
                ids.waiting.clear()  # earlier calls get no more results
            parts = read_assistant(message, at, ids, unknown)
        else:
            parts = read_content(message, at)
        self._after_assistant = is_assistant = role == "assistant"
        extra = gather(context, at, unknown) if unknown else None
        if not is_assistant and (message.tool_calls is not None or message.thinking is not None):
            extra = with_misplaced_fields(context, at, message, ("tool_calls", "thinking"), extra)
        if message.tool_name is not None or message.tool_call_id is not None:
            extra = with_misplaced_fields(context, at, message, ("tool_name", "tool_call_id"), extra)
        if message.role != role:  # the server lower-cases roles (sources, 2026-08)
            extra = with_field(extra, "role", json_text.raw(message.role))
        turns.append(Turn(role, tuple(parts), "", extra, at))

    def _end_step(self) -> None:
        """Complete the turn of results, before another message or the end."""
        results = self._results
        if results:
            self.turns.append(Turn("tool", tuple(results), "", None, results[0].at))
            self._results = []

    def close(self) -> tuple[Turn, ...]:
        """All turns."""
        self._end_step()
        return tuple(self.turns)

    def finish(self, head: wire.ChatRequest, turns: tuple[Turn, ...]) -> Request:
        """Read tools, settings and all other fields."""
        context = self._context
        tools = MEMO.read(head.tools, context) if head.tools else ()
        extra = _read_extra(head, context, self._unknown)
        stream = head.stream is not False
        return Request(turns, head.model or "", tools, None, read_settings(head), stream, extra)


def _read_extra(request: wire.ChatRequest, context: Context, unknown: Unknown) -> Extra | None:
    reported, silent = read_extras(request)
    shared = take_shared_fields(reported, frozenset(_OPENROUTER)) if context.target == "openrouter" else {}
    extra = gather(context, (), unknown, reported or None) if unknown or reported else None
    extra = with_shared(extra, "openai-chat", {_OPENROUTER[name]: value for name, value in shared.items()})
    for name, value in silent.items():
        extra = with_field(extra, name, value)
    return with_field(extra, NO_STREAM_FIELD, TRUE) if request.stream is None else extra


def _read_unknown_role(message: wire.Message, at: Path, context: Context, unknown: Unknown) -> Turn:
    """A whole message with an unknown role."""
    fields = dict(json_text.fields(json_text.raw(message)))
    extra = gather(context, at, unknown) if unknown else None
    value = json_text.raw(put_back(fields, extra))
    return Turn("user", (Opaque(wire.NAME, message.role, value, at=at),), "", None, at)


def write_request(request: Request, context: Context) -> bytes:
    """Write a request from canon."""
    return write(RequestWriter(request, context))


class RequestWriter(PlainDocument):
    """Writes one request."""

    __slots__ = ("_calls", "_mine", "_model", "_request", "context", "lead", "messages", "resumable", "source", "turns")

    def __init__(self, request: Request, context: Context) -> None:
        self.context = context
        self.source = context.source
        self.turns = request.turns
        self.lead = 0
        self.messages: list[Any] = []
        self.resumable = True
        self._mine = self.source == wire.NAME
        self._request = request
        self._model = ""
        self._calls: list[ToolCall] = []  # the calls of the current step

    def begin(self) -> None:
        """Prepare the turns: results directly after their calls."""
        request, context = self._request, self.context
        self._model = context.model or request.model
        if self._mine:
            return
        if not self._model:
            context.lose("model.invented")
            self._model = "unspecified"
        # Templates match results by order and name (server sources, 2026-08), so they are directly after their calls.
        turns = results_after_calls(request.turns, context)
        self.resumable = turns is self.turns
        self.turns = turns
        lead = leading(turns)
        self.lead = len(lead)
        for turn in lead:
            _write_turn(turn, self.messages, context)

    def restore(self, messages: list[Any], begin: int, state: Any) -> None:
        """Continue after earlier messages."""
        self.messages = messages

    def write_turns(self, begin: int, end: int) -> None:
        """Write the turns from index `begin` to before index `end`."""
        turns, messages, context, mine = self.turns, self.messages, self.context, self._mine
        for index in range(begin, end):
            turn = turns[index]
            if turn.role == "tool":
                write_results_messages(turn, self._calls, messages, context)
                if not mine:
                    self._calls = []  # this turn has all their results
                continue
            _write_turn(turn, messages, context)
            self._calls = [part for part in turn.parts if type(part) is ToolCall] if turn.role == "assistant" else []
            # The history ends, or continues, without any result of this step.
            if self._calls and not mine and (index + 1 == len(turns) or turns[index + 1].role != "tool"):
                write_results_messages(Turn("tool", ()), self._calls, messages, context)

    def snapshot(self) -> tuple[list[Any], Any] | None:
        """The messages that later turns do not change; None while calls are open."""
        return None if self._calls else (self.messages, ())

    def end(self) -> None:
        """Complete the history."""
        if self.messages or self._mine:
            return
        # The server accepts an empty list, but then only loads the model (server documentation, 2026-08).
        turns = self.turns
        what = "nothing is left of the conversation" if turns else "nothing was said"
        self.context.lose("turn.invented", turns[0].at if turns else (), what)
        self.messages.append({"role": "user", "content": NO_INPUT})

    def document(self, messages: Any) -> dict[str, Any]:
        """The request with these messages."""
        request, context = self._request, self.context
        out: dict[str, Any] = {"model": self._model} if self._model else {}
        out["messages"] = messages
        if request.tools or request.choice is not None:
            chosen = offered(request, context)
            tools = MEMO.write(chosen, context) if chosen else None
            if tools:
                out["tools"] = tools
        if own(request.extra, NO_STREAM_FIELD) is None:
            # An absent `stream` means true (server sources, 2026-08).
            out["stream"] = bool(request.stream)
        write_settings(request.settings, out, context)
        if request.extra is None or wire.NAME not in request.extra:
            return out
        if any(name.startswith("options/") for name in request.extra[wire.NAME]):
            out.setdefault("options", {})
        return put_back(out, request.extra)


def _write_turn(turn: Turn, messages: list[Any], context: Context) -> None:
    written: list[dict[str, Any]]
    parts = turn.parts
    mine = context.source == wire.NAME
    if turn.name:
        context.lose("name.dropped", turn.at)
    if turn.role == "assistant":
        message = write_assistant(parts, context, request=True)
        written = [message] if message is not None else [{"role": "assistant", "content": ""}] if mine else []
    elif len(parts) == 1 and isinstance(parts[0], Opaque) and parts[0].dialect == wire.NAME:
        messages.append(parts[0].value)
        return
    else:
        # There is no role developer.
        if turn.role != "user" and not mine:
            parts = _words_only(parts, context)
        written = write_content("system" if turn.role == "developer" else turn.role, parts, context)
        if not mine and not written[0]["content"] and "images" not in written[0]:
            written = []
    if not written:
        context.lose("turn.dropped", turn.at)
        return
    if turn.extra is not None:
        spelled = own(turn.extra, "role")
        if spelled is not None:
            written[0]["role"] = spelled
        put_back(written[0], turn.extra)
    messages.extend(written)


def _words_only(parts: tuple[Part, ...], context: Context) -> tuple[Part, ...]:
    """The parts without media, because templates render no images of system messages."""
    remaining = []
    for part in parts:
        if isinstance(part, Media):
            context.lose("system.media.dropped", part.at, part.mime or part.kind)
        else:
            remaining.append(part)
    return tuple(remaining)
