"""Responses requests: read into canon, written from canon."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import Media, Part, Path, Text, ToolCall, ToolResult
from ...canon.request import Format, Request, Settings
from ...canon.tools import HostedTool, Tool
from ...canon.turns import Role, Turn
from ...codec import jsontext
from ...codec.admit import Unknown
from ...codec.effort import wanted
from ...codec.extras import carried, gather, restore
from ...codec.fit import fit
from ...codec.ids import send as send_id
from ...codec.media import note
from ...codec.steps import arrange
from ...crossing import Crossing
from . import wire
from .items import IDS, message_extra, read_item, read_opaque, stray_fields, write_items
from .message import own_fields, read_content, with_fields, write_input
from .tools import STRICT, read_choice, tools_from, tools_to, write_choice

LOGPROBS = "message.output_text.logprobs"
ENCRYPTED = "reasoning.encrypted_content"

_ROLES: dict[str | None, Role] = {"system": "system", "developer": "developer", "user": "user"}
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_STRAY_IN_OUTPUT = ("role", "content", "phase", "arguments", "input", "summary", "encrypted_content", "action")
_ADDS_TOOLS = frozenset({"additional_tools", "tool_search_output"})
_TIERS = frozenset({"auto", "default", "fast", "flex", "priority", "scale", "ultrafast"})
_INSTRUCTIONS: Path = ("instructions",)

_AT: dict[str, Path] = {name: (name,) for name in ("temperature", "top_p", "top_logprobs", "metadata", "user")} | {
    "max_tokens": ("max_output_tokens",),
    "logprobs": ("include",),
    "parallel": ("parallel_tool_calls",),
    "effort": ("reasoning", "effort"),
    "thoughts": ("reasoning", "summary"),
    "verbosity": ("text", "verbosity"),
    "format": ("text", "format"),
    "tier": ("service_tier",),
    "cache_key": ("prompt_cache_key",),
}
_AT_SAFETY = {**_AT, "user": ("safety_identifier",)}


def read_request(body: bytes, crossing: Crossing) -> Request:
    request, unknown, spelled = wire.REQUEST.admit(body)
    crossing.spelled = spelled
    tools: tuple[Tool | HostedTool, ...] = ()
    if request.tools:
        tools = tools_from(request.tools, crossing, unknown, ("tools",))
    added: list[Tool | HostedTool] = []
    turns: list[Turn] = []
    if request.instructions:
        turns.append(Turn("system", (Text(request.instructions, at=_INSTRUCTIONS),), at=_INSTRUCTIONS))
    if isinstance(request.input, str):
        turns.append(Turn("user", (Text(request.input, at=("input",)),), at=("input",)))
    elif request.input:
        _read_turns(request.input, turns, added, crossing, unknown)
    if added:
        tools = _merged(tools, added, crossing)
    return Request(
        tuple(turns),
        request.model or "",
        tools,
        read_choice(request.tool_choice, crossing) if request.tool_choice is not None else None,
        _read_settings(request),
        request.stream,
        _request_extra(request, crossing, unknown),
    )


def _read_turns(
    items: list[wire.Item], turns: list[Turn], added: list[Tool | HostedTool], crossing: Crossing, unknown: Unknown
) -> None:
    """Items to turns: a run of the assistant's items is one turn, a run of outputs is one turn, a message is one."""
    said: list[Part] = []
    results: list[Part] = []
    for i, item in enumerate(items):
        at: Path = ("input", i)
        kind = item.type
        role = _ROLES.get(item.role) if kind == "message" else None
        if role is None and kind not in _OUTPUTS:
            if results:
                turns.append(Turn("tool", tuple(results), at=results[0].at))
                results = []
            if kind in wire.Item.__kinds__ and item.role in (None, "assistant") and (item.role or kind != "message"):
                read_item(item, at, said, crossing, unknown)
            else:
                _read_other(item, at, said, added, crossing)
            continue
        if said:
            turns.append(Turn("assistant", tuple(said), at=said[0].at[:2]))
            said = []
        if role is None:
            results.append(_read_result(item, at, turns, crossing, unknown))
            continue
        if results:
            turns.append(Turn("tool", tuple(results), at=results[0].at))
            results = []
        content = item.content
        if type(content) is str:
            parts: tuple[Part, ...] = (Text(content, at=("input", i, "content")),)
        else:
            parts = tuple(read_content(content, ("input", i, "content"), crossing, unknown))
        turns.append(Turn(role, parts, item.name or "", message_extra(item, at, crossing, unknown), at))
    if said:
        turns.append(Turn("assistant", tuple(said), at=said[0].at[:2]))
    if results:
        turns.append(Turn("tool", tuple(results), at=results[0].at))


