"""Chat Completions requests: read into canon, written from canon."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Media, Opaque, Part, Path, Text, ToolCall, ToolResult, plain_text
from ...canon.request import Request
from ...canon.tools import HostedTool
from ...canon.turns import Role, Turn
from ...codec import jsontext
from ...codec.admit import Admitted, Unknown
from ...codec.around import HERE, Arounds, Noting, known_rim
from ...codec.extras import carried, gather, misplaced, restore
from ...codec.recall import Recall, Written, skimmer
from ...codec.steps import arrange
from ...crossing import DEFAULT_PROFILE, Crossing
from . import wire
from .hosted import OPTIONS
from .hosts import suited, trimmed
from .message import read_assistant, read_content, read_legacy, write_assistant, write_content, write_plain
from .results import answer_for, write_plain_results, write_results_messages
from .settings import read_extras, read_settings, write_settings
from .tools import MEMO, functions_from, read_choice, with_own, write_choice

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}

_OPENAI = frozenset({wire.NAME, "openai-responses"})
NO_INPUT = "(nothing was said)"


def read_request(body: bytes, crossing: Crossing) -> Request:
    skimmed = _skim(body)
    read = read_skimmed(skimmed, crossing) if skimmed is not None else None
    if read is None:
        return read_admitted(wire.REQUEST.admit(body), crossing)
    if not crossing.kept or not read.tools:  # else its turns may have been looked into
        AROUND.learn(body, skimmed.messages, read, crossing)
    return read


def read_skimmed(skimmed: Any, crossing: Crossing) -> Request | None:
    """A request whose messages are still raw; None unless all of them are plain."""
    turns: list[Turn] = []
    if not _SAID.turns(skimmed.messages, crossing, turns):
        return None
    read = _read_rest(skimmed, tuple(turns), crossing, {})
    return _sorted_out(read, crossing) if crossing.kept and read.tools else read


def read_admitted(admitted: Admitted[wire.ChatRequest], crossing: Crossing) -> Request:
    request, unknown, spelled = admitted
    crossing.spelled = spelled
    return _sorted_out(
        _read_rest(request, _read_turns(request.messages, crossing, unknown), crossing, unknown), crossing
    )


def _sorted_out(request: Request, crossing: Crossing) -> Request:
    if crossing.target == wire.NAME:
        return request
    from .mixed import is_mixed, sorted_out  # what few clients send

    return sorted_out(request, crossing) if is_mixed(request) else request


def _read_rest(request: wire.ChatRequest, turns: tuple[Turn, ...], crossing: Crossing, unknown: Unknown) -> Request:
    """Everything but the messages."""
    tools: tuple[Any, ...] = ()
    if request.tools:
        tools = MEMO.read(request.tools, crossing)
    if request.functions:
        tools += functions_from(request.functions, crossing, unknown)
    choice = read_choice(request.tool_choice, crossing) if request.tool_choice is not None else None
    if request.function_call is not None and choice is None:
        named = request.function_call
        legacy = named if isinstance(named, str) else wire.ToolChoice(function=named)
        choice = read_choice(legacy, crossing, "function_call")
    extras = read_extras(request)
    if extras and OPTIONS in extras and crossing.target != wire.NAME:
        value = extras.pop(OPTIONS)
        if bytes(value) != b"null":
            tools += (HostedTool(wire.NAME, OPTIONS, value, (OPTIONS,)),)
    return Request(
        turns,
        request.model or "",
        tools,
        choice,
        read_settings(request),
        request.stream,
        gather(crossing, (), unknown, extras),
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
                if type(arguments) is not str or arguments[:1] == '"':
                    return None
                parts.append(ToolCall(call.id, function.name or "", arguments, at=("messages", i, "tool_calls", j)))
        return Turn("assistant", tuple(parts), "", None, ("messages", i))
    if calls is not None or type(content) is not str:
        return None
    if role == "tool":
        if not call_id:
            return None
        return ToolResult(call_id, (Text(content, at=("messages", i, "content")),), at=("messages", i))
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


def _read_turns(messages: list[wire.Message], crossing: Crossing, unknown: Unknown) -> tuple[Turn, ...]:
    turns: list[Turn] = []
    results: list[Part] = []
    legacy = 0
    for i, message in enumerate(messages):
        if not unknown:
            plain = read_plain(message, i)
            if plain is not None:
                if isinstance(plain, ToolResult):
                    results.append(plain)
                    continue
                if results:
                    turns.append(Turn("tool", tuple(results), "", None, results[0].at))
                    results = []
                turns.append(plain)
                continue
        at: Path = ("messages", i)
        role = _ROLES.get(message.role)
        if role == "tool":
            call_id = message.tool_call_id or _unsaid_id(message, turns, results, legacy)
            results.append(_read_result(message, call_id, at, crossing, unknown))
            continue
        if results:
            turns.append(Turn("tool", tuple(results), "", None, results[0].at))
            results = []
        if role is None:
            value = jsontext.raw(message)
            turns.append(Turn("user", (Opaque(wire.NAME, message.role, value, at=at),), at=at))
            continue
        if role == "assistant":
            parts = read_assistant(message, at, crossing, unknown)
            if message.function_call is not None and message.function_call.name:
                # It has no id; the n-th of a conversation is the n-th in every later turn too.
                legacy += 1
                call_at = at + ("function_call",)
                parts.append(read_legacy(message.function_call, f"call_legacy_{legacy}", call_at, crossing, unknown))
        else:
            parts = read_content(message.content, at, crossing, unknown)
        extra = None
        if unknown or message.audio or message.reasoning_details:
            extra = gather(crossing, at, unknown, carried(message, ("audio", "reasoning_details")))
        if role != "assistant":
            extra = misplaced(crossing, at, message, _CALLERS, extra)
        elif message.reasoning_content == "" and crossing.target == wire.NAME:
            extra = with_own(extra, "reasoning_content", jsontext.raw(""))  # there are hosts that demand it
        if message.tool_call_id is not None:
            extra = misplaced(crossing, at, message, ("tool_call_id",), extra)
        turns.append(Turn(role, tuple(parts), message.name or "", extra, at))
    if results:
        turns.append(Turn("tool", tuple(results), at=results[0].at))
    return tuple(turns)


_CALLERS = ("tool_calls", "refusal", "function_call", "reasoning_content", "reasoning", "annotations")
"""Fields of an assistant's message only."""


