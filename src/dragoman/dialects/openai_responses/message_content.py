"""Reads and writes the content of one message or one tool output: texts, media, citations."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import Citation, Extra, Media, MediaKind, Opaque, Part, Path, Text, plain_text
from ...codec import json_text
from ...codec.dialect_extras import gather, restore
from ...codec.media import data_url, guess_mime, kind_of, missing_media_text, note, split_data_url, unknown_to_openai
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from . import wire
from .tools import own_fields, with_fields

_FIRST = (0,)
EMPTY_LIST = Raw(b"[]")

_TEXTS = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text"})
# The values of `detail` (openai 3.49.0, 2026-11).
_DETAILS = frozenset({"auto", "low", "high", "original"})
_SAME_FILES = frozenset({wire.NAME, "openai-chat"})
"""Dialects whose file ids belong to one provider."""
# Chat takes the formats wav and mp3 (openai 3.49.0, 2026-11), and clients that send sound here use Chat's part.
_AUDIO = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3"}
_ENDINGS = {"application/pdf": ".pdf", "text/plain": ".txt", "text/markdown": ".md", "text/csv": ".csv"}


def read_content(
    content: str | list[wire.ContentPart] | None, at: Path, context: Context, unknown: Unknown
) -> tuple[Part, ...]:
    """The parts of a message's `content` or an output's `output`. `at`: the path of that field."""
    if content is None:
        return ()
    if isinstance(content, str):
        return (Text(content, at=at),)
    if len(content) == 1:
        return (read_part(content[0], at + _FIRST, context, unknown),)
    return tuple([read_part(part, at + (i,), context, unknown) for i, part in enumerate(content)])


def read_part(part: wire.ContentPart, at: Path, context: Context, unknown: Unknown) -> Part:
    """One content part."""
    kind = part.type
    text = part.text
    extra: Extra | None = None
    cache: str | None = None
    if kind in _TEXTS and text is not None:
        if (
            unknown
            or part.annotations
            or part.logprobs
            or part.prompt_cache_breakpoint
            or part.refusal
            or part.image_url
            or part.file_id
            or part.file_data
            or part.file_url
            or part.filename
            or part.detail
            or part.input_audio
        ):
            return _read_marked_text(part, text, at, context, unknown)
        return Text(text, at=at)
    extra, cache = _read_marks(part, at, context, unknown)
    # A refusal is a content part of the assistant (openai 3.49.0, 2026-11).
    if kind == "refusal" and part.refusal is not None:
        return Text(part.refusal, True, cache=cache, extra=extra, at=at)
    if kind in ("input_image", "input_file"):
        media = _read_image(part) if kind == "input_image" else _read_file(part, context)
        if media is not None:
            if context.target == wire.NAME:
                extra = with_fields(extra, _unspoken(part, media))
            return Media(*media, cache=cache, extra=extra, at=at)
    # input_audio is not part of the types (openai 3.49.0); some clients send it.
    if kind == "input_audio" and part.input_audio is not None:
        audio = part.input_audio
        return Media("audio", f"audio/{audio.format or 'wav'}", audio.data, cache=cache, extra=extra, at=at)
    value = part.strange or json_text.raw(part)
    kind = json_text.kind(value)
    if kind == "image_url" and context.target != wire.NAME:
        image = json_text.plain(value).get("image_url")  # Chat's form, of a client that knows both protocols
        fields = image if isinstance(image, dict) else {"url": image}
        if isinstance(fields.get("url"), str):
            chat = wire.ContentPart("input_image", image_url=fields["url"], detail=fields.get("detail"))
            return Media(*(_read_image(chat) or ("image",)), at=at)
    return Opaque(wire.NAME, kind, value, at=at)


def _read_marked_text(part: wire.ContentPart, text: str, at: Path, context: Context, unknown: Unknown) -> Text:
    """A text with citations, a cache mark, or fields of other kinds of parts."""
    extra, cache = _read_marks(part, at, context, unknown)
    citations: tuple[Citation, ...] = ()
    if part.annotations:
        place = at + ("annotations",)
        citations = tuple([read_citation(cited, place + (i,), context) for i, cited in enumerate(part.annotations)])
    return Text(text, False, citations, cache=cache, extra=extra, at=at)


_OWN_FIELDS: dict[str, tuple[str, ...]] = {
    "refusal": ("refusal",),
    "input_image": ("image_url", "file_id", "detail"),
    "input_file": ("file_id", "file_data", "file_url", "filename", "detail"),
    "input_audio": ("input_audio",),
}
_FIELDS = ("text", "refusal", "image_url", "file_id", "file_data", "file_url", "filename", "detail", "input_audio")


def _read_marks(
    part: wire.ContentPart, at: Path, context: Context, unknown: Unknown
) -> tuple[Extra | None, str | None]:
    """The fields that the canon cannot hold, and the cache mark."""
    cache = None
    if part.prompt_cache_breakpoint:
        mark = json_text.plain(part.prompt_cache_breakpoint)
        cache = str(mark.get("ttl") or "") if isinstance(mark, dict) else None
    elif context.target != wire.NAME and "cache_control" in unknown.get(at, {}):
        mark = json_text.plain(unknown[at].pop("cache_control"))  # Anthropic's form, of a client of a gateway
        cache = str(mark.get("ttl") or "") if isinstance(mark, dict) else None
    known = _OWN_FIELDS.get(part.type, ("text",))
    more = {
        name: json_text.raw(getattr(part, name))
        for name in _FIELDS
        if name not in known and getattr(part, name) is not None
    }
    silent: dict[str, Raw] = {}
    if part.logprobs:
        (silent if part.logprobs == EMPTY_LIST else more)["logprobs"] = part.logprobs
    extra = gather(context, at, unknown, more or None) if more or unknown else None
    return with_fields(extra, silent) if context.target == wire.NAME else extra, cache


_Found = tuple[MediaKind, str, str, str, str, str, str]
"""kind, mime, data, url, file, name, detail: the fields of Media in their order."""


def _read_image(part: wire.ContentPart) -> _Found | None:
    detail = part.detail or ""
    # An image is given by address, data URL or file id (openai 3.49.0, 2026-11).
    if part.image_url is None:
        return ("image", "", "", "", part.file_id, "", detail) if part.file_id is not None else None
    inline = split_data_url(part.image_url)
    if inline is not None:
        return "image", inline[0], inline[1], "", "", "", detail
    return "image", guess_mime(part.image_url), "", part.image_url, "", "", detail


def _read_file(part: wire.ContentPart, context: Context) -> _Found | None:
    name, detail = part.filename or "", part.detail or ""
    if part.file_data is not None:
        mime, data = split_data_url(part.file_data) or (guess_mime(name), part.file_data)
        # In other dialects an image sent as a file is an image; here it stays a file.
        kind = "document" if context.target == wire.NAME else kind_of(mime)
        return kind, mime, data, "", "", name, detail
    if part.file_url is not None:
        return "document", guess_mime(part.file_url), "", part.file_url, "", name, detail
    if part.file_id is not None:
        return "document", guess_mime(name), "", "", part.file_id, name, detail
    return None


def _unspoken(part: wire.ContentPart, media: _Found) -> dict[str, Raw]:
    """Data URLs that would be spelled differently when rebuilt (bare base64, media type parameters)."""
    for field, text in (("file_data", part.file_data), ("image_url", part.image_url)):
        if text is not None and media[2] and text != data_url(media[1], media[2]):
            return {field: json_text.raw(text)}
    return {}


def read_citation(cited: wire.Annotation, at: Path, context: Context) -> Citation:
    """A citation. Other dialects understand a file citation only by the file's name."""
    if cited.type == "url_citation":
        return Citation(cited.url or "", cited.title or "", "", cited.start_index, cited.end_index)
    # Citations of files have no address.
    fields = json_text.fields(cited.strange or json_text.raw(cited))
    understood = ("type", "filename", "start_index", "end_index", "index")
    context.keep(at, {name: value for name, value in fields.items() if name not in understood})
    return Citation("", cited.filename or "", "", cited.start_index, cited.end_index, {wire.NAME: fields})


