"""Owns data URLs, base64 and media types."""

from __future__ import annotations

import base64

import msgspec

from ..canon.parts import Media, MediaKind, Part, Text, ToolResult
from ..canon.turns import Turn
from ..context import Context

# Only types that some upstream accepts. The standard library's table depends on the machine.
_BY_EXTENSION = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "heic": "image/heic",
    "heif": "image/heif",
    "bmp": "image/bmp",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "txt": "text/plain",
    "md": "text/markdown",
    "csv": "text/csv",
    "html": "text/html",
    "json": "application/json",
    "wav": "audio/wav",
    "mp3": "audio/mp3",
    "ogg": "audio/ogg",
    "flac": "audio/flac",
    "mp4": "video/mp4",
    "mov": "video/quicktime",
    "webm": "video/webm",
    "mpeg": "video/mpeg",
}


def split_data_url(url: str) -> tuple[str, str] | None:
    """(mime type, base64 text) of a base64 data URL; None for any other address."""
    if not url.startswith("data:"):
        return None
    head, comma, data = url.partition(",")
    if not comma or not head.endswith(";base64"):
        # A data URL without base64 holds percent escapes, which no upstream accepts.
        return None
    return head[5:-7].split(";", 1)[0], data


def registered_media_type(mime: str) -> str:
    """The registered name of a media type with a common other name."""
    # image/jpg is not a registered type; Anthropic accepts image/jpeg only (docs "Vision", 2026-10).
    return "image/jpeg" if mime in ("image/jpg", "image/pjpeg") else mime


def data_url(mime: str, data: str) -> str:
    """The data URL of base64 text."""
    return f"data:{mime or 'application/octet-stream'};base64,{data}"


def kind_of(mime: str) -> MediaKind:
    """image, audio or video by the first word of the type; any other type is a document."""
    word = mime.partition("/")[0]
    if word == "image":
        return "image"
    if word == "audio":
        return "audio"
    if word == "video":
        return "video"
    return "document"


def guess_mime(name: str) -> str:
    """The media type by the ending of an address or a file name, or ""."""
    # Signed addresses have long queries after the name.
    path = name.partition("?")[0].partition("#")[0]
    return _BY_EXTENSION.get(path.rpartition(".")[2].lower(), "")


_OPENAI = frozenset({"openai-chat", "openai-responses", "openrouter"})
"""Dialects in which files have OpenAI's ids."""


def unknown_to_openai(media: Media, source: str) -> bool:
    """Whether OpenAI's upstreams would refuse media without data, because another provider holds the file. OpenAI
    checks the prefix of an id (`file-`; `assistant-` at Azure: laravel/ai issue 716, 2026-06), and fetches web
    addresses.
    """
    if media.data or source in _OPENAI:
        return False
    if media.url:
        # Other schemes, such as gs:, belong to Google.
        return not media.url.startswith(("https://", "http://"))
    # OpenAI's file ids begin with file- or assistant-.
    return bool(media.file) and not media.file.startswith(("file-", "assistant-"))


_TEXTUAL = frozenset({"application/json", "application/xml", "application/yaml", "application/javascript"})


def words_of(media: Media) -> str | None:
    """The words of a text document whose data is given; None for any other media."""
    # The types are few on purpose: bytes of another type must never be shown as text.
    if not media.data or not (media.mime.startswith("text/") or media.mime in _TEXTUAL):
        return None
    try:
        return base64.b64decode(media.data, validate=True).decode()
    # Data that claims to be text and is not UTF-8 stays a document.
    except ValueError:
        return None


def as_text(media: Media, context: Context) -> str | None:
    """A text document as plain text with its title, where there is no place for documents; None for any other media."""
    words = words_of(media) if media.kind == "document" else None
    if words is None:
        return None
    context.lose("media.retyped", media.at, f"{media.mime} is sent as text")
    return f"[document{f': {media.name}' if media.name else ''}]\n{words}"


def missing_media_text(media: Media) -> str:
    """The short text in a turn for media that cannot be sent."""
    where = media.url or media.name
    return f"[{media.mime or media.kind} attached here could not be sent{f': {where}' if where else ''}]"


def note(media: Media) -> str:
    """The short text in a tool result for media that cannot be sent."""
    what = media.mime or media.kind
    where = f" ({media.url})" if media.url else f" ({media.name})" if media.name else ""
    return f"Binary content of type {what} was processed.{where}"


def without_announcement(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """The turns without the texts that announce the following media in the words of `note`. Some tools write these
    words themselves, and the words would otherwise occur twice.
    """
    return tuple([_unannounced(turn) if turn.role == "tool" else turn for turn in turns])


def _unannounced(turn: Turn) -> Turn:
    parts: list[Part] = []
    for part in turn.parts:
        if type(part) is ToolResult and part.parts:
            remaining = [
                one
                for one, after in zip(part.parts, (*part.parts[1:], None), strict=True)
                if not _announces(one, after)
            ]
            if len(remaining) != len(part.parts):
                part = msgspec.structs.replace(part, parts=tuple(remaining))
        parts.append(part)
    return msgspec.structs.replace(turn, parts=tuple(parts))


def _announces(part: Part, after: Part | None) -> bool:
    # The same words with extras were written by a client on purpose, for example with a cache mark.
    return type(part) is Text and type(after) is Media and part.text == note(after) and part.extra is None