def _unsaid_id(message: wire.Message, turns: list[Turn], results: list[Part], legacy: int) -> str:
    """The id of the call that a message without one answers: the next open call of the step, by name if it has one."""
    if message.role == "function":
        return f"call_legacy_{legacy}"
    answered = [result.call_id for result in results if isinstance(result, ToolResult)]
    for part in turns[-1].parts if turns else ():
        if isinstance(part, ToolCall) and part.id not in answered and message.name in (None, part.name):
            return part.id
    return ""


def _read_result(message: wire.Message, call_id: str, at: Path, crossing: Crossing, unknown: Unknown) -> ToolResult:
    parts = read_content(message.content, at, crossing, unknown)
    extra = gather(crossing, at, unknown) if unknown else None
    extra = misplaced(crossing, at, message, (*_CALLERS, "audio", "reasoning_details"), extra)
    if message.name is not None:
        extra = {wire.NAME: {**(extra or {}).get(wire.NAME, {}), "name": jsontext.raw(message.name)}}
    return ToolResult(call_id, tuple(parts), message.name or "", extra=extra, at=at)


Prepare = Callable[[Turn], Turn]
"""A kin's last word on a turn before it is written. Plain turns are not asked about: they are the same in every kin."""


def write_request(request: Request, crossing: Crossing, prepare: Prepare | None = None) -> bytes:
    host = crossing.host
    strict = crossing.profile if host is not None or crossing.source != wire.NAME else DEFAULT_PROFILE
    if host is not None:
        request = suited(request, host, crossing)
    if not strict.late_system or (host is not None and not host.late_system):
        from .order import system_first  # few models and hosts are strict

        request = system_first(request, crossing)
    json_mode = request.settings.format is not None and request.settings.format.kind == "json"
    if json_mode or not strict.user_after_results:
        crossing.forget()  # the messages are looked into below
    messages = _write_turns(request, crossing, prepare)
    if not strict.user_after_results:
        from .order import bridged

        messages = bridged(messages, crossing)
    model = crossing.model or request.model
    if crossing.source != wire.NAME:
        if not messages:
            what = "nothing is left of the conversation" if request.turns else "nothing was said"
            crossing.lose("turn.invented", request.turns[0].at if request.turns else (), what)
            messages.append({"role": "user", "content": NO_INPUT})
        if json_mode:
            _say_json(messages, request, crossing)
        if not model:
            crossing.lose("model.invented")
            model = "unspecified"
    rim = known_rim(request, (), crossing)
    if rim is not None:
        crossing.losses.replay(rim.late)
        return rim.around(messages)
    noting = Noting(crossing)
    out = _write_rest(request, model, crossing)
    if host is None:
        return noting.rim(out, "messages", request, ()).around(messages)
    out["messages"] = messages
    return jsontext.encode(trimmed(out, request, host, crossing))


