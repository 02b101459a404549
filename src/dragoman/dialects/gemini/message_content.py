"""Reads and writes the parts of one content, for requests and answers: texts, thoughts, media, calls, hosted parts,
seals.
"""

from __future__ import annotations

import base64
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ...canon.parts import Extra, Media, Opaque, Part, Path, Reasoning, Seal, Text, ToolCall
from ...codec import json_text
from ...codec.custom_tools import wrap_input
from ...codec.dialect_extras import gather, sent_fields
from ...codec.hosted_calls import made_elsewhere
from ...codec.packed_seals import GOOGLE_DUMMY, MARK, origin, pack
from ...codec.wire_decoding_with_unknown_fields import Indexed, Unknown
from ...context import Context
from . import wire
from .call_pairing import Ids
from .code_execution import read_code_part
from .hosted_calls import is_metadata, read_hosted
from .media import STANDARD, read_blob, read_detail, read_file, write_media
from .original_values import FALSE, ID, NULL, TRUE, own, put_back, with_field
from .tool_results import read_result
from .tools import ANY_NAMES, NAMES

DUMMY = GOOGLE_DUMMY

# Both documented dummies, literal and in base64: gemini-cli sends the literal, Python SDK users send base64 (2026-08).
DUMMIES = frozenset(
    spelling
    for word in (DUMMY, "context_engineering_is_the_way_to_go")
    for spelling in (word, base64.b64encode(word.encode()).decode())
)
_TWINS = tuple(
    (wire.snake(name), name)
    for name in ("inlineData", "fileData", "functionCall", "functionResponse", "thoughtSignature")
)
_NO_THOUGHT: Extra = {wire.NAME: {"thought": FALSE}}
_NO_ID: Extra = {wire.NAME: {ID: NULL}}


class _RawArguments(Struct, forbid_unknown_fields=True):
    text: str = msgspec.field(name="__raw")


_raw_arguments = msgspec.json.Decoder(_RawArguments).decode


def read_parts(content: wire.Content, base: Path, ids: Ids, unknown: Unknown) -> list[Part]:
    """The parts of a content. Three kinds of parts are nearly all of an agent's history, so they are tried first."""
    out: list[Part] = []
    parts = content.parts
    if not isinstance(parts, list):
        if parts is not None:
            read_part(parts, base + ("parts",), ids, unknown, out)
        return out
    for j, part in enumerate(parts):
        at = base + ("parts", j)
        call, result = part.functionCall, part.functionResponse
        if (
            unknown
            or type(part) is not wire.Part
            or part.thought
            or part.inlineData is not None
            or part.fileData is not None
        ):
            read_part(part, at, ids, unknown, out)
        elif part.text is not None:
            if call is None and result is None and part.thoughtSignature is None:
                out.append(Text(part.text, extra=None if part.thought is None else _NO_THOUGHT, at=at))
            else:
                read_part(part, at, ids, unknown, out)
        elif call is not None and result is None:
            out.append(_read_call(call, part, at, ids))
        elif result is not None and call is None and part.thoughtSignature is None:
            out.append(read_result(result, at, ids, None, _flagged(part, None) if ids.keeps_originals else None))
        else:
            read_part(part, at, ids, unknown, out)
    return out


