"""Removes Gemini fields, parts and tools that Code Assist does not accept from requests of other dialects.

gemini-cli copies a fixed list of fields into the envelope, and the request inside is read as on Vertex (0.56, 2026-08).
Fields, parts and tools of the Developer API are therefore left out and reported. A history has no thoughts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import Extra, Opaque, Part, Path, Reasoning, Seal, Text
from ...canon.request import Request
from ...canon.tools import HostedTool, Tool
from ...canon.turns import Turn
from ...codec import packed_seals
from ...codec.request_read_and_write_steps import same_items
from ...context import Context
from ..gemini import wire as gemini
from ..gemini.original_values import TRUE
from .wire import NAME

CONFIG = frozenset(
    {
        "temperature",
        "topP",
        "topK",
        "candidateCount",
        "maxOutputTokens",
        "stopSequences",
        "responseLogprobs",
        "logprobs",
        "presencePenalty",
        "frequencyPenalty",
        "seed",
        "responseMimeType",
        "responseSchema",
        "responseJsonSchema",
        "routingConfig",
        "modelSelectionConfig",
        "responseModalities",
        "mediaResolution",
        "speechConfig",
        "audioTimestamp",
        "thinkingConfig",
    }
)
"""The fields of generationConfig that gemini-cli copies (0.56, 2026-08)."""

# The other fields of a request that gemini-cli copies (0.56, 2026-08).
_TAKEN = frozenset({"safetySettings", "cachedContent", "labels", "generationConfig"})
_TAKEN_BELOW = frozenset({"retrievalConfig", "functionCallingConfig"})
# Parts, tools and part fields that only the Developer API has (google-genai 3.1.0, 2026-11).
_PARTS = frozenset({"toolCall", "toolResponse"})
_TOOLS = frozenset({"fileSearch", "mcpServers"})
_PART_FIELDS = frozenset({"partMetadata"})
_LEVEL = "generationConfig/thinkingConfig/thinkingLevel"
_DEFAULT_TIERS = (None, "auto")
_ROLE: dict[str, Raw] = {"role": Raw(b'"user"')}


def fitted(request: Request, context: Context) -> Request:
    """The request without everything that Code Assist does not accept. Each omission is a loss. The model moves to the
    envelope.
    """
    changes: dict[str, Any] = {"turns": fitted_turns(request.turns, context), "model": ""}
    settings = request.settings
    # serviceTier is not among the copied fields (gemini-cli 0.56, 2026-08).
    if settings.tier not in _DEFAULT_TIERS:
        context.lose("tier.dropped", settings.at.get("tier", ()), str(settings.tier))
    if settings.tier is not None:
        changes["settings"] = msgspec.structs.replace(settings, tier=None)
    # Only Gemini's documents have extras and hosted tools under Gemini's name; Gemini's writer adapts all others.
    if context.source == gemini.NAME:
        changes["extra"] = _fitted_extra(unspelled(request), context)
        if any(isinstance(tool, HostedTool) for tool in request.tools):
            changes["tools"] = fitted_tools(request.tools, context)
    return msgspec.structs.replace(request, **changes)


def unspelled(request: Request) -> Extra | None:
    """The extras without the original spelling of a thinking level that the canon has: the target may need a budget
    instead.
    """
    extra = request.extra
    if extra is None or request.settings.effort is None or _LEVEL not in extra.get(gemini.NAME, {}):
        return extra
    left = {name: value for name, value in extra[gemini.NAME].items() if name != _LEVEL}
    return {**extra, gemini.NAME: left}


def _fitted_extra(extra: Extra | None, context: Context) -> Extra | None:
    if extra is None or gemini.NAME not in extra:
        return extra
    left: dict[str, Raw] = {}
    for name, value in extra[gemini.NAME].items():
        if _taken(name):
            left[name] = value
        elif bytes(value) != b"null":
            context.lose("field.dropped", _path(name))
    return {**extra, gemini.NAME: left}


def _taken(name: str) -> bool:
    first, *below = name.split("/")
    if first == "generationConfig" and below:
        return below[0] in CONFIG
    if first == "toolConfig" and below:
        return below[0] in _TAKEN_BELOW
    return first in _TAKEN or first.startswith("dragoman.") or bool(below)


def _path(name: str) -> Path:
    return tuple([step.replace("~1", "/").replace("~0", "~") for step in name.split("/")])


def fitted_tools(tools: Iterable[Tool | HostedTool], context: Context) -> tuple[Tool | HostedTool, ...]:
    """The tools without the tools that only the Developer API runs."""
    out: list[Tool | HostedTool] = []
    for tool in tools:
        if isinstance(tool, HostedTool) and tool.dialect == gemini.NAME and tool.kind in _TOOLS:
            context.lose("tool.hosted.dropped", tool.at, tool.kind)
        else:
            out.append(tool)
    return tuple(out)


def fitted_turns(turns: tuple[Turn, ...], context: Context) -> tuple[Turn, ...]:
    """The turns without thoughts and parts of the Developer API only."""
    out: list[Turn] = []
    close = context.source == gemini.NAME
    gone = False
    for place, turn in enumerate(turns):
        # A systemInstruction is a Content with the role user (gemini-cli 0.56, 2026-08).
        if place == 0 and turn.role in ("system", "developer"):
            mine = (turn.extra or {}).get(gemini.NAME, {})
            turn = msgspec.structs.replace(turn, extra={**(turn.extra or {}), gemini.NAME: {**_ROLE, **mine}})
        elif turn.role == "assistant" or close:
            if any(_needs_fitting(part) for part in turn.parts):
                parts = tuple([fit for part in turn.parts if (fit := _fitted_part(part, context)) is not None])
                if not same_items(parts, turn.parts):
                    turn = msgspec.structs.replace(turn, parts=parts)
                if not parts:
                    context.lose("turn.dropped", turn.at)
                    gone = True
                    continue
        if gone and out and out[-1].role == turn.role:
            # The turn between them was removed, and two turns of one role in a row are not written.
            out[-1] = msgspec.structs.replace(out[-1], parts=out[-1].parts + turn.parts)
        else:
            out.append(turn)
        gone = False
    return tuple(out)


def with_seals_of_gemini(turn: Turn) -> Turn:
    """The turn with its seals under Gemini's name: a seal packed under this dialect's name goes to Gemini's field."""
    if not any(part.seal is not None and part.seal.dialect == NAME for part in turn.parts):
        return turn
    return msgspec.structs.replace(turn, parts=tuple([_homed(part) for part in turn.parts]))