def _write_rest(request: Request, model: str, crossing: Crossing) -> dict[str, Any]:
    """Everything but the messages."""
    out: dict[str, Any] = {"model": model, "messages": HERE} if model else {"messages": HERE}
    if request.tools:
        offered = request.tools
        if crossing.source != wire.NAME:
            offered = _take_search(offered, out)
        tools = MEMO.write(offered, crossing) if offered else None
        if tools:
            out["tools"] = tools
    if request.choice is not None:
        choice = write_choice(request, request.choice, crossing)
        if choice is not None and ("tools" in out or crossing.source == wire.NAME):
            out["tool_choice"] = choice
        elif choice not in (None, "auto", "none"):
            crossing.lose("choice.dropped", request.choice.at, "there is no tool to choose")
    if request.stream is not None:
        out["stream"] = request.stream
    write_settings(request.settings, out, crossing)
    if out.get("stream") and request.settings.stream_usage is None and crossing.source != wire.NAME:
        # Every other dialect reports usage at the end of a stream unasked.
        out["stream_options"] = {"include_usage": True}
    return restore(out, request.extra, wire.NAME)


def _say_json(messages: list[Any], request: Request, crossing: Crossing) -> None:
    """JSON mode is refused unless some message has the word. Only the head of the conversation is looked at, so that
    the answer is the same in every later turn."""
    if crossing.source in _OPENAI or crossing.source == crossing.target:
        return  # there it holds too
    for message in messages:
        text = jsontext.encode(message).lower()
        if b"json" in text:
            return
        if b'"role":"user"' in text:
            break
    role = _system_role(crossing)
    messages.insert(0, {"role": role, "content": "Answer with one valid JSON object and nothing else."})
    crossing.lose("turn.invented", request.settings.at.get("format", ()), "JSON mode wants the word JSON in a message")


def _take_search(tools: tuple[Any, ...], out: dict[str, Any]) -> tuple[Any, ...]:
    """The tools without the search, which is a field of its own here."""
    for i, tool in enumerate(tools):
        if type(tool) is HostedTool and tool.kind == OPTIONS:
            out[OPTIONS] = tool.value
            return tools[:i] + tools[i + 1 :]
    return tools


def _write_turns(request: Request, crossing: Crossing, prepare: Prepare | None) -> list[Any]:
    messages: list[Any] = []
    if crossing.source == wire.NAME:
        for turn in request.turns:
            turn = turn if prepare is None else prepare(turn)
            if turn.role == "tool":
                write_results_messages(turn, None, messages, crossing)
            else:
                _write_turn(turn, messages, crossing)
        return messages
    history = _History(messages, crossing, prepare)
    history.write(arrange(request.turns, crossing))
    return messages


