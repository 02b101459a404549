"""Reads and writes Chat Completions requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from ...canon.parts import Opaque, Part, Path, Text, ToolCall, ToolResult
from ...canon.request import Request
from ...canon.tools import HostedTool
from ...canon.turns import Role, Turn
from ...codec import json_text
from ...codec.call_ids import from_chat_client
from ...codec.dialect_extras import (
    Fields,
    gather,
    restore,
    sent_fields,
    with_misplaced_fields,
    with_shared,
    without_cache_options,
)
from ...codec.format_and_system_fallbacks import with_taken_format
from ...codec.request_read_and_write_steps import PlainDocument, leading, read, write
from ...codec.results_after_calls import results_after_calls
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from ...facts.profile import DEFAULT_PROFILE
from . import wire
from .answer_audio_reader import becomes_words, has_audio_content, with_transcript
from .cache_marks import capped_marks, take_marks, takes_anthropics, with_marks
from .foreign_shapes import is_mixed, sorted_out
from .history_writer import add_json_message, some_input, write_own, write_turn
from .host_adjustments import adapt_to_host, adapt_written_fields
from .hosted_tools import OPTIONS
from .message_content import read_assistant, read_content, read_legacy
from .settings import read_extras, read_settings, take_options, take_shared, write_settings
from .tool_result_writer import answer_for, write_results_messages
from .tools import MEMO, functions_from, read_choice, with_own, write_choice

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    # The legacy role of a result (openai 3.49.0, 2026-11). It is read, but never written.
    "function": "tool",
}


def read_request(body: bytes, context: Context) -> Request:
    """Read a request into canon."""
    request, unknown, context.spelled = wire.REQUEST.admit(body)
    if wire.SWITCHES.any_sent(request):
        switches = sent_fields(request, wire.SWITCHES) or {}
        if len(switches) > 1 or () in unknown:
            from .thinking_switch_reader import in_order  # late: clients of some hosts only

            unknown[()] = in_order(body, switches, unknown.get((), {}))
    marks = take_marks(unknown) if unknown and context.target != wire.NAME else None
    found = read(RequestReader(context, unknown), request, request.messages)
    return with_marks(found, marks, context) if marks else found


def _sorted_out(request: Request, context: Context) -> Request:
    if context.target == wire.NAME or not is_mixed(request, context):
        return request
    return sorted_out(request, context)


def _read_rest(request: wire.ChatRequest, turns: tuple[Turn, ...], context: Context, unknown: Unknown) -> Request:
    """Read everything but the messages."""
    tools: tuple[Any, ...] = ()
    if request.tools:
        tools = MEMO.read(request.tools, context)
    # `functions` and `function_call` are the legacy names of `tools` and `tool_choice` (openai 3.49.0, 2026-11).
    if request.functions:
        tools += functions_from(request.functions, context, unknown)
    choice = read_choice(request.tool_choice, context) if request.tool_choice is not None else None
    if request.function_call is not None and choice is None:
        named = request.function_call
        legacy = named if isinstance(named, str) else wire.ToolChoice(function=named)
        choice = read_choice(legacy, context, "function_call")
    extras, settings, extra = read_extras(request), read_settings(request), None
    # The switches become unknown fields here, after the messages: while there are none, no message searches them.
    if type(request) is wire.HostRequest and () not in unknown and wire.SWITCHES.any_sent(request):
        unknown[()] = sent_fields(request, wire.SWITCHES) or {}
    if extras or unknown:
        # `web_search_options` is a field of the request; other dialects declare search as a tool (openai 3.49.0,
        # 2026-11).
        if extras and OPTIONS in extras and context.target != wire.NAME:
            value = extras.pop(OPTIONS)
            if bytes(value) != b"null":
                tools += (HostedTool(wire.NAME, OPTIONS, value, (OPTIONS,)),)
        shared = take_shared(extras, context) if extras else {}
        if unknown:
            shared |= take_options(unknown, context)
            if context.target != wire.NAME and type(request) is wire.HostRequest:
                from .thinking_switch_reader import read_switches  # late: clients of some hosts only

                settings = read_switches(settings, unknown)
        extra = with_shared(gather(context, (), unknown, extras), context.target, shared)
    return Request(turns, request.model or "", tools, choice, settings, request.stream, extra)


class RequestReader:
    """Reads one request. Neighbouring results are one turn."""

    __slots__ = ("_context", "_legacy", "_open", "_results", "_unknown", "resumable", "turns")

    def __init__(self, context: Context, unknown: Unknown | None = None) -> None:
        self._context = context
        self._unknown: Unknown = {} if unknown is None else unknown
        self._results: list[Part] = []
        self._open: _OpenCalls | None = None  # open calls for results without an id
        self._legacy = 0
        self.turns: list[Turn] = []
        self.resumable = True

    def begin(self, head: wire.ChatRequest) -> None:
        """Does nothing: no field is read before the messages."""

    def restore(self, turns: Iterable[Turn]) -> None:
        """Continue after these turns."""
        self.turns = [*turns]

    def message(self, message: wire.Message, i: int) -> None:
        """Read one message."""
        turns, context, unknown = self.turns, self._context, self._unknown
        at: Path = ("messages", i)
        role = _ROLES.get(message.role)
        # Each result is a message of its own (openai 3.49.0, 2026-11); the canon has one turn per step.
        if role == "tool":
            if not self._results and turns and turns[-1].role == "tool":
                self._results = [*turns.pop().parts]  # earlier results come from a remembered prefix
            self._results.append(self._result(message, at))
            return
        self._open = None
        if self._results:
            self._end_step()
        # An unknown role is kept as a whole message.
        if role is None:
            value = json_text.raw(message)
            turns.append(Turn("user", (Opaque(wire.NAME, message.role, value, at=at),), at=at))
            return
        if role == "assistant":
            parts = read_assistant(message, at, context, unknown, request=True)
            if message.audio and becomes_words(context) and has_audio_content(message.audio, request=True):
                parts = with_transcript(message.audio, parts, at, context, request=True)
                message.audio = wire.NONE
            if message.function_call is not None and message.function_call.name:
                # A legacy call has no id. The n-th legacy call of a conversation is the n-th in every later turn too.
                self._legacy += 1
                self.resumable = False
                call_at = at + ("function_call",)
                call_id = f"call_legacy_{self._legacy}"
                parts.append(read_legacy(message.function_call, call_id, call_at, context, unknown))
        else:
            content = message.content
            if type(content) is str:
                parts = [Text(content, at=("messages", i, "content"))]
            else:
                parts = read_content(content, at, context, unknown)
        extra = None
        if unknown or message.audio or message.reasoning_details:
            extra = gather(context, at, unknown, sent_fields(message, ("audio", "reasoning_details")))
        if role != "assistant":
            if (
                message.tool_calls
                or message.refusal
                or message.function_call
                or message.reasoning_content
                or message.reasoning
                or message.annotations
            ):
                extra = with_misplaced_fields(context, at, message, _CALLERS, extra)
        elif message.reasoning_content == "" and context.target == wire.NAME:
            # DeepSeek demands the field in every message of the assistant (continuedev/continue issue 11285, 2026-03).
            extra = with_own(extra, "reasoning_content", json_text.raw(""))
        if message.tool_call_id is not None:
            extra = with_misplaced_fields(context, at, message, ("tool_call_id",), extra)
        turns.append(Turn(role, tuple(parts), message.name or "", extra, at))

    def _result(self, message: wire.Message, at: Path) -> ToolResult:
        if message.tool_call_id:
            # Ids of other dialects were shortened for Chat clients.
            call_id = from_chat_client(message.tool_call_id)
        elif message.role == "function":
            call_id = f"call_legacy_{self._legacy}"
        else:
            # Results without an id follow each other; the calls are indexed once for all of them.
            if self._open is None:
                self._open = _OpenCalls(self.turns[-1] if self.turns else None, self._results)
            # tool_call_id is required (openai 3.49.0, 2026-11), but some clients omit it.
            call_id = self._open.next(message.name)
        if self._open is not None:
            self._open.answer(call_id)
        return _read_result(message, call_id, at, self._context, self._unknown)

    def _end_step(self) -> None:
        """The results of a step are complete: make their turn."""
        self._open = None
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
        return _sorted_out(_read_rest(head, turns, self._context, self._unknown), self._context)


_CALLERS = Fields("tool_calls", "refusal", "function_call", "reasoning_content", "reasoning", "annotations")
"""Fields that only an assistant message has."""
_NOT_IN_RESULTS = Fields(*_CALLERS, "audio", "reasoning_details")


class _OpenCalls:
    """The calls of a step, for results without an id: a result answers the first open call, of its name if it
    has one.
    """

    __slots__ = ("_answered", "_ids")

    def __init__(self, turn: Turn | None, answered: list[Part]) -> None:
        self._answered = {result.call_id for result in answered if isinstance(result, ToolResult)}
        self._ids: dict[str | None, deque[str]] = {}
        for part in turn.parts if turn is not None else ():
            if isinstance(part, ToolCall):
                for name in (None, part.name):
                    self._ids.setdefault(name, deque()).append(part.id)

    def next(self, name: str | None) -> str:
        """The id of the next open call; "" if there is none."""
        ids = self._ids.get(name) or deque()
        while ids and ids[0] in self._answered:
            ids.popleft()
        return ids[0] if ids else ""

    def answer(self, call_id: str) -> None:
        """A call has its result."""
        self._answered.add(call_id)


def _read_result(message: wire.Message, call_id: str, at: Path, context: Context, unknown: Unknown) -> ToolResult:
    parts = read_content(message.content, at, context, unknown)
    extra = gather(context, at, unknown) if unknown else None
    extra = with_misplaced_fields(context, at, message, _NOT_IN_RESULTS, extra)
    if message.name is not None:
        # Results have no `name` in OpenAI's types (openai 3.49.0, 2026-11); some clients send it.
        extra = {wire.NAME: {**(extra or {}).get(wire.NAME, {}), "name": json_text.raw(message.name)}}
    return ToolResult(call_id, tuple(parts), message.name or "", extra=extra, at=at)


def write_request(request: Request, context: Context) -> bytes:
    """Write a request from canon."""
    return write(RequestWriter(request, context))


class RequestWriter(PlainDocument):
    """Writes one request. The results of a step are directly after its calls, one for each call, even if the history
    has another order or number.
    """

    __slots__ = ("_calls", "_request", "_strict", "context", "lead", "messages", "own", "resumable", "source", "turns")

    def __init__(self, request: Request, context: Context) -> None:
        self.context = context
        self.source = context.source
        self.turns = request.turns
        self.lead = 0
        self.messages: list[Any] = []
        self.resumable = True
        self.own = self.source == wire.NAME
        self._request = request
        self._strict = DEFAULT_PROFILE
        self._calls: Sequence[ToolCall] = ()  # open calls of the last step

    def begin(self) -> None:
        """Adapt the request to model and host, and write the leading system turns."""
        context, request = self.context, self._request
        host = context.host
        if host is not None or context.gates(wire.NAME):
            self._strict = context.profile
        strict = self._strict
        requested_format = request.settings.format
        if requested_format is not None:
            # OpenAI: 400 "schema must be a JSON Schema of 'type: \"object\"'" (reported by users, 2026).
            request = with_taken_format(request, strict, context, objects=not self.own)
            if request.settings.format is not requested_format:
                context.adapted_to_host = context.adapted_to_host or host is not None
        if host is not None:
            request = adapt_to_host(request, host, context)
        if strict.cache_control and takes_anthropics(context):
            request = capped_marks(request, context)
        if not strict.late_system or (host is not None and not host.late_system):
            from .strict_message_order import system_first  # late: few models and hosts are strict

            request = system_first(request, context)
            self.resumable = False
        # Every call must be answered directly after its message (400, reported by users, 2026-11).
        turns = request.turns if self.own else results_after_calls(request.turns, context)
        shape = request.settings.format
        if turns is not self.turns or not strict.user_after_results or (shape is not None and shape.kind == "json"):
            self.resumable = False
        self._request, self.turns = request, turns
        if not self.own:
            lead = leading(turns)
            self.lead = len(lead)
            for turn in lead:
                write_turn(self._prepared(turn), self.messages, context)

    def restore(self, messages: list[Any], begin: int, state: Any) -> None:
        """Continue after earlier messages."""
        self.messages = messages

    def write_turns(self, begin: int, end: int) -> None:
        """Write the turns from index `begin` to before index `end`."""
        messages, context, calls = self.messages, self.context, self._calls
        for turn in self.turns[begin:end]:
            if self.own:
                write_own(self._prepared(turn), messages, context)
            elif turn.role == "tool":
                write_results_messages(self._prepared(turn), calls, messages, context)
                calls = ()
            else:
                # Every call must be answered by a tool message directly after its message, or OpenAI answers with 400
                # (reported by users, 2026).
                if calls:
                    answer_for(calls, messages, context)
                calls = [part for part in turn.parts if type(part) is ToolCall] if turn.role == "assistant" else ()
                write_turn(self._prepared(turn), messages, context)
        self._calls = calls

    def _prepared(self, turn: Turn) -> Turn:
        """The turn as a related dialect wants it written."""
        return turn

    def snapshot(self) -> tuple[list[Any], Any] | None:
        """The messages that later turns do not change; None while calls are open."""
        return None if self._calls else (self.messages, ())

    def end(self) -> None:
        """Complete the history."""
        messages, context = self.messages, self.context
        if self._calls:
            answer_for(self._calls, messages, context)
        if not self._strict.user_after_results:
            from .strict_message_order import with_bridge_messages

            self.messages = messages = with_bridge_messages(messages, context)
        if self.own:
            return
        if not messages:
            # `messages` must not be empty (lint rule OAC-001).
            messages.append(some_input(self.turns, context))
        shape = self._request.settings.format
        # json_object is refused unless the word JSON occurs in the messages (OpenAI's documentation, 2026-11).
        if shape is not None and shape.kind == "json":
            add_json_message(messages, self._request, context)

    def document(self, messages: Any) -> dict[str, Any]:
        """The request with these messages."""
        context, request = self.context, self._request
        model = context.model or request.model
        if not self.own and not model:
            context.lose("model.invented")
            model = "unspecified"
        out: dict[str, Any] = {"model": model, "messages": messages} if model else {"messages": messages}
        if request.tools:
            offered = request.tools
            if not self.own:
                offered = _take_search(offered, out)
            tools = MEMO.write(offered, context) if offered else None
            if tools:
                out["tools"] = tools
        if request.choice is not None:
            choice = write_choice(request, request.choice, context)
            if choice is not None and ("tools" in out or self.own):
                out["tool_choice"] = choice
            # tool_choice without tools is an error (lint rule OAC-010).
            elif choice not in (None, "auto"):
                reason = "there is no tool to choose"
                context.lose("choice.dropped", request.choice.at, reason, "info" if choice == "none" else None)
        if request.stream is not None:
            out["stream"] = request.stream
        write_settings(request.settings, out, context)
        if out.get("stream") and request.settings.stream_usage is None and not self.own:
            # Every other dialect always sends usage at the end of a stream; Chat needs this option (openai 3.49.0,
            # 2026-11).
            out["stream_options"] = {"include_usage": True}
        extra = request.extra
        if extra is not None and wire.NAME in extra:
            if not self.own and context.target == wire.NAME:
                extra = without_cache_options(extra, wire.NAME, context)
            out = restore(out, extra, wire.NAME)
        return out if context.host is None else adapt_written_fields(out, request, context.host, context)


def _take_search(tools: tuple[Any, ...], out: dict[str, Any]) -> tuple[Any, ...]:
    """The tools without the search, which is a separate field in Chat."""
    for i, tool in enumerate(tools):
        if type(tool) is HostedTool and tool.kind == OPTIONS:
            out[OPTIONS] = tool.value
            return tools[:i] + tools[i + 1 :]
    return tools
