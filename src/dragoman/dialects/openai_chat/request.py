"""Chat Completions requests: read into canon, written from canon."""

from __future__ import annotations

from typing import Any

from ...canon.parts import Media, Opaque, Part, Path, Text, ToolCall, ToolResult, plain_text
from ...canon.request import Format, Request, Settings
from ...canon.turns import Role, Turn
from ...codec import jsontext
from ...codec.admit import Unknown
from ...codec.effort import wanted
from ...codec.extras import carried, gather, restore
from ...codec.ids import send as send_id
from ...codec.steps import arrange
from ...crossing import Crossing
from . import wire
from .message import breakpoint_mark, read_assistant, read_content, read_legacy, write_assistant, write_content
from .tools import IDS, MEMO, fit_schema, functions_from, read_choice, write_choice

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}

_AT: dict[str, Path] = {
    name: (name,)
    for name in (
        "temperature",
        "top_p",
        "top_k",
        "stop",
        "seed",
        "presence_penalty",
        "frequency_penalty",
        "n",
        "logprobs",
        "top_logprobs",
        "verbosity",
        "metadata",
    )
} | {
    "max_tokens": ("max_completion_tokens",),
    "parallel": ("parallel_tool_calls",),
    "effort": ("reasoning_effort",),
    "format": ("response_format",),
    "user": ("user",),
    "tier": ("service_tier",),
    "cache_key": ("prompt_cache_key",),
    "stream_usage": ("stream_options", "include_usage"),
}
_MAX_USER = 128
_TIERS = frozenset({"auto", "default", "flex", "scale", "priority", "fast"})
NO_RESULT = "Error: no result was recorded for this call."
_AT_LEGACY_LIMIT = {**_AT, "max_tokens": ("max_tokens",)}


def read_request(body: bytes, crossing: Crossing) -> Request:
    request, unknown, spelled = wire.REQUEST.admit(body)
    crossing.spelled = spelled
    turns = _read_turns(request.messages, crossing, unknown)
    tools: tuple[Any, ...] = ()
    if request.tools:
        tools = MEMO.read(request.tools, crossing)
    if request.functions:
        tools += functions_from(request.functions, crossing, unknown)
    choice = read_choice(request.tool_choice, crossing) if request.tool_choice is not None else None
    if request.function_call is not None and choice is None:
        named = request.function_call
        legacy = named if isinstance(named, str) else wire.ToolChoice(function=named)
        choice = read_choice(legacy, crossing)
    return Request(
        turns,
        request.model or "",
        tools,
        choice,
        _read_settings(request),
        request.stream,
        gather(crossing, (), unknown, _request_extras(request)),
    )


def _request_extras(request: wire.ChatRequest) -> dict[str, Any] | None:
    extras = carried(request, wire.REQUEST_EXTRAS)
    options = request.stream_options
    if options is not None and options.include_obfuscation is not None:
        extras = {**(extras or {}), "stream_options/include_obfuscation": jsontext.raw(options.include_obfuscation)}
    if request.safety_identifier is not None and request.user is not None:
        extras = {**(extras or {}), "user": jsontext.raw(request.user)}
    if request.max_tokens is not None and request.max_completion_tokens is not None:
        extras = {**(extras or {}), "max_tokens": jsontext.raw(request.max_tokens)}
    shape = request.response_format
    if shape is not None and shape.type not in ("json_object", "json_schema", "text"):
        extras = {**(extras or {}), "response_format": jsontext.raw(shape)}
    return extras


def _read_turns(messages: list[wire.Message], crossing: Crossing, unknown: Unknown) -> tuple[Turn, ...]:
    turns: list[Turn] = []
    results: list[Part] = []
    legacy = 0
    for i, message in enumerate(messages):
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
        turns.append(Turn(role, tuple(parts), message.name or "", extra, at))
    if results:
        turns.append(Turn("tool", tuple(results), at=results[0].at))
    return tuple(turns)


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
    if message.name is not None:
        extra = {wire.NAME: {**(extra or {}).get(wire.NAME, {}), "name": jsontext.raw(message.name)}}
    return ToolResult(call_id, tuple(parts), message.name or "", extra=extra, at=at)


