"""Responses requests: read into canon, written from canon."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Extra, Opaque, Part, Path, Text, ToolCall, ToolResult
from ...canon.request import Request
from ...canon.tools import HostedTool, Tool
from ...canon.turns import Role, Turn
from ...codec import json_text
from ...codec.admit import Admitted, Unknown
from ...codec.extras import NULL, carried, gather, restore, take_shared, with_shared, without_cache_options
from ...codec.features_in_words import with_taken_format
from ...codec.host_fields import without_refused_fields
from ...codec.result_order import results_after_calls
from ...codec.surrogates.documents import has_lone_surrogate
from ...context import Context
from ...fast.envelope import HERE, Arounds, Noting, Rim, known_rim, leading
from ...fast.prefix import Recall, skimmer
from . import wire
from .client_tool_search import NAME as SEARCH
from .client_tool_search import read_search
from .client_tools import KINDS as CLIENT_ITEMS
from .client_tools import ClientItems
from .context_management import read_context_management, write_context_management
from .history_writer import History, instructions, say_json, some_input, write_own
from .hosted_tools import HOSTED
from .max_tool_calls import read_limit, take_limit
from .message import read_content, write_input
from .other_output_items import read_other
from .other_uses import read_use
from .output_items import item_extra, message_extra, read_call, read_item, stray_fields
from .previous_responses import put_earlier
from .settings import ENCRYPTED, LOGPROBS, read_settings, write_settings
from .tools import MEMO, own_fields, read_choice, tools_from, with_fields, write_choice
from .unknown_items import as_message

_ROLES: dict[str | None, Role] = {"system": "system", "developer": "developer", "user": "user"}
_SAID = frozenset({"message", "reasoning", "function_call", "custom_tool_call"})
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
    skimmed = _skim(body) if context.resolver is None else None
    said: list[Turn] = []
    if skimmed is not None and not _REMEMBERED.turns(skimmed.input, context, said):
        skimmed = None
    admitted: Admitted[Any] = wire.REQUEST.admit(body) if skimmed is None else Admitted(skimmed, {}, {})
    request: wire.ResponsesRequest = admitted.value
    unknown, context.spelled = admitted.unknown, admitted.spelled
    tools: tuple[Tool | HostedTool, ...] = ()
    if request.tools:
        tools = MEMO.read(request.tools, context)
    added: list[Tool | HostedTool] = []
    turns: list[Turn] = []
    if request.instructions:
        turns.append(Turn("system", (Text(request.instructions, at=_INSTRUCTIONS),), at=_INSTRUCTIONS))
    if context.resolver is not None:
        put_earlier(request, turns, added, context, _read_turns)
    if skimmed is not None:
        turns += said
    elif isinstance(request.input, str):
        turns.append(Turn("user", (Text(request.input, at=("input",)),), at=("input",)))
    elif request.input:
        _read_turns(request.input, turns, added, context, unknown)
    if added:
        tools = _merged(tools, added, context)
    if request.max_tool_calls and context.target != wire.NAME:
        limited = read_limit(tools, request.max_tool_calls, context)
        if limited is not None:
            tools, request.max_tool_calls = limited, _NONE
    settings = read_settings(request)
    if request.context_management:
        settings = read_context_management(request, settings, context)
    read = Request(
        tuple(turns),
        request.model or "",
        tools,
        read_choice(request.tool_choice, context, HOSTED, tools) if request.tool_choice is not None else None,
        settings,
        request.stream,
        _request_extra(request, context, unknown),
    )
    if skimmed is not None:
        AROUND.learn(body, skimmed.input, read, context)
    return read


def _read_turns(
    items: list[wire.Item], turns: list[Turn], added: list[Tool | HostedTool], context: Context, unknown: Unknown
) -> None:
    """Items to turns: a run of the assistant's items is one turn, a run of outputs is one turn, a message is one."""
    said: list[Part] = []
    results: list[Part] = []
    apart = _by_item(unknown) if unknown else None
    own_items = ClientItems(context)
    for i, item in enumerate(items):
        if apart is not None:
            unknown = apart.get(i, {})
        kind = item.type
        at: Path = ("input", i)
        searched: ToolCall | ToolResult | None = None
        if (item.strange or kind in CLIENT_ITEMS) and context.target != wire.NAME:
            searched = (read_search(item, at, context) if item.strange else None) or own_items.read(item, at)
        if type(searched) is ToolResult:
            if said:
                turns.append(Turn("assistant", tuple(said), "", None, said[0].at[:2]))
                said = []
            results.append(searched)
            if searched.name == SEARCH:
                _read_other(item, at, [], added, context)
            continue
        if kind == "function_call_output" or kind == "custom_tool_call_output":
            if said:
                turns.append(Turn("assistant", tuple(said), "", None, said[0].at[:2]))
                said = []
            results.append(_read_result(item, at, turns, results, context, unknown))
            continue
        if results:
            turns.append(Turn("tool", tuple(results), "", None, results[0].at))
            results = []
        if searched is not None:
            said.append(searched)
            continue
        if kind == "function_call":
            said.append(read_call(item, at, context, unknown))
            continue
        if kind == "message":
            role = _ROLES.get(item.role)
            if role is not None:
                if said:
                    turns.append(Turn("assistant", tuple(said), "", None, said[0].at[:2]))
                    said = []
                parts = read_content(item.content, ("input", i, "content"), context, unknown)
                turns.append(Turn(role, parts, item.name or "", message_extra(item, at, context, unknown), at))
                continue
        if kind in _SAID and (kind != "message" or item.role == "assistant"):
            read_item(item, at, said, context, unknown)
        elif (message := as_message(item, at, context)) is not None:
            read_item(message[0], at, said, context, message[1])
        else:
            _read_other(item, at, said, added, context)
    if said:
        turns.append(Turn("assistant", tuple(said), "", None, said[0].at[:2]))
    if results:
        turns.append(Turn("tool", tuple(results), "", None, results[0].at))


