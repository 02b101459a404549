"""Reads and writes the content of one message, for requests and answers: parts, calls, refusals, annotations."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import (
    Citation,
    Extra,
    Media,
    Opaque,
    Part,
    Path,
    Reasoning,
    Seal,
    Text,
    ToolCall,
    is_stored_elsewhere,
    plain_text,
)
from ...codec import json_text
from ...codec.call_ids import from_chat_client, id_from_path, to_chat_client
from ...codec.call_ids import send as send_id
from ...codec.dialect_extras import NULL, Fields, gather, restore, sent_fields, with_misplaced_fields
from ...codec.failure_sentence_in_answer import decoded_once
from ...codec.media import as_text, data_url, guess_mime, kind_of, missing_media_text, split_data_url, unknown_to_openai
from ...codec.packed_seals import BUNDLE, MARK, origin, pack
from ...codec.surrogates.documents import sound_arguments
from ...codec.wire_decoding_with_unknown_fields import Unknown
from ...context import Context
from . import wire
from .answer_audio_writer import is_sound, write_sounds
from .answer_images import FIELD as IMAGES
from .answer_images import is_image, take_images, write_images
from .cache_marks import takes_marks, written_mark
from .groq_executed_tools_reader import take_executed
from .hosted_calls import DETAIL
from .reasoning_details import (
    FIELD,
    is_carrier,
    is_entry,
    put_back,
    take_marked,
    take_own,
    written_entry,
    written_use_entry,
)
from .tools import CACHE_CONTROL, IDS, NAMES, lifetime, with_own

# `input_audio.format` is wav or mp3 (openai 3.49.0, 2026-11).
_AUDIO = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3"}


_SAME_FILES = frozenset({wire.NAME, "openai-responses"})
"""Dialects whose file ids belong to one provider."""
# The values of `image_url.detail` (openai 3.51.0, 2026-11). A host may refuse others.
_DETAILS = frozenset({"auto", "low", "high", "original"})
_FIELD = "dragoman.field"
_HOME_FIELDS = ("reasoning_content", "reasoning")
"""The fields in which hosts send thinking beside the content; the first is the usual one."""


def field_mark(field: str, extra: Extra | None = None) -> Extra:
    """`extra` with the name of the field that held the thinking text."""
    return with_own(extra, _FIELD, json_text.raw(field))


def marked_field(part: Part) -> str:
    """The name of the field that held the thinking text, or ""."""
    mark = part.extra.get(wire.NAME, {}).get(_FIELD) if part.extra is not None else None
    return str(json_text.plain(mark)) if mark else ""


def thought_origin(field: str, context: Context) -> Seal | None:
    """The empty seal of a thought in an answer. It names the field in which the host accepts the thought. None for the
    usual field, and within the dialect, where the client has the field itself.
    """
    return Seal(wire.NAME, "", field) if field != _HOME_FIELDS[0] and context.target != wire.NAME else None


def text_value(arguments: str | dict[str, Raw] | None) -> str:
    """Arguments as text. A host may send an object, as llama.cpp did (ggml-org/llama.cpp issue 20198, 2026-03)."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json_text.encode(arguments).decode()


def read_content(
    content: str | list[wire.ContentPart] | None, base: Path, context: Context, unknown: Unknown
) -> list[Part]:
    """The parts of a message's content."""
    if content is None:
        return []
    if isinstance(content, str):
        return [Text(content, at=base + ("content",))]
    return [_read_part(part, base + ("content", i), context, unknown) for i, part in enumerate(content)]


_FOREIGN_FIELDS = {
    kind: Fields(*[name for name in sorted(wire.ContentPart.__kinds__) if name != kind])
    for kind in wire.ContentPart.__kinds__
}
"""The fields of other kinds of parts: each kind has its value in the field of the same name."""


