"""Adapts requests to a host that differs from OpenAI, by the facts of its rows (`hosts.json`), never by its name.

There are two passes. `adapt_to_host` changes the canon before writing (ids, thoughts, tools, names, marks), while every
part still holds its path in the source. `adapt_written_fields` changes the written request (fields, roles).
`Context.adapted_to_host` records whether they changed anything: a document of this dialect that already fits the host
passes byte for byte.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from ...canon.parts import Extra, Part, Path, Reasoning, Text, ToolCall, ToolResult
from ...canon.request import Format, Request, Settings
from ...canon.tools import Choice, HostedTool, Tool
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.cache_memory_budget import lookup_cache
from ...codec.call_ids import hashed_id
from ...codec.custom_tools import wrap_input, wrap_tool
from ...codec.fields_for_host import without_refused_fields
from ...codec.packed_seals import Origin, same_origin
from ...codec.reasoning_effort import enables_thinking, wanted_effort
from ...context import Context
from ...facts.host import Host
from . import wire
from .cache_marks import takes_anthropics
from .message_content import field_mark, marked_field
from .reasoning_details import FIELD, is_entry
from .tools import CACHE_CONTROL, NAMES, with_own

_MARK = "prompt_cache_breakpoint"
_EXTRA_CONTENT = "tool_calls[].extra_content"
"""The field of a call that holds Google's seals. Only hosts whose row accepts it get the field."""


def adapt_to_host(request: Request, host: Host, context: Context) -> Request:
    """The request in canon as this host accepts it."""
    adapter = _HostAdapter(request, host, context)
    tools, choice = adapter.adapt_tools(request.tools, request.choice)
    settings = adapter.adapt_settings(request.settings)
    turns = (*adapter.added_turns, *[adapter.adapt_turn(turn) for turn in request.turns])
    return msgspec.structs.replace(request, turns=turns, tools=tools, choice=choice, settings=settings)


@lookup_cache(64)
def _ids(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{pattern})\Z")