def write_citations(citations: tuple[Citation, ...], size: int, at: Path, context: Context) -> list[Any]:
    """Annotations of a text of `size` characters. A citation without a position covers the whole text."""
    out: list[Any] = []
    for cited in citations:
        own = own_fields(cited.extra)
        if own:
            out.append(own)
            continue
        if not (cited.url or cited.title):
            context.lose("citation.dropped", at)
            continue
        if cited.quote:
            # url_citation has no field for a quoted text (openai 3.49.0, 2026-11).
            context.lose("citation.approximated", at, "the quoted text has no place")
        if not cited.url:
            out.append(_document_citation(cited))
            continue
        out.append(
            {
                "type": "url_citation",
                # Both positions are required in url_citation (openai 3.49.0, 2026-11).
                "start_index": cited.start or 0,
                "end_index": size if cited.end is None else cited.end,
                "url": cited.url,
                "title": cited.title,
            }
        )
    return out


def _document_citation(cited: Citation) -> dict[str, Any]:
    """A citation of a document that has no address. `index` is the file's place in the list of files (schema, 2026-11);
    Messages has `document_index` with the same meaning."""
    known = next(iter((cited.extra or {}).values()), {})
    index = json_text.plain(known["document_index"]) if "document_index" in known else 0
    file = json_text.plain(known["file_id"]) if "file_id" in known else ""
    named = {"file_id": file if isinstance(file, str) else "", "filename": cited.title}
    return {"type": "file_citation", **named, "index": index if type(index) is int else 0}