def _read_part(part: wire.ContentPart, at: Path, context: Context, unknown: Unknown) -> Part:
    extra = gather(context, at, unknown) if unknown else None
    cache = None
    if part.prompt_cache_breakpoint and bytes(part.prompt_cache_breakpoint) != b"null":
        cache = lifetime(part.prompt_cache_breakpoint)
    elif part.cache_control and bytes(part.cache_control) != b"null":
        cache = lifetime(part.cache_control)
        extra = with_own(extra, CACHE_CONTROL, part.cache_control)
    kind = part.type
    if kind in _FOREIGN_FIELDS:
        extra = with_misplaced_fields(context, at, part, _FOREIGN_FIELDS[kind], extra)
    if kind == "text" and part.text is not None:
        return Text(part.text, cache=cache, extra=extra, at=at)
    if kind == "refusal" and part.refusal is not None:
        return Text(part.refusal, True, cache=cache, extra=extra, at=at)
    if kind in ("image_url", "video_url"):
        image = part.image_url if kind == "image_url" else part.video_url
        if image is not None:
            return _read_url(image, "image" if kind == "image_url" else "video", cache, extra, at)
    if kind == "input_audio" and part.input_audio is not None:
        audio = part.input_audio
        if isinstance(audio, str):  # the form of requests to Mistral: the data alone (recorded traffic, 2026-11)
            audio = wire.Audio(audio)
        return Media("audio", f"audio/{audio.format or 'wav'}", audio.data, cache=cache, extra=extra, at=at)
    if kind == "file" and part.file is not None:
        return _read_file(part.file, cache, extra, at)
    if kind == "thinking" and part.thinking is not None:
        text = thinking_text(part.thinking, at, context)
        extra = with_own(extra, "thinking", json_text.raw(part.thinking))
        return Reasoning(text, extra=field_mark("thinking", extra), at=at)
    value = part.strange or json_text.raw(part)
    if json_text.kind(value) == "document_url" and context.target != wire.NAME:
        document = _read_document(value, at, context)
        if document is not None:
            return document
    return Opaque(wire.NAME, json_text.kind(value), value, at=at)


def _read_document(value: Raw, at: Path, context: Context) -> Media | None:
    """Mistral's part for a document: an address or a data URL."""
    fields = json_text.fields(value)
    address = json_text.plain(fields.pop("document_url", NULL))
    name = json_text.plain(fields.pop("document_name", NULL))
    if not isinstance(address, str) or not address:
        return None
    fields.pop("type", None)
    extra: Extra | None = None
    if fields:
        context.keep(at, fields)
        extra = {context.source: fields}
    called = name if isinstance(name, str) else ""
    mime, data = split_data_url(address) or (guess_mime(called) or guess_mime(address), "")
    return Media("document", mime, data, url="" if data else address, name=called, extra=extra, at=at)


def thinking_text(thinking: str | list[Raw], at: Path, context: Context) -> str:
    """The text of a thinking part, which may be a list with other values."""
    if isinstance(thinking, str):
        return thinking
    words = []
    for i, piece in enumerate(thinking):
        value = json_text.plain(piece)
        if not isinstance(value, dict) or not isinstance(value.get("text"), str):
            context.keep(at + ("thinking",), {str(i): piece})
            continue
        words.append(value["text"])
        if value.keys() - {"type", "text"}:
            fields = json_text.fields(piece)
            context.keep(at + ("thinking", i), {key: fields[key] for key in fields if key not in ("type", "text")})
    return "".join(words)


def _read_url(image: wire.ImageUrl | str, kind: Any, cache: str | None, extra: Any, at: Path) -> Media:
    url, detail = (image, "") if isinstance(image, str) else (image.url, image.detail or "")
    inline = split_data_url(url)
    if inline is not None:
        return Media(kind, inline[0], inline[1], detail=detail, cache=cache, extra=extra, at=at)
    return Media(kind, guess_mime(url), url=url, detail=detail, cache=cache, extra=extra, at=at)