class _HostAdapter:
    def __init__(self, request: Request, host: Host, context: Context) -> None:
        self._host = host
        self._context = context
        self._own = context.source == wire.NAME
        self._origin = Origin(wire.NAME, context.model or request.model, host.name)
        self._ids = _ids(host.id_pattern) if host.id_pattern else None
        self._quiet = not context.profile.thinks or _is_switched(request, host, "off")
        self._loud = not self._quiet and (context.profile.thinking_default or _is_switched(request, host, "on"))
        self._demanded = host.demanded and not self._quiet and _calls(request.turns)
        self.added_turns: list[Turn] = []
        """System turns that replace refused settings."""

    def _refused(self, field: str) -> bool:
        return self._host.fields.get(field) is False

    def _lose(self, code: str, at: Path, detail: str = "") -> None:
        self._context.adapted_to_host = True
        self._context.lose(code, at, detail or f"{self._host.name} does not take it")

    def adapt_tools(
        self, tools: tuple[Tool | HostedTool, ...], choice: Choice | None
    ) -> tuple[tuple[Tool | HostedTool, ...], Choice | None]:
        """The tools and the choice as this host accepts them."""
        if choice is not None and choice.extra is None:
            if self._refused("tool_choice") and choice.mode != "auto":
                tools, choice = self._choose_by_offered_tools(tools, choice)
            elif self._refused("tool_choice.allowed_tools") and choice.names and choice.mode != "one":
                tools, choice = self._keep_chosen_tools(tools, choice), Choice(choice.mode, at=choice.at)
        if choice is not None and choice.mode in ("one", "required") and tools:
            choice = self._weaken_choice(choice)
        custom, strict = self._refused("tools[].custom"), self._refused("tools[].strict")
        if not (custom or strict) or not any(isinstance(tool, Tool) and (tool.custom or tool.strict) for tool in tools):
            return tools, choice
        out: list[Tool | HostedTool] = []
        for tool in tools:
            if isinstance(tool, Tool):
                if custom and tool.custom:
                    self._context.adapted_to_host = True
                    sent = NAMES.send(tool.name, tool.namespace, self._context, tool.at)
                    tool = wrap_tool(tool, sent, self._context)
                if strict and tool.strict:
                    self._lose("tool.strict.dropped", tool.at)
                    tool = msgspec.structs.replace(tool, strict=None)
            out.append(tool)
        return tuple(out), choice

    def _choose_by_offered_tools(
        self, tools: tuple[Tool | HostedTool, ...], choice: Choice
    ) -> tuple[tuple[Tool | HostedTool, ...], Choice | None]:
        """For a host without tool_choice: express the choice by the offered tools."""
        if choice.mode == "none":
            self._lose("choice.none.by_omission", choice.at)
            return (), None
        if choice.names:
            tools = self._keep_chosen_tools(tools, choice)
        if choice.mode != "auto":
            self._lose("choice.dropped", choice.at)
        return tools, None

    def _keep_chosen_tools(self, tools: tuple[Tool | HostedTool, ...], choice: Choice) -> tuple[Tool | HostedTool, ...]:
        chosen: list[Tool | HostedTool] = []
        for tool in tools:
            if isinstance(tool, HostedTool) or tool.name in choice.names:
                chosen.append(tool)
            else:
                self._lose("choice.by_filter", tool.at, f"{tool.name} is not offered")
        self._lose("choice.by_filter", choice.at)
        return tuple(chosen)

    def _weaken_choice(self, choice: Choice) -> Choice:
        """The choice, without its force if the host refuses a forced choice, always or while the model thinks."""
        force = self._host.forced_choice
        if force == "ok" or (force == "without_thinking" and not self._loud):
            return choice
        self._lose("choice.weakened", choice.at)
        name = NAMES.send(choice.names[0], "", self._context, choice.at) if choice.mode == "one" else ""
        # DeepSeek refuses a forced choice in thinking mode with 400 (reported by users, 2026-11), z.ai any choice but
        # auto.
        order = f"You must call the tool `{name}`" if name else "You must call at least one of the tools"
        self._add_instruction(f"{order} in your next answer.", choice.at)
        return Choice("auto", () if name else choice.names, at=choice.at)

    def _add_instruction(self, text: str, at: Path) -> None:
        self.added_turns.append(Turn("system", (Text(text),), at=at))

    def adapt_settings(self, settings: Settings) -> Settings:
        """The settings as this host accepts them."""
        shape = settings.format
        if shape is None or shape.kind != "schema":
            return settings
        at = settings.at.get("format", ())
        if self._refused("response_format.json_schema"):
            self._lose("format.as_text", at)
            self._add_instruction(
                f"Answer with one valid JSON object that fits this JSON Schema:\n{shape.schema or '{}'}", at
            )
            return msgspec.structs.replace(settings, format=Format("json"))
        strict = shape.enforced or (shape.strict and not self._own)
        if strict and self._refused("response_format.json_schema.strict"):
            self._lose("format.strict.dropped", at)
            loose = msgspec.structs.replace(shape, strict=None, enforced=False)
            return msgspec.structs.replace(settings, format=loose)
        return settings

    def adapt_turn(self, turn: Turn) -> Turn:
        """The turn as this host accepts it."""
        # Moonshot refuses an empty text beside calls with 400 "text content is empty" (reported by a user, 2026-11).
        if not self._host.empty_content and turn.role == "assistant":
            if all(type(part) is not Text for part in turn.parts):
                self._context.adapted_to_host = True  # no text part means no content
        if self._ids is None and not turn.name and turn.extra is None:
            # Nearly all turns hold nothing that a host could refuse.
            if turn.role != "assistant" or not self._demanded:
                if _has_nothing_to_adjust(turn.parts):
                    return turn
        change: dict[str, Any] = {}
        if turn.name and self._refused("messages[].name"):
            self._lose("name.dropped", turn.at + ("name",))
            change["name"] = ""
        parts: list[Part] = []
        for part in turn.parts:
            fitted = self._part(part)
            if fitted is not None:
                parts.append(fitted)
        if len(parts) != len(turn.parts) or any(new is not old for new, old in zip(parts, turn.parts, strict=True)):
            change["parts"] = tuple(parts)
        extra = self._turn_extra(turn)
        # Moonshot and DeepSeek refuse an assistant message of a tool loop without reasoning_content with 400 (reported
        # by users, 2026-11). An empty one passes at DeepSeek (recorded); where an empty one counts as missing, `blank`
        # has a space.
        if self._demanded and turn.role == "assistant" and parts:
            field = self._host.reasoning
            has_thought = any(type(part) is Reasoning and marked_field(part) == field for part in parts)
            empty = (extra or {}).get(wire.NAME, {}).get(field)
            if not has_thought and (empty is None or (self._host.blank and bytes(empty) == b'""')):
                self._lose("reasoning.invented", turn.at, f"{self._host.name} wants {field} in a tool loop")
                extra = with_own(extra, field, json_text.raw(self._host.blank))
        if extra is not turn.extra:
            change["extra"] = extra
        return msgspec.structs.replace(turn, **change) if change else turn

    def _turn_extra(self, turn: Turn) -> Extra | None:
        found = (turn.extra or {}).get(wire.NAME)
        refused = [name for name in found or () if self._refused(f"messages[].{name}")]
        if not found or not refused:
            return turn.extra
        for name in refused:
            self._lose("field.dropped", (*turn.at, name))
        return {wire.NAME: {name: value for name, value in found.items() if name not in refused}}

    def _part(self, part: Part) -> Part | None:
        if part.cache is not None:
            part = self._unmarked(part)
        if isinstance(part, Reasoning):
            return self._thought(part)
        if isinstance(part, ToolCall):
            return self._call(part)
        if isinstance(part, ToolResult):
            return self._result(part)
        if isinstance(part, Text):
            if part.refusal and self._refused("messages[].refusal"):
                self._lose("refusal.as_text", part.at)
                part = msgspec.structs.replace(part, refusal=False)
            if part.citations and self._own and self._refused("messages[].annotations"):
                self._lose("citation.dropped", part.at)
                part = msgspec.structs.replace(part, citations=())
        return part

    def _unmarked(self, part: Part) -> Part:
        """The part without a cache mark that the host refuses."""
        fields = (part.extra or {}).get(wire.NAME, {})
        anthropics = CACHE_CONTROL in fields or takes_anthropics(self._context)
        if not self._refused(f"content[].{CACHE_CONTROL if anthropics else _MARK}"):
            return part
        self._lose("cache.dropped", part.at)
        left = {name: value for name, value in fields.items() if name != CACHE_CONTROL}
        return msgspec.structs.replace(part, cache=None, extra={wire.NAME: left} if left else None)

    def _thought(self, thought: Reasoning) -> Reasoning | None:
        """A thought in the host's own field: a thought of this host, or one without a seal or mark, whose author is
        unknown. Thoughts of other upstreams are dropped.
        """
        host, seal, field = self._host, thought.seal, marked_field(thought)
        mine = seal is None or same_origin(seal, self._origin)
        if seal is not None and is_entry(seal) and mine and not self._refused(f"messages[].{FIELD}"):
            return thought
        if not host.echo or not mine:
            self._lose("reasoning.dropped", thought.at, "" if mine else "it is another upstream's")
            if seal is not None and seal.data:
                self._context.lose("seal.dropped", thought.at)
            return None
        # The client's field name stays, unless the row of this host demands another name.
        if field and (field == host.reasoning or (not host.demanded and "thinking" not in (field, host.reasoning))):
            return thought
        self._context.adapted_to_host = True
        extra = field_mark(host.reasoning)
        if host.reasoning == "thinking":
            extra = with_own(extra, "thinking", json_text.raw([{"type": "text", "text": thought.text}]))
        return Reasoning(thought.text, extra=extra, at=thought.at)

    def _call(self, call: ToolCall) -> ToolCall:
        change: dict[str, Any] = {}
        call_id = self._id(call.id, call.at)
        if call_id != call.id:
            change["id"] = call_id
        if call.custom and self._refused("tools[].custom"):
            self._lose("call.custom.wrapped", call.at)
            change |= {"custom": False, "arguments": wrap_input(call.arguments)}
        if call.seal is not None and self._host.fields.get(_EXTRA_CONTENT) is not True:
            self._lose("seal.dropped", call.at)
            change["seal"] = None
        return msgspec.structs.replace(call, **change) if change else call

    def _result(self, result: ToolResult) -> ToolResult:
        call_id = self._id(result.call_id, result.at)
        parts = tuple([fitted for part in result.parts if (fitted := self._part(part)) is not None])
        if call_id == result.call_id and len(parts) == len(result.parts):
            if all(new is old for new, old in zip(parts, result.parts, strict=True)):
                return result
        return msgspec.structs.replace(result, call_id=call_id, parts=parts)

    def _id(self, call_id: str, at: Path) -> str:
        if self._ids is None or self._ids.match(call_id):
            return call_id
        self._lose("call.id.rewritten", at, f"{self._host.name} wants {self._host.id_pattern}")
        # Mistral's call ids have exactly nine letters and digits (400, reported by users, 2026-11). The hash gives call
        # and result the same id without a table.
        return hashed_id(call_id, "")[: self._host.id_length]