def _read_other(
    item: wire.Item, at: Path, said: list[Part], added: list[Tool | HostedTool], crossing: Crossing
) -> None:
    """Items only this dialect knows keep their place among the assistant's; other targets get what they can use."""
    part = read_opaque(item, at)
    if crossing.target != wire.NAME:
        if part.kind == "item_reference":
            crossing.lose("state.dropped", at, "an item that only its server holds")
            return
        if part.kind in _ADDS_TOOLS:
            fields = jsontext.fields(part.value)
            if "tools" in fields:
                admitted = wire.TOOLS.admit(fields["tools"])
                added.extend(tools_from(admitted.value, crossing, admitted.unknown, (*at, "tools")))
            if part.kind == "additional_tools":
                return
    said.append(part)


def _merged(
    tools: tuple[Tool | HostedTool, ...], added: list[Tool | HostedTool], crossing: Crossing
) -> tuple[Tool | HostedTool, ...]:
    """The tools with those that items added in mid-conversation, for targets that declare all of them at the start."""
    known = {(tool.namespace, tool.name) for tool in tools if isinstance(tool, Tool)}
    out = list(tools)
    for tool in added:
        if isinstance(tool, Tool):
            if (tool.namespace, tool.name) in known:
                continue
            known.add((tool.namespace, tool.name))
        crossing.lose("tool.merged", tool.at)
        out.append(tool)
    return tuple(out)


def _read_result(item: wire.Item, at: Path, turns: list[Turn], crossing: Crossing, unknown: Unknown) -> ToolResult:
    output = item.output
    if type(output) is str:
        parts: tuple[Part, ...] = (Text(output, at=(*at, "output")),)
    else:
        parts = tuple(read_content(output, (*at, "output"), crossing, unknown))
    extra = None
    more: dict[str, Raw] | None = None
    if item.caller or item.async_ or item.role or item.content or item.phase or item.arguments or item.input:
        more = stray_fields(item, (*_STRAY_IN_OUTPUT, "caller"))
        if item.async_:
            more["async"] = item.async_
    if more or unknown:
        extra = gather(crossing, at, unknown, more)
    if crossing.target == wire.NAME:
        handles = {name: value for name, value in (("id", item.id), ("status", item.status)) if value}
        if item.namespace:
            handles["namespace"] = jsontext.raw(item.namespace)
        extra = with_fields(extra, handles)
    call_id = item.call_id
    if call_id is None:
        call_id = _called(item, turns)
    custom = item.type == "custom_tool_call_output"
    return ToolResult(call_id, parts, item.name or "", False, False, custom, extra=extra, at=at)


def _called(item: wire.Item, turns: list[Turn]) -> str:
    """The id of the call that an output answers by the tool's name: the first of that name without an output."""
    for turn in reversed(turns):
        if turn.role == "assistant":
            for part in turn.parts:
                if isinstance(part, ToolCall) and part.name == item.name:
                    return part.id
    return ""


