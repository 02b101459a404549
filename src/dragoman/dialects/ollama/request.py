"""Ollama requests: read into canon, written from canon."""

from __future__ import annotations

from typing import Any

from ...canon.parts import Extra, Media, Opaque, Part, Path, ToolCall
from ...canon.request import Request
from ...canon.turns import Role, Turn
from ...codec import json_text
from ...codec.admit import Unknown
from ...codec.extras import gather, misplaced, take_shared, with_shared
from ...codec.result_order import results_after_calls
from ...context import Context
from . import wire
from .call_pairing import Ids
from .message import read_assistant, read_content, write_assistant, write_content
from .original_values import TRUE, UNSAID, own, put_back, with_field
from .settings import read_extras, read_settings, write_settings
from .tool_results import read_result, write_results_messages
from .tools import MEMO, offered

NO_INPUT = "(nothing was said)"
_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}

_OPENROUTER = {"options/min_p": "min_p", "options/repeat_penalty": "repetition_penalty"}
"""Options that OpenRouter has as fields."""


def read_request(body: bytes, context: Context) -> Request:
    request, unknown, spelled = wire.REQUEST.admit(body)
    context.spelled = spelled
    turns = _read_turns(request.messages, context, unknown)
    tools = MEMO.read(request.tools, context) if request.tools else ()
    return Request(
        turns,
        request.model or "",
        tools,
        None,
        read_settings(request),
        request.stream is not False,
        _read_extra(request, context, unknown),
    )


def _read_extra(request: wire.ChatRequest, context: Context, unknown: Unknown) -> Extra | None:
    told, silent = read_extras(request)
    shared = take_shared(told, frozenset(_OPENROUTER)) if context.target == "openrouter" else {}
    extra = gather(context, (), unknown, told or None) if unknown or told else None
    extra = with_shared(extra, "openai-chat", {_OPENROUTER[name]: value for name, value in shared.items()})
    for name, value in silent.items():
        extra = with_field(extra, name, value)
    return with_field(extra, UNSAID, TRUE) if request.stream is None else extra


def _read_turns(messages: list[wire.Message], context: Context, unknown: Unknown) -> tuple[Turn, ...]:
    turns: list[Turn] = []
    results: list[Part] = []
    ids = Ids(context)
    spoken = False
    for i, message in enumerate(messages):
        at: Path = ("messages", i)
        role = _ROLES.get(message.role) or _ROLES.get(message.role.lower())
        if role == "tool":
            results.append(read_result(message, i, ids, unknown))
            spoken = False
            continue
        if results:
            turns.append(Turn("tool", tuple(results), "", None, results[0].at))
            results = []
        if role is None:
            turns.append(_read_strange(message, at, context, unknown))
            spoken = False
            continue
        if role == "assistant":
            if not spoken:
                ids.waiting.clear()  # what was asked before is answered or never will be
            parts = read_assistant(message, at, ids, unknown)
        else:
            parts = read_content(message, at)
        spoken = role == "assistant"
        extra = gather(context, at, unknown) if unknown else None
        if not spoken and (message.tool_calls is not None or message.thinking is not None):
            extra = misplaced(context, at, message, ("tool_calls", "thinking"), extra)
        if message.tool_name is not None or message.tool_call_id is not None:
            extra = misplaced(context, at, message, ("tool_name", "tool_call_id"), extra)
        if message.role != role:  # the server does not mind capitals
            extra = with_field(extra, "role", json_text.raw(message.role))
        turns.append(Turn(role, tuple(parts), "", extra, at))
    if results:
        turns.append(Turn("tool", tuple(results), "", None, results[0].at))
    return tuple(turns)


def _read_strange(message: wire.Message, at: Path, context: Context, unknown: Unknown) -> Turn:
    """A whole message of a role nobody knows."""
    fields = dict(json_text.fields(json_text.raw(message)))
    extra = gather(context, at, unknown) if unknown else None
    value = json_text.raw(put_back(fields, extra))
    return Turn("user", (Opaque(wire.NAME, message.role, value, at=at),), "", None, at)


def write_request(request: Request, context: Context) -> bytes:
    mine = context.source == wire.NAME
    model = context.model or request.model
    if not model and not mine:
        context.lose("model.invented")
        model = "unspecified"
    out: dict[str, Any] = {"model": model} if model else {}
    out["messages"] = _write_turns(request, context)
    if request.tools or request.choice is not None:
        chosen = offered(request, context)
        tools = MEMO.write(chosen, context) if chosen else None
        if tools:
            out["tools"] = tools
    if own(request.extra, UNSAID) is None:
        # Left out it would mean true.
        out["stream"] = bool(request.stream)
    write_settings(request.settings, out, context)
    if request.extra is None or wire.NAME not in request.extra:
        return json_text.encode(out)
    if any(name.startswith("options/") for name in request.extra[wire.NAME]):
        out.setdefault("options", {})
    return json_text.encode(put_back(out, request.extra))


def _write_turns(request: Request, context: Context) -> list[Any]:
    messages: list[Any] = []
    calls: list[ToolCall] = []  # those of the step under way
    mine = context.source == wire.NAME
    turns = request.turns if mine else results_after_calls(request.turns, context)
    for i, turn in enumerate(turns):
        if turn.role == "tool":
            write_results_messages(turn, calls, messages, context)
            calls = calls if mine else []  # `arrange` put all their results into this turn
            continue
        _write_turn(turn, messages, context)
        calls = [part for part in turn.parts if type(part) is ToolCall] if turn.role == "assistant" else []
        if calls and not mine and (i + 1 == len(turns) or turns[i + 1].role != "tool"):
            write_results_messages(Turn("tool", ()), calls, messages, context)
    if not messages and context.source != wire.NAME:
        # An empty list is taken here, but all it does is load the model.
        what = "nothing is left of the conversation" if turns else "nothing was said"
        context.lose("turn.invented", turns[0].at if turns else (), what)
        messages.append({"role": "user", "content": NO_INPUT})
    return messages


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
    """Templates show no images of the system."""
    kept = []
    for part in parts:
        if isinstance(part, Media):
            context.lose("system.media.dropped", part.at, part.mime or part.kind)
        else:
            kept.append(part)
    return tuple(kept)