def _read_file(file: wire.File, cache: str | None, extra: Any, at: Path) -> Media:
    name = file.filename or ""
    if file.file_data is None:
        return Media("document", guess_mime(name), file=file.file_id or "", name=name, cache=cache, extra=extra, at=at)
    # OpenRouter accepts an address here (openrouter 1.3.84, 2026-11).
    if file.file_data.startswith(("https://", "http://")):
        mime = guess_mime(name) or guess_mime(file.file_data)
        return Media(kind_of(mime), mime, url=file.file_data, name=name, cache=cache, extra=extra, at=at)
    mime, data = split_data_url(file.file_data) or (guess_mime(name), file.file_data)
    return Media(kind_of(mime), mime, data, name=name, cache=cache, extra=extra, at=at)


def read_assistant(
    message: wire.Message, at: Path, context: Context, unknown: Unknown, salt: str = "", *, request: bool = False
) -> list[Part]:
    """The parts of an assistant message, in Chat's only order: thinking, content, refusal, calls.

    `salt` distinguishes answers if a call has no id: paths are the same in all answers. `request`: a client returns the
    message.
    """
    parts: list[Part] = []
    details: list[Part] = []
    if message.reasoning_details:
        details = take_marked(message, at) if request or context.target != wire.NAME else []
        if context.target not in wire.KIN and message.reasoning_details:
            details += take_own(message, at)
    # Compatible hosts send reasoning text as `reasoning_content` or `reasoning` (recorded 2026).
    thought = message.reasoning_content
    field = "reasoning_content"
    if not thought:
        thought, field = message.reasoning, "reasoning"
    if thought:
        extra = field_mark(field)
        if field == "reasoning_content" and message.reasoning is not None:
            # A host may send the thinking in both fields, as vLLM did while it renamed the field (vllm-project/vllm
            # pull 27752, 2025-10). A different second text is a loss in other dialects.
            extra[wire.NAME]["reasoning"] = json_text.raw(message.reasoning)
            if message.reasoning != thought:
                context.keep(at, {"reasoning": extra[wire.NAME]["reasoning"]})
        seal = None if request else thought_origin(field, context)
        parts.append(Reasoning(thought, seal=seal, extra=extra, at=at + (field,)))
    parts += details
    if unknown:
        parts += take_executed(unknown, at, salt, context)
    content = message.content
    notes = message.annotations
    if content and isinstance(content, str):
        citations = read_annotations(notes, at + ("annotations",), context, unknown) if notes else ()
        parts.append(Text(content, citations=citations, at=at + ("content",)))
    else:
        if content:
            for part in read_content(content, at, context, unknown):
                if type(part) is Reasoning and not request:
                    part = msgspec.structs.replace(part, seal=thought_origin("thinking", context))
                parts.append(part)
        if notes:  # no single text that they belong to
            unknown[at + ("annotations",)] = {str(i): json_text.raw(note_) for i, note_ in enumerate(notes)}
    if message.refusal:
        parts.append(Text(message.refusal, True, at=at + ("refusal",)))
    if message.tool_calls:
        for i, call in enumerate(message.tool_calls):
            part = read_call(call, at + ("tool_calls", i), context, unknown, salt)
            if request and type(part) is ToolCall and (own := from_chat_client(part.id)) != part.id:
                part = msgspec.structs.replace(part, id=own)
            parts.append(part)
    if unknown and context.target not in wire.KIN:
        parts += take_images(unknown, at)
    return parts


def read_call(call: wire.Call, at: Path, context: Context, unknown: Unknown, salt: str = "") -> ToolCall | Opaque:
    """One call. An absent id is computed from its path."""
    if call.function is None and call.custom is None:
        fields = json_text.fields(json_text.raw(call)) | unknown.pop(at, {})
        return Opaque(wire.NAME, call.type or "", json_text.raw(fields), at=at)
    seal = None
    extra = None
    if unknown or call.extra_content:
        seal = read_seal(call.extra_content, at, context) if call.extra_content else None
        extra = gather(context, at, unknown, sent_fields(call, ("extra_content",)) if seal is None else None)
    if call.type and call.type not in ("function", "custom"):  # an unknown type: read by its fields
        context.keep(at, {"type": json_text.raw(call.type)})
    call_id = call.id or id_from_path(at, context, salt)
    if call.custom is not None and (call.type == "custom" or call.function is None):
        return ToolCall(call_id, call.custom.name or "", call.custom.input or "", True, seal=seal, extra=extra, at=at)
    function = call.function or wire.Function()
    text = text_value(function.arguments)
    # `arguments` is a JSON text that may be invalid (openai 3.49.0, 2026-11); some hosts encode it twice.
    if text[:1] == '"':
        text = decoded_once(text, at, context)
    if "\\u" in text:
        text = sound_arguments(text, (*at, "function", "arguments"), context)
    return ToolCall(call_id, function.name or "", text, seal=seal, extra=extra, at=at)


