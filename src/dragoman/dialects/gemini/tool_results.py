"""Reads and writes function responses.

Only two keys of `response` have a meaning: `output` and `error` (google-genai 3.1.0, 2026-11). Any other object is the
result itself.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from ...canon.parts import Extra, Media, Opaque, Part, Path, Seal, Text, ToolResult, plain_text
from ...codec import json_text
from ...codec.dialect_extras import sent_fields
from ...codec.media import note, registered_media_type
from ...context import Context
from . import wire
from .call_pairing import Ids
from .media import read_blob, read_file, was_read, write_media
from .original_values import ID, KEY, NULL, own, put_back, with_field

NESTED = frozenset({"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"})
"""Media types that may be inside a function response (docs "Function calling", multimodal responses, 2026-10)."""

_UNNAMED = "unknown_tool"
NO_RESULT = "No result was recorded for this call."


class _Words(Struct, forbid_unknown_fields=True, gc=False):
    """The usual response: one text under one of the two keys."""

    output: str | None = None
    error: str | None = None


_words = msgspec.json.Decoder(_Words).decode
_NOTHING = _Words()
_string = msgspec.json.Decoder(str).decode


class _ResponseContent(Struct):
    """The content of a `response`."""

    parts: tuple[Part, ...]
    is_error: bool = False
    structured: bool = False
    key: str | None = None


def read_result(
    result: wire.Result, at: Path, ids: Ids, seal: Seal | None = None, extra: Extra | None = None
) -> ToolResult:
    """A tool result, paired with its call."""
    call_id = result.id
    if not call_id or not ids.waiting.answer_next(call_id):
        call_id, mark = ids.of_result(result, at)
        if mark is not None and ids.keeps_originals:
            extra = with_field(extra, ID, mark)
    if result.willContinue or result.scheduling:
        fields = sent_fields(result, ("willContinue", "scheduling")) or {}
        # willContinue and scheduling are for functions that do not block (google-genai 3.1.0, 2026-11).
        ids.context.keep((*at, "functionResponse"), fields)
        if ids.keeps_originals:
            for name, value in fields.items():
                extra = with_field(extra, f"functionResponse/{name}", value)
    try:
        words = _words(result.response)
    except (msgspec.DecodeError, RecursionError):
        words = _NOTHING
    parts: tuple[Part, ...]
    is_error = structured = False
    # `output` and `error` have a meaning; any other object counts as output (google-genai 3.1.0, 2026-11).
    if words.error is None and words.output is not None:
        parts = (Text(words.output, at=at),)
    elif words.error is not None and words.output is None:
        # A failure with only media: `error` must be there and is empty.
        parts = (Text(words.error, at=at),) if words.error or not result.parts else ()
        is_error = True
    else:
        content = _read_response(result.response, at, bool(result.parts))
        parts, is_error, structured = content.parts, content.is_error, content.structured
        if content.key is not None and ids.keeps_originals:
            extra = with_field(extra, KEY, json_text.raw(content.key))
    if result.parts:
        parts = (*parts, *[_read_part(part, i, at) for i, part in enumerate(result.parts)])
    return ToolResult(call_id, parts, result.name or "", is_error, structured, seal=seal, extra=extra, at=at)


def _read_response(response: Raw, at: Path, media: bool) -> _ResponseContent:
    try:
        fields = json_text.fields(response)
    except (msgspec.DecodeError, RecursionError):
        # The field is an object (google-genai 3.1.0, 2026-11). The text of another value is kept.
        return _ResponseContent((Text(_text(response), at=at),) if response else ())
    if not fields:
        return _ResponseContent(()) if media else _ResponseContent((Text("{}", at=at),), structured=True)
    failed = fields.get("error", NULL)
    if bytes(failed) != b"null":
        if len(fields) > 1:
            return _ResponseContent((Text(json_text.text(response), at=at),), True, True, "")
        structured = not bytes(failed).startswith(b'"')
        return _ResponseContent((Text(_text(failed), at=at),), True, structured)
    if len(fields) == 1 and "output" in fields:
        value = fields["output"]
        return _ResponseContent((Text(json_text.text(value), at=at),), False, True, "output")
    return _ResponseContent((Text(json_text.text(response), at=at),), structured=True)


def _text(value: Raw) -> str:
    """The text of a string; the JSON text of any other value."""
    try:
        return _string(value)
    except msgspec.DecodeError:
        return json_text.text(value)


def _read_part(part: wire.ResultPart, place: int, base: Path) -> Part:
    at = (*base, "functionResponse", "parts", place)
    extra = {wire.NAME: {"mediaProcessing": part.mediaProcessing}} if part.mediaProcessing else None
    blobs = [blob for blob in (part.inlineData, part.inline_data) if blob is not None]
    files = [file for file in (part.fileData, part.file_data) if file is not None]
    if len(blobs) == 1 and not files:
        return read_blob(blobs[0], at, None, extra)
    if len(files) == 1 and not blobs:
        return read_file(files[0], at, None, extra)
    return Opaque(wire.NAME, "functionResponse.parts", json_text.raw(part), at=at)


def write_result(result: ToolResult, call: Any, siblings: list[Any], context: Context) -> dict[str, Any]:
    """A functionResponse part. `call`: the call as sent, or None; the API pairs by id and name (google-genai 3.1.0,
    2026-11). Media that cannot be inside goes to `siblings`, which follow all results.
    """
    nested: list[Any] = []
    text = plain_text(result.parts)
    if text is None:
        text, nested = _write_content(result, siblings, context)
        if text is None and not result.is_error:
            text = _words_for_media(result, context)
        for part in result.parts:
            if part.cache is not None:
                context.lose("cache.dropped", part.at)
    response: Any
    if text is None or result.structured:
        response = _write_response(result, text)
    else:
        # `response` must be an object (google-genai 3.1.0, 2026-11).
        response = {"error" if result.is_error else "output": text}
    call_id, name = result.call_id, result.name
    if call is not None:
        call_id = call.get("id", "")
        # The name of a result must be the name of its call (lint rule GEM-007).
        if not name or context.source != wire.NAME:
            name = call["name"]
    elif not name:
        context.lose("call.name.invented", result.at, f"no call {result.call_id!r} in the history")
        name = _UNNAMED
    inner = {"id": call_id, "name": name, "response": response}
    if nested:
        inner["parts"] = nested
    out: dict[str, Any] = {"functionResponse": inner}
    if result.cache is not None:
        context.lose("cache.dropped", result.at)
    if result.seal is not None:
        if result.seal.dialect == wire.NAME:
            out["thoughtSignature"] = result.seal.data
        else:
            context.lose("seal.dropped", result.at)
    if not call_id:
        del inner["id"]
    if result.extra is None:
        return out
    mark = own(result.extra, ID)
    if mark is not None:
        inner["id"] = json_text.plain(mark)
        if inner["id"] is None:
            del inner["id"]
    return put_back(out, result.extra)


def _words_for_media(result: ToolResult, context: Context) -> str | None:
    """The text for a result with only media, as Google's own client writes it (gemini-cli 0.56 sources, 2026-08): an
    empty object has no meaning for the model. None for a result of this dialect without text.
    """
    media = next((part for part in result.parts if isinstance(part, Media)), None)
    return None if media is None or was_read(media, context) else note(media)


def write_missing(call: Any) -> dict[str, Any]:
    """An error result for a call without one: the upstream refuses an open call (lint rule GEM-006)."""
    inner: dict[str, Any] = {"id": call["id"]} if "id" in call else {}
    return {"functionResponse": {**inner, "name": call["name"], "response": {"error": NO_RESULT}}}


def write_orphan(result: ToolResult, siblings: list[Any], context: Context) -> dict[str, Any]:
    """A result without its call, as user text."""
    of = f" of {result.name}" if result.name else ""
    head = f"[result{of}, call {result.call_id}]" if result.call_id else f"[result{of}]"
    text = plain_text(result.parts)
    if text is None:
        text, nested = _write_content(result, siblings, context)
        siblings.extend(nested)
    return {"text": f"{head}\n{text}" if text else head}


def _write_response(result: ToolResult, text: str | None) -> Any:
    """The `response` object of a structured result: the value itself, or the value under `output` or `error`."""
    if text is None:
        return {"error": ""} if result.is_error else {}
    mark = own(result.extra, KEY)
    key = json_text.plain(mark) if mark is not None else None
    if key == "" or (key is None and not result.is_error and json_text.is_object(text)):
        return Raw(text)
    value: Any = Raw(text)
    if mark is None and not _is_json(text):
        value = text
    return {key or ("error" if result.is_error else "output"): value}


def _is_json(text: str) -> bool:
    try:
        json_text.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return False
    return True


def _write_content(result: ToolResult, siblings: list[Any], context: Context) -> tuple[str | None, list[Any]]:
    """The text of the result (None: only media), and the media inside it."""
    texts: list[str] = []
    nested: list[Any] = []
    moved = False
    for part in result.parts:
        if isinstance(part, Text):
            texts.append(part.text)
        elif isinstance(part, Media):
            moved |= _write_nested(part, texts, nested, siblings, context)
        elif isinstance(part, Opaque) and part.dialect == wire.NAME:
            nested.append(json_text.fields(part.value))  # as a dict, so that unknown fields can be restored
        else:
            context.lose("part.dropped", part.at, part.kind if isinstance(part, Opaque) else type(part).__name__)
    # A response has one output.
    if len(texts) > 1:
        context.lose("result.texts.joined", result.at, f"{len(texts)} texts")
    if texts:
        return "\n".join(texts), nested
    if moved:
        return note(next(part for part in result.parts if isinstance(part, Media))), nested
    return (None if nested else ""), nested


def _write_nested(media: Media, texts: list[str], nested: list[Any], siblings: list[Any], context: Context) -> bool:
    """Put media at a legal place. True: beside the result."""
    if context.binary == "summarise":
        context.lose("media.summarised", media.at)
        texts.append(note(media))
        return False
    # png, jpeg, webp, pdf and text/plain may be nested; audio and video never (docs "Function calling", 2026-10).
    taken = was_read(media, context) or (media.data and registered_media_type(media.mime) in NESTED)
    # Gemini 2.5 and older answer nested media with 400; gemini-cli puts it beside the functionResponse (0.56 sources,
    # 2026-08).
    if context.profile.nested_media and taken:
        nested.append(put_back(write_media(media, context, nested=True), media.extra))
        return False
    context.lose("result.media.moved", media.at)
    siblings.append(put_back(write_media(media, context, result=True), media.extra))
    return True
