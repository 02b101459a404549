"""Messages requests: read into canon, written from canon."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Extra, Opaque, Part, Path, Reasoning, ToolResult
from ...canon.request import Request
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.admit import Unknown
from ...codec.extras import carried, gather, restore
from ...codec.history_facts import gist
from ...codec.result_order import results_after_calls
from ...context import Context
from ...fast.envelope import HERE, Arounds, Noting, known_rim, leading
from ...fast.prefix import Recall
from . import wire
from .beta_header import ask_for
from .context_management import read_edits, write_edits
from .history_writer import STRANGE_ROLE, History
from .hosted_tools import BETA, SERVERS, chosen, mcp_servers, with_servers
from .late_tools import ADDS, merged
from .message_reader import marked, read_content
from .message_writer import BlockWriter
from .settings import empty_fields, make_room, read_settings, write_settings
from .tools import MEMO, offered, read_choice, write_choice, write_offered
from .wire_strict import admit_request, read_message, skim

_BINDING = "thinking-binding-controls-2026-08-01"
_THREAD = "thread"
_DISPLAY = "thinking/display"
_CONFIG = "output_config"


def read_request(body: bytes, context: Context) -> Request:
    effort = ""
    request = skim(body)
    unknown: Unknown = {}
    read: list[Turn] = []
    if context.target == wire.NAME and b'"caller"' in body:
        request = None  # messages that are remembered are without the field, since it is the usual one
    if request is not None and _SAID.turns(request.messages, context, read):
        if request.system:
            parts = read_content(request.system, ("system",), context, {})
            read.insert(0, Turn("system", tuple(parts), at=("system",)))
        turns = tuple(read)
        plain: Raw | None = request.messages
    else:
        plain = None
        request, unknown, spelled = admit_request(body)
        context.spelled = spelled
        if context.target != wire.NAME and unknown:
            effort = _latest_effort(request, unknown)
        turns = _read_turns(request, context, unknown)
    settings, extras = read_settings(request)
    if effort and settings.effort != "none":
        settings = msgspec.structs.replace(settings, effort=effort)
    if settings.effort is not None and (settings.budget or 0) > 0 and context.target != wire.NAME:
        context.lose("effort.approximated", settings.at["budget"], "the effort beside it is sent")
    extras.update(carried(request, wire.REQUEST_EXTRAS) or {})
    tools = MEMO.read(request.tools, context) if request.tools else ()
    if context.target != wire.NAME and ADDS in body and gist(turns, context).strange:
        turns, tools = merged(turns, tools, context)
    if SERVERS in extras and context.target != wire.NAME:
        joined = with_servers(tools, extras[SERVERS], context)
        if joined is not None:
            tools = joined
            del extras[SERVERS]
    settings = read_edits(extras, settings, context)
    if settings.thoughts and _DISPLAY in extras and context.target != wire.NAME:
        del extras[_DISPLAY]
        context.lose("thoughts.approximated", ("thinking", "display"), "updates")
    if _THREAD in extras and context.target != wire.NAME and _goes_on(extras[_THREAD]):
        del extras[_THREAD]
        context.lose("state.dropped", (_THREAD,), "a thread that only Anthropic's server holds")
    choice = read_choice(request.tool_choice, context) if request.tool_choice is not None else None
    if choice is not None and context.target != wire.NAME:
        choice = chosen(choice, tools)
    extra = gather(context, (), unknown, extras or None)
    if request.tools and not tools:
        extra = marked(extra, "tools", request.tools)
    for name, value in empty_fields(request).items():
        extra = marked(extra, name, value)
    found = Request(turns, request.model or "", tools, choice, settings, request.stream, extra)
    if plain is not None:
        AROUND.learn(body, plain, found, context)
    return found


def _latest_effort(request: wire.MessagesRequest, unknown: Unknown) -> str:
    """The effort that a system message asks for from its turn on (beta `per-turn-control`): the last one holds. It is
    no more among what is not known then."""
    latest = ""
    for i, message in enumerate(request.messages):
        fields = unknown.get(("messages", i), {}) if message.role == "system" else {}
        asked = json_text.plain(fields[_CONFIG]) if _CONFIG in fields else None
        effort = asked.get("effort") if isinstance(asked, dict) and len(asked) == 1 else None
        if isinstance(effort, str):
            latest = effort
            del fields[_CONFIG]
    return latest


def _goes_on(thread: Raw) -> bool:
    """Whether a thread that is there is gone on with; one that is begun has all its messages in the request."""
    asked = json_text.plain(thread)
    return isinstance(asked, dict) and asked.get("type") == "continue"


def _read_raw(raw: Raw, i: int) -> tuple[Turn, ...] | None:
    """The turns of one message, if reading it loses and keeps nothing."""
    try:
        message = read_message(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    at: Path = ("messages", i)
    alone = Context(wire.NAME, "")
    parts = read_content(message.content, ("messages", i, "content"), alone, {})
    if alone.kept or len(alone.losses):
        return None
    role = message.role
    if role == "user":
        turns: list[Turn] = []
        _read_user(parts, at, None, turns)
        return tuple(turns)
    if role != "assistant" and role != "system":
        return None
    return (Turn("assistant" if role == "assistant" else "system", tuple(parts), "", None, at),)


def _group(said: list[tuple[Turn, ...]], turns: list[Turn]) -> None:
    """Neighbours of one role are one turn."""
    before = turns[-1].role if turns else ""
    for group in said:
        for turn in group:
            role = turn.role
            if role == before and (role == "assistant" or role == "tool"):
                turns[-1] = _SAID.step(role, [*turns[-1].parts, *turn.parts], turns[-1].at)
            else:
                turns.append(turn)
            before = role


_SAID: Recall[tuple[Turn, ...]] = Recall(_read_raw, _group)
AROUND = Arounds(_SAID, "messages", unless=ADDS)


def _read_turns(request: wire.MessagesRequest, context: Context, unknown: Unknown) -> tuple[Turn, ...]:
    turns: list[Turn] = []
    at: Path = ("system",)
    if request.system:
        turns.append(Turn("system", tuple(read_content(request.system, at, context, unknown)), at=at))
    for i, message in enumerate(request.messages):
        at = ("messages", i)
        role = message.role
        parts = read_content(message.content, ("messages", i, "content"), context, unknown)
        extra = gather(context, at, unknown) if unknown else None
        if role == "user":
            _read_user(parts, at, extra, turns)
        elif role == "assistant":
            before = turns[-1] if turns else None
            if before is not None and before.role == "assistant" and extra is None and before.extra is None:
                # Neighbours are one turn to the upstream, and one step in canon.
                turns[-1] = Turn("assistant", (*before.parts, *parts), at=before.at)
            else:
                turns.append(Turn("assistant", tuple(parts), "", extra, at))
        elif role == "system":
            turns.append(Turn("system", tuple(parts), "", extra, at))
        else:
            value = json_text.raw(restore({"role": role, "content": message.content}, extra, wire.NAME))
            turns.append(Turn("user", (Opaque(wire.NAME, STRANGE_ROLE + role, value, at=at),), at=at))
    return tuple(turns)


def _read_user(parts: list[Part], at: Path, extra: Extra | None, turns: list[Turn]) -> None:
    """A user's message: results become a tool turn of their own, in the order of the wire."""
    begin = 0
    results = bool(parts) and type(parts[0]) is ToolResult
    for i, part in enumerate(parts):
        if (type(part) is ToolResult) is not results:
            _add_user(tuple(parts[begin:i]), results, at, extra, turns)
            begin, extra, results = i, None, not results
    _add_user(tuple(parts[begin:]), results, at, extra, turns)


