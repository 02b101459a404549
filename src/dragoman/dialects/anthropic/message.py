"""One message's content, shared by requests and answers: blocks to parts, and the citations on them.

The way back is in `blocks.py`.
"""

from __future__ import annotations

import base64
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ...canon.parts import Citation, Extra, Media, Opaque, Part, Path, Reasoning, Text, ToolCall, ToolResult, pointer
from ...codec import jsontext
from ...codec.admit import Unknown
from ...codec.extras import NULL, carried, gather, restore
from ...codec.ids import minted
from ...codec.media import guess_mime
from ...codec.seals import origin
from ...crossing import Crossing
from ...errors import WireError
from . import wire

BLOCK = "dragoman.block"
"""Marks a text that stands for a block only this dialect has: the block itself, as it came."""

_DIRECT = b'"direct"'


class _Unparsed(Struct, forbid_unknown_fields=True):
    """How arguments that are no JSON object cross, alone in an object."""

    raw: str = msgspec.field(name="__raw")


_unparsed = msgspec.json.Decoder(_Unparsed).decode


def marked(extra: Extra | None, name: str, value: Raw) -> Extra:
    """`extra` with one more field that says nothing another dialect could lose (a spelled-out default, say)."""
    return {**(extra or {}), wire.NAME: {**(extra or {}).get(wire.NAME, {}), name: value}}


def own_fields(extra: Extra | None) -> dict[str, Raw]:
    return extra.get(wire.NAME, {}) if extra is not None else {}


def read_content(
    content: str | list[wire.Block], at: Path, crossing: Crossing, unknown: Unknown, model: str = ""
) -> list[Part]:
    """The parts of a content that stands at `at`."""
    if isinstance(content, str):
        return [Text(content, at=at)]
    return [read_block(block, (*at, i), crossing, unknown, model) for i, block in enumerate(content)]


def read_block(block: wire.Block, at: Path, crossing: Crossing, unknown: Unknown, model: str = "") -> Part:
    kind = block.type
    if kind == "text" and block.text is not None:
        cache, extra = None, None
        if unknown or block.cache_control is not None:
            cache, extra = _hangings(block, (), at, crossing, unknown)
        if not block.citations or block.citations == NULL:
            return Text(block.text, cache=cache, extra=extra, at=at)
        return Text(
            block.text, citations=read_citations(block.citations, at, crossing), cache=cache, extra=extra, at=at
        )
    if kind == "tool_use" and block.name is not None:
        return read_call(block, at, crossing, unknown)
    if kind == "tool_result" and block.tool_use_id is not None:
        return _read_result(block, at, crossing, unknown)
    if kind == "thinking" and block.thinking is not None:
        extra = gather(crossing, at, unknown) if unknown else None
        seal = origin(block.signature, wire.NAME, "", model) if block.signature else None
        return Reasoning(block.thinking, seal=seal, extra=extra, at=at)
    if kind == "redacted_thinking" and block.data is not None:
        extra = gather(crossing, at, unknown) if unknown else None
        return Reasoning("", seal=origin(block.data, wire.NAME, "redacted", model), extra=extra, at=at)
    if kind in ("image", "document"):
        media = _read_media(block, at, crossing, unknown)
        if media is not None:
            return media
    return _read_stranger(block, at, crossing, unknown)


def _hangings(
    block: wire.Block, carry: tuple[str, ...], at: Path, crossing: Crossing, unknown: Unknown
) -> tuple[str | None, Extra | None]:
    """Cache mark and extra fields of a block; `carry` names the fields only this dialect has."""
    mark = block.cache_control
    more = carried(block, carry) if carry else None
    extra = gather(crossing, at, unknown, more) if unknown or more else None
    if mark is None:
        return None, extra
    return mark.ttl or "", extra


def read_call(block: wire.Block, at: Path, crossing: Crossing, unknown: Unknown) -> ToolCall:
    extra = None
    cache = None
    if unknown or block.caller or block.toolset_name or block.cache_control is not None:
        if block.caller and _DIRECT in bytes(block.caller):
            # The model itself called, as in every other dialect: nothing to lose.
            cache, extra = _hangings(block, ("toolset_name",), at, crossing, unknown)
            extra = marked(extra, "caller", block.caller)
        else:
            cache, extra = _hangings(block, wire.CALL_EXTRAS, at, crossing, unknown)
    call_id = block.id or minted(at, crossing)
    arguments = read_arguments(block.input) if block.input else ""
    return ToolCall(call_id, block.name or "", arguments, cache=cache, extra=extra, at=at)


def read_arguments(value: Raw) -> str:
    """The exact text of a call's input; text that could not cross as an object is unwrapped."""
    text = jsontext.text(value)
    if text.find('"__raw"', 0, 16) >= 0:
        try:
            return _unparsed(text).raw
        except msgspec.DecodeError:
            return text
    return text