def _has_nothing_to_adjust(parts: tuple[Part, ...]) -> bool:
    for part in parts:
        if part.seal is not None or part.cache is not None or part.extra is not None:
            return False
        kind = type(part)
        if kind is Text:
            if part.refusal or part.citations:  # type: ignore[attr-defined]
                return False
        elif kind is ToolCall:
            if part.custom:  # type: ignore[attr-defined]
                return False
        elif kind is not ToolResult or not _has_nothing_to_adjust(part.parts):  # type: ignore[attr-defined]
            return False
    return True


def _calls(turns: tuple[Turn, ...]) -> bool:
    return any(type(part) is ToolCall for turn in turns if turn.role == "assistant" for part in turn.parts)


def _is_switched(request: Request, host: Host, way: Literal["off", "on"]) -> bool:
    """Whether the request turns thinking off, or on."""
    settings = request.settings
    if settings.effort is not None or settings.budget is not None:
        return (settings.effort == "none" or settings.budget == 0) == (way == "off")
    extra = (request.extra or {}).get(wire.NAME, {})
    return any(
        name in extra and json_text.plain(extra[name]) == value for name, value in host.switch.get(way, {}).items()
    )


def adapt_written_fields(out: dict[str, Any], request: Request, host: Host, context: Context) -> dict[str, Any]:
    """The written request with the host's names for fields and roles, without the fields that it refuses."""
    _switch(out, host, request, context)
    out = without_refused_fields(out, request.settings, host, context, wire.NOISE, own=context.source == wire.NAME)
    for message in out["messages"]:
        if isinstance(message, dict):
            _suit_message(message, host, context)
    last = out["messages"][-1] if out["messages"] else None
    # Mistral refuses a last assistant message without `prefix` with 400 (reported by users, 2026-11).
    if host.prefix and isinstance(last, dict) and last.get("role") == "assistant" and host.prefix not in last:
        last[host.prefix] = True
        context.adapted_to_host = True
    return out


