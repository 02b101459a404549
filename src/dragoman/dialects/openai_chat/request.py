"""Chat Completions requests: read into canon, written from canon."""

from __future__ import annotations

from collections import deque
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Opaque, Part, Path, Text, ToolCall, ToolResult
from ...canon.request import Request
from ...canon.tools import HostedTool
from ...canon.turns import Role, Turn
from ...codec import json_text
from ...codec.admit import Admitted, Unknown
from ...codec.call_ids import from_chat_client
from ...codec.extras import carried, gather, misplaced, restore, with_shared, without_cache_options
from ...codec.features_in_words import with_taken_format
from ...codec.result_order import results_after_calls
from ...codec.surrogates.documents import has_lone_surrogate
from ...context import Context
from ...facts.profile import DEFAULT_PROFILE
from ...fast.envelope import HERE, Arounds, Noting, Rim, known_rim, leading
from ...fast.prefix import Recall, skimmer
from . import wire
from .audio_reader import becomes_words, is_heard, spoken_parts
from .history_writer import History, Prepare, say_json, some_input, write_own
from .host_adjustments import suited, trimmed
from .hosted_tools import OPTIONS
from .message import read_assistant, read_content, read_legacy
from .message_marks import take_marks, with_marks
from .settings import read_extras, read_settings, take_options, take_shared, write_settings
from .tools import MEMO, functions_from, read_choice, with_own, write_choice

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}


def read_request(body: bytes, context: Context) -> Request:
    skimmed = _skim(body)
    read = read_skimmed(skimmed, context) if skimmed is not None else None
    if read is None:
        admitted = wire.REQUEST.admit(body)
        marks = take_marks(admitted.unknown) if admitted.unknown and context.target != wire.NAME else None
        read = read_admitted(admitted, context)
        return with_marks(read, marks, context) if marks else read
    if not context.kept or not read.tools:  # else its turns may have been looked into
        AROUND.learn(body, skimmed.messages, read, context)
    return read


def read_skimmed(skimmed: Any, context: Context) -> Request | None:
    """A request whose messages are still raw; None unless all of them are plain."""
    turns: list[Turn] = []
    if not _SAID.turns(skimmed.messages, context, turns):
        return None
    read = _read_rest(skimmed, tuple(turns), context, {})
    return _sorted_out(read, context) if context.kept and read.tools else read


def read_admitted(admitted: Admitted[wire.ChatRequest], context: Context) -> Request:
    request, unknown, spelled = admitted
    context.spelled = spelled
    return _sorted_out(_read_rest(request, _read_turns(request.messages, context, unknown), context, unknown), context)


def _sorted_out(request: Request, context: Context) -> Request:
    if context.target == wire.NAME:
        return request
    from .foreign_shapes import is_mixed, sorted_out  # what few clients send

    return sorted_out(request, context) if is_mixed(request) else request


def _read_rest(request: wire.ChatRequest, turns: tuple[Turn, ...], context: Context, unknown: Unknown) -> Request:
    """Everything but the messages."""
    tools: tuple[Any, ...] = ()
    if request.tools:
        tools = MEMO.read(request.tools, context)
    if request.functions:
        tools += functions_from(request.functions, context, unknown)
    choice = read_choice(request.tool_choice, context) if request.tool_choice is not None else None
    if request.function_call is not None and choice is None:
        named = request.function_call
        legacy = named if isinstance(named, str) else wire.ToolChoice(function=named)
        choice = read_choice(legacy, context, "function_call")
    extras = read_extras(request)
    if extras and OPTIONS in extras and context.target != wire.NAME:
        value = extras.pop(OPTIONS)
        if bytes(value) != b"null":
            tools += (HostedTool(wire.NAME, OPTIONS, value, (OPTIONS,)),)
    shared = take_shared(extras, context) if extras else {}
    if unknown:
        shared |= take_options(unknown, context)
    settings = read_settings(request)
    if unknown and context.target != wire.NAME and type(request) is wire.ChatRequest:
        from .thinking_switches import read_switches  # what clients of some hosts send

        settings = read_switches(settings, unknown)
    return Request(
        turns,
        request.model or "",
        tools,
        choice,
        settings,
        request.stream,
        with_shared(gather(context, (), unknown, extras), context.target, shared),
    )


_SPEAKERS: dict[str, Role] = {"user": "user", "system": "system", "developer": "developer"}
_NONE = wire.NONE