def write_input(parts: tuple[Part, ...], context: Context, *, result: bool = False) -> Any:
    """The content of a user, the system or a tool: a string for one plain text, else a list of parts."""
    text = plain_text(parts)
    if text is not None:
        return text
    out = []
    for part in parts:
        written = _write_input_part(part, context, result)
        if written is not None:
            out.append(written)
    return out


def _write_input_part(part: Part, context: Context, result: bool) -> Any:
    if part.seal is not None:
        context.lose("seal.dropped", part.at)
    out: dict[str, Any]
    if type(part) is Text:
        # An empty text has no meaning. In other dialects it only holds a seal or a mark.
        if not part.text and context.source != wire.NAME:
            if part.cache is not None:
                context.lose("cache.dropped", part.at, "on an empty text")
            return None
        if part.refusal or part.citations:
            # User messages take input parts only, without refusals and citations (lint rule OAR-014).
            _lose_answer_marks(part, context)
        out = {"type": "input_text", "text": part.text}
    elif type(part) is Media:
        found = _write_media(part, context)
        if found is None:
            context.lose("media.dropped", part.at, part.mime or part.kind)
            found = {"type": "input_text", "text": note(part) if result else missing_media_text(part)}
        out = found
    elif isinstance(part, Opaque) and part.dialect == wire.NAME:
        return part.value
    else:
        context.lose("part.dropped", part.at, part.kind if isinstance(part, Opaque) else type(part).__name__)
        return None
    if part.cache is not None:
        mark_cached(out, part.cache, part.at, context)
    return restore(out, part.extra, wire.NAME) if part.extra is not None else out


def _lose_answer_marks(text: Text, context: Context) -> None:
    if text.refusal:
        context.lose("refusal.as_text", text.at)
    if text.citations:
        context.lose("citation.dropped", text.at)


