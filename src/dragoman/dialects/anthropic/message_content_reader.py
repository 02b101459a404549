"""Reads the content blocks of one message into parts, with their citations, for requests and answers.

`message_content_writer.py` does the reverse.
"""

from __future__ import annotations

import base64
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from ...canon.parts import Citation, Extra, Media, Part, Path, Reasoning, Text, ToolCall, ToolResult
from ...codec import json_text
from ...codec.call_ids import id_from_path
from ...codec.dialect_extras import NULL, gather, restore, sent_fields
from ...codec.media import guess_mime
from ...codec.packed_seals import origin
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from ...errors import WireError
from . import wire
from .compaction import KIND as COMPACTION
from .compaction import read_compaction
from .hosted_calls import read_hosted
from .wire_by_block_type import admit_content, take_misplaced_fields

BLOCK = "dragoman.block"
"""The name of the extra that holds the original block. A text has this extra if it replaces a block that only this
dialect has."""

WRAPPED = '{"__raw"'
"""The first characters of arguments that are wrapped because they are not a JSON object."""
_DIRECT = frozenset({b'{"type":"direct"}', b'{"type": "direct"}'})
"""The usual spellings of the default caller."""
_NOT_IN_SOURCE = {
    "base64": ("url", "file_id", "content"),
    "text": ("url", "file_id", "content"),
    "url": ("media_type", "data", "file_id", "content"),
    "file": ("media_type", "data", "url", "content"),
}


class _Unparsed(Struct, forbid_unknown_fields=True):
    """The wrapper of arguments that are not a JSON object."""

    raw: str = msgspec.field(name="__raw")


class _PlainBlock(Struct, forbid_unknown_fields=True, gc=False):
    """A text block without other fields."""

    type: Literal["text"]
    text: str


_unparsed = msgspec.json.Decoder(_Unparsed).decode
_plain_block = msgspec.json.Decoder(_PlainBlock).decode


def marked(extra: Extra | None, name: str, value: Raw) -> Extra:
    """`extra` with one more field. No other dialect reports this field as a loss (such as a default that the client
    wrote).
    """
    return {**(extra or {}), wire.NAME: {**(extra or {}).get(wire.NAME, {}), name: value}}


def own_fields(extra: Extra | None) -> dict[str, Raw]:
    """The extra fields of this dialect."""
    return extra.get(wire.NAME, {}) if extra is not None else {}


def read_content(
    content: str | list[wire.Block], at: Path, context: Context, unknown: Unknown, model: str = ""
) -> list[Part]:
    """The parts of the content at `at`."""
    if isinstance(content, str):
        return [Text(content, at=at)]
    parts: list[Part] = []
    for i, block in enumerate(content):
        # Nearly all blocks are one of these three without other fields; `read_block` reads all others.
        part: Part | None = None
        if block.cache_control is None and not unknown:
            kind = block.type
            if kind == "tool_use":
                # `caller` is direct unless code execution made the call (docs "Programmatic tool calling", 2026-10).
                default_caller = not block.caller or (context.target != wire.NAME and _is_direct(block.caller))
                if default_caller and not block.toolset_name and block.id and block.name and block.input:
                    arguments = str(block.input, "utf-8")
                    if '"__raw"' not in arguments[:16]:
                        part = ToolCall(block.id, block.name, arguments, at=at + (i,))
            elif kind == "tool_result":
                inside = block.content
                if type(inside) is str and block.tool_use_id and block.is_error is None and not block.toolset_name:
                    part = ToolResult(block.tool_use_id, (Text(inside, at=at + (i, "content")),), at=at + (i,))
            elif kind == "text" and block.text is not None and (not block.citations or block.citations == NULL):
                part = Text(block.text, at=at + (i,))
        parts.append(part if part is not None else read_block(block, at + (i,), context, unknown, model))
    return parts


def read_block(block: wire.Block, at: Path, context: Context, unknown: Unknown, model: str = "") -> Part:
    """The part of one block. A block that the canon has no part for becomes Opaque."""
    kind = block.type
    if kind == "tool_use" and block.name is not None:
        return read_call(block, at, context, unknown)
    if kind == "tool_result" and block.tool_use_id is not None:
        return _read_result(block, at, context, unknown)
    if kind == "text" and block.text is not None:
        cache, extra = _hangings(block, (), at, context, unknown)
        citations: tuple[Citation, ...] = ()
        if block.citations and block.citations != NULL:
            citations = read_citations(block.citations, at, context)
        return Text(block.text, citations=citations, cache=cache, extra=extra, at=at)
    if kind == "thinking" and block.thinking is not None:
        extra = gather(context, at, unknown) if unknown else None
        # The signature must return unchanged, or Anthropic answers with 400 (docs "Extended thinking", 2026-10): it
        # becomes a seal.
        seal = origin(block.signature, wire.NAME, "", model) if block.signature else None
        return Reasoning(block.thinking, seal=seal, extra=extra, at=at)
    # redacted_thinking has encrypted data and no text; it must return unchanged (docs "Extended thinking", 2026-10).
    if kind == "redacted_thinking" and block.data is not None:
        extra = gather(context, at, unknown) if unknown else None
        return Reasoning("", seal=origin(block.data, wire.NAME, "redacted", model), extra=extra, at=at)
    if kind in ("image", "document"):
        media = _read_media(block, at, context, unknown)
        if media is not None:
            return media
    return _read_stranger(block, at, context, unknown)