def read_legacy(call: wire.Function, call_id: str, at: Path, context: Context, unknown: Unknown) -> ToolCall:
    """A legacy `function_call`, read like any other call."""
    found = gather(context, at, unknown) if unknown else None
    extra = found and {wire.NAME: {f"function/{name}": value for name, value in found[wire.NAME].items()}}
    text = sound_arguments(text_value(call.arguments), (*at, "arguments"), context)
    return ToolCall(call_id, call.name or "", text, extra=extra, at=at)


def read_seal(extra_content: Raw, at: Path, context: Context) -> Seal | None:
    """The seal in extra_content.google, where Google's compatible endpoint returns thought signatures (its
    compatibility page, 2026-11). Clients return it. Other fields beside a seal are reported. `at`: the path of the
    call.
    """
    value = json_text.plain(extra_content)
    google = value.get("google") if isinstance(value, dict) else None
    data = google.get("thought_signature") if isinstance(google, dict) else None
    if not isinstance(data, str):
        return None
    if value.keys() != {"google"} or value["google"].keys() != {"thought_signature"}:
        context.lose("field.dropped", (*at, "extra_content"), "fields beside the signature", "info")
    return origin(data, "gemini")


def write_seal(seal: Seal, context: Context, *, request: bool) -> dict[str, Any] | None:
    """The extra_content for a seal: for clients Gemini's seals and packed seals, for an upstream only its own. None for
    any other.
    """
    if seal.dialect == BUNDLE and not request:
        return {"google": {"thought_signature": pack(seal)}}
    if seal.dialect == wire.NAME or (seal.dialect == "gemini" and (not request or context.source == wire.NAME)):
        return {"google": {"thought_signature": seal.data}}
    return None


_QUOTING = frozenset({wire.NAME, "openrouter", "anthropic"})
"""Dialects whose citations hold words of the page."""


def read_annotations(
    notes: list[wire.Annotation], at: Path, context: Context, unknown: Unknown
) -> tuple[Citation, ...]:
    """Citations of addresses. Other annotations, and quoted words without a field, are kept like unknown fields."""
    out = []
    for i, note_ in enumerate(notes):
        cited = note_.url_citation
        if cited is not None:
            quote = cited.content or ""
            if quote and context.target not in _QUOTING:
                unknown.setdefault((*at, i, "url_citation"), {})["content"] = json_text.raw(quote)
                quote = ""
            out.append(Citation(cited.url, cited.title or "", quote, cited.start_index, cited.end_index))
        else:
            unknown.setdefault(at, {})[str(i)] = note_.strange or json_text.raw(note_)
    return tuple(out)


def write_content(parts: tuple[Part, ...], context: Context) -> Any:
    """A string if there is only one text, else a list of parts."""
    text = plain_text(parts)
    if text is None and len(parts) == 1 and parts[0].cache is not None and not takes_marks(context):
        context.lose("cache.dropped", parts[0].at)
        parts = (msgspec.structs.replace(parts[0], cache=None),)
        text = plain_text(parts)
    if text is not None:
        return text
    out = []
    for part in parts:
        written = _write_part(part, context)
        if written is not None:
            out.append(written)
    return out or ""


