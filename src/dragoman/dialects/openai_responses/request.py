"""Reads and writes Responses requests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Extra, Opaque, Part, Path, Text, ToolCall, ToolResult
from ...canon.request import Request
from ...canon.tools import HostedTool, Tool
from ...canon.turns import Role, Turn
from ...codec import json_text
from ...codec.dialect_extras import (
    CACHE_OPTIONS,
    NULL,
    gather,
    restore,
    sent_fields,
    take_shared_fields,
    with_shared,
    without_cache_options,
)
from ...codec.fields_for_host import without_refused_fields
from ...codec.format_and_system_fallbacks import with_taken_format
from ...codec.request_read_and_write_steps import PlainDocument, leading, read, write
from ...codec.results_after_calls import results_after_calls
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from . import wire
from .assistant_items import item_extra, message_extra, read_call, read_item, stray_fields, write_items
from .client_tool_search import NAME as SEARCH
from .client_tool_search import read_search
from .client_tools import KINDS as CLIENT_ITEMS
from .client_tools import ClientItems
from .context_management import read_context_management, write_context_management
from .history_writer import Calls, add_json_word, instructions, some_input, write_message, write_outputs, write_own
from .hosted_tools import HOSTED
from .image_compaction_and_hosted_item_reader import read_other
from .max_tool_calls import read_limit, take_limit
from .message_content import read_content, write_input
from .previous_responses import put_earlier
from .responses_only_hosted_item_reader import read_use
from .settings import ENCRYPTED, LOGPROBS, read_settings, write_settings
from .tools import MEMO, own_fields, read_choice, tools_from, with_fields, write_choice
from .unknown_items_as_messages import as_message

_ROLES: dict[str | None, Role] = {"system": "system", "developer": "developer", "user": "user"}
_ASSISTANT_ITEMS = frozenset({"message", "reasoning", "function_call", "custom_tool_call"})
_STRAY_IN_OUTPUT = (
    "namespace",
    "caller",
    "role",
    "content",
    "phase",
    "arguments",
    "input",
    "summary",
    "encrypted_content",
    "action",
)
_ADDS_TOOLS = frozenset({"additional_tools", "tool_search_output"})
_INSTRUCTIONS: Path = ("instructions",)
_OUTPUT: Path = ("output",)
_OPENAI = frozenset({wire.NAME, "openai-chat"})
_FALSE = Raw(b"false")
_CHAT = "openai-chat"
_SHARED = {
    _CHAT: frozenset({"moderation", "prompt_cache_options", "prompt_cache_retention", "user"}),
    "openrouter": frozenset({"prompt_cache_options"}),
}
"""Fields that requests of other dialects have too, in the same form (OpenAI's and OpenRouter's schemas, 2026-11)."""
_ALL_THOUGHTS = (Raw(b'"all_turns"'), Raw(b'"auto"'))
_NONE = wire.NONE


def read_request(body: bytes, context: Context) -> Request:
    """Read a request into canon."""
    request, unknown, context.spelled = wire.admit_request(body)
    items = request.input if isinstance(request.input, list) else ()
    return read(RequestReader(context, unknown), request, items)


def _read_turns(
    items: list[wire.Item], turns: list[Turn], added: list[Tool | HostedTool], context: Context, unknown: Unknown
) -> None:
    """Read items outside of a request: their turns, and the tools that they add."""
    reader = RequestReader(context, unknown)
    for i, item in enumerate(items):
        reader.message(item, i)
    turns += reader.close()
    added += reader.added


class RequestReader:
    """Reads one request. Neighbouring items of the assistant are one turn, neighbouring outputs are one turn, and each
    message is one.
    """

    __slots__ = (
        "_apart",
        "_assistant_parts",
        "_context",
        "_own_items",
        "_results",
        "_resumed",
        "_unknown",
        "added",
        "resumable",
        "tools",
        "turns",
    )

    def __init__(self, context: Context, unknown: Unknown | None = None) -> None:
        self._context = context
        self._unknown: Unknown = {} if unknown is None else unknown
        self._apart = _by_item(unknown) if unknown else None
        self._own_items: ClientItems | None = None
        self._assistant_parts: list[Part] = []
        self._results: list[Part] = []
        self._resumed = False  # the last turn is from a remembered prefix, and may grow
        self.turns: list[Turn] = []
        self.resumable = True
        self.tools: tuple[Tool | HostedTool, ...] = ()
        self.added: list[Tool | HostedTool] = []
        """Tools that items declare."""

    def begin(self, head: wire.ResponsesRequest) -> None:
        """Read `tools` and `instructions`."""
        context, turns = self._context, self.turns
        if head.tools:
            self.tools = MEMO.read(head.tools, context)
        if head.instructions:
            turns.append(Turn("system", (Text(head.instructions, at=_INSTRUCTIONS),), at=_INSTRUCTIONS))
        if context.resolver is not None:
            put_earlier(head, turns, self.added, context, _read_turns)
        if isinstance(head.input, str):
            turns.append(Turn("user", (Text(head.input, at=("input",)),), at=("input",)))

    def restore(self, turns: Iterable[Turn]) -> None:
        """Continue after these turns."""
        self.turns = [*turns]
        self._resumed = True

    def message(self, item: wire.Item, i: int) -> None:
        """Read one item."""
        context = self._context
        unknown = self._unknown if self._apart is None else self._apart.get(i, {})
        kind = item.type
        at: Path = ("input", i)
        if self._resumed:
            self._regrow(kind)
        # `type` may be absent on a message (openai 3.49.0, 2026-11).
        role = _ROLES.get(item.role) if kind == "message" else None
        if role is not None:
            if self._assistant_parts:
                self._end_assistant()
            if self._results:
                self._end_results()
            parts = read_content(item.content, ("input", i, "content"), context, unknown)
            self.turns.append(Turn(role, parts, item.name or "", message_extra(item, at, context, unknown), at))
            return
        searched: ToolCall | ToolResult | None = None
        if (item.strange or kind in CLIENT_ITEMS) and context.target != wire.NAME:
            if self._own_items is None:
                self._own_items = ClientItems(context)
            self.resumable = False
            searched = (read_search(item, at, context) if item.strange else None) or self._own_items.read(item, at)
        if type(searched) is ToolResult:
            self._end_assistant()
            self._results.append(searched)
            if searched.name == SEARCH:
                # A tool_search_output declares the tools that it found (openai 3.49.0, 2026-11).
                _read_other(item, at, [], self.added, context)
            return
        # Results are items of their own, joined to their calls by call_id (openai 3.49.0, 2026-11).
        if kind == "function_call_output" or kind == "custom_tool_call_output":
            self._end_assistant()
            self._results.append(_read_result(item, at, self.turns, self._results, context, unknown))
            return
        self._end_results()
        if searched is not None:
            self._assistant_parts.append(searched)
            return
        if kind == "function_call":
            self._assistant_parts.append(read_call(item, at, context, unknown))
            return
        if kind in _ASSISTANT_ITEMS and (kind != "message" or item.role == "assistant"):
            read_item(item, at, self._assistant_parts, context, unknown)
        elif (message := as_message(item, at, context)) is not None:
            read_item(message[0], at, self._assistant_parts, context, message[1])
        else:
            self.resumable = False
            _read_other(item, at, self._assistant_parts, self.added, context)

    def _regrow(self, kind: str) -> None:
        """Open the last turn again, if the first new item may extend it."""
        self._resumed = False
        last = self.turns[-1] if self.turns else None
        if last is not None and last.role == "tool" and kind.endswith("_output"):
            self._results = [*self.turns.pop().parts]
        elif last is not None and last.role == "assistant" and not kind.endswith("_output"):
            self._assistant_parts = [*self.turns.pop().parts]

    def _end_assistant(self) -> None:
        parts = self._assistant_parts
        if parts:
            self.turns.append(Turn("assistant", tuple(parts), "", None, parts[0].at[:2]))
            self._assistant_parts = []

    def _end_results(self) -> None:
        results = self._results
        if results:
            self.turns.append(Turn("tool", tuple(results), "", None, results[0].at))
            self._results = []

    def close(self) -> tuple[Turn, ...]:
        """All turns."""
        self._end_assistant()
        self._end_results()
        return tuple(self.turns)

    def finish(self, head: wire.ResponsesRequest, turns: tuple[Turn, ...]) -> Request:
        """Read settings, choice and all other fields."""
        context, tools = self._context, self.tools
        if self.added:
            tools = _merged(tools, self.added, context)
        # max_tool_calls limits built-in tools only (openai 3.49.0, 2026-11).
        if head.max_tool_calls and context.target != wire.NAME:
            limited = read_limit(tools, head.max_tool_calls, context)
            if limited is not None:
                tools, head.max_tool_calls = limited, _NONE
        settings = read_settings(head)
        if head.context_management:
            settings = read_context_management(head, settings, context)
        choice = read_choice(head.tool_choice, context, HOSTED, tools) if head.tool_choice is not None else None
        extra = _request_extra(head, context, self._unknown)
        return Request(turns, head.model or "", tools, choice, settings, head.stream, extra)


def _by_item(unknown: Unknown) -> dict[int | str, Unknown]:
    """The unknown fields in `input` by item: a search through all of them for each item would take too long."""
    out: dict[int | str, Unknown] = {}
    for path in [path for path in unknown if path[0:1] == ("input",) and len(path) > 1]:
        out.setdefault(path[1], {})[path] = unknown.pop(path)
    return out


def _read_other(item: wire.Item, at: Path, out: list[Part], added: list[Tool | HostedTool], context: Context) -> None:
    """Read items that only this dialect has. They keep their place among the assistant's; other targets get the parts
    that they can use.
    """
    parts = read_other(item, at, context)
    part = parts[0] if parts else None
    if context.target != wire.NAME and isinstance(part, Opaque):
        if part.kind in ("item_reference", "image_generation_call"):
            # Both name something that OpenAI's server stores: the call is a generated image without its bytes.
            context.lose("state.dropped", at, "an item that only its server holds")
            return
        if part.kind in _ADDS_TOOLS:
            fields = json_text.fields(part.value)
            if "tools" in fields:
                place = at + ("tools",)
                found, unknown, _ = wire.TOOLS.admit(fields["tools"], place)
                added.extend(tools_from(found or [], context, unknown, place))
            # additional_tools adds tools from its place on (openai 3.49.0, 2026-11); other dialects declare all tools
            # at once.
            if part.kind == "additional_tools":
                rest = {name: value for name, value in fields.items() if name not in ("type", "role", "tools")}
                if rest:
                    context.keep(at, rest)
                return
        if type(part) is Opaque:
            parts = read_use(part, at)
    out.extend(parts)


def _merged(
    tools: tuple[Tool | HostedTool, ...], added: list[Tool | HostedTool], context: Context
) -> tuple[Tool | HostedTool, ...]:
    """The tools, including tools that items added in mid-conversation, for targets that declare all tools at the
    start."""
    known = {_identity(tool) for tool in tools}
    out = list(tools)
    for tool in added:
        identity = _identity(tool)
        if identity in known:
            continue
        known.add(identity)
        context.lose("tool.merged", tool.at)
        out.append(tool)
    return tuple(out)


def _identity(tool: Tool | HostedTool) -> tuple[str, str]:
    if isinstance(tool, Tool):
        return tool.namespace, tool.name
    return "\x1f" + tool.kind, json_text.text(tool.value)


def _read_result(
    item: wire.Item, at: Path, turns: list[Turn], before: list[Part], context: Context, unknown: Unknown
) -> ToolResult:
    output = item.output
    if (
        unknown
        or item.id
        or item.status
        or item.name
        or item.namespace
        or item.caller
        or item.async_
        or item.role
        or item.content
        or item.phase
        or item.arguments
        or item.input
        or item.summary
        or item.encrypted_content
        or item.action
    ):
        parts = read_content(output, at + _OUTPUT, context, unknown)
        more = stray_fields(item, _STRAY_IN_OUTPUT)
        if item.async_:
            more["async"] = item.async_
        extra = item_extra(item, at, context, unknown, more)
        if item.name is not None:
            extra = with_fields(extra, {"name": json_text.raw(item.name)})
    else:
        parts = read_content(output, at + _OUTPUT, context, unknown)
        extra = None
    call_id = item.call_id
    # call_id is typed as optional: an output may have a name and a namespace instead (openai 3.49.0, 2026-11).
    if call_id is None:
        call_id = _called(item, turns, before)
    custom = item.type == "custom_tool_call_output"
    return ToolResult(call_id, parts, item.name or "", False, False, custom, extra=extra, at=at)


def _called(item: wire.Item, turns: list[Turn], before: list[Part]) -> str:
    """The id of the call that an output names by tool name: the first open call of its step with this name."""
    answered = {part.call_id for part in before if isinstance(part, ToolResult)}
    step = next((turn for turn in reversed(turns) if turn.role == "assistant"), None)
    for part in step.parts if step is not None else ():
        if isinstance(part, ToolCall) and part.name == item.name and part.id not in answered:
            return part.id
    return ""


def _request_extra(request: wire.ResponsesRequest, context: Context, unknown: Unknown) -> Extra | None:
    more: dict[str, Raw] = {}
    silent: dict[str, Raw] = {}
    own = context.target == wire.NAME
    if request.store:
        # No other dialect stores answers, so `store: false` is not a loss.
        (silent if request.store == _FALSE else more)["store"] = request.store
    if _has_rare(request):
        more |= sent_fields(request, wire.REQUEST_RARE) or {}
        _read_state(request, silent, context)
    if request.include is not None:
        rest = [name for name in request.include if name != LOGPROBS]
        if rest:
            more["include"] = json_text.raw(rest)
    # safety_identifier replaces the deprecated `user` (openai 3.49.0, 2026-11).
    if request.safety_identifier is not None and request.user is not None:
        more["user"] = json_text.raw(request.user)
    if request.reasoning is not None:
        for name in ("generate_summary", "context", "mode"):
            value = getattr(request.reasoning, name)
            if value:
                # All thoughts of a history are sent anyway, as far as allowed.
                (silent if name == "context" and value in _ALL_THOUGHTS else more)[f"reasoning/{name}"] = value
        if request.reasoning.summary is not None:
            silent["reasoning/summary"] = json_text.raw(request.reasoning.summary)
            # A summary may be auto, concise or detailed (openai 3.49.0, 2026-11); other dialects have only shown or
            # hidden.
            if request.reasoning.summary != "auto" and not own:
                context.lose("thoughts.approximated", ("reasoning", "summary"), request.reasoning.summary)
    shape = request.text.format if request.text is not None else None
    if shape is not None and shape.type not in ("json_object", "json_schema"):
        silent["text/format"] = json_text.raw(shape)
        if shape.type != "text" and not own:
            context.lose("format.dropped", ("text", "format"), shape.type)
    if own and request.instructions == "":
        silent["instructions"] = Raw(b'""')
    shared = take_shared_fields(more, _SHARED[context.target]) if more and context.target in _SHARED else {}
    if CACHE_OPTIONS in shared:
        shared[CACHE_OPTIONS] = _plain_cache_options(shared[CACHE_OPTIONS], context)
    extra = gather(context, (), unknown, more) if more or unknown else None
    return with_shared(with_fields(extra, silent), _CHAT, shared)


def _plain_cache_options(options: Raw, context: Context) -> Raw:
    """The members of the cache options that Chat has too. Other members of Responses are reported."""
    if not json_text.is_object(options):
        return options
    fields = json_text.fields(options)
    # Chat's prompt_cache_options have mode and ttl only (openai 3.49.0, 2026-11).
    for name in [name for name in fields if name not in ("mode", "ttl")]:
        context.lose("field.dropped", (CACHE_OPTIONS, name), severity="info")
        del fields[name]
    return json_text.raw(fields)


def _has_rare(request: wire.ResponsesRequest) -> bool:
    return bool(
        request.previous_response_id
        or request.conversation
        or request.prompt
        or request.stream_options
        or request.truncation
        or request.background
        or request.max_tool_calls
        or request.context_management
        or request.prompt_cache_options
        or request.prompt_cache_retention
        or request.moderation
        or request.access_programs
        or request.image
    )


def _read_state(request: wire.ResponsesRequest, silent: dict[str, Raw], context: Context) -> None:
    """Read references to state on the server: kept within the dialect, a loss for every other."""
    for name in wire.REQUEST_STATE:
        value: Raw = getattr(request, name)
        if not value or value == NULL:
            continue
        if context.target == wire.NAME:
            silent[name] = value
        else:
            # previous_response_id, conversation and prompt name state on OpenAI's server (openai 3.49.0, 2026-11).
            context.lose("state.dropped", (name,))


def write_request(request: Request, context: Context) -> bytes:
    """Write a request from canon."""
    return write(RequestWriter(request, context))


class RequestWriter(PlainDocument):
    """Writes one request."""

    __slots__ = (
        "_calls",
        "_first",
        "_model",
        "_request",
        "_wordy",
        "context",
        "lead",
        "messages",
        "own",
        "resumable",
        "source",
        "turns",
    )

    def __init__(self, request: Request, context: Context) -> None:
        self.context = context
        self.source = context.source
        self.turns = request.turns
        self.lead = 0
        self.messages: list[Any] = []
        self.resumable = True
        self.own = self.source == wire.NAME
        self._request = request
        self._model = ""
        self._first: str | None = None  # the instructions
        self._wordy = False  # the input must contain the word JSON
        self._calls = Calls(request.turns)

    def begin(self) -> None:
        """Adapt the request to the model, and write the leading system turns."""
        context, request, own = self.context, self._request, self.own
        wanted_format = request.settings.format
        if wanted_format is not None and context.gates(wire.NAME):
            request = with_taken_format(request, context.profile, context, objects=not own)
        self._model = context.model or request.model
        if not self._model and not own:
            context.lose("model.invented")
            self._model = "unspecified"
        # A call without its output is refused: "No tool output found for function call" (400, reported by users, 2026).
        turns = request.turns if own else results_after_calls(request.turns, context)
        first = instructions(turns, own)
        shape = request.settings.format
        if shape is not None and shape.kind == "json" and (context.source not in _OPENAI or shape is not wanted_format):
            # OpenAI demands the word JSON for this format (lint rule OAC-017), so its clients have written the word,
            # unless they asked for a schema.
            self._wordy, self.resumable = True, False
            if first is not None and "json" in first.lower():
                first = None  # the word must be in the input, not in the instructions
        if turns is not self.turns:
            self.resumable, self._calls = False, Calls(turns)
        self._request, self.turns, self._first = request, turns, first
        if own:
            self.lead = 0 if first is None else 1
            return
        lead = leading(request.turns)
        self.lead = len(lead)
        for turn in lead if first is None else lead[1:]:
            write_message(turn, self.messages, context)

    def restore(self, messages: list[Any], begin: int, state: Any) -> None:
        """Continue after earlier items."""
        self.messages = messages
        if state is not None:
            self._calls.restore(begin, state)

    def write_turns(self, begin: int, end: int) -> None:
        """Write the turns from index `begin` to before index `end`."""
        own, calls, items, context = self.own, self._calls, self.messages, self.context
        for turn in self.turns[begin:end]:
            if own:
                write_own(turn, items, context)
            elif turn.role == "tool":
                write_outputs(turn, calls, items, context)
            elif turn.role == "assistant":
                if turn.name:
                    context.lose("name.dropped", turn.at)
                if not write_items(turn.parts, items, context, calls.note_calls(turn.parts)) and turn.parts:
                    context.lose("turn.dropped", turn.at)
                calls.answer(turn.parts, items, context)
            else:
                write_message(turn, items, context)

    def snapshot(self) -> tuple[list[Any], Any] | None:
        """The items that later turns do not change, and the calls so far."""
        state = self._calls.snapshot()
        return None if state is None else (self.messages, state)

    def end(self) -> None:
        """Complete the input."""
        if self.own:
            return
        # A request needs some input (lint rule OAR-001).
        if not self.messages:
            self.messages, self._first = some_input(self.turns, self._first, self.context), None
            self.resumable = False  # the instructions became the input
        if self._wordy:
            add_json_word(self.messages, self._request, self.context)

    def document(self, messages: Any) -> dict[str, Any]:
        """The request with these items."""
        context, request, own = self.context, self._request, self.own
        out: dict[str, Any] = {"model": self._model} if self._model or not own else {}
        if self._first is not None:
            out["instructions"] = self._first
        if not own:
            out["input"] = messages
        else:
            turns = self.turns[self.lead :]
            whole = len(turns) == 1 and turns[0].at == ("input",)
            if turns:
                out["input"] = write_input(turns[0].parts, context) if whole else messages
        out = _write_rest(request, out, context)
        if context.host is not None:
            out = without_refused_fields(out, request.settings, context.host, context, own=own)
        return out


def _write_rest(request: Request, out: dict[str, Any], context: Context) -> dict[str, Any]:
    """Write everything after the input."""
    own = context.source == wire.NAME
    if request.tools:
        offered, limit = request.tools, None
        if not own:
            offered, limit = take_limit(offered, context)
        tools = MEMO.write(offered, context)
        if tools:
            out["tools"] = tools
        if limit is not None:
            out["max_tool_calls"] = limit
    if request.choice is not None:
        choice = write_choice(request, request.choice, context)
        if choice is not None and ("tools" in out or own):
            out["tool_choice"] = choice
        # tool_choice must name a declared tool (lint rule OAR-019).
        elif choice not in (None, "auto"):
            detail = "there is no tool to choose"
            context.lose("choice.dropped", request.choice.at, detail, "info" if choice == "none" else None)
    if request.stream is not None:
        out["stream"] = request.stream
    write_settings(request.settings, out, context)
    if request.settings.compact_at is not None:
        write_context_management(request.settings, out, context)
    if not own:
        # A client of another dialect expects no state on the server, and returns reasoning itself: store defaults to
        # true (openai 3.49.0, 2026-11).
        out["store"] = own_fields(request.extra).get("store", False)
        # Without stored state the client returns reasoning as encrypted_content, which `include` requests (openai
        # 3.49.0, 2026-11).
        if _may_seal(out, context):
            out["include"] = [ENCRYPTED, *out.get("include", ())]
    if context.gated and not context.profile.thinks and request.extra is not None:
        request = _without_reasoning(request, context)
    extra = request.extra
    if extra is None or wire.NAME not in extra:
        return out
    return _restored(out, extra if own else without_cache_options(extra, wire.NAME, context))


def _may_seal(out: dict[str, Any], context: Context) -> bool:
    """Whether to ask for sealed reasoning. A model that does not reason answers 400. An unknown model is
    asked only if the request has `reasoning`: models that are known to refuse that field never get it.
    """
    if not context.profile.reasoning and "reasoning" not in out:
        return False
    fields = context.host.fields if context.host is not None else {}
    return fields.get("include") is not False and fields.get(f"include[].{ENCRYPTED}") is not False


def _without_reasoning(request: Request, context: Context) -> Request:
    """The request without the fields that a model without reasoning answers 400 to: `reasoning`, and its sealed
    content.
    """
    fields = dict(own_fields(request.extra))
    for name in [name for name in fields if name.startswith("reasoning/")]:
        code = "thoughts.dropped" if name.endswith("summary") else "field.dropped"
        context.lose(code, tuple(name.split("/")))
        del fields[name]
    wanted = json_text.plain(fields["include"]) if "include" in fields else []
    if ENCRYPTED in wanted:
        context.lose("field.dropped", ("include",), "the model does not reason", "info")
        fields["include"] = json_text.raw([name for name in wanted if name != ENCRYPTED])
        if len(wanted) == 1:
            del fields["include"]
    return msgspec.structs.replace(request, extra={**(request.extra or {}), wire.NAME: fields})


def _restored(out: dict[str, Any], extra: Extra) -> dict[str, Any]:
    fields = extra[wire.NAME]
    for name in fields:
        if name.startswith(("text/", "reasoning/")):
            out.setdefault(name.partition("/")[0], {})
    if "text/format" in fields:
        out["text"]["format"] = json_text.plain(fields["text/format"])  # decoded, to restore fields below it
    if "include" in fields and "include" in out:
        out["include"] = [*json_text.plain(fields["include"]), *out["include"]]
    return restore(out, extra, wire.NAME)