def _hangings(
    block: wire.Block, carry: tuple[str, ...], at: Path, context: Context, unknown: Unknown
) -> tuple[str | None, Extra | None]:
    """Cache mark and extra fields of a block. `carry`: the fields that only this dialect has."""
    mark = block.cache_control
    more = sent_fields(block, carry) if carry else None
    extra = gather(context, at, unknown, more) if unknown or more else None
    if mark is None:
        return None, extra
    return mark.ttl or "", extra


def read_call(block: wire.Block, at: Path, context: Context, unknown: Unknown) -> ToolCall:
    """The call of a tool_use block. An absent id is computed from its path."""
    call_id = block.id or id_from_path(at, context)
    name = block.name or ""
    text = ""
    if block.input:
        text = str(block.input, "utf-8")
        # `input` is an object on this wire; other arguments were wrapped by dragoman.
        if '"__raw"' in text[:16]:
            text = unwrapped(text)
    if not (unknown or block.caller or block.toolset_name or block.cache_control):
        return ToolCall(call_id, name, text, at=at)
    if block.caller and _is_direct(block.caller):
        cache, extra = _hangings(block, ("toolset_name",), at, context, unknown)
        if context.target == wire.NAME:
            extra = marked(extra, "caller", block.caller)
    else:
        cache, extra = _hangings(block, wire.CALL_EXTRAS, at, context, unknown)
    return ToolCall(call_id, name, text, cache=cache, extra=extra, at=at)


def _is_direct(caller: Raw) -> bool:
    """Whether the model itself made the call, as in every other dialect. Newer answers have this field on every
    call (recorded 2026), so clients return it with every call.
    """
    return bytes(caller) in _DIRECT or json_text.plain(caller) == {"type": "direct"}


def unwrapped(text: str) -> str:
    """Arguments without the object that wraps them."""
    try:
        return _unparsed(text).raw
    except msgspec.DecodeError:
        return text


def _read_result(block: wire.Block, at: Path, context: Context, unknown: Unknown) -> ToolResult:
    content = block.content
    parts: tuple[Part, ...] = ()
    inside = at + ("content",)
    # `content` of a result is a text or a list of blocks, or absent (anthropic 2.8.0, 2026-11).
    if isinstance(content, str):
        parts = (Text(content, at=inside),)
    elif content:
        parts = _read_inside(content, inside, context)
    if not (unknown or block.toolset_name or block.cache_control or block.is_error is not None):
        return ToolResult(block.tool_use_id or "", parts, at=at)
    cache, extra = _hangings(block, wire.RESULT_EXTRAS, at, context, unknown)
    if block.is_error is False:
        extra = marked(extra, "is_error", Raw(b"false"))
    return ToolResult(block.tool_use_id or "", parts, "", bool(block.is_error), cache=cache, extra=extra, at=at)


def _read_inside(content: list[Raw] | dict[str, Raw], at: Path, context: Context) -> tuple[Part, ...]:
    """The blocks inside a result."""
    if len(content) == 1 and type(content) is list:
        # Usually one text without other fields.
        try:
            return (Text(_plain_block(content[0]).text, at=at + (0,)),)
        except msgspec.DecodeError:
            pass
    blocks, below = admit_content(json_text.raw(content), at)
    return tuple(read_content(blocks, at, context, below))