def _read_settings(request: wire.ChatRequest) -> Settings:
    limit = request.max_completion_tokens
    at = _AT
    if limit is None and request.max_tokens is not None:
        limit, at = request.max_tokens, _AT_LEGACY_LIMIT
    if request.safety_identifier is not None:
        at = {**at, "user": ("safety_identifier",)}
    stop = request.stop
    options = request.stream_options
    return Settings(
        limit,
        request.temperature,
        request.top_p,
        request.top_k,
        () if stop is None else (stop,) if isinstance(stop, str) else tuple(stop),
        request.seed,
        request.presence_penalty,
        request.frequency_penalty,
        request.n,
        request.logprobs,
        request.top_logprobs,
        request.parallel_tool_calls,
        request.reasoning_effort,
        verbosity=request.verbosity,
        format=_read_format(request.response_format) if request.response_format is not None else None,
        user=request.safety_identifier or request.user,
        metadata=request.metadata,
        tier=request.service_tier,
        cache_key=request.prompt_cache_key,
        stream_usage=options.include_usage if options is not None else None,
        at=at,
    )


def _read_format(shape: wire.ResponseFormat) -> Format | None:
    if shape.type == "json_object":
        return Format("json")
    schema = shape.json_schema
    if shape.type != "json_schema" or schema is None:
        return None
    text = jsontext.text(schema.schema) if schema.schema else None
    return Format("schema", text, schema.name, schema.description or "", schema.strict)


def write_request(request: Request, crossing: Crossing) -> bytes:
    messages = _write_turns(request, crossing)
    model = crossing.model or request.model
    if not model and crossing.source != wire.NAME:
        crossing.lose("model.invented")
        model = "unspecified"
    out: dict[str, Any] = {"model": model, "messages": messages} if model else {"messages": messages}
    if request.tools:
        tools = MEMO.write(request.tools, crossing)
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
    _write_settings(request.settings, out, crossing)
    if out.get("stream") and request.settings.stream_usage is None and crossing.source != wire.NAME:
        # Every other dialect reports usage at the end of a stream unasked.
        out["stream_options"] = {"include_usage": True}
    return jsontext.encode(restore(out, request.extra, wire.NAME))


def _write_turns(request: Request, crossing: Crossing) -> list[Any]:
    messages: list[Any] = []
    if crossing.source == wire.NAME:
        for turn in request.turns:
            if turn.role == "tool":
                write_results_messages(turn, None, messages, crossing)
            else:
                _write_turn(turn, messages, crossing)
        return messages
    calls: list[ToolCall] = []  # those of the last step that have no result yet
    for turn in arrange(request.turns, crossing):
        if turn.role == "tool":
            write_results_messages(turn, calls, messages, crossing)
            calls = []
            continue
        if calls:
            _answer_for(calls, messages, crossing)
        _write_turn(turn, messages, crossing)
        calls = [part for part in turn.parts if type(part) is ToolCall] if turn.role == "assistant" else []
    if calls:
        _answer_for(calls, messages, crossing)
    return messages


def _write_turn(turn: Turn, messages: list[Any], crossing: Crossing) -> None:
    role: str = turn.role
    message: dict[str, Any] | None
    if role == "assistant":
        message = write_assistant(turn.parts, crossing, request=True)
    else:
        parts = turn.parts
        if role != "user" and crossing.source != wire.NAME:
            role = "developer" if crossing.profile.reasoning else "system"
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


def _words_only(parts: tuple[Part, ...], crossing: Crossing) -> tuple[Part, ...]:
    """A system message holds text only."""
    kept = []
    for part in parts:
        if isinstance(part, Media):
            crossing.lose("system.media.dropped", part.at, part.mime or part.kind)
        else:
            kept.append(part)
    return tuple(kept)