def read_plain(item: wire.Item, i: int) -> Part | Turn | None:
    """What nearly all items are: a call, a text as its output, or a message of one text; nothing hangs on it."""
    if (
        item.id is not _NONE
        or item.status is not _NONE
        or item.namespace is not None
        or item.input is not None
        or item.phase is not _NONE
        or item.summary is not None
        or item.encrypted_content is not None
        or item.caller is not _NONE
        or item.async_ is not _NONE
        or item.action is not _NONE
    ):
        return None
    kind = item.type
    content = item.content
    if kind == "function_call":
        text = item.arguments
        if item.role is not None or content is not None or item.output is not None:
            return None
        if type(text) is not str or text[:1] == '"' or not item.call_id or not item.name or has_lone_surrogate(text):
            return None
        return ToolCall(item.call_id, item.name, text, at=("input", i))
    if item.arguments is not None or item.name is not None:
        return None
    if kind == "function_call_output":
        output = item.output
        if type(output) is not str or item.role is not None or content is not None or item.call_id is None:
            return None
        return ToolResult(item.call_id, (Text(output, at=("input", i, "output")),), at=("input", i))
    if kind != "message" or item.call_id is not None or item.output is not None:
        return None
    if type(content) is str:
        said = Text(content, at=("input", i, "content"))
    else:
        words = _plain_text(content[0]) if type(content) is list and len(content) == 1 else None
        if words is None:
            return None
        said = Text(words, at=("input", i, "content", 0))
    if item.role == "assistant":
        return said
    role = _ROLES.get(item.role)
    return None if role is None else Turn(role, (said,), "", None, ("input", i))


def _plain_text(part: wire.ContentPart) -> str | None:
    """The text of a piece that is nothing else."""
    if part.type not in ("input_text", "output_text") or part.annotations:
        return None
    alone = wire.ContentPart(part.type, part.text, part.annotations)
    return part.text if part == alone else None


def _read_raw(raw: Raw, i: int) -> Part | Turn | None:
    try:
        return read_plain(_item(raw), i)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


_skim = skimmer(wire.ResponsesRequest, "input")
_item = msgspec.json.Decoder(wire.Item).decode


def _group(said: list[Part | Turn], turns: list[Turn]) -> None:
    """Items to turns, as in `_read_turns`."""
    role: Role = "assistant"
    run: list[Part] = []
    if said and turns and not isinstance(said[0], Turn):
        role = "tool" if type(said[0]) is ToolResult else "assistant"
        if turns[-1].role == role:
            run = list(turns.pop().parts)
    for one in said:
        if isinstance(one, Turn):
            if run:
                turns.append(_REMEMBERED.step(role, run, run[0].at[:2]))
                run = []
            turns.append(one)
            continue
        speaker: Role = "tool" if type(one) is ToolResult else "assistant"
        if run and speaker != role:
            turns.append(_REMEMBERED.step(role, run, run[0].at[:2]))
            run = []
        role = speaker
        run.append(one)
    if run:
        turns.append(_REMEMBERED.step(role, run, run[0].at[:2]))


_REMEMBERED: Recall[Part | Turn] = Recall(_read_raw, _group)
AROUND = Arounds(_REMEMBERED, "input")