def _read_settings(request: wire.ResponsesRequest) -> Settings:
    reasoning, text = request.reasoning, request.text
    shape = text.format if text is not None else None
    user = request.safety_identifier
    include = request.include
    return Settings(
        request.max_output_tokens,
        request.temperature,
        request.top_p,
        logprobs=True if include and LOGPROBS in include else None,
        top_logprobs=request.top_logprobs,
        parallel=request.parallel_tool_calls,
        effort=reasoning.effort if reasoning is not None else None,
        thoughts=True if reasoning is not None and reasoning.summary is not None else None,
        verbosity=text.verbosity if text is not None else None,
        format=_read_format(shape) if shape is not None else None,
        user=request.user if user is None else user,
        metadata=request.metadata,
        tier=request.service_tier,
        cache_key=request.prompt_cache_key,
        at=_AT if user is None else _AT_SAFETY,
    )


def _read_format(shape: wire.TextFormat) -> Format | None:
    if shape.type == "json_object":
        return Format("json")
    if shape.type != "json_schema":
        return None
    text = jsontext.text(shape.schema) if shape.schema else None
    return Format("schema", text, shape.name or "", shape.description or "", shape.strict)


def _request_extra(request: wire.ResponsesRequest, crossing: Crossing, unknown: Unknown) -> Any:
    more = carried(request, wire.REQUEST_EXTRAS) or {}
    silent: dict[str, Raw] = {}
    own = crossing.target == wire.NAME
    for name in wire.REQUEST_STATE:
        value = getattr(request, name)
        if not value or value == b"null":
            continue
        if own:
            silent[name] = value
        else:
            crossing.lose("state.dropped", (name,))
    if request.include is not None:
        rest = [name for name in request.include if name != LOGPROBS]
        if rest:
            more["include"] = jsontext.raw(rest)
    if request.safety_identifier is not None and request.user is not None:
        more["user"] = jsontext.raw(request.user)
    if request.reasoning is not None:
        for name in ("generate_summary", "context", "mode"):
            value = getattr(request.reasoning, name)
            if value:
                more[f"reasoning/{name}"] = value
        if own and request.reasoning.summary is not None:
            silent["reasoning/summary"] = jsontext.raw(request.reasoning.summary)
    shape = request.text.format if request.text is not None else None
    if shape is not None and shape.type not in ("json_object", "json_schema"):
        (silent if shape.type == "text" else more)["text/format"] = jsontext.raw(shape)
    if own and request.instructions == "":
        silent["instructions"] = Raw(b'""')
    extra = gather(crossing, (), unknown, more or None)
    return with_fields(extra, silent) if own else extra


def write_request(request: Request, crossing: Crossing) -> bytes:
    own = crossing.source == wire.NAME
    model = crossing.model or request.model
    if not model:
        crossing.lose("model.invented")
    out: dict[str, Any] = {"model": model or "unspecified"}
    turns = request.turns if own else arrange(request.turns, crossing)
    first = _instructions(turns, own)
    if first is not None:
        out["instructions"] = first
        turns = turns[1:]
    if own and len(turns) == 1 and turns[0].at == ("input",):
        out["input"] = write_input(turns[0].parts, crossing)
    elif turns or not own:
        out["input"] = write_turns(turns, crossing)
    if request.tools:
        tools = tools_to(request.tools, crossing)
        if tools:
            out["tools"] = tools
    choice = write_choice(request, crossing)
    if choice is not None and ("tools" in out or choice == "none" or own):
        out["tool_choice"] = choice
    elif choice is not None and choice != "auto":
        crossing.lose("choice.dropped", request.choice.at if request.choice else ())
    if request.stream is not None:
        out["stream"] = request.stream
    _write_settings(request, out, crossing)
    if not own:
        # A client of another dialect expects no state on the server, and reasoning that it can bring back itself.
        out["store"] = False
        if crossing.profile.reasoning:
            out["include"] = [ENCRYPTED, *out.get("include", ())]
    return jsontext.encode(_restored(out, request) if request.extra is not None else out)