def _write_part(part: Part, context: Context) -> Any:
    if part.seal is not None:
        context.lose("seal.dropped", part.at)
    out: dict[str, Any]
    if type(part) is Text:
        if not part.text:
            if part.cache is not None:
                context.lose("cache.dropped", part.at, "on an empty text")
            return None
        if part.citations:
            context.lose("citation.dropped", part.at)
        if part.refusal:
            context.lose("refusal.as_text", part.at)
        out = {"type": "text", "text": part.text}
    elif type(part) is Media:
        found = write_media(part, context)
        if found is None:
            context.lose("media.dropped", part.at, part.mime or part.kind)
            found = {"type": "text", "text": missing_media_text(part)}
        out = found
    elif isinstance(part, Opaque) and part.dialect == wire.NAME:
        return part.value
    elif type(part) is Reasoning and marked_field(part) == "thinking":
        out = {"type": "thinking"}  # the original value is in the extra
    elif type(part) is Reasoning:
        context.lose("reasoning.dropped", part.at, "a thought outside of the assistant's turns")
        return None
    else:
        context.lose("part.dropped", part.at, part.kind if isinstance(part, Opaque) else type(part).__name__)
        return None
    out = restore(out, part.extra, wire.NAME)
    out.pop(_FIELD, None)
    if part.cache is not None and CACHE_CONTROL not in out:
        out.update(written_mark(part.cache, part.at, context))
    return out


# OpenAI has no `video_url` (openai 3.51.0, 2026-11); other hosts of this dialect have it.
_KINDS = {"image": "image_url", "video": "video_url", "audio": "input_audio", "document": "file"}


def write_media(media: Media, context: Context) -> dict[str, Any] | None:
    """A content part for media; None if Chat, the host or the model does not accept it."""
    own = context.source == wire.NAME
    if media.kind == "document" and not own:
        words = as_text(media, context)
        if words is not None:
            return {"type": "text", "text": words}
    if context.host is not None:
        fact = context.host.fields.get(f"content[].{_KINDS[media.kind]}", True)
        if fact is False or (isinstance(fact, str) and (media.data or media.url)):
            context.adapted_to_host = True
            return _at_address(media, fact, context) if fact else None
    if context.profile.media is not None and media.kind not in context.profile.media and context.gates(wire.NAME):
        return None
    if unknown_to_openai(media, context.source):
        return None
    if media.name and media.kind != "document":
        context.lose("media.name.dropped", media.at, media.name)
    if media.kind == "image" or (media.kind == "video" and own):
        if not (media.data or media.url):
            return None
        image = {"url": media.url or data_url(media.mime, media.data)}
        # `detail` is auto, low, high or original (openai 3.49.0, 2026-11).
        if media.detail in _DETAILS or (media.detail and own):
            image["detail"] = media.detail
        elif media.detail:
            context.lose("media.detail.dropped", media.at, media.detail)
        return {"type": f"{media.kind}_url", f"{media.kind}_url": image}
    if media.kind == "audio":
        format_ = _AUDIO.get(media.mime) or (media.mime.partition("/")[2] if own else None)
        if format_ is None or not media.data:
            return None
        return {"type": "input_audio", "input_audio": {"data": media.data, "format": format_}}
    if media.kind == "document":
        if media.detail:
            context.lose("media.detail.dropped", media.at, media.detail)
        return _write_file(media, context, own)
    return None


def _at_address(media: Media, kind: str, context: Context) -> dict[str, Any]:
    """Media in a host's own kind of part with an address (Mistral's documents)."""
    out = {"type": kind, kind: media.url or data_url(media.mime, media.data)}
    if media.name:
        out[kind.replace("_url", "_name")] = media.name
    if media.detail:
        context.lose("media.detail.dropped", media.at, media.detail)
    return out


