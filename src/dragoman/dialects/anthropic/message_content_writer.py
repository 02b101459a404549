"""Writes parts as content blocks, for requests and answers."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import msgspec
from msgspec import Raw

from ...canon.parts import (
    Citation,
    Media,
    Opaque,
    Part,
    Path,
    Reasoning,
    Seal,
    Text,
    ToolCall,
    ToolResult,
    plain_text,
)
from ...codec import json_text
from ...codec.call_ids import send as send_id
from ...codec.custom_tools import wrap_input
from ...codec.dialect_extras import restore
from ...codec.hosted_calls import made_elsewhere
from ...codec.media import missing_media_text, note, registered_media_type
from ...codec.packed_seals import MARK, pack
from ...context import Context
from . import wire
from .cache_marks import Marks
from .compaction import KIND as COMPACTION
from .compaction import write_compaction
from .message_content_reader import BLOCK, own_fields
from .tools import IDS, NAMES, OWN_NAMES

LONGEST_TITLE = 500
# The image types that Messages accepts (docs "Vision", 2026-10).
IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_TEXTUAL = frozenset({"application/json", "application/xml", "application/yaml", "application/javascript"})

Block = dict[str, Any]

DIRECT = Raw(b'{"type":"direct"}')
"""The caller of a call by the model itself. The published schema of an answer requires the field (2026-08)."""


class BlockWriter:
    """Writes the parts of one document."""

    __slots__ = ("context", "marks", "names", "own")

    def __init__(self, context: Context) -> None:
        self.context = context
        self.own = context.source == wire.NAME
        self.names = OWN_NAMES if self.own else NAMES
        self.marks = Marks(context)

    def block(self, part: Part, *, assistant: bool = False, nested: bool = False) -> Any:
        """A block of a request's message, or None if nothing is left. `nested`: inside a result."""
        if type(part) is Text:
            return self.text(part)
        if type(part) is Media:
            return self._media(part, assistant=assistant, nested=nested)
        if type(part) is Reasoning:
            return self._thought_replayed(part)
        if isinstance(part, Opaque) and part.dialect == wire.NAME:
            return self.own_opaque(part)
        if isinstance(part, Opaque):
            self.context.lose("hosted.dropped" if assistant else "part.dropped", part.at, part.kind)
        else:
            self.context.lose("part.dropped", part.at, type(part).__name__)
        return None

    def own_opaque(self, part: Opaque) -> Any:
        """A block of this dialect, unchanged. A block that was made from another upstream's use is left out."""
        if made_elsewhere(part):
            self.context.lose("hosted.dropped", part.at, f"{part.kind}: no upstream of this dialect made it")
            return None
        if b'"cache_control"' not in bytes(part.value):
            return part.value
        fields: Block = dict(json_text.fields(part.value))
        self.marks.found(fields, part.at)
        return fields

    def text(self, part: Text) -> Block | None:
        """A text block of a request; None for an empty text, which Anthropic refuses ("text content blocks must be
        non-empty", reported by users, 2026-02).
        """
        text = part.text
        # Empty text blocks, and cache_control on them, are errors (lint rules ANT-016 and ANT-017).
        if not text or (text.isspace() and not self.own):
            if text:
                self.context.lose("part.dropped", part.at, "blank text", "info")
            if part.cache is not None:
                self.context.lose("cache.dropped", part.at, "on an empty text")
            if part.seal is not None and part.seal.data:
                self.context.lose("seal.dropped", part.at)
            if part.citations:
                self.context.lose("citation.dropped", part.at, "of an empty text")
            return None
        out: Block = {"type": "text", "text": text}
        if part.seal is None and part.cache is None and part.extra is None and not part.refusal and not part.citations:
            return out
        block = self._own_block(part)
        if block is not None:
            return block
        if part.seal is not None:
            self.context.lose("seal.dropped", part.at)
        if part.refusal:
            self.context.lose("refusal.as_text", part.at)
        # Version 2026-10-21 refuses citations on text of user messages (docs, 2026-10).
        if part.citations:
            cited = [c for c in map(self._citation_replayed, part.citations) if c is not None]
            if len(cited) < len(part.citations):
                self.context.lose("citation.dropped", part.at)
            if cited:
                out["citations"] = cited
        if part.cache is not None:
            self.marks.put(out, part.cache, part.at)
        return restore(out, part.extra, wire.NAME)

    def _own_block(self, part: Text) -> Block | None:
        """The original block that a text replaces, if there is one."""
        block = own_fields(part.extra).get(BLOCK)
        if block is None:
            return None
        out: Block = dict(json_text.fields(block))
        self.marks.found(out, part.at)
        return out

    def _citation_replayed(self, cited: Citation) -> Block | None:
        out = own_citation(cited)
        # This upstream cannot read an index that a translated answer invented.
        if out is None or MARK.encode() in bytes(out.get("encrypted_index", b"")):
            return None
        return out

    def _media(self, media: Media, *, assistant: bool, nested: bool) -> Block:
        found = None
        if media.seal is not None:
            self.context.lose("seal.dropped", media.at)
        if nested and self.context.binary == "summarise":
            self.context.lose("media.summarised", media.at)
        else:
            # Messages refuses images in an assistant turn; version 2026-10-21 also refuses documents (docs, 2026-10).
            if not assistant or self.own:
                found = self._image(media) if media.kind == "image" else self._document(media)
            if found is None:
                self.context.lose("media.dropped", media.at, media.mime or media.kind)
            else:
                self._media_words(found, media)
        out = found or {"type": "text", "text": note(media) if nested else missing_media_text(media)}
        if media.cache is not None:
            self.marks.put(out, media.cache, media.at)
        return out if found is None else restore(out, media.extra, wire.NAME)

    def _media_words(self, out: Block, media: Media) -> None:
        """Write the name of media, and report the resolution: documents have a title, images have neither."""
        if media.detail not in ("", "auto"):
            self.context.lose("media.detail.dropped", media.at, media.detail)
        if not media.name:
            return
        if media.kind == "document" or (self.own and media.at):
            out["title"] = media.name if self.own else media.name[:LONGEST_TITLE]
        if out.get("title") != media.name:
            self.context.lose("media.name.dropped", media.at, media.name)

    def _image(self, media: Media) -> Block | None:
        mime = registered_media_type(media.mime)
        if media.data:
            # Other image types become a line of text.
            if mime not in IMAGES and not self.own:
                return None
            return {"type": "image", "source": {"type": "base64", "media_type": mime, "data": media.data}}
        source = self._reference(media)
        return {"type": "image", "source": source} if source is not None else None

    def _reference(self, media: Media) -> Block | None:
        # Other schemes, such as gs:, belong to other providers.
        if media.url and (self.own or media.url.startswith(("https://", "http://"))):
            return {"type": "url", "url": media.url}
        # A file id of another provider is unknown to Anthropic.
        return {"type": "file", "file_id": media.file} if media.file and self.own else None

    def _document(self, media: Media) -> Block | None:
        source: Block | None
        # There are no audio and video blocks (anthropic 2.8.0, 2026-11).
        if media.kind != "document":
            return None
        if not media.data:
            readable = media.mime in ("", "application/pdf") or self.own
            source = self._reference(media) if readable else None
        # Text documents have a source of type text and media type text/plain; base64 sources are PDFs only (anthropic
        # 2.8.0, 2026-11).
        elif media.mime.startswith("text/") or media.mime in _TEXTUAL:
            source = self._plain_text(media)
        elif media.mime == "application/pdf" or self.own:
            source = {"type": "base64", "media_type": media.mime, "data": media.data}
        else:
            source = None
        if source is None:
            return None
        return {"type": "document", "source": source}

    def _plain_text(self, media: Media) -> Block | None:
        try:
            text = base64.b64decode(media.data, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return None
        if media.mime != "text/plain" and not self.own:
            self.context.lose("media.retyped", media.at, f"{media.mime} is sent as text/plain")
        return {"type": "text", "media_type": media.mime if self.own else "text/plain", "data": text}

    def _thought_replayed(self, part: Reasoning) -> Block | None:
        """A thinking block. Anthropic accepts thoughts only from the model that made them, with their signature,
        unchanged (docs "Extended thinking", 2026-10).
        """
        seal = part.seal
        # cache_control on a thinking block is an error (lint rule ANT-016).
        if part.cache is not None:
            self.context.lose("cache.dropped", part.at, "on a thought")
        if seal is not None and seal.dialect == wire.NAME and seal.kind == COMPACTION:
            return write_compaction(part, self.context)
        if seal is not None and seal.dialect == wire.NAME and seal.data:
            return restore(thought(part.text, seal.data, seal.kind), part.extra, wire.NAME)
        if seal is not None and seal.data:
            self.context.lose("seal.dropped", part.at)
        if part.text:
            # A thinking block without Anthropic's signature is refused with 400 (docs "Extended thinking", 2026-10).
            self.context.lose("reasoning.dropped", part.at)
        return None

    def call(self, call: ToolCall, call_id: str) -> Block:
        """A tool_use block."""
        name = self.names.send(call.name, call.namespace, self.context, call.at)
        # `input` is an object on this wire, not a string (anthropic 2.8.0, 2026-11).
        plain = not call.custom and json_text.is_object(call.arguments)
        found = Raw(call.arguments) if plain else self.arguments(call)
        out: Block = {"type": "tool_use", "id": call_id, "name": name, "input": found}
        if call.seal is None and call.cache is None and call.extra is None:
            return out
        if call.seal is not None:
            self.context.lose("seal.dropped", call.at)
        if call.cache is not None:
            self.marks.put(out, call.cache, call.at)
        return restore(out, call.extra, wire.NAME)

    def arguments(self, call: ToolCall) -> Raw:
        """The arguments as a JSON object. Free text and broken JSON are wrapped."""
        # Messages has no tools with free text input; the text becomes the member `input` of an object.
        if call.custom:
            self.context.lose("call.custom.wrapped", call.at)
            return Raw(wrap_input(call.arguments))
        found = json_text.object_raw(call.arguments)
        if found is None:
            self.context.lose("arguments.invalid", call.at)
            return json_text.raw({"__raw": call.arguments})
        return found

    def result(self, result: ToolResult, call_id: str) -> Block:
        """A tool_result block."""
        parts = result.parts
        if len(parts) == 1 and not result.is_error and not result.structured and result.extra is None:
            # Nearly always a plain text without other fields.
            only = parts[0]
            if type(only) is Text and only.text and only.extra is None and only.cache is None and only.seal is None:
                if result.cache is None and result.seal is None:
                    return {"type": "tool_result", "tool_use_id": call_id, "content": only.text}
        if not self.own and any(part.cache is not None for part in parts):
            result = self._lifted(result)
        out: Block = {"type": "tool_result", "tool_use_id": call_id}
        content: str | list[Any] | None = plain_text(result.parts)
        if content is None or result.structured:
            content = self.result_content(result)
        if result.is_error and not self.own and not (content and (type(content) is not str or content.strip())):
            if content:
                self.context.lose("part.dropped", result.at, "white space", "info")
            # 400 "content cannot be empty if `is_error` is true" (jlevy/markform issue 153, 2026-02).
            content = "Error"
        # An empty result omits `content` (anthropic 2.8.0, 2026-11).
        if content or (self.own and isinstance(content, str)):
            out["content"] = content
        # is_error is beside the content of a result (anthropic 2.8.0, 2026-11).
        if result.is_error:
            out["is_error"] = True
        if result.seal is not None:
            self.context.lose("seal.dropped", result.at)
        if result.cache is not None:
            self.marks.put(out, result.cache, result.at)
        return out if result.extra is None else restore(out, result.extra, wire.NAME)

    def _lifted(self, result: ToolResult) -> ToolResult:
        """The result with the cache mark of its last marked part. Anthropic refuses cache marks inside a result
        (langchain-ai/langchain issue 34920, 2026-01).
        """
        marked = [part for part in result.parts if part.cache is not None]
        for part in marked:
            self.context.lose("cache.approximated", part.at, "the mark is on the result")
        unmarked = [
            msgspec.structs.replace(part, cache=None) if part.cache is not None else part for part in result.parts
        ]
        cache = result.cache if result.cache is not None else marked[-1].cache
        return msgspec.structs.replace(result, parts=tuple(unmarked), cache=cache)

    def result_content(self, result: ToolResult) -> str | list[Any]:
        """The content of a result: a string for one text, else blocks."""
        if result.structured:
            # A result has no structured content (anthropic 2.8.0, 2026-11).
            self.context.lose("result.structured.as_text", result.at)
        text = plain_text(result.parts)
        if text is not None:
            return text
        blocks = [self.block(part, nested=True) for part in result.parts]
        return [block for block in blocks if block is not None]

    def answer(self, parts: tuple[Part, ...]) -> list[Any]:
        """The content of an answer."""
        blocks = [self._answered(part) for part in parts]
        return [block for block in blocks if block is not None]

    def _answered(self, part: Part) -> Any:
        context = self.context
        if type(part) is ToolCall:
            called = self.call(part, send_id(part.id, IDS, context, part.at))
            if not self.own:
                # Typed clients expect the caller of each call (anthropic 2.8.0, 2026-11).
                called.setdefault("caller", DIRECT)
            return called
        if isinstance(part, Opaque) and part.dialect == wire.NAME:
            return part.value
        if type(part) is Reasoning:
            if not part.text and part.seal is None:
                return None
            return restore(thought(part.text, *self.signature(part.seal)), part.extra, wire.NAME)
        if part.seal is not None:
            context.lose("seal.dropped", part.at)
        if type(part) is Text:
            if not part.text and not self.own:
                if part.citations:
                    context.lose("citation.dropped", part.at, "of an empty text")
                if part.cache is not None:
                    context.lose("cache.dropped", part.at, "on an empty text")
                return None
            block = self._own_block(part)
            if block is not None:
                return block
            if part.refusal:
                context.lose("refusal.as_text", part.at)
            out: Block = {"type": "text", "text": part.text}
            cited = self.citations(part.citations, part.at)
            if cited or not self.own:
                # Typed clients expect `citations` on every text block of an answer (anthropic 2.8.0, 2026-11).
                out["citations"] = cited or None
            return restore(out, part.extra, wire.NAME)
        if type(part) is Media:
            media_block = self._media(part, assistant=True, nested=False)
            if not self.own:
                media_block.setdefault("citations", None)  # a text replaces media that cannot be sent
            return media_block
        context.lose("hosted.dropped", part.at, part.kind if isinstance(part, Opaque) else type(part).__name__)
        return None

    def signature(self, seal: Seal | None) -> tuple[str, str]:
        """The signature of a thinking block in an answer, and its kind: its own, or a packed foreign seal.

        The seal of a compaction is packed too, because Anthropic refuses it as a signature of a thought
        (lint rule ANT-012).
        """
        if seal is not None and seal.dialect == wire.NAME and seal.kind != COMPACTION:
            return seal.data, seal.kind
        return pack(seal or Seal(self.context.source, "")), ""

    def citations(self, citations: tuple[Citation, ...], at: Path) -> list[Block]:
        """Citations as written in an answer. A citation of another origin gets a packed mark as its
        `encrypted_index`.
        """
        out: list[Block] = []
        for cited in citations:
            block = own_citation(cited)
            if block is None and cited.url:
                if cited.start is not None or cited.end is not None:
                    self.context.lose("citation.approximated", at, "the position in the text has no place")
                # A citation with an address has the shape of a web search result (anthropic 2.8.0, 2026-11).
                block = {
                    "type": "web_search_result_location",
                    "cited_text": cited.quote,
                    "encrypted_index": pack(Seal(self.context.source, "")),
                    "title": cited.title or None,
                    "url": cited.url,
                }
            if block is None:
                self.context.lose("citation.dropped", at)
            else:
                out.append(block)
        return out


def thought(text: str, signature: str, kind: str) -> Block:
    """A thinking or redacted_thinking block."""
    if kind == "redacted":
        return {"type": "redacted_thinking", "data": signature}
    return {"type": "thinking", "thinking": text, "signature": signature}


def own_citation(cited: Citation) -> Block | None:
    """A citation that this dialect made, unchanged; None for any other."""
    fields = own_fields(cited.extra)
    if "type" not in fields:
        return None
    out: Block = {**fields, "cited_text": cited.quote}
    if "document_index" not in fields:
        out["source" if bytes(fields["type"]) == b'"search_result_location"' else "url"] = cited.url
        out["title"] = cited.title or None
    return out