def read_part(part: wire.Part, at: Path, ids: Ids, unknown: Unknown, out: list[Part]) -> None:
    """Append the values of one wire part; a part with several data fields gives several."""
    extra: Extra | None = None
    detail = ""
    if isinstance(part, wire.WidePart):
        if part.inline_data or part.file_data or part.function_call or part.function_response or part.thought_signature:
            _move_snake_case_fields(part, at, unknown, ids.context)
        if part.executableCode or part.codeExecutionResult or part.toolCall or part.toolResponse:
            _read_several(part, at, ids, unknown, out)
            return
        if part.mediaResolution:
            detail = read_detail(part.mediaResolution)
    call, result, blob, file, text = part.functionCall, part.functionResponse, part.inlineData, part.fileData, part.text
    if (call is not None) + (result is not None) + (blob is not None) + (file is not None) + (text is not None) > 1:
        _read_several(part, at, ids, unknown, out)
        return
    if unknown or isinstance(part, wire.WidePart):
        extra = _read_extra(part, at, unknown, detail, ids.context)
    if call is not None:
        out.append(_read_call(call, part, at, ids, extra))
        return
    seal = None
    if part.thoughtSignature is not None:
        # A dummy proves nothing, so it is kept as a plain field.
        if part.thoughtSignature in DUMMIES:
            extra = with_field(extra, "thoughtSignature", json_text.raw(part.thoughtSignature))
        else:
            # thoughtSignature must return on the same part, unchanged (docs "Thought signatures", 2026-10).
            seal = read_seal(part.thoughtSignature)
    if part.thought and (blob is not None or file is not None):
        ids.context.keep(at, {"thought": TRUE})  # media from the model's thinking
    if result is not None:
        out.append(read_result(result, at, ids, seal, _flagged(part, extra)))
    elif blob is not None:
        out.append(read_blob(blob, at, seal, _flagged(part, extra), detail))
    elif file is not None:
        out.append(read_file(file, at, seal, _flagged(part, extra), detail))
    # A part with `thought: true` is a summary of the model's thinking (google-genai 3.1.0, 2026-11).
    elif part.thought:
        _read_thought(text or "", at, seal, extra, out)
    # In a stream a signature may come on a last part with empty text (docs "Thought signatures", 2026-10).
    elif text is not None or seal is not None:
        out.append(Text(text or "", seal=seal, extra=_flagged(part, extra), at=at))
    elif extra is not None:
        # Modifiers without a data field.
        name = next(iter(extra.get(wire.NAME, {})), "")
        out.append(Opaque(wire.NAME, name, json_text.raw(part), extra=extra, at=at))


def _read_several(part: wire.Part, at: Path, ids: Ids, unknown: Unknown, out: list[Part]) -> None:
    """A part of a hosted tool; or, against the rules (one data field for each part, google-genai 3.1.0), several data
    fields: one part for each.
    """
    pieces = []
    # A part has exactly one data field (google-genai 3.1.0, 2026-11); other parts are divided.
    for name in ("text", "inlineData", "fileData", "functionCall", "functionResponse", *wire.HOSTED_PARTS):
        value = getattr(part, name, None)
        if value is not None and value is not wire.NONE and value != "":
            pieces.append((name, wire.WidePart(**{name: value})))
    last = pieces[-1][1]
    for name in ("thought", "thoughtSignature", "mediaResolution", *wire.PART_EXTRAS):
        setattr(last, name, getattr(part, name, getattr(last, name)))
    for name, piece in pieces:
        if name in wire.HOSTED_PARTS:
            extra = gather(ids.context, at, unknown) if unknown else None
            value = json_text.raw(piece)
            code = read_code_part(name, value, extra, at)
            out.append(code or read_hosted(name, value, extra, at))
        else:
            read_part(piece, at, ids, unknown, out)


def _read_thought(text: str, at: Path, seal: Seal | None, extra: Extra | None, out: list[Part]) -> None:
    if seal is not None and seal.dialect != wire.NAME:
        # Another upstream's thought was streamed to this client: its text in pieces, its seal on a last, empty piece.
        while out:
            before = out[-1]
            if type(before) is not Reasoning or before.seal is not None:
                break
            out.pop()
            text, at = before.text + text, before.at
    out.append(Reasoning(text, seal=seal, extra=extra, at=at))


def _move_snake_case_fields(part: wire.WidePart, at: Path, unknown: Unknown, context: Context) -> None:
    """Move snake_case fields to their camelCase twins. A field whose twin is set is kept as unknown."""
    for twin, name in _TWINS:
        value = getattr(part, twin)
        if value is None:
            continue
        setattr(part, twin, None)
        if getattr(part, name) is not None:
            unknown.setdefault(at, {})[twin] = json_text.raw(value)
            continue
        setattr(part, name, value)
        spelled = context.spelled
        if isinstance(spelled, Indexed):  # any other table has no paths below parts
            for path in spelled.below((*at, twin)):
                spelled[(*at, name, *path[len(at) + 1 :])] = spelled.pop(path)
        spelled[(*at, name)] = twin


