"""Gemini requests: read into canon, written from canon."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Extra, Opaque, Part, Path, Text, ToolResult
from ...canon.request import Request
from ...canon.tools import HostedTool, Tool
from ...canon.turns import Turn
from ...codec import json_text
from ...codec.admit import Admitted, Unknown
from ...codec.extras import carried, gather
from ...codec.features_in_words import with_system_as_user, with_taken_format
from ...codec.result_order import results_after_calls
from ...context import Context
from ...fast.envelope import HERE, Arounds, Noting, known_rim, leading
from ...fast.prefix import Recall, skimmer
from . import wire
from .call_pairing import Ids
from .history_writer import History, write_own
from .message import read_parts, write_part
from .original_values import put_back, with_field
from .sdk_form import admit_request
from .settings import read_settings, settings_extras, without_level, write_settings
from .tools import CHOICE_AT, MEMO, VALIDATED, read_choice, write_choice
from .validated_mode import strict_tools, write_mode

_USERS = frozenset({"user", "function", "tool", "", None})
_INVENTED = "(the conversation begins)"


def read_request(body: bytes, context: Context) -> Request:
    request = _skim(body)
    turns: list[Turn] = []
    if request is None or not _SAID.turns(request.contents, context, turns):
        admitted, moved = admit_request(body)
        context.moved.update(moved)
        return read_admitted(admitted, context)
    wire.check_text(body)
    if request.systemInstruction is not None:
        turns.insert(0, _read_system(request.systemInstruction, context, {}))
    read = _read_rest(request, turns, context, {})
    AROUND.learn(body, request.contents, read, context)
    return read


def read_admitted(admitted: Admitted[wire.GenerateRequest], context: Context) -> Request:
    """A request that is decoded: alone in its body, or from an envelope."""
    request, unknown, spelled = admitted
    context.spelled = spelled
    turns: list[Turn] = []
    if request.systemInstruction is not None:
        turns.append(_read_system(request.systemInstruction, context, unknown))
    contents = request.contents
    if isinstance(contents, list):
        _read_contents(contents, turns, context, unknown)
    elif isinstance(contents, str):
        turns.append(Turn("user", (Text(contents, at=("contents",)),), "", None, ("contents",)))
    else:
        _read_contents([contents], turns, context, unknown)
    return _read_rest(request, turns, context, unknown)


def _read_rest(request: wire.GenerateRequest, turns: list[Turn], context: Context, unknown: Unknown) -> Request:
    """Everything but the contents."""
    declared = request.tools
    if declared and bytes(memoryview(declared)[:1]) == b"{":  # one tool that stands in no list: the API takes it
        declared = Raw(b"[%b]" % bytes(declared))
        context.moved[("tools", 0)] = context.moved.get(("tools",), ("tools",))
    tools = MEMO.read(declared, context) if declared else ()
    config = request.toolConfig
    choice = None
    if config is not None and config.functionCallingConfig is not None:
        choice = read_choice(config.functionCallingConfig, context)
        if choice is not None and not choice.names and wire.mode_word(config.functionCallingConfig.mode) == VALIDATED:
            tools = strict_tools(tools, context)
            if all(isinstance(tool, HostedTool) for tool in tools):
                context.keep(CHOICE_AT, {"mode": json_text.raw(config.functionCallingConfig.mode)})
    settings = read_settings(request, context)
    return Request(
        tuple(turns), request.model or "", tools, choice, settings, None, _read_extras(request, context, unknown)
    )


def _read_extras(request: wire.GenerateRequest, context: Context, unknown: Unknown) -> Extra | None:
    more = None
    if request.safetySettings or request.store or request.modelArmorConfig or request.outputConfig:
        more = carried(request, wire.REQUEST_EXTRAS)
    extra = gather(context, (), unknown, more) if unknown or more else None
    told, silent = settings_extras(request, context)
    config = request.toolConfig
    if config is not None:
        for name in ("retrievalConfig", "includeServerSideToolInvocations"):
            if getattr(config, name):
                told["toolConfig", name] = getattr(config, name)
        calling = config.functionCallingConfig
        if calling is not None and calling.streamFunctionCallArguments:
            told[(*CHOICE_AT, "streamFunctionCallArguments")] = calling.streamFunctionCallArguments
    if request.cachedContent is not None or request.continuationToken is not None:
        _read_state(request, silent, context)
    if told or silent:
        for at, value in told.items():
            context.keep(at[:-1], {str(at[-1]): value})
        for at, value in {**told, **silent}.items():
            extra = with_field(extra, "/".join([str(step) for step in at]), value)
    return extra


def _read_state(request: wire.GenerateRequest, silent: dict[Path, Raw], context: Context) -> None:
    for name, state in (("cachedContent", request.cachedContent), ("continuationToken", request.continuationToken)):
        if state is not None:
            silent[name,] = json_text.raw(state)
            if context.target not in wire.KIN:
                context.lose("state.dropped", (name,), f"{name} names what only Google's server holds")


def _read_system(content: wire.Content | str, context: Context, unknown: Unknown) -> Turn:
    at: Path = ("systemInstruction",)
    if isinstance(content, str):
        return Turn("system", (Text(content, at=at),), "", None, at)
    parts = read_parts(content, at, Ids(context), unknown)
    extra = gather(context, at, unknown) if unknown else None
    if content.role is not None:
        extra = with_field(extra, "role", json_text.raw(content.role))
    return Turn("system", tuple(parts), "", extra, at)


def _read_raw(raw: Raw, i: int) -> tuple[Turn, ...] | None:
    """The turns of one content, if reading it loses and keeps nothing, and no id has to be made or found."""
    try:
        content = _content(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    alone = Context(wire.NAME, "")
    turns: list[Turn] = []
    _read_contents([content], turns, alone, {}, i)
    if alone.kept or len(alone.losses) or alone.spelled:
        return None
    for turn in turns:
        if any(type(part) is Opaque for part in turn.parts):
            return None
    return tuple(turns)


_skim = skimmer(wire.GenerateRequest, "contents")
_content = msgspec.json.Decoder(wire.Content).decode


def _group(said: list[tuple[Turn, ...]], turns: list[Turn]) -> None:
    """Neighbouring results are one turn."""
    before = turns[-1].role if turns else ""
    for group in said:
        for turn in group:
            if turn.role == "tool" and before == "tool":
                turns[-1] = _SAID.step("tool", [*turns[-1].parts, *turn.parts], turns[-1].at)
            else:
                turns.append(turn)
            before = turn.role


_SAID: Recall[tuple[Turn, ...]] = Recall(_read_raw, _group)
AROUND = Arounds(_SAID, "contents")


def _read_contents(
    contents: list[wire.Content], turns: list[Turn], context: Context, unknown: Unknown, begin: int = 0
) -> None:
    ids = Ids(context)
    spoken = False
    for i, content in enumerate(contents, begin):
        at: Path = ("contents", i)
        role = content.role
        if role == "model":
            if not spoken:
                ids.waiting.clear()  # what was asked before is answered or never will be
            spoken = True
            parts = read_parts(content, at, ids, unknown)
            extra = gather(context, at, unknown) if unknown else None
            turns.append(Turn("assistant", tuple(parts), "", extra, at))
            continue
        spoken = False
        if role not in _USERS:
            turns.append(Turn("user", (Opaque(wire.NAME, str(role), json_text.raw(content), at=at),), "", None, at))
            continue
        parts = read_parts(content, at, ids, unknown)
        extra = gather(context, at, unknown) if unknown else None
        results = [True for part in parts if type(part) is ToolResult]
        if not results:
            turns.append(Turn("user", tuple(parts), "", extra, at))
        elif len(results) == len(parts) and (extra is not None or not turns or turns[-1].role != "tool"):
            turns.append(Turn("tool", tuple(parts), "", extra, at))
        else:
            _split_results(parts, turns, extra, at)


def _split_results(parts: list[Part], turns: list[Turn], extra: Extra | None, at: Path) -> None:
    """A content with results in it: tool turns and user turns, in wire order. Results of one step are one turn."""
    run: list[Part] = []
    for part in parts:
        if run and isinstance(part, ToolResult) != isinstance(run[0], ToolResult):
            _add_run(run, turns, extra, at)
            run, extra = [], None
        run.append(part)
    _add_run(run, turns, extra, at)


def _add_run(run: list[Part], turns: list[Turn], extra: Extra | None, at: Path) -> None:
    if not isinstance(run[0], ToolResult):
        turns.append(Turn("user", tuple(run), "", extra, at))
    elif turns and turns[-1].role == "tool" and extra is None:
        before = turns.pop()
        turns.append(Turn("tool", before.parts + tuple(run), "", before.extra, before.at))
    else:
        turns.append(Turn("tool", tuple(run), "", extra, at))


def write_request(request: Request, context: Context) -> bytes:
    mine = context.source == wire.NAME
    profile = context.profile
    if not (profile.formats and profile.system) and context.gates(wire.NAME):
        request = with_taken_format(request, profile, context)
        if not profile.system:
            request = with_system_as_user(request, context)
    turns = request.turns if mine else results_after_calls(request.turns, context)
    rim = known_rim(request, turns, context)
    lead = leading(turns) if rim is None else rim.lead
    if mine:
        contents = write_own(turns[len(lead) :], context)
        # Between Gemini and its envelope what was said stays as it is, but nothing at all is refused by both.
        if not contents and (context.within != ()) is (context.target == wire.NAME):
            _begin(contents, turns[len(lead) :], context)
    else:
        contents = History(context).write(turns, len(lead))
        if not contents or _model_first(contents[0]):
            _begin(contents, turns[len(lead) :], context)
    if rim is None:
        rim = Noting(context).rim(_write_rest(request, lead, context), "contents", request, lead)
    elif rim.late:
        context.losses.replay(rim.late)
    return rim.around(contents)


def _begin(contents: list[Any], turns: tuple[Turn, ...], context: Context) -> None:
    """Have the user speak first."""
    context.lose("turn.invented", turns[0].at if turns else ())
    contents.insert(0, {"role": "user", "parts": [{"text": _INVENTED}]})


def _write_rest(request: Request, system: tuple[Turn, ...], context: Context) -> dict[str, Any]:
    """Everything but the contents."""
    mine = context.source == wire.NAME
    out: dict[str, Any] = {"contents": HERE}
    if mine and request.model and not context.model and not context.within:
        out["model"] = request.model
    if system:
        instruction = _write_system(system, context)
        if instruction is not None:
            out["systemInstruction"] = instruction
    if request.tools:
        tools = MEMO.write(request.tools, context)
        if tools:
            out["tools"] = tools
    _write_choice(request, out, context)
    write_mode(request, out, context)
    write_settings(request, out, context)
    put_back(out, without_level(request.extra, context))
    if context.target == wire.NAME and (not mine or context.within):
        _switch_hosted(request, out)
    return out


def _model_first(content: Any) -> bool:
    """What was written before, and is one text now, did not begin so."""
    return type(content) is dict and content.get("role") == "model"


def _switch_hosted(request: Request, out: dict[str, Any]) -> None:
    """The Developer API takes its own tools beside functions only with this switch, which Vertex refuses."""
    kinds = {type(tool) for tool in request.tools}
    if len(kinds) > 1 and "tools" in out:
        config: dict[str, Any] = out.setdefault("toolConfig", {})
        config["includeServerSideToolInvocations"] = True


def _write_choice(request: Request, out: dict[str, Any], context: Context) -> None:
    choice = request.choice
    if choice is None:
        return
    functions = any(isinstance(tool, Tool) for tool in request.tools)
    if functions or context.source == wire.NAME or choice.mode == "none":
        out["toolConfig"] = {"functionCallingConfig": write_choice(choice, request, context)}
    elif choice.mode != "auto":
        context.lose("choice.dropped", choice.at, "there are no functions to choose from")


def _write_system(system: tuple[Turn, ...], context: Context) -> dict[str, Any] | None:
    parts: list[Any] = []
    out: dict[str, Any] = {"parts": parts}
    for turn in system:
        if turn.name:
            context.lose("name.dropped", turn.at)
        for part in turn.parts:
            if isinstance(part, Text) or context.source == wire.NAME:
                written = write_part(part, context, request=True)
                if written is not None:
                    parts.append(written)
            else:
                context.lose("system.media.dropped", part.at)
        put_back(out, turn.extra)
    return out if parts else None