def _by_item(unknown: Unknown) -> dict[int | str, Unknown]:
    """What is unknown in `input`, item by item: looking through all of it for each item would take too long."""
    out: dict[int | str, Unknown] = {}
    for path in [path for path in unknown if path[0:1] == ("input",) and len(path) > 1]:
        out.setdefault(path[1], {})[path] = unknown.pop(path)
    return out


def _read_other(item: wire.Item, at: Path, said: list[Part], added: list[Tool | HostedTool], context: Context) -> None:
    """Items only this dialect knows keep their place among the assistant's; other targets get what they can use."""
    parts = read_other(item, at, context)
    part = parts[0] if parts else None
    if context.target != wire.NAME and isinstance(part, Opaque):
        if part.kind == "item_reference":
            context.lose("state.dropped", at, "an item that only its server holds")
            return
        if part.kind in _ADDS_TOOLS:
            fields = json_text.fields(part.value)
            if "tools" in fields:
                place = at + ("tools",)
                found, unknown, _ = wire.TOOLS.admit(fields["tools"], place)
                added.extend(tools_from(found or [], context, unknown, place))
            if part.kind == "additional_tools":
                rest = {name: value for name, value in fields.items() if name not in ("type", "role", "tools")}
                if rest:
                    context.keep(at, rest)
                return
        if type(part) is Opaque:
            parts = read_use(part, at)
    said.extend(parts)


def _merged(
    tools: tuple[Tool | HostedTool, ...], added: list[Tool | HostedTool], context: Context
) -> tuple[Tool | HostedTool, ...]:
    """The tools with those that items added in mid-conversation, for targets that declare all of them at the start."""
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
    if call_id is None:
        call_id = _called(item, turns, before)
    custom = item.type == "custom_tool_call_output"
    return ToolResult(call_id, parts, item.name or "", False, False, custom, extra=extra, at=at)


def _called(item: wire.Item, turns: list[Turn], before: list[Part]) -> str:
    """The id of the call that an output answers by the tool's name: the first of its step that has no output yet."""
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
        # Nothing to be stored is what every other dialect does anyway.
        (silent if request.store == _FALSE else more)["store"] = request.store
    if _has_rare(request):
        more |= carried(request, wire.REQUEST_RARE) or {}
        _read_state(request, silent, context)
    if request.include is not None:
        rest = [name for name in request.include if name != LOGPROBS]
        if rest:
            more["include"] = json_text.raw(rest)
    if request.safety_identifier is not None and request.user is not None:
        more["user"] = json_text.raw(request.user)
    if request.reasoning is not None:
        for name in ("generate_summary", "context", "mode"):
            value = getattr(request.reasoning, name)
            if value:
                # All the thoughts that a history holds go along anyway, as far as they may.
                (silent if name == "context" and value in _ALL_THOUGHTS else more)[f"reasoning/{name}"] = value
        if request.reasoning.summary is not None:
            silent["reasoning/summary"] = json_text.raw(request.reasoning.summary)
            if request.reasoning.summary != "auto" and not own:
                context.lose("thoughts.approximated", ("reasoning", "summary"), request.reasoning.summary)
    shape = request.text.format if request.text is not None else None
    if shape is not None and shape.type not in ("json_object", "json_schema"):
        silent["text/format"] = json_text.raw(shape)
        if shape.type != "text" and not own:
            context.lose("format.dropped", ("text", "format"), shape.type)
    if own and request.instructions == "":
        silent["instructions"] = Raw(b'""')
    shared = take_shared(more, _SHARED[context.target]) if more and context.target in _SHARED else {}
    extra = gather(context, (), unknown, more) if more or unknown else None
    return with_shared(with_fields(extra, silent), _CHAT, shared)


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
    """What a server holds: kept for the dialect itself, a loss of its own kind for every other."""
    for name in wire.REQUEST_STATE:
        value: Raw = getattr(request, name)
        if not value or value == NULL:
            continue
        if context.target == wire.NAME:
            silent[name] = value
        else:
            context.lose("state.dropped", (name,))


def write_request(request: Request, context: Context) -> bytes:
    rim = known_rim(request, request.turns, context)
    if rim is None or rim.state is None:
        return _write_anew(request, rim, context)
    turns = results_after_calls(request.turns, context)
    if rim.early:
        context.losses.replay(rim.early)
    items = [*rim.state]
    History(items, turns, context).write(len(rim.lead))
    if not items:
        return _write_anew(request, None, context)
    if rim.late:
        context.losses.replay(rim.late)
    return rim.around(items)