def _read_extra(part: wire.Part, at: Path, unknown: Unknown, detail: str, context: Context) -> Extra | None:
    more = sent_fields(part, wire.PART_EXTRAS) if isinstance(part, wire.WidePart) else None
    extra = gather(context, at, unknown, more) if unknown or more else None
    if isinstance(part, wire.WidePart) and part.mediaResolution:
        if not detail or (part.inlineData is None and part.fileData is None):
            context.keep(at, {"mediaResolution": part.mediaResolution})
        extra = with_field(extra, "mediaResolution", part.mediaResolution)
    return extra


def _flagged(part: wire.Part, extra: Extra | None) -> Extra | None:
    """`thought` on a part that is not a thought: false has no meaning, but is restored."""
    if part.thought is None:
        return extra
    if extra is None and not part.thought:
        return _NO_THOUGHT
    return with_field(extra, "thought", TRUE if part.thought else FALSE)


def read_seal(slot: str) -> Seal:
    """The seal in a slot. google-genai returns it in the URL-safe alphabet, packed seals too."""
    if slot.startswith(MARK):
        slot = slot.translate(STANDARD)
    return origin(slot, wire.NAME)


def _read_call(call: wire.Call, part: wire.Part, at: Path, ids: Ids, extra: Extra | None = None) -> ToolCall:
    arguments = str(call.args, "utf-8")
    # `args` is an object, absent without arguments (google-genai 3.1.0, 2026-11).
    if arguments == "null" or arguments.startswith('{"__raw"'):
        arguments = read_arguments(arguments)
    slot = part.thoughtSignature
    seal = None
    if slot is not None:
        if slot not in DUMMIES:
            seal = read_seal(slot)
        elif ids.keeps_originals:
            extra = with_field(extra, "thoughtSignature", json_text.raw(slot))
    # functionCall.id is optional on Gemini 2.5 and older (google-genai 3.1.0, 2026-11).
    if not call.id or part.thought is not None or call.partialArgs is not None or call.willContinue is not None:
        extra = _read_call_extra(call, part, extra, ids)
    out = ToolCall(call.id or ids.mint(at), call.name or "", arguments, seal=seal, extra=extra, at=at)
    ids.waiting.add(out)
    return out


def _read_call_extra(call: wire.Call, part: wire.Part, extra: Extra | None, ids: Ids) -> Extra | None:
    if not ids.keeps_originals:
        return extra if call.id else _NO_ID  # `Ids` pairs a call without an id with its result by this mark
    extra = _flagged(part, extra)
    if not call.id:
        extra = _NO_ID if extra is None else with_field(extra, ID, NULL)
    if call.partialArgs is not None:
        extra = with_field(extra, "functionCall/partialArgs", json_text.raw(call.partialArgs))
    if call.willContinue is not None:
        extra = with_field(extra, "functionCall/willContinue", json_text.raw(call.willContinue))
    return extra


def read_arguments(text: str) -> str:
    """`args` as arguments. Wrapped text is unwrapped."""
    if text == "null":
        return ""
    if text.startswith('{"__raw"'):
        try:
            return _raw_arguments(text).text
        except msgspec.DecodeError:
            return text
    return text


def write_part(part: Part, context: Context, *, request: bool) -> Any:
    """One part on the wire; None if nothing of it can be written. Results are not written here."""
    if type(part) is Text and part.text and part.seal is None and part.extra is None and part.cache is None:
        if not part.refusal and not (part.citations and request):
            return {"text": part.text}
    if type(part) is ToolCall:
        return write_call(part, context, request=request)
    # There are no cache marks: explicit caching uses cachedContent (google-genai 3.1.0, 2026-11).
    if part.cache is not None:
        context.lose("cache.dropped", part.at)
    out: dict[str, Any] | None
    if type(part) is Text:
        out = _write_text(part, context, request)
    elif type(part) is Reasoning:
        out = _write_thought(part, context, request)
    elif type(part) is Media:
        out = write_media(part, context)
    elif isinstance(part, Opaque) and part.dialect == wire.NAME:
        if is_metadata(part):
            return None  # it is written beside the content
        if request and made_elsewhere(part):
            context.lose("hosted.dropped", part.at, f"{part.kind}: no upstream of this dialect made it")
            return None
        return part.value if part.extra is None else put_back(json_text.fields(part.value), part.extra)
    else:
        kind = part.kind if isinstance(part, Opaque) else type(part).__name__
        context.lose("hosted.dropped" if isinstance(part, Opaque) else "part.dropped", part.at, kind)
        return None
    if out is None:
        return None
    if part.seal is not None:
        write_seal(part.seal, out, part.at, context, request)
    return out if part.extra is None else put_back(out, part.extra)