def _homed(part: Part) -> Part:
    seal = part.seal
    if seal is None or seal.dialect != NAME:
        return part
    inner = packed_seals.unpack(seal.data)
    # A seal that was never packed is Gemini's own signature.
    if inner is None or inner.dialect != gemini.NAME:
        inner = Seal(gemini.NAME, seal.data, seal.kind, seal.model)
    return msgspec.structs.replace(part, seal=inner)


def _needs_fitting(part: Part) -> bool:
    return isinstance(part, Reasoning | Opaque) or part.extra is not None


def _fitted_part(part: Part, context: Context) -> Part | None:
    if isinstance(part, Opaque) and part.dialect == gemini.NAME and part.kind in _PARTS:
        context.lose("hosted.dropped", part.at, part.kind)
        return None
    if isinstance(part, Reasoning):
        return _fitted_thought(part, context)
    mine = part.extra.get(gemini.NAME, {}) if part.extra is not None else {}
    gone: frozenset[str] = _PART_FIELDS & mine.keys()
    if mine.get("thought") == TRUE:
        gone |= {"thought"}  # gemini-cli removes the flag beside media
    if gone:
        for name in gone:
            context.lose("field.dropped", (*part.at, name))
        left = {name: value for name, value in mine.items() if name not in gone}
        return msgspec.structs.replace(part, extra={**(part.extra or {}), gemini.NAME: left})
    return part


def _fitted_thought(thought: Reasoning, context: Context) -> Part | None:
    """The thought as text with Gemini's seal; None if it has no such seal.

    gemini-cli rewrites thoughts in the history to text and keeps thoughtSignature (0.56, 2026-08). The seal must stay
    on the text that it came with.
    """
    seal = thought.seal
    if seal is None or seal.dialect != gemini.NAME or not seal.data:
        if thought.text:
            context.lose("reasoning.dropped", thought.at)
        if seal is not None and seal.data:
            context.lose("seal.dropped", thought.at)
        return None
    if thought.text:
        context.lose("part.as_text", thought.at, "a sealed thought")
    return Text(thought.text, seal=seal, extra=thought.extra, at=thought.at)