def read_plain(message: wire.Message, i: int) -> Turn | ToolResult | None:
    """What nearly all messages are: a text, a text with calls, or a result, and nothing hangs on it."""
    content = message.content
    if (
        message.refusal is not None
        or message.function_call is not None
        or message.reasoning_content is not None
        or message.reasoning is not None
        or message.annotations is not None
        or message.name is not None
        or message.audio is not _NONE
        or message.reasoning_details is not _NONE
    ):
        return None
    role = message.role
    calls = message.tool_calls
    call_id = message.tool_call_id
    if role == "assistant":
        if call_id is not None or not (content is None or type(content) is str):
            return None
        parts: list[Part] = [Text(content, at=("messages", i, "content"))] if content else []
        if calls is not None:
            for j, call in enumerate(calls):
                function = call.function
                if function is None or call.custom is not None or call.extra_content is not _NONE or not call.id:
                    return None
                if call.type is not None and call.type != "function":
                    return None
                arguments = function.arguments
                if type(arguments) is not str or arguments[:1] == '"' or has_lone_surrogate(arguments):
                    return None
                own = from_chat_client(call.id)
                parts.append(ToolCall(own, function.name or "", arguments, at=("messages", i, "tool_calls", j)))
        return Turn("assistant", tuple(parts), "", None, ("messages", i))
    if calls is not None or type(content) is not str:
        return None
    if role == "tool":
        if not call_id:
            return None
        own = from_chat_client(call_id)
        return ToolResult(own, (Text(content, at=("messages", i, "content")),), at=("messages", i))
    speaker = _SPEAKERS.get(role)
    if call_id is not None or speaker is None:
        return None
    return Turn(speaker, (Text(content, at=("messages", i, "content")),), "", None, ("messages", i))


def _read_raw(raw: Raw, i: int) -> Turn | ToolResult | None:
    try:
        return read_plain(_message(raw), i)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


_skim = skimmer(wire.ChatRequest, "messages")
_message = msgspec.json.Decoder(wire.Message).decode


def _group(said: list[Any], turns: list[Turn]) -> None:
    """Neighbouring results are one turn."""
    results: list[Part] = []
    if said and turns and turns[-1].role == "tool" and type(said[0]) is ToolResult:
        results = list(turns.pop().parts)
    for one in said:
        if type(one) is ToolResult:
            results.append(one)
            continue
        if results:
            turns.append(_SAID.step("tool", results, results[0].at))
            results = []
        turns.append(one)
    if results:
        turns.append(_SAID.step("tool", results, results[0].at))


_SAID: Recall[Any] = Recall(_read_raw, _group)
AROUND = Arounds(_SAID, "messages")


def _read_turns(messages: list[wire.Message], context: Context, unknown: Unknown) -> tuple[Turn, ...]:
    turns: list[Turn] = []
    results: list[Part] = []
    waiting: _OpenCalls | None = None
    legacy = 0
    for i, message in enumerate(messages):
        if not unknown:
            plain = read_plain(message, i)
            if plain is not None:
                if isinstance(plain, ToolResult):
                    results.append(plain)
                    if waiting is not None:
                        waiting.answer(plain.call_id)
                    continue
                waiting = None
                if results:
                    turns.append(Turn("tool", tuple(results), "", None, results[0].at))
                    results = []
                turns.append(plain)
                continue
        at: Path = ("messages", i)
        role = _ROLES.get(message.role)
        if role == "tool":
            if message.tool_call_id:
                call_id = from_chat_client(message.tool_call_id)
            elif message.role == "function":
                call_id = f"call_legacy_{legacy}"
            else:
                # Results that name no call follow each other: the calls are looked through once for all of them.
                if waiting is None:
                    waiting = _OpenCalls(turns[-1] if turns else None, results)
                call_id = waiting.next(message.name)
            results.append(_read_result(message, call_id, at, context, unknown))
            if waiting is not None:
                waiting.answer(call_id)
            continue
        waiting = None
        if results:
            turns.append(Turn("tool", tuple(results), "", None, results[0].at))
            results = []
        if role is None:
            value = json_text.raw(message)
            turns.append(Turn("user", (Opaque(wire.NAME, message.role, value, at=at),), at=at))
            continue
        if role == "assistant":
            parts = read_assistant(message, at, context, unknown, request=True)
            if message.audio and becomes_words(context) and is_heard(message.audio, request=True):
                parts = spoken_parts(message.audio, parts, at, context, request=True)
                message.audio = _NONE
            if message.function_call is not None and message.function_call.name:
                # It has no id; the n-th of a conversation is the n-th in every later turn too.
                legacy += 1
                call_at = at + ("function_call",)
                parts.append(read_legacy(message.function_call, f"call_legacy_{legacy}", call_at, context, unknown))
        else:
            parts = read_content(message.content, at, context, unknown)
        extra = None
        if unknown or message.audio or message.reasoning_details:
            extra = gather(context, at, unknown, carried(message, ("audio", "reasoning_details")))
        if role != "assistant":
            extra = misplaced(context, at, message, _CALLERS, extra)
        elif message.reasoning_content == "" and context.target == wire.NAME:
            extra = with_own(extra, "reasoning_content", json_text.raw(""))  # there are hosts that demand it
        if message.tool_call_id is not None:
            extra = misplaced(context, at, message, ("tool_call_id",), extra)
        turns.append(Turn(role, tuple(parts), message.name or "", extra, at))
    if results:
        turns.append(Turn("tool", tuple(results), at=results[0].at))
    return tuple(turns)


_CALLERS = ("tool_calls", "refusal", "function_call", "reasoning_content", "reasoning", "annotations")
"""Fields of an assistant's message only."""