class _History:
    """Messages written so far, and the calls of the last step that have no result yet."""

    __slots__ = ("_again", "_calls", "_crossing", "_messages", "_plain", "_prepare")

    def __init__(self, messages: list[Any], crossing: Crossing, prepare: Prepare | None) -> None:
        self._messages = messages
        self._crossing = crossing
        self._prepare = prepare
        self._calls: list[ToolCall] = []
        self._plain = False  # the last step was written as it is
        self._again = crossing.recalled

    def write(self, turns: tuple[Turn, ...]) -> None:
        crossing, messages, run = self._crossing, self._messages, self._crossing.run
        begin = 0
        while begin < len(turns) and turns[begin].role in _SYSTEM:
            self._turn(turns[begin])
            begin += 1
        first, at = len(messages), begin
        known = _WRITTEN.begun(crossing, turns, begin) if run is not None else None
        if known is not None:
            messages.append(known.text)
            calls, self._plain = known.state
            self._calls = list(calls)
            at += len(known.turns)
        plain = run is not None and known is None
        for i in range(at, len(turns)):
            plain = self._turn(turns[i]) and plain
            if plain and run is not None and turns[i] is run.turns[-1]:
                _WRITTEN.keep_begun(run, turns[begin : i + 1], messages[first:], (list(self._calls), self._plain))
        if self._calls:
            answer_for(self._calls, messages, crossing)

    def _turn(self, turn: Turn) -> bool:
        """Write a turn; True if it is plain: it will be written so next time, too."""
        role, calls, messages = turn.role, self._calls, self._messages
        if self._again:
            known = _WRITTEN.get(turn)
            if known is not None:
                if not calls if role != "tool" else self._plain and known[1] == [one.id for one in calls]:
                    messages += known[0]
                    self._calls = list(known[2])
                    self._plain = True
                    return True
        before = len(messages)
        if role == "tool":
            self._calls = []
            if self._plain and write_plain_results(turn.parts, calls, messages):
                self._remember(turn, before, [one.id for one in calls])
                return True
            write_results_messages(self._prepared(turn), calls, messages, self._crossing)
            return False
        if calls:
            answer_for(calls, messages, self._crossing)
            self._calls = []
            before = len(messages)
        if role == "assistant":
            self._calls = [part for part in turn.parts if type(part) is ToolCall]
            message = write_plain(turn.parts) if turn.extra is None and not turn.name else None
            self._plain = message is not None
        else:
            text = plain_text(turn.parts) if role == "user" and turn.extra is None and not turn.name else None
            message = {"role": "user", "content": text} if text is not None else None
        if message is not None:
            messages.append(message)
            self._remember(turn, before, [])
            return not calls
        _write_turn(self._prepared(turn), messages, self._crossing)
        return False

    def _prepared(self, turn: Turn) -> Turn:
        return turn if self._prepare is None else self._prepare(turn)

    def _remember(self, turn: Turn, before: int, answers: list[str]) -> None:
        """How a plain turn was written, which calls it answers, and which it makes."""
        if self._again:
            written = [jsontext.raw(message) for message in self._messages[before:]]
            _WRITTEN.keep(turn, (written, answers, list(self._calls)), sum(map(len, written)))


_SYSTEM = frozenset({"system", "developer"})
_WRITTEN = Written()


def _write_turn(turn: Turn, messages: list[Any], crossing: Crossing) -> None:
    role: str = turn.role
    message: dict[str, Any] | None
    if role == "assistant":
        message = write_assistant(turn.parts, crossing, request=True)
    else:
        parts = turn.parts
        if role != "user" and crossing.source != wire.NAME:
            role = _system_role(crossing)
            if role == "user":
                crossing.lose("system.demoted", turn.at, "the model has no system role")
            parts = _words_only(parts, crossing)
        if (
            len(parts) == 1
            and isinstance(parts[0], Opaque)
            and parts[0].dialect == wire.NAME
            and parts[0].at == turn.at
        ):
            messages.append(parts[0].value)  # a whole message of a role nobody knows
            return
        content = write_content(parts, crossing)
        message = {"role": role, "content": content}
        if not content and turn.parts and not all(type(part) is Text for part in turn.parts):
            message = None
    if message is None:
        crossing.lose("turn.dropped", turn.at)
        return
    if turn.name:
        message["name"] = turn.name
    messages.append(message if turn.extra is None else restore(message, turn.extra, wire.NAME))


def _system_role(crossing: Crossing) -> str:
    if not crossing.profile.system:
        return "user"
    return "developer" if crossing.profile.reasoning else "system"


def _words_only(parts: tuple[Part, ...], crossing: Crossing) -> tuple[Part, ...]:
    """A system message holds text only."""
    kept = []
    for part in parts:
        if isinstance(part, Media):
            crossing.lose("system.media.dropped", part.at, part.mime or part.kind)
        else:
            kept.append(part)
    return tuple(kept)