def write_results_messages(turn: Turn, calls: list[ToolCall] | None, messages: list[Any], crossing: Crossing) -> None:
    """One message a result, one result a call (where `calls` are known: the host refuses anything else). Media, which a
    tool message cannot hold, and results without a call go into one user message after the last of them."""
    moved: list[Part] = []
    open_ids = None if calls is None else [call.id for call in calls]
    answered: set[str] = set()
    for result in turn.parts:
        if not isinstance(result, ToolResult):
            crossing.lose("part.dropped", result.at)
            continue
        if open_ids is not None:
            if result.call_id in open_ids:
                open_ids.remove(result.call_id)
                answered.add(result.call_id)
            elif result.call_id in answered:
                crossing.lose("result.duplicate", result.at)
                continue
            else:
                crossing.lose("result.orphaned", result.at)
                moved.append(Text(_orphan_head(result)))
                moved.extend(result.parts)
                continue
        messages.append(_write_result(result, moved, crossing))
    if open_ids and calls:
        _answer_for([call for call in calls if call.id in open_ids], messages, crossing)
    if moved:
        messages.append({"role": "user", "content": write_content(tuple(moved), crossing)})


def _write_result(result: ToolResult, moved: list[Part], crossing: Crossing) -> dict[str, Any]:
    content: Any = plain_text(result.parts)
    call_id = send_id(result.call_id, IDS, crossing, result.at)
    if content is None:
        content = _result_content(result, call_id, moved, crossing)
    if result.is_error:
        crossing.lose("result.error.as_text", result.at)
        content = _as_error(content)
    if result.structured:
        crossing.lose("result.structured.as_text", result.at)
    if result.cache is not None:
        content = _with_mark(content, breakpoint_mark(result.cache, result.at, crossing))
    message = {"role": "tool", "tool_call_id": call_id, "content": content}
    return message if result.extra is None else restore(message, result.extra, wire.NAME)


def _answer_for(calls: list[ToolCall], messages: list[Any], crossing: Crossing) -> None:
    """Results for calls that have none, which the host would refuse."""
    for call in calls:
        crossing.lose("result.invented", call.at, call.id)
        call_id = send_id(call.id, IDS, crossing, call.at)
        messages.append({"role": "tool", "tool_call_id": call_id, "content": NO_RESULT})


def _orphan_head(result: ToolResult) -> str:
    of = f" of {result.name}" if result.name else ""
    call = f", call {result.call_id}" if result.call_id else ""
    return f"[result{of}{call}{', failed' if result.is_error else ''}]"


def _with_mark(content: Any, mark: dict[str, str]) -> Any:
    """Content with a cache mark on its last part."""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    last = {**parts[-1], "prompt_cache_breakpoint": mark}
    return [*parts[:-1], last]


def _result_content(result: ToolResult, call_id: str, moved: list[Part], crossing: Crossing) -> Any:
    texts: list[Part] = []
    for part in result.parts:
        # What this dialect's client wrote itself stays: some hosts do take it.
        if isinstance(part, Media) and not (crossing.source == wire.NAME and part.at):
            texts.append(_move(part, call_id, moved, crossing))
        else:
            texts.append(part)
    return write_content(tuple(texts), crossing)


def _move(media: Media, call_id: str, moved: list[Part], crossing: Crossing) -> Text:
    what = media.mime or media.kind
    if crossing.binary == "summarise":
        crossing.lose("media.summarised", media.at)
        return Text(f"Binary content of type {what} was processed.")
    crossing.lose("result.media.moved", media.at)
    moved.append(Text(f"[returned by tool call {call_id}]"))
    moved.append(media)
    return Text(f"[tool call {call_id} returned {what}, attached below]")


def _as_error(content: Any) -> Any:
    if isinstance(content, str):
        return content if content.startswith("Error") else f"Error: {content}"
    return [{"type": "text", "text": "Error:"}, *content]