def _read_result(block: wire.Block, at: Path, crossing: Crossing, unknown: Unknown) -> ToolResult:
    parts: tuple[Part, ...] = ()
    content = block.content
    if content and content != NULL:
        inside = (*at, "content")
        try:
            value, below, _ = wire.CONTENT.admit(content)
        except WireError as error:
            raise WireError(wire.NAME, pointer(inside) + error.path, error.expected, error.got) from None
        if below:
            below = {(*inside, *path): fields for path, fields in below.items()}
        parts = tuple(read_content(value, inside, crossing, below))
        if below:
            unknown.update(below)
    cache, extra = None, None
    if unknown or block.toolset_name or block.cache_control is not None:
        cache, extra = _hangings(block, wire.RESULT_EXTRAS, at, crossing, unknown)
    if block.is_error is False:
        extra = marked(extra, "is_error", Raw(b"false"))
    return ToolResult(block.tool_use_id or "", parts, is_error=bool(block.is_error), cache=cache, extra=extra, at=at)


def _read_media(block: wire.Block, at: Path, crossing: Crossing, unknown: Unknown) -> Part | None:
    source = block.source
    if not isinstance(source, wire.Source):
        return None
    image = block.type == "image"
    kind: Any = block.type
    found: tuple[str, str, str, str] | None = None  # mime, data, url, file
    if source.type == "base64" and source.data is not None:
        found = (source.media_type or "", source.data, "", "")
    elif source.type == "text" and source.data is not None:
        found = (source.media_type or "text/plain", base64.b64encode(source.data.encode()).decode(), "", "")
    elif source.type == "url" and source.url is not None:
        found = (guess_mime(source.url) or ("" if image else "application/pdf"), "", source.url, "")
    elif source.type == "file" and source.file_id is not None:
        found = ("", "", "", source.file_id)
    if found is None:
        return None
    mime, data, url, file = found
    cache, extra = _hangings(block, wire.MEDIA_EXTRAS, at, crossing, unknown)
    return Media(kind, mime, data, url, file, block.title or "", cache=cache, extra=extra, at=at)


def _read_stranger(block: wire.Block, at: Path, crossing: Crossing, unknown: Unknown) -> Part:
    """What the canon has no part for: a block of written passages becomes their text, anything else stays whole."""
    value = block.strange or jsontext.raw(block)
    kind = jsontext.kind(value)
    text = _passages(value) if kind in ("search_result", "document") else ""
    extra = gather(crossing, at, unknown) if unknown else None
    if extra is not None:
        value = jsontext.raw(restore(jsontext.plain(value), extra, crossing.source))
    if not text:
        return Opaque(wire.NAME, kind, value, at=at)
    if crossing.target != wire.NAME:
        crossing.lose("part.as_text", at, kind)
    mark = block.cache_control
    return Text(text, cache=None if mark is None else mark.ttl or "", extra=marked(None, BLOCK, value), at=at)


def _passages(value: Raw) -> str:
    """The text in a search result or in a document made of blocks, with its title and address in front."""
    found = jsontext.plain(value)
    source = found.get("source")
    content = found.get("content") if found["type"] == "search_result" else None
    if isinstance(source, dict):
        content = source.get("content")
    blocks = [content] if isinstance(content, str) else content if isinstance(content, list) else []
    texts = [block.get("text") if isinstance(block, dict) else block for block in blocks]
    if not texts or not all(isinstance(text, str) for text in texts):
        return ""
    head = [word for word in (found.get("title"), source, found.get("context")) if isinstance(word, str) and word]
    return "\n".join([*head, *texts])


def read_citations(value: Raw, at: Path, crossing: Crossing) -> tuple[Citation, ...]:
    """The citations on a text. Those that point into a document have no address: `url` is empty."""
    try:
        cited, unknown, _ = wire.CITATIONS.admit(value)
    except WireError:
        crossing.keep(at, {"citations": value})
        return ()
    return tuple(
        [read_citation(one, (*at, "citations", i), crossing, unknown.get((i,), {})) for i, one in enumerate(cited)]
    )


def read_citation(cited: wire.Cited, at: Path, crossing: Crossing, unknown: dict[str, Raw]) -> Citation:
    lost = {"encrypted_index": cited.encrypted_index} if cited.encrypted_index else {}
    if lost or unknown:
        crossing.keep(at, {**lost, **unknown})
    title = cited.title
    if title is None and cited.document_title:
        title = jsontext.plain(cited.document_title)
    fields = jsontext.fields(jsontext.raw(cited)) | unknown
    for name in ("url", "source", "title", "cited_text"):
        fields.pop(name, None)
    return Citation(cited.url or cited.source or "", title or "", cited.cited_text or "", extra={wire.NAME: fields})
