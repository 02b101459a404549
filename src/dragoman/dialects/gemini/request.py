"""Reads and writes Gemini requests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Raw

from ...canon.parts import Extra, Opaque, Part, Path, Text, ToolResult
from ...canon.request import Request
from ...canon.tools import Choice, HostedTool, Tool
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.dialect_extras import gather, restore, sent_fields
from ...codec.format_and_system_fallbacks import with_system_as_user, with_taken_format
from ...codec.request_read_and_write_steps import PlainDocument, leading, read, write
from ...codec.results_after_calls import results_after_calls
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from . import wire
from .call_pairing import Ids
from .history_writer import History, OwnTurns, begins_with_model
from .media import with_details
from .message_content import read_parts, write_part
from .original_values import put_back, with_field
from .sdk_form import admit_request
from .settings import has_extras, image_form, read_settings, settings_extras, without_level, write_settings
from .tools import CHOICE_AT, MEMO, VALIDATED, read_choice, write_choice
from .validated_mode import strict_tools, write_mode

# Old samples use the roles function and tool for results; `user` is the documented role (google-genai 3.1.0, 2026-11).
_USERS = frozenset({"user", "function", "tool", "", None})
_USERS_ROLE: Extra = {wire.NAME: {"role": Raw(b'"user"')}}
"""The role that google-genai writes on every system instruction."""
_INVENTED = "(the conversation begins)"


def read_request(body: bytes, context: Context) -> Request:
    """Read a request into canon."""
    (request, unknown, context.spelled), moved = admit_request(body)
    if moved:
        context.moved.update(moved)
    contents = request.contents
    messages = contents if type(contents) is list else contents_of(request)
    return read(RequestReader(context, unknown), request, messages)


def contents_of(request: wire.GenerateRequest) -> list[wire.Content]:
    """The contents as a list. A single text is read before them."""
    contents = request.contents
    # protobuf's JSON form accepts one content without a list.
    return contents if isinstance(contents, list) else [] if isinstance(contents, str) else [contents]


class RequestReader:
    """Reads one request. The results of one step are one turn."""

    __slots__ = ("_after_model", "_context", "_ids", "_unknown", "resumable", "turns")

    def __init__(self, context: Context, unknown: Unknown | None = None) -> None:
        self._context = context
        self._unknown: Unknown = {} if unknown is None else unknown
        self._ids = Ids(context, keeps_originals=context.target in wire.KIN)
        self._after_model = False  # the last content is the model's
        self.turns: list[Turn] = []
        self.resumable = True

    def begin(self, head: wire.GenerateRequest) -> None:
        """Read `systemInstruction`, and contents that are one text."""
        if head.systemInstruction is not None:
            # systemInstruction is a field of its own, beside contents (google-genai 3.1.0, 2026-11).
            self.turns.append(_read_system(head.systemInstruction, self._ids, self._unknown))
            self._ids.waiting.clear()  # a call in the instruction gets no result
        if isinstance(head.contents, str):
            self.turns.append(Turn("user", (Text(head.contents, at=("contents",)),), "", None, ("contents",)))

    def restore(self, turns: Iterable[Turn]) -> None:
        """Continue after these turns."""
        self.turns = [*turns]
        self._after_model = bool(self.turns) and self.turns[-1].role == "assistant"

    def message(self, content: wire.Content, i: int) -> None:
        """Read one content."""
        context, unknown, turns, ids = self._context, self._unknown, self.turns, self._ids
        at: Path = ("contents", i)
        role = content.role
        if role == "model":
            if not self._after_model:
                # Calls and their results follow each other directly (gemini-cli 0.56 sources, 2026-08).
                ids.waiting.clear()  # earlier calls get no more results
            self._after_model = True
            parts = read_parts(content, at, ids, unknown)
            extra = gather(context, at, unknown) if unknown else None
            turns.append(Turn("assistant", tuple(parts), "", extra, at))
            return
        self._after_model = False
        if role not in _USERS:
            turns.append(Turn("user", (_read_strange_role(content, at, context, unknown),), "", None, at))
            return
        parts = read_parts(content, at, ids, unknown)
        extra = gather(context, at, unknown) if unknown else None
        for part in parts:
            if type(part) is ToolResult:
                _split_results(parts, turns, extra, at)
                return
        turns.append(Turn("user", tuple(parts), "", extra, at))

    def close(self) -> tuple[Turn, ...]:
        """All turns."""
        return tuple(self.turns)

    def finish(self, head: wire.GenerateRequest, turns: tuple[Turn, ...]) -> Request:
        """Read tools, settings and all other fields."""
        return _read_rest(head, turns, self._context, self._unknown)


def _read_strange_role(content: wire.Content, at: Path, context: Context, unknown: Unknown) -> Opaque:
    """A content whose role is unknown: it stays whole, with its unknown fields."""
    value = json_text.raw(content)
    extra = gather(context, at, unknown) if unknown else None
    if extra is not None:
        value = json_text.raw(restore(json_text.plain(value), extra, context.source))
    return Opaque(wire.NAME, str(content.role), value, at=at)


def _read_rest(request: wire.GenerateRequest, turns: tuple[Turn, ...], context: Context, unknown: Unknown) -> Request:
    """Read everything but the contents."""
    declared = request.tools
    # One tool without a list around it is read as a list of one tool.
    if declared and bytes(memoryview(declared)[:1]) == b"{":
        declared = Raw(b"[%b]" % bytes(declared))
        context.moved[("tools", 0)] = context.moved.get(("tools",), ("tools",))
    tools = MEMO.read(declared, context) if declared else ()
    config = request.toolConfig
    choice = None
    if config is not None and config.functionCallingConfig is not None:
        choice = read_choice(config.functionCallingConfig, context)
        # VALIDATED enforces the schemas of all functions (docs "Function calling", 2026-11).
        if choice is not None and not choice.names and wire.mode_word(config.functionCallingConfig.mode) == VALIDATED:
            tools = strict_tools(tools, context)
            if all(isinstance(tool, HostedTool) for tool in tools):
                context.keep(CHOICE_AT, {"mode": json_text.raw(config.functionCallingConfig.mode)})
    settings = read_settings(request, context)
    generation = request.generationConfig
    detailed = False
    if generation is not None and generation.mediaResolution:
        turns, detailed = with_details(turns, generation.mediaResolution, context)
    extra = _read_extras(request, context, unknown, detailed=detailed)
    return Request(turns, request.model or "", tools, choice, settings, None, extra)


def _read_extras(
    request: wire.GenerateRequest, context: Context, unknown: Unknown, *, detailed: bool = False
) -> Extra | None:
    config, generation = request.toolConfig, request.generationConfig
    more = sent_fields(request, wire.REQUEST_EXTRAS)
    extra = gather(context, (), unknown, more) if unknown or more else None
    stateful = request.cachedContent is not None or request.continuationToken is not None
    # Only this dialect and its kin get fields without meaning. Most requests have no other field.
    if not (detailed or stateful or context.target in wire.KIN):
        if (generation is None or not has_extras(generation)) and (config is None or not _has_more(config)):
            return extra
    reported, silent = settings_extras(request, context)
    if detailed:
        reported.pop(("generationConfig", "mediaResolution"), None)
    if config is not None:
        for name in ("retrievalConfig", "includeServerSideToolInvocations"):
            if getattr(config, name):
                reported["toolConfig", name] = getattr(config, name)
        calling = config.functionCallingConfig
        # streamFunctionCallArguments exists on Vertex only (google-genai 3.1.0, 2026-11).
        if calling is not None and calling.streamFunctionCallArguments:
            reported[(*CHOICE_AT, "streamFunctionCallArguments")] = calling.streamFunctionCallArguments
    if stateful:
        _read_state(request, silent, context)
    for at, value in reported.items():
        context.keep(at[:-1], {str(at[-1]): value})
    if context.target in wire.KIN:
        for at, value in {**reported, **silent}.items():
            extra = with_field(extra, "/".join([str(step) for step in at]), value)
    if generation is not None and generation.imageConfig:
        form = image_form(generation, context)[0]
        if form:
            extra = {**(extra or {}), context.target: {"image_config": json_text.raw(form)}}
    return extra


def _has_more(config: wire.ToolConfig) -> bool:
    """Whether `toolConfig` has fields besides the tool choice."""
    calling = config.functionCallingConfig
    if config.retrievalConfig or config.includeServerSideToolInvocations:
        return True
    return calling is not None and bool(calling.streamFunctionCallArguments)


def _read_state(request: wire.GenerateRequest, silent: dict[Path, Raw], context: Context) -> None:
    for name, state in (("cachedContent", request.cachedContent), ("continuationToken", request.continuationToken)):
        if state is not None:
            silent[name,] = json_text.raw(state)
            if context.target not in wire.KIN:
                # cachedContent and continuationToken name state on Google's server (google-genai 3.1.0, 2026-11).
                context.lose("state.dropped", (name,), f"{name} refers to data on Google's server only")


def _read_system(content: wire.Content | str, ids: Ids, unknown: Unknown) -> Turn:
    at: Path = ("systemInstruction",)
    if isinstance(content, str):
        return Turn("system", (Text(content, at=at),), "", None, at)
    parts = read_parts(content, at, ids, unknown)
    extra = gather(ids.context, at, unknown) if unknown else None
    if content.role == "user" and extra is None:
        extra = _USERS_ROLE
    elif content.role is not None:
        extra = with_field(extra, "role", json_text.raw(content.role))
    return Turn("system", tuple(parts), "", extra, at)


def _split_results(parts: list[Part], turns: list[Turn], extra: Extra | None, at: Path) -> None:
    """A content with results: tool turns and user turns, in wire order. The results of one step are one turn."""
    run: list[Part] = []
    for part in parts:
        if run and (type(part) is ToolResult) is not (type(run[0]) is ToolResult):
            _add_run(run, turns, extra, at)
            run, extra = [], None
        run.append(part)
    _add_run(run, turns, extra, at)


def _add_run(run: list[Part], turns: list[Turn], extra: Extra | None, at: Path) -> None:
    if type(run[0]) is not ToolResult:
        turns.append(Turn("user", tuple(run), "", extra, at))
    elif turns and turns[-1].role == "tool" and extra is None:
        before = turns.pop()
        # Results of one step may come in several contents: recorded requests with split results were answered with 200.
        turns.append(Turn("tool", before.parts + tuple(run), "", before.extra, before.at))
    else:
        turns.append(Turn("tool", tuple(run), "", extra, at))


def write_request(request: Request, context: Context) -> bytes:
    """Write a request from canon."""
    return write(RequestWriter(request, context))


class RequestWriter(PlainDocument):
    """Writes one request."""

    __slots__ = ("_history", "_own", "_request", "context", "lead", "messages", "resumable", "source", "turns")

    def __init__(self, request: Request, context: Context, source: str = "") -> None:
        self.context = context
        self.source = source or context.source
        self.turns = request.turns
        self.lead = 0
        self.resumable = True
        self._own = OwnTurns((), context) if self.source == wire.NAME else None
        self._request = request
        self._history = History(context, mine=self._own is not None)
        self.messages = self._history.contents

    def begin(self) -> None:
        """Adapt the request to the model, and prepare the turns."""
        request, context = self._request, self.context
        profile, mine = context.profile, self._own is not None
        if not (profile.formats and profile.system) and context.gates(wire.NAME):
            request = with_taken_format(request, profile, context)
            if not profile.system:
                request = with_system_as_user(request, context)
        # Every step with calls is followed at once by its responses (gemini-cli 0.56 sources, 2026-08).
        turns = request.turns if mine else results_after_calls(request.turns, context)
        self.resumable = turns is self.turns
        self._request = request
        lead = leading(turns)
        self.lead = len(lead)
        if mine:
            self._own = own = OwnTurns(turns[self.lead :], context)
            turns = (*lead, *own.turns)
        self.turns = turns

    def restore(self, messages: list[Any], begin: int, state: Any) -> None:
        """Continue after earlier contents."""
        self.messages = messages
        self._history.restore(messages, state)

    def write_turns(self, begin: int, end: int) -> None:
        """Write the turns from index `begin` to before index `end`."""
        own, turns, write = self._own, self.turns, self._history.turn
        # A history of another dialect gets dummies in all turns. So its bytes do not change when the open turn ends,
        # and stay cached.
        sealed = self.context.profile.seals
        for index in range(begin, end):
            write(turns[index], sealed=sealed if own is None else own.sealed(index - self.lead))

    def snapshot(self) -> tuple[list[Any], Any] | None:
        """The contents that later turns do not change, and the state after them."""
        return self._history.snapshot()

    def end(self) -> None:
        """Complete the history."""
        context, contents = self.context, self.messages
        self._history.settle()
        if self._own is not None:
            # Between Gemini and Code Assist the contents stay unchanged, except empty ones: Gemini answers "contents is
            # not specified" with 400 (NousResearch/hermes-agent pull 57942, 2026-07).
            if not contents and (context.within != ()) is (context.target == wire.NAME):
                _begin(contents, self.turns[self.lead :], context)
        # The first content must be the user's (lint rule GEM-010).
        elif not contents or begins_with_model(contents):
            _begin(contents, self.turns[self.lead :], context)

    def document(self, messages: Any) -> dict[str, Any]:
        """The request with these contents."""
        return _write_rest(self._request, self.turns[: self.lead], messages, self.context)


def _begin(contents: list[Any], turns: tuple[Turn, ...], context: Context) -> None:
    """Add a first user content: a history must begin with the user (gemini-cli 0.56 sources, 2026-08)."""
    context.lose("turn.invented", turns[0].at if turns else ())
    contents.insert(0, {"role": "user", "parts": [{"text": _INVENTED}]})


def _write_rest(request: Request, system: tuple[Turn, ...], contents: Any, context: Context) -> dict[str, Any]:
    mine = context.source == wire.NAME
    out: dict[str, Any] = {"contents": contents}
    if mine and request.model and not context.model and not context.within:
        # `model` is in the URL; a client's own field is kept.
        out["model"] = request.model
    if system:
        instruction = _write_system(system, context)
        if instruction is not None:
            out["systemInstruction"] = instruction
    if request.tools:
        tools = MEMO.write(request.tools, context)
        if tools:
            out["tools"] = tools
    if request.choice is not None:
        _write_choice(request, request.choice, out, context)
    if request.tools:
        write_mode(request, out, context)
    write_settings(request, out, context)
    if request.extra is not None:
        put_back(out, without_level(request.extra, context))
    if context.target == wire.NAME and (not mine or context.within):
        _switch_hosted(request, out)
    return out


def _switch_hosted(request: Request, out: dict[str, Any]) -> None:
    """Set the switch that the Developer API demands for hosted tools beside functions (google-genai 3.1.0, 2026-11).
    Vertex refuses it.
    """
    if "tools" in out and len(set(map(type, request.tools))) > 1:
        config: dict[str, Any] = out.setdefault("toolConfig", {})
        # The Developer API needs this flag for hosted tools beside functions; Vertex rejects it (google-genai 3.1.0,
        # 2026-11).
        config["includeServerSideToolInvocations"] = True


def _write_choice(request: Request, choice: Choice, out: dict[str, Any], context: Context) -> None:
    functions = any(isinstance(tool, Tool) for tool in request.tools)
    if functions or context.source == wire.NAME or choice.mode == "none":
        out["toolConfig"] = {"functionCallingConfig": write_choice(choice, request, context)}
    elif choice.mode != "auto":
        context.lose("choice.dropped", choice.at, "there are no functions to choose from")


def _write_system(system: tuple[Turn, ...], context: Context) -> dict[str, Any] | None:
    parts: list[Any] = []
    out: dict[str, Any] = {"parts": parts}
    for turn in system:
        # Contents have no participant name (google-genai 3.1.0, 2026-11).
        if turn.name:
            context.lose("name.dropped", turn.at)
        for part in turn.parts:
            if type(part) is Text or context.source == wire.NAME:
                written = write_part(part, context, request=True)
                if written is not None:
                    parts.append(written)
            else:
                # systemInstruction takes text parts only (google-genai 3.1.0, 2026-11).
                context.lose("system.media.dropped", part.at)
        put_back(out, turn.extra)
    return out if parts else None