def _write_settings(settings: Settings, out: dict[str, Any], crossing: Crossing) -> None:
    at = settings.at
    if settings.max_tokens is not None:
        out["max_completion_tokens"] = settings.max_tokens
    _write_sampling(settings, out, crossing)
    if settings.parallel is not None and "tools" in out:
        out["parallel_tool_calls"] = settings.parallel
    _write_effort(settings, out, crossing)
    if settings.thoughts is not None:
        crossing.lose("thoughts.dropped", at.get("thoughts", ()))
    if settings.format is not None:
        out["response_format"] = _write_format(settings.format, at.get("format", ()), crossing)
    if settings.stream_usage is not None:
        out["stream_options"] = {"include_usage": settings.stream_usage}
    if settings.cache is not None:
        crossing.lose("cache.dropped", at.get("cache", ()))
    for value, name in (
        (settings.verbosity, "verbosity"),
        (settings.metadata, "metadata"),
        (settings.cache_key, "prompt_cache_key"),
    ):
        if value is not None:
            out[name] = value
    if settings.user is not None:
        if len(settings.user) <= _MAX_USER or crossing.source == wire.NAME:
            out["user" if at.get("user") == ("user",) else "safety_identifier"] = settings.user
        else:
            crossing.lose("user.dropped", at.get("user", ()), f"longer than {_MAX_USER} characters")
    if settings.tier is not None:
        if settings.tier in _TIERS or crossing.source == wire.NAME:
            out["service_tier"] = settings.tier
        else:
            crossing.lose("tier.dropped", at.get("tier", ()), settings.tier)


def _write_effort(settings: Settings, out: dict[str, Any], crossing: Crossing) -> None:
    effort = wanted(settings, crossing)
    gate = crossing.profile.chat_tools if "tools" in out and crossing.source != wire.NAME else "ok"
    if gate == "effort_none" and effort != "none":
        # gpt-5.4 and later: function tools on this endpoint only without reasoning; leaving the field out counts as on.
        detail = "with tools this model takes effort none only here; openai-responses takes both"
        crossing.lose("effort.approximated", settings.at.get("effort", ()), detail, "warning")
        effort = "none"
    elif gate == "refused":
        crossing.lose("tool.refused", (), "send this model's tools through openai-responses")
    if effort is not None:
        out["reasoning_effort"] = effort


def _write_sampling(settings: Settings, out: dict[str, Any], crossing: Crossing) -> None:
    at = settings.at
    refused = crossing.profile.reasoning and crossing.source != wire.NAME
    for value, name, known in (
        (settings.temperature, "temperature", not refused),
        (settings.top_p, "top_p", not refused),
        (settings.top_k, "top_k", crossing.source == wire.NAME),
        (settings.presence_penalty, "presence_penalty", not refused),
        (settings.frequency_penalty, "frequency_penalty", not refused),
        (settings.seed, "seed", True),
        (settings.n, "n", True),
        (settings.logprobs, "logprobs", not refused),
        (settings.top_logprobs, "top_logprobs", not refused),
    ):
        if value is None:
            continue
        if known:
            out[name] = value
        else:
            code = "logprobs.dropped" if name.endswith("logprobs") else "sampling.dropped"
            crossing.lose(code, at.get(name, ()), name)
    if settings.stop:
        out["stop"] = list(settings.stop[:4])
        if len(settings.stop) > 4:
            crossing.lose("stop.truncated", at.get("stop", ()), f"{len(settings.stop)} sequences, 4 are sent")


def _write_format(shape: Format, at: Path, crossing: Crossing) -> dict[str, Any]:
    if shape.kind == "json":
        return {"type": "json_object"}
    schema: dict[str, Any] = {"name": shape.name or "answer"}
    if shape.description:
        schema["description"] = shape.description
    if shape.schema is not None:
        schema["schema"] = fit_schema(shape.schema, shape.strict, at, crossing)
    if shape.strict is not None:
        schema["strict"] = shape.strict
    return {"type": "json_schema", "json_schema": schema}