def _write_file(media: Media, context: Context, own: bool) -> dict[str, Any] | None:
    if media.data:
        if not own and context.target == wire.NAME and media.mime != "application/pdf":
            # 400 "Expected a base64-encoded data URL with an application/pdf MIME type": openai/openai-dotnet issue 613
            # (2025-08-19), trpc-group/trpc-agent-go issue 1816 (2026-05-18).
            return None
        name = media.name or "document" + {"application/pdf": ".pdf", "text/plain": ".txt"}.get(media.mime, "")
        return {"type": "file", "file": {"filename": name, "file_data": data_url(media.mime, media.data)}}
    name_field = {"filename": media.name} if media.name else {}
    if media.file:
        if context.source not in _SAME_FILES:
            context.lose("media.reference", media.at, f"file {media.file} of {context.source}")
        return {"type": "file", "file": {"file_id": media.file, **name_field}}
    if media.url and own:
        return {"type": "file", "file": {"file_data": media.url, **name_field}}
    return None


def write_assistant(parts: tuple[Part, ...], context: Context, *, request: bool) -> dict[str, Any] | None:
    """An assistant message; None if nothing is left. In a request thoughts go only to hosts with a field for them."""
    content: list[Part] = []
    calls: list[Any] = []
    annotations: list[Any] = []
    entries: list[Any] = []  # entries of reasoning_details
    thoughts: list[str] = []
    refusals: list[str] = []
    sounds: list[Media] = []
    images: list[Media] = []
    length = 0  # length of the text so far: an answer has one string
    field = "reasoning_content"
    message: dict[str, Any] = {"role": "assistant"}
    for part in parts:
        if type(part) is Text:
            if part.refusal:
                refusals.append(part.text)
                continue
            if calls or refusals or images:
                context.lose("order.approximated", part.at)
            if part.citations and (not request or context.source == wire.NAME):
                annotations.extend(annotations_to(part.citations, part.at, context, length, len(part.text)))
                part = msgspec.structs.replace(part, citations=())
            length += len(part.text)
            content.append(part)
        elif type(part) is ToolCall:
            calls.append(write_call(part, context, request=request))
        elif type(part) is Reasoning:
            if part.seal is not None and part.seal.data and _listed(part, entries, context, request):
                continue
            own = marked_field(part) or _home_field(part, context, request)
            if own == "thinking":
                content.append(part)
            elif request and not own:
                # OpenAI accepts no reasoning text (openai 3.49.0, 2026-11).
                context.lose("reasoning.dropped", part.at)
            else:
                if content or calls:
                    context.lose("order.approximated", part.at)
                field = own or field
                if part.text:
                    thoughts.append(part.text)
                if own and part.extra is not None:
                    restore(message, part.extra, wire.NAME)
        elif is_stored_elsewhere(part):
            continue  # its call is written or reported
        elif isinstance(part, Opaque) and _is_use(part, context) and not request:
            if content or calls:
                context.lose("order.approximated", part.at)
            entries.append(written_use_entry(part, len(entries)))
        elif isinstance(part, Opaque) and (part.dialect != wire.NAME or part.kind == DETAIL):
            context.lose("hosted.dropped", part.at, part.kind)
        elif isinstance(part, Opaque) and "tool_calls" in part.at:
            calls.append(part.value)  # an unknown kind of call
        elif type(part) is Media and not request and (is_sound(part) or is_image(part)):
            (sounds if is_sound(part) else images).append(part)
        else:
            if calls or refusals or images:
                context.lose("order.approximated", part.at)
            if type(part) is Media:
                length += len(missing_media_text(part))
                part = _assistant_media(part, context, request)
            content.append(part)
    message.pop(_FIELD, None)
    if thoughts:
        message[field] = "\n\n".join(thoughts)
    message["content"] = _assistant_content(content, context, request)
    if refusals or not request:
        message["refusal"] = "\n".join(refusals) or None
    lists = {"annotations": annotations, "tool_calls": calls, FIELD: entries, IMAGES: write_images(images, context)}
    message.update({name: values for name, values in lists.items() if values})
    if sounds:
        message["audio"] = write_sounds(sounds, context)
    if request and message["content"] is None and not calls and not refusals and not entries:
        return None
    return message


def _assistant_media(media: Media, context: Context, request: bool) -> Part:
    """Media of the assistant. Chat accepts media from users only (openai 3.49.0, 2026-11); related dialects have a
    field for them.
    """
    if not request or context.source == wire.NAME or context.target != wire.NAME:
        return media
    context.lose("media.dropped", media.at, media.mime or media.kind)
    return Text(missing_media_text(media), at=media.at)