class _OpenCalls:
    """The calls of a step, for results that do not say which call they answer: the first one without a result, of that
    name if the result has one."""

    __slots__ = ("_answered", "_ids")

    def __init__(self, turn: Turn | None, answered: list[Part]) -> None:
        self._answered = {result.call_id for result in answered if isinstance(result, ToolResult)}
        self._ids: dict[str | None, deque[str]] = {}
        for part in turn.parts if turn is not None else ():
            if isinstance(part, ToolCall):
                for name in (None, part.name):
                    self._ids.setdefault(name, deque()).append(part.id)

    def next(self, name: str | None) -> str:
        """The id of the next call; "" where there is none."""
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
    extra = misplaced(context, at, message, (*_CALLERS, "audio", "reasoning_details"), extra)
    if message.name is not None:
        extra = {wire.NAME: {**(extra or {}).get(wire.NAME, {}), "name": json_text.raw(message.name)}}
    return ToolResult(call_id, tuple(parts), message.name or "", extra=extra, at=at)


def write_request(request: Request, context: Context, prepare: Prepare | None = None) -> bytes:
    rim = known_rim(request, request.turns, context)
    if rim is None or rim.state is None:
        return _write_anew(request, rim, context, prepare)
    turns = results_after_calls(request.turns, context)
    if rim.early:
        context.losses.replay(rim.early)
    messages = [*rim.state]
    History(messages, context, prepare).write(turns, len(rim.lead))
    if not messages:
        messages.append(some_input(turns, context))
    if rim.late:
        context.losses.replay(rim.late)
    return rim.around(messages)


def _write_anew(request: Request, rim: Rim | None, context: Context, prepare: Prepare | None) -> bytes:
    """`rim`: what is known of it, though not of the system's messages."""
    host, own = context.host, context.source == wire.NAME
    strict = context.profile if host is not None or context.gates(wire.NAME) else DEFAULT_PROFILE
    shape = request.settings.format
    if shape is not None:
        # OpenAI: "schema must be a JSON Schema of 'type: \"object\"'".
        request = with_taken_format(request, strict, context, objects=not own)
    if request.settings.format is not shape:
        context.suited = context.suited or host is not None
    lead = leading(request.turns)
    if host is not None:
        request = suited(request, host, context)
    if not strict.late_system or (host is not None and not host.late_system):
        from .message_order import system_first  # few models and hosts are strict

        request = system_first(request, context)
    json_mode = request.settings.format is not None and request.settings.format.kind == "json"
    if json_mode or not strict.user_after_results:
        context.forget()  # the messages are looked into below
    turns = request.turns if own else results_after_calls(request.turns, context)
    noting = Noting(context)
    messages: list[Any] = []
    state: list[Raw] | None = None
    if own:
        write_own(turns, messages, context, prepare)
    else:
        history = History(messages, context, prepare)
        known = host is None and strict.late_system and strict.user_after_results and not json_mode
        begin = len(lead if known else leading(turns))
        history.system(turns[:begin])
        if known:
            state = [json_text.raw(message) for message in messages]
            noting.inside()
        history.write(turns, begin)
    if not strict.user_after_results:
        from .message_order import bridged

        messages = bridged(messages, context)
    model = context.model or request.model
    if not own:
        if not messages:
            messages.append(some_input(turns, context))
        if json_mode:
            say_json(messages, request, context)
        if not model:
            context.lose("model.invented")
            model = "unspecified"
    noting.behind()
    if rim is not None:
        context.losses.replay(rim.late)
        return rim.around(messages)
    out = _write_rest(request, model, context)
    if host is None:
        return noting.rim(out, "messages", request, lead, state).around(messages)
    out["messages"] = messages
    return json_text.encode(trimmed(out, request, host, context))


def _write_rest(request: Request, model: str, context: Context) -> dict[str, Any]:
    """Everything but the messages."""
    out: dict[str, Any] = {"model": model, "messages": HERE} if model else {"messages": HERE}
    if request.tools:
        offered = request.tools
        if context.source != wire.NAME:
            offered = _take_search(offered, out)
        tools = MEMO.write(offered, context) if offered else None
        if tools:
            out["tools"] = tools
    if request.choice is not None:
        choice = write_choice(request, request.choice, context)
        if choice is not None and ("tools" in out or context.source == wire.NAME):
            out["tool_choice"] = choice
        elif choice not in (None, "auto", "none"):
            context.lose("choice.dropped", request.choice.at, "there is no tool to choose")
    if request.stream is not None:
        out["stream"] = request.stream
    write_settings(request.settings, out, context)
    if out.get("stream") and request.settings.stream_usage is None and context.source != wire.NAME:
        # Every other dialect reports usage at the end of a stream unasked.
        out["stream_options"] = {"include_usage": True}
    if request.extra is None:
        return out
    extra = request.extra
    if context.source != wire.NAME and context.target == wire.NAME:
        extra = without_cache_options(extra, wire.NAME, context)
    return restore(out, extra, wire.NAME)


def _take_search(tools: tuple[Any, ...], out: dict[str, Any]) -> tuple[Any, ...]:
    """The tools without the search, which is a field of its own here."""
    for i, tool in enumerate(tools):
        if type(tool) is HostedTool and tool.kind == OPTIONS:
            out[OPTIONS] = tool.value
            return tools[:i] + tools[i + 1 :]
    return tools