def _switch(out: dict[str, Any], host: Host, request: Request, context: Context) -> None:
    """Turn thinking on or off with the host's own field."""
    effort = out.get("reasoning_effort")
    if effort is None:
        if enables_thinking(request.settings) and context.profile.thinks:
            for name, value in host.switch.get("on", {}).items():
                out.setdefault(name, value)
                context.adapted_to_host = True
        return
    if effort == "none" and "off" in host.switch:
        fields = host.switch["off"]
    elif effort != "none" and "on" in host.switch and host.fields.get("reasoning_effort") is False:
        fields = host.switch["on"]
        requested = wanted_effort(request.settings)
        context.lose("effort.approximated", requested.at if requested is not None else (), f"{effort} is sent as on")
    else:
        return
    del out["reasoning_effort"]
    context.adapted_to_host = True
    for name, value in fields.items():
        out.setdefault(name, value)


def _suit_message(message: dict[str, Any], host: Host, context: Context) -> None:
    role = host.roles.get(message.get("role", ""))
    if role is not None:
        message["role"] = role
        context.adapted_to_host = True
    content = message.get("content")
    # OpenAI takes null beside calls (openai 3.49.0, 2026-11); some hosts answer 400 "Expected string or list" (reported
    # by a user, 2026-11).
    if content is None and not host.null_content and message.get("role") == "assistant":
        message["content"] = ""
        context.adapted_to_host = True
    elif isinstance(content, list) and not host.text_lists:
        texts = [str(part["text"]) for part in content if isinstance(part, dict) and part.keys() == {"type", "text"}]
        if len(texts) == len(content):
            message["content"] = "\n".join(texts)
            context.adapted_to_host = True