def _is_use(part: Opaque, context: Context) -> bool:
    """Whether a part is an entry for a client of this dialect. Related dialects write their own list."""
    return part.kind == DETAIL and part.dialect == context.target == wire.NAME


def _home_field(part: Reasoning, context: Context, request: bool) -> str:
    """The field of a thought that goes back to its own host, although the host is unknown. A thought of another
    upstream no longer has a seal of this dialect (`seals/request_seals_to_upstream.py`).
    """
    seal = part.seal
    if not request or context.host is not None or seal is None or seal.dialect != wire.NAME or seal.data:
        return ""
    field = seal.kind or _HOME_FIELDS[0]
    return field if field in _HOME_FIELDS else ""


def _listed(part: Reasoning, entries: list[Any], context: Context, request: bool) -> bool:
    """Write a thought that only carries seals into the list of a message. False: the text of the thought must still be
    written; its own seal has no field.
    """
    if part.seal is not None and not request and is_carrier(part):
        entries.append(written_entry(pack(part.seal), len(entries)))
        return True
    if request and part.seal is not None and is_entry(part.seal):
        entries.append(Raw(part.seal.data))  # it goes back to its host; other seals never get here
        return True
    if request and part.seal is not None and part.seal.dialect == wire.NAME and part.seal.data.startswith(MARK):
        put_back(entries, part)  # the upstream is a gateway of this kind, or the entry is unchanged
        return True
    context.lose("seal.dropped", part.at)
    return False


def _assistant_content(texts: list[Part], context: Context, request: bool) -> Any:
    if not texts:
        return None
    if request or any(marked_field(part) == "thinking" for part in texts):
        return write_content(tuple(texts), context) or None
    # The content of an answer is one string in every SDK (openai 3.49.0, 2026-11).
    words = []
    for part in texts:
        if type(part) is Text:
            words.append(part.text)
            if part.seal is not None:
                context.lose("seal.dropped", part.at)
        elif type(part) is Media:
            context.lose("media.dropped", part.at, part.mime or part.kind)
            words.append(missing_media_text(part))
        else:
            context.lose("part.dropped", part.at)
    return "".join(words) or None


def annotations_to(citations: tuple[Citation, ...], at: Path, context: Context, before: int, length: int) -> list[Any]:
    """Annotations for the citations of a text. `before`: characters of earlier texts; `length`: of this text. A
    citation without a position covers the whole text.
    """
    out: list[Any] = []
    for cited in citations:
        if not cited.url:
            context.lose("citation.dropped", at)
            continue
        start, end = cited.start or 0, length if cited.end is None else cited.end
        where = {"start_index": before + start, "end_index": before + end, "url": cited.url, "title": cited.title}
        if cited.quote:  # as OpenRouter writes it (schema of 2026-08), for the OpenAI SDK too
            where["content"] = cited.quote
        out.append({"type": "url_citation", "url_citation": where})
    return out


def write_call(call: ToolCall, context: Context, *, request: bool) -> dict[str, Any]:
    """One entry of `tool_calls`."""
    name = NAMES.send(call.name, call.namespace, context, call.at)
    call_id = (send_id if request else to_chat_client)(call.id, IDS, context, call.at)
    out: dict[str, Any]
    if call.custom:
        out = {"id": call_id, "type": "custom", "custom": {"name": name, "input": call.arguments}}
    else:
        # Clients decode the arguments, and an empty text is not JSON.
        function = {"name": name, "arguments": call.arguments if call.arguments.strip() else "{}"}
        out = {"id": call_id, "type": "function", "function": function}
    if call.cache is not None:
        context.lose("cache.dropped", call.at, "on a call")
    if call.seal is not None:
        slot = write_seal(call.seal, context, request=request)
        if slot is None:
            context.lose("seal.dropped", call.at)
        else:
            out["extra_content"] = slot
    return out if call.extra is None else restore(out, call.extra, wire.NAME)