def mark_cached(out: dict[str, Any], ttl: str, at: Path, context: Context) -> bool:
    """Put a cache mark on a part, with a lifetime of OpenAI. Models before gpt-5.6 refuse the field."""
    if context.gates(wire.NAME) and not context.profile.cache_marks:
        # prompt_cache_breakpoint is documented for gpt-5.6 and later (OpenAI's documentation, 2026).
        context.lose("cache.dropped", at)
        return False
    mark = {"mode": "explicit"}
    if ttl:
        # The lifetimes are 30m and 12h (openai 3.49.0, 2026-11).
        mark["ttl"] = {"5m": "30m", "1h": "12h"}.get(ttl, ttl)
        if mark["ttl"] != ttl:
            context.lose("cache.approximated", at, f"ttl {ttl} is sent as {mark['ttl']}")
    out["prompt_cache_breakpoint"] = mark
    return True


def _write_media(media: Media, context: Context) -> dict[str, Any] | None:
    """`input_image` or `input_file`; None if neither can hold the media."""
    if unknown_to_openai(media, context.source):
        return None
    fields = own_fields(media.extra)
    out: dict[str, Any]
    if media.kind == "image":
        out = {"type": "input_image"}
        if media.file:
            out["file_id"] = media.file
        elif media.url or media.data:
            out["image_url"] = fields.get("image_url") or media.url or data_url(media.mime, media.data)
        else:
            return None
    elif media.kind == "document":
        out = {"type": "input_file"}
        if media.data:
            # `input_file` needs a filename beside file_data (openai 3.49.0, 2026-11).
            out["filename"] = media.name or "document" + _ENDINGS.get(media.mime, "")
            out["file_data"] = fields.get("file_data") or data_url(media.mime, media.data)
        elif media.url:
            out["file_url"] = media.url
            if media.name:
                out["filename"] = media.name
        elif media.file:
            out["file_id"] = media.file
            if media.name and context.source == wire.NAME:
                out["filename"] = media.name
        else:
            return None
        if context.source == wire.NAME and media.at and not media.name:
            out.pop("filename", None)
    elif media.kind == "audio" and context.source == wire.NAME:
        return {"type": "input_audio", "input_audio": {"data": media.data, "format": _AUDIO.get(media.mime, "wav")}}
    else:
        return None
    # A file id is known to the provider that issued it only.
    if media.file and context.source not in _SAME_FILES:
        context.lose("media.reference", media.at, f"file {media.file} of {context.source}")
    _write_detail(media, out, context)
    if media.name and "filename" not in out:
        context.lose("media.name.dropped", media.at, media.name)
    return out


def _write_detail(media: Media, out: dict[str, Any], context: Context) -> None:
    if context.source == wire.NAME:
        if media.detail:
            out["detail"] = media.detail
    elif media.kind == "image":
        # `detail` is required on input_image (openai 3.49.0, 2026-11).
        out["detail"] = media.detail if media.detail in _DETAILS else "auto"
        if media.detail and media.detail not in _DETAILS:
            context.lose("media.detail.dropped", media.at, media.detail)
    elif media.detail:
        context.lose("media.detail.dropped", media.at, media.detail)


def write_output_text(part: Text, context: Context, *, request: bool) -> dict[str, Any]:
    """A text of the assistant, as part of its message."""
    if part.refusal:
        out: dict[str, Any] = {"type": "refusal", "refusal": part.text}
        if part.citations:
            context.lose("citation.dropped", part.at)
    else:
        notes = write_citations(part.citations, len(part.text), part.at, context) if part.citations else []
        out = {"type": "output_text", "text": part.text, "annotations": notes}
    if part.seal is not None:
        context.lose("seal.dropped", part.at)
    if part.cache is not None and request:
        if context.source == wire.NAME:
            mark_cached(out, part.cache, part.at, context)
        else:
            context.lose("cache.dropped", part.at, "only input parts carry cache marks")
    return restore(out, part.extra, wire.NAME) if part.extra is not None else out