def _restored(out: dict[str, Any], request: Request) -> dict[str, Any]:
    fields = own_fields(request.extra)
    for name in fields:
        if name.startswith(("text/", "reasoning/")):
            out.setdefault(name.partition("/")[0], {})
    if "include" in fields and "include" in out:
        out["include"] = [*jsontext.plain(fields["include"]), *out["include"]]
    return restore(out, request.extra, wire.NAME)


def _instructions(turns: tuple[Turn, ...], own: bool) -> str | None:
    """The text of the first turn, if it is a system turn of one plain text."""
    if not turns:
        return None
    turn = turns[0]
    if turn.role not in ("system", "developer") or len(turn.parts) != 1 or turn.name or turn.extra is not None:
        return None
    only = turn.parts[0]
    if type(only) is not Text or only.cache is not None or only.extra is not None or not only.text:
        return None
    return only.text if not own or turn.at == _INSTRUCTIONS else None


def write_turns(turns: tuple[Turn, ...], crossing: Crossing) -> list[Any]:
    items: list[Any] = []
    customs: set[str] = set()
    answered: set[str] = set()
    for turn in turns:
        role = turn.role
        if role == "assistant":
            if not write_items(turn.parts, items, crossing, customs) and turn.parts:
                crossing.lose("turn.dropped", turn.at)
        elif role == "tool":
            write_results_items(turn, items, crossing, customs, answered)
        else:
            content = write_input(turn.parts, crossing)
            if not content and turn.parts and content != "":
                crossing.lose("turn.dropped", turn.at)
                continue
            message = {"type": "message", "role": role, "content": content}
            if turn.name:
                if crossing.source == wire.NAME:
                    message["name"] = turn.name
                else:
                    crossing.lose("name.dropped", turn.at)
            items.append(message if turn.extra is None else restore(message, turn.extra, wire.NAME))
    return items


def write_results_items(
    turn: Turn, items: list[Any], crossing: Crossing, customs: set[str], answered: set[str]
) -> None:
    """One item an output; media stay in it."""
    own = crossing.source == wire.NAME
    for result in turn.parts:
        if not isinstance(result, ToolResult):
            crossing.lose("part.dropped", result.at)
            continue
        if result.call_id in answered and not own:
            crossing.lose("result.duplicate", result.at)
            continue
        answered.add(result.call_id)
        parts = result.parts
        if crossing.binary == "summarise":
            parts = tuple([_summarised(part, crossing) for part in parts])
        output = write_input(parts, crossing) or ""
        if result.is_error:
            crossing.lose("result.error.as_text", result.at)
            output = _as_error(output)
        if result.structured:
            crossing.lose("result.structured.as_text", result.at)
        custom = result.call_id in customs or (result.custom and own)
        item: dict[str, Any] = {
            "type": "custom_tool_call_output" if custom else "function_call_output",
            "call_id": result.call_id if own else send_id(result.call_id, IDS, crossing, result.at),
            "output": output,
        }
        if own and result.name:
            item["name"] = result.name
        if result.cache is not None:
            crossing.lose("cache.dropped", result.at)
        items.append(item if result.extra is None else restore(item, result.extra, wire.NAME))


def _summarised(part: Part, crossing: Crossing) -> Part:
    if not isinstance(part, Media):
        return part
    crossing.lose("media.summarised", part.at)
    return Text(note(part), at=part.at)


def _as_error(output: Any) -> Any:
    if isinstance(output, str):
        return output if output.startswith("Error") else f"Error: {output}"
    return [{"type": "input_text", "text": "Error:"}, *output]