def _read_media(block: wire.Block, at: Path, context: Context, unknown: Unknown) -> Part | None:
    source = block.source
    if not isinstance(source, wire.Source):
        return None
    image = block.type == "image"
    kind: Any = block.type
    found: tuple[str, str, str, str] | None = None  # mime, data, url, file
    if source.type == "base64" and source.data is not None:
        found = (source.media_type or "", source.data, "", "")
    elif source.type == "text" and source.data is not None:
        # A document of the source type text has plain text, not base64 (anthropic 2.8.0, 2026-11).
        found = (source.media_type or "text/plain", base64.b64encode(source.data.encode()).decode(), "", "")
    elif source.type == "url" and source.url is not None:
        # A document by address is a PDF (anthropic 2.8.0, 2026-11).
        found = (guess_mime(source.url) or ("" if image else "application/pdf"), "", source.url, "")
    # A file id belongs to Anthropic's Files API (anthropic 2.8.0, 2026-11).
    elif source.type == "file" and source.file_id is not None:
        found = ("", "", "", source.file_id)
    if found is None:
        return None
    mime, data, url, file = found
    misplaced_fields = take_misplaced_fields(source, _NOT_IN_SOURCE[source.type])
    if misplaced_fields:
        unknown.setdefault((*at, "source"), {}).update(misplaced_fields)
    cache, extra = _hangings(block, wire.MEDIA_EXTRAS, at, context, unknown)
    return Media(kind, mime, data, url, file, block.title or "", cache=cache, extra=extra, at=at)


def _read_stranger(block: wire.Block, at: Path, context: Context, unknown: Unknown) -> Part:
    """A block without a canon part. A block that contains only texts becomes a text; any other block stays whole."""
    value = block.strange or json_text.raw(block)
    if isinstance(block.source, wire.Source) and block.source.strange:
        value = json_text.raw({**json_text.fields(value), "source": block.source.strange})
    kind = json_text.kind(value) if block.strange else block.type
    text = _passages(value) if kind in ("search_result", "document") else ""
    # A tool search of the client answers with tool_reference blocks (docs "Tool search", 2026-10).
    if kind == "tool_reference":
        text = _found_tool(value)
    own = json_text.fields(value) if text else {}
    extra = gather(context, at, unknown) if unknown else None
    if extra is not None:
        value = json_text.raw(restore(json_text.plain(value), extra, context.source))
    if not text:
        summary = read_compaction(value, at, context) if kind == COMPACTION else None
        return summary or read_hosted(kind, value, at)
    if context.target != wire.NAME:
        context.lose("part.as_text", at, kind)
        # Fields that the text does not express.
        more = {name: field for name, field in own.items() if name in wire.MEDIA_EXTRAS and name != "context"}
        if more:
            context.keep(at, more)
    mark = json_text.plain(own["cache_control"]) if "cache_control" in own else None
    cache = str(mark.get("ttl") or "") if isinstance(mark, dict) else None
    return Text(text, cache=cache, extra=marked(None, BLOCK, value), at=at)


def _found_tool(value: Raw) -> str:
    """The text for a tool that the client's search found. The tool is declared, and the model may call it from now
    on."""
    name = json_text.plain(value).get("tool_name")
    return f"The tool {name} is available." if isinstance(name, str) and name else ""


def _passages(value: Raw) -> str:
    """The text of a search result or a document made of blocks, after its title and address."""
    found = json_text.plain(value)
    source = found.get("source")
    content = found.get("content") if found["type"] == "search_result" else None
    if isinstance(source, dict):
        content = source.get("content")
    blocks = [content] if isinstance(content, str) else content if isinstance(content, list) else []
    texts: list[str] = []
    for block in blocks:
        text = block.get("text") if isinstance(block, dict) else block
        if not isinstance(text, str):
            return ""
        texts.append(text)
    if not texts:
        return ""
    head = [word for word in (found.get("title"), source, found.get("context")) if isinstance(word, str) and word]
    return "\n".join([*head, *texts])


def read_citations(value: Raw, at: Path, context: Context) -> tuple[Citation, ...]:
    """The citations of a text. A citation into a document has no address: its `url` is empty."""
    try:
        cited, unknown, _ = wire.CITATIONS.admit(value)
    except WireError:
        context.keep(at, {"citations": value})
        return ()
    return tuple(
        [read_citation(one, at + ("citations", i), context, unknown.get((i,), {})) for i, one in enumerate(cited)]
    )


def read_citation(cited: wire.Cited, at: Path, context: Context, unknown: dict[str, Raw]) -> Citation:
    """One citation. Fields that only this dialect has are kept."""
    # encrypted_index is an encrypted text of Anthropic (anthropic 2.10.0, 2026-11). No other upstream can read it.
    lost = {"encrypted_index": cited.encrypted_index} if cited.encrypted_index else {}
    if lost or unknown:
        context.keep(at, {**lost, **unknown})
    title = cited.title
    if title is None and cited.document_title:
        named = json_text.plain(cited.document_title)
        if isinstance(named, str):
            title = named
        else:
            context.keep(at, {"document_title": cited.document_title})
    fields = json_text.fields(json_text.raw(cited)) | unknown
    for name in ("url", "source", "title", "cited_text"):
        fields.pop(name, None)
    return Citation(cited.url or cited.source or "", title or "", cited.cited_text or "", extra={wire.NAME: fields})