def write_seal(seal: Seal, out: dict[str, Any], at: Path, context: Context, request: bool) -> None:
    """Write a seal: an own seal unchanged; a foreign one packed for the client, and never for the upstream. Google
    refuses a signature of another model or endpoint (400, reported by users, 2026).
    """
    if not seal.data and context.source != wire.NAME:
        return  # an empty seal only names the origin
    if seal.dialect == wire.NAME:
        out["thoughtSignature"] = seal.data
    elif request:
        # A foreign signature is refused (400 "Corrupted thought signature", reported by users, 2026).
        context.lose("seal.dropped", at)
    else:
        out["thoughtSignature"] = pack(seal)


def _write_text(part: Text, context: Context, request: bool) -> dict[str, Any] | None:
    if request and part.citations:
        context.lose("citation.dropped", part.at)
    # Gemini has no refusal part (google-genai 3.1.0, 2026-11).
    if part.refusal:
        context.lose("refusal.as_text", part.at)
    if part.text or context.source == wire.NAME:
        return {"text": part.text}
    if part.seal is None:
        return None
    if request and part.seal.dialect != wire.NAME:
        context.lose("seal.dropped", part.at)
        return None
    return {"text": ""}


def _write_thought(part: Reasoning, context: Context, request: bool) -> dict[str, Any] | None:
    """A thought for the upstream if it is its own, or if it has no seal; a client gets every thought.

    gemini-2.5-flash accepted unsigned thoughts (recorded traffic). Models that demand seals in the open turn get
    no unsigned thought at all. An open step must stay as it was signed. If a thought were left out in the open turn and
    sent later, the bytes that the upstream has cached would change.
    """
    mine = part.seal.dialect == wire.NAME if part.seal is not None else context.source == wire.NAME
    # gemini-cli does not send thoughts back (0.56 sources, 2026-08).
    if request and not mine and not (part.seal is None and part.text and not context.profile.seals):
        if part.text:
            context.lose("reasoning.dropped", part.at)
        if part.seal is not None and part.seal.data:
            context.lose("seal.dropped", part.at)
        return None
    if not part.text and part.seal is None and not mine:
        return None
    return {"text": part.text, "thought": True}


def write_call(call: ToolCall, context: Context, *, request: bool) -> dict[str, Any]:
    """A functionCall part."""
    mine = context.source == wire.NAME
    names = NAMES if request and not mine else ANY_NAMES
    inner: dict[str, Any] = {
        # Gemini 3 matches results by id; a mismatch can give an empty answer (one user's report, 2026-11).
        "id": call.id,
        "name": names.send(call.name, call.namespace, context, call.at),
        "args": json_text.object_raw(call.arguments),
    }
    if inner["args"] is None or call.custom or not call.arguments:
        _write_arguments(call, inner, context)
    out: dict[str, Any] = {"functionCall": inner}
    if call.cache is not None:
        context.lose("cache.dropped", call.at)
    if call.seal is not None:
        write_seal(call.seal, out, call.at, context, request)
    if not call.id or (call.extra is not None and own(call.extra, ID) is not None):
        del inner["id"]
    return out if call.extra is None else put_back(out, call.extra)


def _write_arguments(call: ToolCall, inner: dict[str, Any], context: Context) -> None:
    """Write `args`, which must be an object: other text is wrapped under __raw, which the reader recognises."""
    # There are no tools with free text input (google-genai 3.1.0, 2026-11).
    if call.custom:
        context.lose("call.custom.wrapped", call.at)
        inner["args"] = Raw(wrap_input(call.arguments))
    elif call.arguments:
        inner["args"] = {"__raw": call.arguments}
        if context.source != wire.NAME:
            context.lose("arguments.invalid", call.at)
    elif context.source == wire.NAME:
        del inner["args"]