def _write_settings(request: Request, out: dict[str, Any], crossing: Crossing) -> None:
    settings = request.settings
    at = settings.at
    if settings.max_tokens is not None:
        out["max_output_tokens"] = settings.max_tokens
    effort = wanted(settings, crossing)
    _write_reasoning(settings, effort, out, crossing)
    _write_sampling(settings, effort, out, crossing)
    if settings.parallel is not None and ("tools" in out or crossing.source == wire.NAME):
        out["parallel_tool_calls"] = settings.parallel
    text: dict[str, Any] = {}
    if settings.format is not None:
        text["format"] = _write_format(settings.format, at.get("format", ()), crossing)
    if settings.verbosity is not None:
        text["verbosity"] = settings.verbosity
    if text:
        out["text"] = text
    if settings.cache is not None:
        crossing.lose("cache.dropped", at.get("cache", ()))
    if settings.tier is not None:
        if settings.tier in _TIERS or crossing.source == wire.NAME:
            out["service_tier"] = settings.tier
        else:
            crossing.lose("tier.dropped", at.get("tier", ()), settings.tier)
    for value, name in (
        (settings.user, "safety_identifier" if at.get("user") != ("user",) else "user"),
        (settings.metadata, "metadata"),
        (settings.cache_key, "prompt_cache_key"),
    ):
        if value is not None:
            out[name] = value


def _write_reasoning(settings: Settings, effort: str | None, out: dict[str, Any], crossing: Crossing) -> None:
    reasoning: dict[str, Any] = {}
    own = crossing.source == wire.NAME
    if effort is not None:
        if crossing.profile.thinks or own:
            reasoning["effort"] = effort
        elif effort != "none":
            crossing.lose("effort.dropped", settings.at.get("effort", settings.at.get("budget", ())))
    if settings.thoughts and not own:
        if crossing.profile.reasoning or reasoning:
            reasoning["summary"] = "auto"
        else:
            crossing.lose("thoughts.dropped", settings.at.get("thoughts", ()))
    if reasoning:
        out["reasoning"] = reasoning


def _write_sampling(settings: Settings, effort: str | None, out: dict[str, Any], crossing: Crossing) -> None:
    at = settings.at
    profile = crossing.profile
    own = crossing.source == wire.NAME
    refused = not own and ((profile.reasoning and effort != "none") or not profile.sampling)
    for value, name, known in (
        (settings.temperature, "temperature", not refused),
        (settings.top_p, "top_p", not refused),
        (settings.top_k, "top_k", False),
        (settings.presence_penalty, "presence_penalty", False),
        (settings.frequency_penalty, "frequency_penalty", False),
        (settings.seed, "seed", False),
    ):
        if value is None:
            continue
        if known:
            out[name] = value
        else:
            crossing.lose("sampling.dropped", at.get(name, ()), name)
    if settings.stop:
        crossing.lose("stop.dropped", at.get("stop", ()))
    if settings.n is not None and settings.n > 1:
        crossing.lose("n.dropped", at.get("n", ()))
    if settings.logprobs or settings.top_logprobs is not None:
        _write_logprobs(settings, refused, out, crossing)


def _write_logprobs(settings: Settings, refused: bool, out: dict[str, Any], crossing: Crossing) -> None:
    if refused:
        name = "logprobs" if settings.logprobs else "top_logprobs"
        crossing.lose("logprobs.dropped", settings.at.get(name, ()))
        return
    if settings.logprobs:
        out["include"] = [LOGPROBS]
    if settings.top_logprobs is not None:
        out["top_logprobs"] = settings.top_logprobs


def _write_format(shape: Format, at: Path, crossing: Crossing) -> dict[str, Any]:
    if shape.kind == "json":
        return {"type": "json_object"}
    out: dict[str, Any] = {"type": "json_schema", "name": shape.name or "answer"}
    if shape.description:
        out["description"] = shape.description
    if shape.schema is None:
        out["schema"] = {}
    elif shape.strict and crossing.source not in (wire.NAME, "openai-chat"):
        out["schema"] = fit(shape.schema, STRICT, crossing, at)
    else:
        out["schema"] = Raw(shape.schema)
    if shape.strict is not None:
        out["strict"] = shape.strict
    return out