def _write_anew(request: Request, rim: Rim | None, context: Context) -> bytes:
    """`rim`: what is known of it, though not of the system's items."""
    own = context.source == wire.NAME
    asked = request.settings.format
    if asked is not None and context.gates(wire.NAME):
        request = with_taken_format(request, context.profile, context, objects=not own)
    model = context.model or request.model
    if not model and not own:
        context.lose("model.invented")
        model = "unspecified"
    turns = request.turns if own else results_after_calls(request.turns, context)
    first = instructions(turns, own)
    shape = request.settings.format
    # OpenAI's clients say the word JSON themselves, unless they asked for a schema.
    wordy = shape is not None and shape.kind == "json" and (context.source not in _OPENAI or shape is not asked)
    if wordy:
        context.forget()  # the items are looked into below
        if first is not None and "json" in first.lower():
            first = None  # the word must stand in the input
    if own:
        return _write_own(request, model, first, context)
    noting = Noting(context)
    lead, state, fixed = leading(request.turns), None, True
    items: list[Any] = []
    history = History(items, turns, context)
    history.system(lead if first is None else lead[1:])
    if not wordy:
        state = [json_text.raw(item) for item in items]
        noting.inside()
    history.write(len(lead))
    if not items:
        items, first, fixed = some_input(turns, first, context), None, False
    if wordy:
        say_json(items, request, context)
    noting.behind()
    if rim is not None and fixed:
        context.losses.replay(rim.late)
        return rim.around(items)
    out: dict[str, Any] = {"model": model}
    if first is not None:
        out["instructions"] = first
    if context.host is not None:
        out["input"] = items
        out = _write_rest(request, out, context)
        return json_text.encode(without_refused_fields(out, request.settings, context.host, context, own=False))
    out["input"] = HERE
    return noting.rim(_write_rest(request, out, context), "input", request, lead, state, fixed=fixed).around(items)


def _write_own(request: Request, model: str, first: str | None, context: Context) -> bytes:
    """What comes from this dialect keeps its shape."""
    out: dict[str, Any] = {"model": model} if model else {}
    turns = request.turns
    if first is not None:
        out["instructions"] = first
        turns = turns[1:]
    if turns:
        whole = len(turns) == 1 and turns[0].at == ("input",)
        out["input"] = write_input(turns[0].parts, context) if whole else write_own(turns, context)
    out = _write_rest(request, out, context)
    if context.host is not None:
        out = without_refused_fields(out, request.settings, context.host, context, own=True)
    return json_text.encode(out)


def _write_rest(request: Request, out: dict[str, Any], context: Context) -> dict[str, Any]:
    """Everything that follows the input."""
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
        elif choice not in (None, "auto", "none"):
            context.lose("choice.dropped", request.choice.at, "there is no tool to choose")
    if request.stream is not None:
        out["stream"] = request.stream
    write_settings(request.settings, out, context)
    if request.settings.compact_at is not None:
        write_context_management(request.settings, out, context)
    if not own:
        # A client of another dialect expects no state on the server, and reasoning that it can bring back itself.
        out["store"] = own_fields(request.extra).get("store", False)
        if _may_seal(out, context):
            out["include"] = [ENCRYPTED, *out.get("include", ())]
    if context.gated and not context.profile.thinks and request.extra is not None:
        request = _without_reasoning(request, context)
    if request.extra is None:
        return out
    extra = request.extra if own else without_cache_options(request.extra, wire.NAME, context)
    return _restored(out, msgspec.structs.replace(request, extra=extra))


def _may_seal(out: dict[str, Any], context: Context) -> bool:
    """Whether to ask for sealed reasoning. A model that does not reason answers 400 to that: an unknown one is asked
    only beside `reasoning`, which models that are known to refuse it never get."""
    fields = context.host.fields if context.host is not None else {}
    if fields.get("include") is False or fields.get(f"include[].{ENCRYPTED}") is False:
        return False
    return context.profile.reasoning or "reasoning" in out


def _without_reasoning(request: Request, context: Context) -> Request:
    """The request without what a model that does not reason answers 400 to: `reasoning`, and its sealed content."""
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


def _restored(out: dict[str, Any], request: Request) -> dict[str, Any]:
    fields = own_fields(request.extra)
    for name in fields:
        if name.startswith(("text/", "reasoning/")):
            out.setdefault(name.partition("/")[0], {})
    if "text/format" in fields:
        out["text"]["format"] = json_text.plain(fields["text/format"])  # open for what hangs below it
    if "include" in fields and "include" in out:
        out["include"] = [*json_text.plain(fields["include"]), *out["include"]]
    return restore(out, request.extra, wire.NAME)
