"""Reads and writes Messages requests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Extra, Opaque, Part, Path, Reasoning, ToolResult
from ...canon.request import Request, Settings
from ...canon.tools import HostedTool, Tool
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.dialect_extras import gather, restore, sent_fields
from ...codec.history_facts import facts_of
from ...codec.request_read_and_write_steps import leading, read, write
from ...codec.results_after_calls import results_after_calls
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from . import wire
from .added_tools_to_declarations import adds_tools, merged
from .beta_header import ask_for
from .context_management import read_edits, write_edits
from .history_writer import STRANGE_ROLE, History
from .hosted_tools import BETA, SERVERS, chosen, mcp_servers, with_servers
from .message_content_reader import marked, read_content
from .message_content_writer import BlockWriter
from .settings import empty_fields, make_room, read_settings, write_settings
from .tools import MEMO, offered, read_choice, write_choice, write_offered
from .wire_by_block_type import admit_request

_BINDING = "thinking-binding-controls-2026-08-01"
_THREAD = "thread"
_DISPLAY = "thinking/display"
_CONFIG = "output_config"


def read_request(body: bytes, context: Context) -> Request:
    """Read a request into canon."""
    request, unknown, context.spelled = admit_request(body)
    reader = RequestReader(context, unknown)
    if context.target != wire.NAME and unknown:
        reader.effort = _latest_effort(request, unknown)
    return read(reader, request, request.messages)


class RequestReader:
    """Reads one request. Neighbouring assistant messages are one turn, and so are neighbouring results."""

    __slots__ = ("_context", "_unknown", "effort", "resumable", "turns")

    def __init__(self, context: Context, unknown: Unknown | None = None) -> None:
        self._context = context
        self._unknown: Unknown = {} if unknown is None else unknown
        self.turns: list[Turn] = []
        self.resumable = True
        self.effort = ""
        """The effort that a message asks for."""

    def begin(self, head: wire.MessagesRequest) -> None:
        """Read `system` as the first turn."""
        at: Path = ("system",)
        if head.system:
            # `system` is a text or a list of text blocks at the top level (anthropic 2.8.0, 2026-11).
            parts = read_content(head.system, at, self._context, self._unknown)
            self.turns.append(Turn("system", tuple(parts), at=at))

    def restore(self, turns: Iterable[Turn]) -> None:
        """Continue after these turns."""
        self.turns = [*turns]

    def message(self, message: wire.Message, i: int) -> None:
        """Read one message."""
        context, unknown, turns = self._context, self._unknown, self.turns
        at: Path = ("messages", i)
        role, content = message.role, message.content
        parts = read_content(content, ("messages", i, "content"), context, unknown)
        extra = gather(context, at, unknown) if unknown else None
        if role == "user" and type(content) is str:
            turns.append(Turn("user", tuple(parts), "", extra, at))
        elif role == "user":
            # There is no role tool: results are blocks of the user's messages (anthropic 2.8.0, 2026-11).
            _read_user(parts, at, extra, turns)
        elif role == "assistant":
            before = turns[-1] if turns else None
            if before is not None and before.role == "assistant" and extra is None and before.extra is None:
                # Anthropic joins neighbouring messages of one role (docs "Messages API", 2026-10), so they are one step
                # in canon.
                turns[-1] = Turn("assistant", (*before.parts, *parts), at=before.at)
            else:
                turns.append(Turn("assistant", tuple(parts), "", extra, at))
        elif role == "system":
            # Some models accept the role system among the messages: Opus 4.8, Opus 5, Fable 5 and later (docs,
            # 2026-10).
            turns.append(Turn("system", tuple(parts), "", extra, at))
        else:
            # Any other role is unknown to Messages, so the whole message is kept as it is.
            value = json_text.raw(restore({"role": role, "content": message.content}, extra, wire.NAME))
            turns.append(Turn("user", (Opaque(wire.NAME, STRANGE_ROLE + role, value, at=at),), at=at))

    def close(self) -> tuple[Turn, ...]:
        """All turns."""
        return tuple(self.turns)

    def finish(self, head: wire.MessagesRequest, turns: tuple[Turn, ...]) -> Request:
        """Read settings, tools and all other fields."""
        context = self._context
        elsewhere = context.target != wire.NAME
        settings, extras = read_settings(head)
        if self.effort and settings.effort != "none":
            settings = msgspec.structs.replace(settings, effort=self.effort)
        if settings.effort is not None and (settings.budget or 0) > 0 and elsewhere:
            context.lose("effort.approximated", settings.at["budget"], "the effort beside it is sent")
        extras |= sent_fields(head, wire.REQUEST_EXTRAS) or {}
        tools = MEMO.read(head.tools, context) if head.tools else ()
        if elsewhere and facts_of(turns, context).has_opaque and adds_tools(turns):
            turns, tools = merged(turns, tools, context)
        if extras and elsewhere:
            settings, tools = _for_others(extras, settings, tools, context)
        choice = read_choice(head.tool_choice, context) if head.tool_choice is not None else None
        if choice is not None and elsewhere:
            choice = chosen(choice, tools)
        extra = gather(context, (), self._unknown, extras) if extras or self._unknown else None
        for name, value in empty_fields(head, tools).items():
            extra = marked(extra, name, value)
        return Request(turns, head.model or "", tools, choice, settings, head.stream, extra)


def _for_others(
    extras: dict[str, Raw], settings: Settings, tools: tuple[Tool | HostedTool, ...], context: Context
) -> tuple[Settings, tuple[Tool | HostedTool, ...]]:
    """Settings and tools for another dialect, with the extra fields that can be translated. Translated and reported
    fields are removed from `extras`.
    """
    # The MCP connector (beta) splits a server between `mcp_servers` and an `mcp_toolset` (docs "MCP connector",
    # 2026-10).
    if SERVERS in extras:
        joined = with_servers(tools, extras[SERVERS], context)
        if joined is not None:
            tools = joined
            del extras[SERVERS]
    settings = read_edits(extras, settings, context)
    # The beta types have a third display, `updates`, besides summarized and omitted (anthropic 2.8.0).
    if settings.thoughts and _DISPLAY in extras:
        del extras[_DISPLAY]
        context.lose("thoughts.approximated", ("thinking", "display"), "updates")
    # `thread` (beta) continues a conversation that Anthropic's server stores (anthropic 2.8.0).
    if _THREAD in extras and _continues(extras[_THREAD]):
        del extras[_THREAD]
        context.lose("state.dropped", (_THREAD,), "a thread that only Anthropic's server holds")
    return settings, tools


def _latest_effort(request: wire.MessagesRequest, unknown: Unknown) -> str:
    """The effort that the last system message asks for (beta `per-turn-control`). The field is removed from the unknown
    ones.
    """
    latest = ""
    for i, message in enumerate(request.messages):
        fields = unknown.get(("messages", i), {}) if message.role == "system" else {}
        # A system message may change `output_config.effort` for all later turns (beta `per-turn-control`).
        config = json_text.plain(fields[_CONFIG]) if _CONFIG in fields else None
        effort = config.get("effort") if isinstance(config, dict) and len(config) == 1 else None
        if isinstance(effort, str):
            latest = effort
            del fields[_CONFIG]
    return latest


def _continues(thread: Raw) -> bool:
    """Whether the request continues a thread on the server. A request that begins a thread holds all its messages."""
    value = json_text.plain(thread)
    return isinstance(value, dict) and value.get("type") == "continue"


def _read_user(parts: list[Part], at: Path, extra: Extra | None, turns: list[Turn]) -> None:
    """Read a user message: results become a separate tool turn, in the order of the wire."""
    for part in parts:
        if type(part) is ToolResult:
            break
    else:
        turns.append(Turn("user", tuple(parts), "", extra, at))
        return
    results, begin = type(parts[0]) is ToolResult, 0
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
        # Results of one step may come in several messages; they answer one assistant turn.
        turns[-1] = Turn("tool", before.parts + parts, at=before.at)
    else:
        turns.append(Turn("tool", parts, "", extra, at))


def write_request(request: Request, context: Context) -> bytes:
    """Write a request from canon."""
    return write(RequestWriter(request, context))


class RequestWriter:
    """Writes one request."""

    __slots__ = (
        "_blocks",
        "_history",
        "_out",
        "_request",
        "_system",
        "_tools",
        "_unmarked",
        "_words",
        "context",
        "lead",
        "messages",
        "resumable",
        "source",
        "turns",
    )

    def __init__(self, request: Request, context: Context) -> None:
        self.context = context
        self.source = context.source
        self.turns = request.turns
        self.lead = 0
        self.resumable = self._unmarked = True
        self._request = request
        self._blocks = BlockWriter(context)
        self._history = History(self._blocks, context)
        self.messages = self._history.messages
        self._out: dict[str, Any] = {}
        self._words: list[str] = []  # sentences in the system prompt that replace settings
        self._system: list[Any] = []
        self._tools: Any = None

    def begin(self) -> None:
        """Write the settings, the tools and the system prompt."""
        request, context, out, marks = self._request, self.context, self._out, self._blocks.marks
        model = context.model or request.model
        if not model and context.source != wire.NAME:
            context.lose("model.invented")
            model = "unspecified"
        if model:
            out["model"] = model
        write_settings(request, out, self._words, context, marks)
        if request.settings.compact_at is not None:
            write_edits(request.settings, out, context)
        self._tools = write_offered(offered(request, context), context, marks) if request.tools else None
        # Anthropic refuses a prefill together with an output format or a thinking budget (docs "Extended thinking" and
        # "Structured outputs", 2026-10).
        if request.settings.format is not None or "thinking" in out:
            shaped = "format" in out.get("output_config", ()) or "output_format" in out
            self._history.prefill = not shaped and out.get("thinking", {}).get("type") != "enabled"
        # Nothing may be between a tool_use and its tool_result (docs "Handle tool calls", 2026-10).
        turns = results_after_calls(request.turns, context)
        lead = leading(request.turns)
        self.lead = len(lead)
        # A leading system turn goes to the top-level `system`: a system message must never be the first (docs,
        # 2026-10).
        self._system = self._history.system(lead)
        self._unmarked = not marks.marked and "cache_control" not in out
        self.resumable = turns is self.turns
        self.turns = turns

    @property
    def fixed(self) -> bool:
        """The fields around the messages may also depend on thoughts and cache marks in the history."""
        settings = self._request.settings
        thinks = settings.effort is not None or settings.budget is not None or self.context.profile.bound_seals
        return self.resumable and not thinks and self._unmarked and self._history.prefill

    def restore(self, messages: list[Any], begin: int, state: Any) -> None:
        """Continue after earlier messages."""
        self.messages = messages
        self._history.restore(messages, state)

    def write_turns(self, begin: int, end: int) -> None:
        """Write the turns from index `begin` to before index `end`."""
        turns, write = self.turns, self._history.turn
        for index in range(begin, end):
            write(turns[index], turns, index)

    def snapshot(self) -> tuple[list[Any], Any] | None:
        """The messages that later turns do not change, and the state after them."""
        return self._history.snapshot()

    def end(self) -> None:
        """Complete the history."""
        self._history.end(self.turns)

    def document(self, messages: Any) -> dict[str, Any]:
        """The request with these messages."""
        request, context, out, tools, system = self._request, self.context, self._out, self._tools, self._system
        if tools:
            out["tools"] = tools
            if context.source != wire.NAME:
                servers = mcp_servers(request.tools)
                if servers:
                    out[SERVERS] = servers
                    ask_for(BETA, context)
        if request.choice is not None or request.settings.parallel is not None:
            # tool_choice without tools is an error (lint rule ANT-024).
            choice, order = write_choice(request, tools, _refuses_force(out, context), context)
            if choice is not None:
                # A forced choice that the model refuses becomes a sentence of the system prompt.
                out["tool_choice"] = choice
            if order:
                self._words.append(order)
        if self._words:
            system.extend([{"type": "text", "text": text} for text in self._words])
        if system:
            only = system[0]
            plain = len(system) == 1 and type(only) is dict and len(only) == 2 and only.get("type") == "text"
            # A text and a list with one text block mean the same (docs "Messages API", 2026-10).
            out["system"] = only["text"] if plain else system
        out["messages"] = messages
        if context.profile.bound_seals and context.source != wire.NAME and _sealed(request.turns):
            _loosen(out, context)
        if request.stream is not None:
            out["stream"] = request.stream
        if request.extra is not None:
            make_room(out, request.extra)
            restore(out, request.extra, wire.NAME)
        return out

    def close(self) -> None:
        """Remove surplus cache marks."""
        # At most four breakpoints are accepted, and the automatic one counts (docs "Prompt caching", 2026-10).
        marks = self._blocks.marks
        if marks.marked:
            marks.cap(automatic="cache_control" in self._out)

    def wrapped(self, body: bytes) -> bytes:
        """The body unchanged."""
        return body


def _sealed(turns: tuple[Turn, ...]) -> bool:
    """Whether the history holds sealed thoughts of this dialect."""
    for turn in turns:
        for part in turn.parts:
            if type(part) is Reasoning and part.seal is not None and part.seal.dialect == wire.NAME and part.seal.data:
                return True
    return False


def _loosen(out: dict[str, Any], context: Context) -> None:
    """Ask Anthropic to drop thoughts whose history has changed, instead of refusing the request.

    From Fable 5.1 on a signature is valid only after the unedited prefix (docs "Extended thinking", 2026-10). A client
    of another dialect may edit earlier turns, and a subset of tools changes the list of tools.
    """
    thinking = out.setdefault("thinking", {"type": "adaptive"})
    if thinking["type"] == "adaptive":  # only adaptive thinking has this field (anthropic 2.8.0 beta types)
        # Without drop_block an edited history is refused with 400 (docs "Extended thinking", from Fable 5.1 on,
        # 2026-10).
        thinking["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
        ask_for(_BINDING, context)
        context.lose("seal.loosened")


def _refuses_force(out: dict[str, Any], context: Context) -> bool:
    """Whether the model refuses a forced choice: some models always (Fable 5.1, Opus 5.5), all models with a thinking
    budget (docs, 2026-10).
    """
    if not context.gates(wire.NAME):
        return False
    # Fable and Mythos 5.1 and 5.2, Opus 5.5 and Sonnet 5.5 refuse `any` and `tool`; manual thinking takes auto and none
    # only (docs, 2026-10).
    return context.profile.forced_choice == "refused" or out.get("thinking", {}).get("type") == "enabled"