def _add_user(parts: tuple[Part, ...], results: bool, at: Path, extra: Extra | None, turns: list[Turn]) -> None:
    if not results:
        turns.append(Turn("user", parts, "", extra, at))
        return
    before = turns[-1] if turns else None
    if before is not None and before.role == "tool" and extra is None and before.extra is None:
        turns[-1] = Turn("tool", before.parts + parts, at=before.at)
    else:
        turns.append(Turn("tool", parts, "", extra, at))


def write_request(request: Request, context: Context) -> bytes:
    model = context.model or request.model
    if not model and context.source != wire.NAME:
        context.lose("model.invented")
        model = "unspecified"
    writer = BlockWriter(context)
    rim = known_rim(request, request.turns, context)
    if rim is None:
        return _write_anew(request, model, leading(request.turns), writer, context)
    if rim.early:
        context.losses.replay(rim.early)
    history = History(writer, prefill=rim.state)
    history.write(results_after_calls(request.turns, context), len(rim.lead))
    if rim.late:
        context.losses.replay(rim.late)
    messages = history.finish()
    writer.marks.cap(automatic=False)
    return rim.around(messages)


def _write_anew(request: Request, model: str, lead: tuple[Turn, ...], writer: BlockWriter, context: Context) -> bytes:
    noting = Noting(context)
    out: dict[str, Any] = {"model": model} if model else {}
    words: list[str] = []
    write_settings(request, out, words, context, writer.marks)
    if request.settings.compact_at is not None:
        write_edits(request.settings, out, context)
    tools = write_offered(offered(request, context), context, writer.marks) if request.tools else None
    # Neither an output format nor a thinking budget goes with a history that ends with the assistant.
    shaped = "format" in out.get("output_config", ()) or "output_format" in out
    prefill = not shaped and out.get("thinking", {}).get("type") != "enabled"
    history = History(writer, prefill=prefill)
    noting.inside()
    turns = results_after_calls(request.turns, context)
    lost = len(context.losses)
    system = history.system(lead)
    # How thoughts and marks are written hangs on the history, too.
    settings, profile = request.settings, context.profile
    fixed = settings.effort is None and settings.budget is None and not profile.bound_seals
    fixed = fixed and len(context.losses) == lost
    history.write(turns, len(lead))
    noting.behind()
    if tools:
        out["tools"] = tools
        if context.source != wire.NAME:
            servers = mcp_servers(request.tools)
            if servers:
                out[SERVERS] = servers
                ask_for(BETA, context)
    choice, order = write_choice(request, tools, _refuses_force(out, context), context)
    if choice is not None:
        out["tool_choice"] = choice
    if order:
        words.append(order)
    system.extend([{"type": "text", "text": text} for text in words])
    if system:
        only = system[0]
        plain = len(system) == 1 and type(only) is dict and len(only) == 2 and only.get("type") == "text"
        out["system"] = only["text"] if plain else system
    messages = history.finish()
    out["messages"] = HERE
    if context.profile.bound_seals and context.source != wire.NAME and _sealed(request.turns):
        _loosen(out, context)
    fixed = fixed and writer.marks.none and "cache_control" not in out
    writer.marks.cap(automatic="cache_control" in out)
    if request.stream is not None:
        out["stream"] = request.stream
    if request.extra is not None:
        make_room(out, request.extra)
        restore(out, request.extra, wire.NAME)
    return noting.rim(out, "messages", request, lead, prefill, fixed=fixed).around(messages)


def _sealed(turns: tuple[Turn, ...]) -> bool:
    """Whether thoughts of this dialect's upstreams go back."""
    for turn in turns:
        for part in turn.parts:
            if type(part) is Reasoning and part.seal is not None and part.seal.dialect == wire.NAME and part.seal.data:
                return True
    return False


def _loosen(out: dict[str, Any], context: Context) -> None:
    """Have thoughts left out whose history is not what it was, where the upstream would refuse them.

    A client of another dialect may edit what stands before them in ways that its own upstream would not mind, and a
    choice among tools changes the list of tools.
    """
    thinking = out.setdefault("thinking", {"type": "adaptive"})
    if thinking["type"] == "adaptive":  # the other forms have no such field
        thinking["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
        ask_for(_BINDING, context)
        context.lose("seal.loosened")


def _refuses_force(out: dict[str, Any], context: Context) -> bool:
    """Whether the model refuses a forced choice: some always, all with a thinking budget."""
    if not context.gates(wire.NAME):
        return False
    return context.profile.forced_choice == "refused" or out.get("thinking", {}).get("type") == "enabled"
